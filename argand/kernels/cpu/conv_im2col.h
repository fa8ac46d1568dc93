// Convolution as a matrix product of the weights with the unfolded input (im2col), image by image: every dtype that
// gemm supports, every shape.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "argand/kernels/cpu/conv.h"
#include "argand/kernels/cpu/gemm.h"
#include "argand/kernels/cpu/scratch.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu::im2col {

// A kernel of one tap that reads the input in place needs no unfolding.
inline bool is_plain(const ConvShape& s) {
  return s.kernel_size() == 1 && s.stride == std::array<int64_t, 3>{1, 1, 1} &&
         s.padding == std::array<int64_t, 3>{0, 0, 0};
}

// Positions of the output row whose tap lies inside the input: [first, last).
struct Inside {
  int64_t first, last;
};
inline Inside inside(const ConvShape& s, int d, int64_t k) {
  const int64_t shift = k * s.dilation[d] - s.padding[d];
  const int64_t first = shift >= 0 ? 0 : (-shift + s.stride[d] - 1) / s.stride[d];
  const int64_t limit = s.in[d] - shift;
  const int64_t last = limit <= 0 ? 0 : (limit + s.stride[d] - 1) / s.stride[d];
  return {std::min(first, s.out[d]), std::clamp<int64_t>(last, std::min(first, s.out[d]), s.out[d])};
}

// Calls row(column row index, output offset of the row, input offset of its first inside position, inside range, valid)
// for each (channel, tap, output row).
template <class Row>
void for_each_row(const ConvShape& s, int64_t channels, Row row) {
  int64_t r = 0;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t kz = 0; kz < s.kernel[0]; ++kz) {
      for (int64_t ky = 0; ky < s.kernel[1]; ++ky) {
        for (int64_t kx = 0; kx < s.kernel[2]; ++kx, ++r) {
          const Inside x = inside(s, 2, kx);
          for (int64_t z = 0; z < s.out[0]; ++z) {
            const int64_t iz = z * s.stride[0] - s.padding[0] + kz * s.dilation[0];
            for (int64_t y = 0; y < s.out[1]; ++y) {
              const int64_t iy = y * s.stride[1] - s.padding[1] + ky * s.dilation[1];
              const bool valid = iz >= 0 && iz < s.in[0] && iy >= 0 && iy < s.in[1];
              const int64_t ix = x.first * s.stride[2] - s.padding[2] + kx * s.dilation[2];
              row((r * s.out[0] + z) * s.out[1] * s.out[2] + y * s.out[2],
                  ((c * s.in[0] + iz) * s.in[1] + iy) * s.in[2] + ix, x, valid);
            }
          }
        }
      }
    }
  }
}

// columns [channels * kernel, out] of one image and group.
template <class T>
void unfold(const ConvShape& s, int64_t channels, const T* x, T* columns) {
  for_each_row(s, channels, [&](int64_t to, int64_t from, const Inside& in, bool valid) {
    T* row = columns + to;
    if (!valid) {
      std::fill(row, row + s.out[2], T(0));
      return;
    }
    std::fill(row, row + in.first, T(0));
    const int64_t n = in.last - in.first;
    if (s.stride[2] == 1) {
      if (n > 0) std::memcpy(row + in.first, x + from, static_cast<size_t>(n) * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) row[in.first + i] = x[from + i * s.stride[2]];
    }
    std::fill(row + in.last, row + s.out[2], T(0));
  });
}

// The adjoint of unfold: adds columns to their places in gx.
template <class T>
void fold(const ConvShape& s, int64_t channels, const T* columns, T* gx) {
  for_each_row(s, channels, [&](int64_t from, int64_t to, const Inside& in, bool valid) {
    if (!valid) return;
    const T* row = columns + from + in.first;
    T* place = gx + to;
    for (int64_t i = 0; i < in.last - in.first; ++i) place[i * s.stride[2]] = place[i * s.stride[2]] + row[i];
  });
}

template <class T>
struct Group {
  int64_t c, o, k, p;  // channels per group in and out, rows and columns of the unfolded input
  explicit Group(const ConvShape& s) : c(s.c / s.groups), o(s.o / s.groups), k(c * s.kernel_size()), p(s.out_size()) {}
};

// Images are independent; with a single one the product itself is spread over threads.
template <class F>
void for_each_image(const ConvShape& s, F body) {
  parallel_for(0, s.n, 1, [&](int64_t begin, int64_t end) { body(begin, end); });
}

template <class T>
void forward(const ConvShape& s, const T* x, const T* w, const T* bias, T* y) {
  const Group<T> g(s);
  for_each_image(s, [&](int64_t begin, int64_t end) {
    ScratchBuffer<T> columns(is_plain(s) ? 0 : g.k * g.p);
    for (int64_t i = begin * s.groups; i < end * s.groups; ++i) {
      const int64_t group = i % s.groups;
      const T* in = x + i * g.c * s.in_size();
      if (!is_plain(s)) unfold(s, g.c, in, columns.data());
      T* out = y + i * g.o * g.p;
      if (bias != nullptr)
        for (int64_t o = 0; o < g.o; ++o) std::fill(out + o * g.p, out + (o + 1) * g.p, bias[group * g.o + o]);
      GemmArgs<T> a{g.o, g.p, g.k, {w + group * g.o * g.k, g.k, 1}, {is_plain(s) ? in : columns.data(), g.p, 1},
                    out, g.p};
      a.beta = T(bias != nullptr ? 1 : 0);
      gemm(a);
    }
  });
}

template <class T>
void input_grad(const ConvShape& s, const T* gy, const T* w, T* gx) {
  const Group<T> g(s);
  for_each_image(s, [&](int64_t begin, int64_t end) {
    ScratchBuffer<T> columns(is_plain(s) ? 0 : g.k * g.p);
    for (int64_t i = begin * s.groups; i < end * s.groups; ++i) {
      const int64_t group = i % s.groups;
      T* out = gx + i * g.c * s.in_size();
      const ConstMatrix<T> weights{w + group * g.o * g.k, g.k, 1};
      gemm(GemmArgs<T>{
          g.k, g.p, g.o, weights.transposed(), {gy + i * g.o * g.p, g.p, 1}, is_plain(s) ? out : columns.data(), g.p});
      if (is_plain(s)) continue;
      std::fill(out, out + g.c * s.in_size(), T(0));
      fold(s, g.c, columns.data(), out);
    }
  });
}

// Each of a fixed number of image ranges sums into its own copy; the copies are added in order.
template <class T>
void weight_grad(const ConvShape& s, const T* gy, const T* x, T* gw) {
  const Group<T> g(s);
  const int64_t size = s.o * g.k;
  const int64_t parts = std::clamp<int64_t>(s.n, 1, 8), images = (s.n + parts - 1) / parts;
  ScratchBuffer<T> partial(parts * size);
  parallel_for(0, parts, 1, [&](int64_t first, int64_t last) {
    ScratchBuffer<T> columns(is_plain(s) ? 0 : g.k * g.p);
    for (int64_t part = first; part < last; ++part) {
      T* sum = partial.data() + part * size;
      std::fill(sum, sum + size, T(0));
      for (int64_t i = part * images * s.groups; i < std::min(s.n, (part + 1) * images) * s.groups; ++i) {
        const int64_t group = i % s.groups;
        const T* in = x + i * g.c * s.in_size();
        if (!is_plain(s)) unfold(s, g.c, in, columns.data());
        const ConstMatrix<T> unfolded{is_plain(s) ? in : columns.data(), g.p, 1};
        GemmArgs<T> a{g.o, g.k, g.p, {gy + i * g.o * g.p, g.p, 1}, unfolded.transposed(), sum + group * g.o * g.k, g.k};
        a.beta = T(1);
        gemm(a);
      }
    }
  });
  parallel_for(0, size, 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T total(0);
      for (int64_t part = 0; part < parts; ++part) total += partial.data()[part * size + i];
      gw[i] = total;
    }
  });
}

}  // namespace argand::cpu::im2col
