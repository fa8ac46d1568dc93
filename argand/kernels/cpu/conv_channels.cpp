#include "argand/kernels/cpu/conv_channels.h"

#include <algorithm>

#include "argand/kernels/cpu/conv_simd.h"
#include "argand/kernels/cpu/conv_tasks.h"
#include "argand/kernels/cpu/gemm_simd.h"
#include "argand/kernels/cpu/scratch.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

// The position in the input that an output reads for a tap, or -1 if the kernel exceeds the edge.
struct Reads {
  static int64_t place(const ConvShape& s, size_t d, int64_t o, int64_t tap) {
    const int64_t at = o * s.stride[d] - s.padding[d] + tap * s.dilation[d];
    return at >= 0 && at < s.in[d] ? at : -1;
  }
  static int64_t lines(const ConvShape& s) { return s.out[1]; }
  static int64_t width(const ConvShape& s) { return s.out[2]; }
  static int64_t source_width(const ConvShape& s) { return s.in[2]; }
  // Elements so far apart have neighbouring sources, those from one to another so far apart.
  static int64_t step(const ConvShape&) { return 1; }
  static int64_t source_step(const ConvShape& s) { return s.stride[2]; }
};

// The reverse: the output that reads an element of the input for a tap.
struct ReadBy {
  static int64_t place(const ConvShape& s, size_t d, int64_t i, int64_t tap) {
    const int64_t at = i + s.padding[d] - tap * s.dilation[d];
    return at >= 0 && at % s.stride[d] == 0 && at / s.stride[d] < s.out[d] ? at / s.stride[d] : -1;
  }
  static int64_t lines(const ConvShape& s) { return s.in[1]; }
  static int64_t width(const ConvShape& s) { return s.in[2]; }
  static int64_t source_width(const ConvShape& s) { return s.out[2]; }
  static int64_t step(const ConvShape& s) { return s.stride[2]; }
  static int64_t source_step(const ConvShape&) { return 1; }
};

// visit(first, reads) for all elements of a line, where first, first + Map::step(), ... are neighbours.
template <class Map, class Visit>
void for_each_run(const ConvShape& s, int64_t line, int64_t* places, int64_t* rows, Visit visit) {
  const int64_t width = Map::width(s), step = Map::step(s);
  const auto same_taps = [&](int64_t a, int64_t b) {
    for (int64_t k = 0; k < s.kernel[2]; ++k)
      if ((Map::place(s, 2, a, k) < 0) != (Map::place(s, 2, b, k) < 0)) return false;
    return true;
  };
  for (int64_t phase = 0; phase < std::min(step, width); ++phase)
    for (int64_t first = phase, count = 0; first < width; first += count * step) {
      count = 1;
      while (first + count * step < width && same_taps(first, first + count * step)) ++count;
      int64_t taps = 0;
      for (int64_t ky = 0; ky < s.kernel[1]; ++ky) {
        const int64_t y = Map::place(s, 1, line, ky);
        for (int64_t kx = 0; kx < s.kernel[2] && y >= 0; ++kx) {
          const int64_t x = Map::place(s, 2, first, kx);
          if (x < 0) continue;
          rows[taps] = (ky * s.kernel[2] + kx) * s.c;
          places[taps++] = (y * Map::source_width(s) + x) * s.c;
        }
      }
      visit(first, ConvReads{s.c, count, taps, Map::source_step(s) * s.c, places, rows});
    }
}

// [columns][rows] of [rows][columns].
template <class T>
void turn(const T* from, int64_t rows, int64_t columns, T* to) {
  detail::gemm_kernels<T>(vector_unit()).turn({from, columns, 1, rows, columns}, to, rows);
}

// y from x and the weights, where an element of y has its sources by the map.
template <class Map, class T>
void run_planes(const ConvShape& s, const T* x, int64_t x_size, const T* w, const T* bias, T* y) {
  const ConvKernels<T>& kernels = conv_kernels<T>(vector_unit());
  const int64_t taps = s.kernel_size(), lines = Map::lines(s), line = Map::width(s) * s.c;
  ScratchBuffer<T> weights(s.c * taps);
  turn(w, s.c, taps, weights.data());
  parallel_for(0, s.n * lines, grain_for(line * taps), [&](int64_t begin, int64_t end) {
    ScratchBuffer<int64_t, 2048> places(taps), rows(taps);
    for (int64_t i = begin; i < end; ++i)
      for_each_run<Map>(s, i % lines, places.data(), rows.data(), [&](int64_t first, const ConvReads& reads) {
        kernels.channels(
            {reads, x + i / lines * x_size, weights.data(), bias, y + i * line + first * s.c, Map::step(s) * s.c});
      });
  });
}

}  // namespace

bool are_channel_planes(const ConvShape& s) {
  return s.channels_last && s.groups > 1 && s.c == s.groups && s.o == s.groups && s.in[0] == 1 && s.out[0] == 1 &&
         s.kernel[0] == 1 && s.padding[0] == 0;
}

template <class T>
void channel_planes_forward(const ConvShape& s, const T* x, const T* w, const T* bias, T* y) {
  run_planes<Reads>(s, x, s.in_size() * s.c, w, bias, y);
}

template <class T>
void channel_planes_input_grad(const ConvShape& s, const T* gy, const T* w, T* gx) {
  run_planes<ReadBy, T>(s, gy, s.out_size() * s.c, w, nullptr, gx);
}

template <class T>
void channel_planes_weight_grad(const ConvShape& s, const T* gy, const T* x, T* gw) {
  const ConvKernels<T>& kernels = conv_kernels<T>(vector_unit());
  const int64_t taps = s.kernel_size(), size = taps * s.c;
  const Pieces parts = parts_of_sums(s, s.n * s.out[1]);  // lines
  ScratchBuffer<T> sums(parts.count * size);
  parallel_for(0, parts.count, grain_for(s.n * s.out_size() * size / parts.count), [&](int64_t begin, int64_t end) {
    ScratchBuffer<int64_t, 2048> places(taps), rows(taps);
    for (int64_t part = begin; part < end; ++part) {
      T* const out = sums.data() + part * size;
      std::fill_n(out, size, T(0));
      for (int64_t i = parts.start(part); i < parts.start(part + 1); ++i)
        for_each_run<Reads>(s, i % s.out[1], places.data(), rows.data(), [&](int64_t first, const ConvReads& reads) {
          kernels.channel_dots(
              {reads, x + i / s.out[1] * s.in_size() * s.c, gy + (i * s.out[2] + first) * s.c, s.c, out});
        });
    }
  });
  for (int64_t part = 1; part < parts.count; ++part)
    for (int64_t i = 0; i < size; ++i) sums.data()[i] += sums.data()[part * size + i];
  turn(sums.data(), taps, s.c, gw);
}

#define ARGAND_INSTANTIATE(T)                                                                  \
  template void channel_planes_forward<T>(const ConvShape&, const T*, const T*, const T*, T*); \
  template void channel_planes_input_grad<T>(const ConvShape&, const T*, const T*, T*);        \
  template void channel_planes_weight_grad<T>(const ConvShape&, const T*, const T*, T*);
ARGAND_INSTANTIATE(float)
ARGAND_INSTANTIATE(double)
#undef ARGAND_INSTANTIATE

}  // namespace argand::cpu
