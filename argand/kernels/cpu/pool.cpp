#include "argand/kernels/cpu/pool.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/pool_channels_last.h"
#include "argand/kernels/cpu/pool_windows.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

template <class F>
void for_each_plane(const PoolShape& s, F body) {
  const int64_t work = std::max<int64_t>(s.in_size() + s.out_size(), 1);
  parallel_for(0, s.planes, std::max<int64_t>(1, 32768 / work), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) body(p);
  });
}

// visit(output position, z range, y range, x range)
template <class Windows, class F>
void for_each_window(const PoolShape& s, F visit) {
  int64_t o = 0;
  for (int64_t z = 0; z < s.out[0]; ++z) {
    const Range rz = Windows::of(s, 0, z);
    for (int64_t y = 0; y < s.out[1]; ++y) {
      const Range ry = Windows::of(s, 1, y);
      for (int64_t x = 0; x < s.out[2]; ++x, ++o) visit(o, rz, ry, Windows::of(s, 2, x));
    }
  }
}

// The most common pooling: 2x2 windows that neither overlap nor reach outside.  For small planes it takes half the time
// of pooling by rows.
bool is_2x2(const PoolShape& s) {
  return s.in[0] == 1 && s.out[0] == 1 && s.kernel[0] == 1 && s.kernel[1] == 2 && s.kernel[2] == 2 &&
         s.stride[1] == 2 && s.stride[2] == 2 && s.padding == std::array<int64_t, 3>{0, 0, 0} &&
         s.dilation == std::array<int64_t, 3>{1, 1, 1} && s.out[1] * 2 <= s.in[1] && s.out[2] * 2 <= s.in[2];
}

// One row of the output from two of the input, whose elements lie `below` apart and begin at position `base` of the
// plane.
template <class T, class I>
struct MaxPool2x2Body {
  ARGAND_INLINE static void run(const T* in, int64_t below, int64_t base, int64_t n, T* out, I* positions) {
    constexpr int64_t kBlock = 64;
    int32_t chosen[kBlock];  // narrow, because int64 choices would halve the vectors of the comparison
    for (int64_t first = 0; first < n; first += kBlock, in += 2 * kBlock, out += kBlock, positions += kBlock) {
      const int64_t count = std::min(kBlock, n - first);
      ARGAND_VECTORIZE
      for (int64_t x = 0; x < count; ++x) {
        T value = in[2 * x];
        int32_t k = 0;
        const T b = in[2 * x + 1], c = in[2 * x + below], d = in[2 * x + 1 + below];
        k = wins(b, value) ? 1 : k;
        value = wins(b, value) ? b : value;
        k = wins(c, value) ? 2 : k;
        value = wins(c, value) ? c : value;
        k = wins(d, value) ? 3 : k;
        value = wins(d, value) ? d : value;
        out[x] = value;
        chosen[x] = k;
      }
      const int64_t at = base + 2 * first;
      ARGAND_VECTORIZE
      for (int64_t x = 0; x < count; ++x)
        positions[x] = static_cast<I>(at + 2 * x + (chosen[x] & 1) + (chosen[x] >= 2 ? below : 0));
    }
  }
};

template <class T, class I>
void max_pool_2x2(const PoolShape& s, const T* in, T* out, I* positions) {
  const int64_t width = s.in[2], n = s.out[2];
  for (int64_t y = 0; y < s.out[1]; ++y, out += n, positions += n) {
    const int64_t base = 2 * y * width;
    run_body<T, MaxPool2x2Body<T, I>>(in + base, width, base, n, out, positions);
  }
}

// Windows of one plane without dilation whose neighbours are one or two elements apart: of a row of the output, all
// that do not reach beyond the sides are compared at once.
bool has_rows(const PoolShape& s) {
  return s.in[0] == 1 && s.out[0] == 1 && s.kernel[0] == 1 && s.padding[0] == 0 && s.stride[2] <= 2 &&
         s.dilation == std::array<int64_t, 3>{1, 1, 1} && s.in_size() <= std::numeric_limits<int32_t>::max();
}

// n windows of `rows` x `columns` elements, the first at `in`, which is at position `base` of the plane.
template <class T, class I, int Stride>
struct MaxPoolRowBody {
  ARGAND_INLINE static void run(const T* in, int64_t rows, int64_t columns, int64_t width, int64_t base, int64_t n,
                                T* out, I* positions) {
    constexpr int64_t kBlock = 64;
    T best[kBlock];
    int32_t chosen[kBlock];  // narrow, because int64 choices would halve the vectors of the comparison
    for (int64_t first = 0; first < n; first += kBlock) {
      const int64_t count = std::min(kBlock, n - first);
      const T* const begin = in + first * Stride;
      for (int64_t x = 0; x < count; ++x) best[x] = begin[x * Stride], chosen[x] = 0;
      for (int64_t y = 0; y < rows; ++y)
        for (int64_t k = y == 0 ? 1 : 0; k < columns; ++k) {
          const T* const from = begin + y * width + k;
          const auto offset = static_cast<int32_t>(y * width + k);
          ARGAND_VECTORIZE
          for (int64_t x = 0; x < count; ++x) {
            const T candidate = from[x * Stride], before = best[x];
            chosen[x] = wins(candidate, before) ? offset : chosen[x];
            best[x] = wins(candidate, before) ? candidate : before;
          }
        }
      const int64_t at = base + first * Stride;
      ARGAND_VECTORIZE
      for (int64_t x = 0; x < count; ++x) {
        out[first + x] = best[x];
        positions[first + x] = static_cast<I>(at + x * Stride + chosen[x]);
      }
    }
  }
};

template <class T, class I, int Stride>
void run_rows(const T* in, int64_t rows, int64_t columns, int64_t width, int64_t base, int64_t n, T* out,
              I* positions) {
  run_body<T, MaxPoolRowBody<T, I, Stride>>(in, rows, columns, width, base, n, out, positions);
}

template <class T, class I>
void max_pool_window(const PoolShape& s, const Range& rz, const Range& ry, const Range& rx, const T* in, T* out,
                     I* position) {
  const bool none = rz.begin >= rz.end || ry.begin >= ry.end || rx.begin >= rx.end;
  int64_t best = none ? kNowhere : (rz.begin * s.in[1] + ry.begin) * s.in[2] + rx.begin;
  T value = none ? maximum_of_none<T>() : in[best];
  for_each_position(s, rz, ry, rx, [&](int64_t i) {
    if (!wins(in[i], value)) return;
    value = in[i];
    best = i;
  });
  *out = value;
  *position = static_cast<I>(best);
}

template <class Windows, class T, class I>
void max_pool_plane(const PoolShape& s, const T* in, T* out, I* positions) {
  for_each_window<Windows>(s, [&](int64_t o, const Range& rz, const Range& ry, const Range& rx) {
    max_pool_window(s, rz, ry, rx, in, out + o, positions + o);
  });
}

template <class T, class I>
void max_pool_rows(const PoolShape& s, const T* in, T* out, I* positions) {
  const int64_t stride = s.stride[2], width = s.in[2], n = s.out[2];
  const int64_t first = std::min((s.padding[2] + stride - 1) / stride, n);
  const int64_t room = width + s.padding[2] - s.kernel[2],
                last = std::clamp(room < 0 ? 0 : room / stride + 1, first, n);
  for (int64_t y = 0; y < s.out[1]; ++y, out += n, positions += n) {
    const Range ry = FixedWindows::of(s, 1, y);
    const auto edge = [&](int64_t x) {
      max_pool_window(s, {0, 1, 1}, ry, FixedWindows::of(s, 2, x), in, out + x, positions + x);
    };
    for (int64_t x = 0; x < first; ++x) edge(x);
    const int64_t base = ry.begin * width + first * stride - s.padding[2];
    if (last > first)
      (stride == 1 ? &run_rows<T, I, 1> : &run_rows<T, I, 2>)(in + base, ry.end - ry.begin, s.kernel[2], width, base,
                                                              last - first, out + first, positions + first);
    for (int64_t x = last; x < n; ++x) edge(x);
  }
}

template <class Windows, DtypeSet kPositions>
void max_pool_with(const PoolShape& s, ScalarType dtype, const void* x, void* y, const Positions& positions) {
  dispatch<kPoolTypes>(dtype, "max_pool", [&](auto tag) {
    using T = typename decltype(tag)::type;
    dispatch<kPositions>(positions.dtype, "max_pool", [&](auto position_tag) {
      using I = typename decltype(position_tag)::type;
      constexpr bool kFixed = std::is_same_v<Windows, FixedWindows>;
      const bool simple = kFixed && is_2x2(s), by_rows = kFixed && has_rows(s);
      for_each_plane(s, [&](int64_t p) {
        const T* in = static_cast<const T*>(x) + p * s.in_size();
        T* out = static_cast<T*>(y) + p * s.out_size();
        I* at = static_cast<I*>(positions.data) + p * s.out_size();
        if (simple)
          max_pool_2x2(s, in, out, at);
        else if (by_rows)
          max_pool_rows(s, in, out, at);
        else
          max_pool_plane<Windows>(s, in, out, at);
      });
    });
  });
}

// each(position of the output, divisor, ranges)
template <class Windows, class T, class F>
void average_windows(const PoolShape& s, const AverageDivisor& d, F each) {
  for_each_window<Windows>(s, [&](int64_t o, const Range& rz, const Range& ry, const Range& rx) {
    const std::array<int64_t, 3> at{o / (s.out[1] * s.out[2]), o / s.out[2] % s.out[1], o % s.out[2]};
    const int64_t n = covered(rz, ry, rx);
    const auto divisor =
        std::is_same_v<Windows, AdaptiveWindows> ? static_cast<op_math_t<T>>(n) : divisor_of<T>(s, d, at, n);
    each(o, divisor, rz, ry, rx);
  });
}

template <class T>
[[gnu::noinline]] op_math_t<T> sum_of_long_window(const PoolShape& s, const Range& rz, const Range& ry, const Range& rx,
                                                  const T* in) {
  using A = op_math_t<T>;
  A total{}, part{};
  int64_t left = kAveragePiece;
  for (int64_t z = rz.begin; z < rz.end; z += rz.step)
    for (int64_t y = ry.begin; y < ry.end; y += ry.step) {
      const T* row = in + (z * s.in[1] + y) * s.in[2];
      for (int64_t x = rx.begin; x < rx.end;) {
        const int64_t n = std::min(left, (rx.end - x + rx.step - 1) / rx.step);
        for (const int64_t end = x + n * rx.step; x < end; x += rx.step) part += static_cast<A>(row[x]);
        if (left -= n; left > 0) continue;
        total += std::exchange(part, A{});
        left = kAveragePiece;
      }
    }
  return total + part;
}

template <class Windows>
void avg_pool_with(const PoolShape& s, ScalarType dtype, const AverageDivisor& d, const void* x, void* y) {
  dispatch<kFloatingTypes | dtype_bit(kLong)>(dtype, "avg_pool", [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_plane(s, [&](int64_t p) {
      const T* in = static_cast<const T*>(x) + p * s.in_size();
      T* out = static_cast<T*>(y) + p * s.out_size();
      average_windows<Windows, T>(
          s, d, [&](int64_t o, op_math_t<T> divisor, const Range& rz, const Range& ry, const Range& rx) {
            op_math_t<T> total{};
            if (covered(rz, ry, rx) > kAveragePiece) [[unlikely]]
              total = sum_of_long_window(s, rz, ry, rx, in);
            else
              for_each_position(s, rz, ry, rx, [&](int64_t i) { total += static_cast<op_math_t<T>>(in[i]); });
            out[o] = static_cast<T>(total / divisor);
          });
    });
  });
}

template <class Windows>
void avg_pool_backward_with(const PoolShape& s, ScalarType dtype, const AverageDivisor& d, const void* grad_y,
                            void* grad_x) {
  dispatch<kFloatingTypes>(dtype, "avg_pool_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_plane(s, [&](int64_t p) {
      const T* gy = static_cast<const T*>(grad_y) + p * s.out_size();
      T* gx = static_cast<T*>(grad_x) + p * s.in_size();
      std::fill(gx, gx + s.in_size(), T(0));
      average_windows<Windows, T>(
          s, d, [&](int64_t o, op_math_t<T> divisor, const Range& rz, const Range& ry, const Range& rx) {
            const op_math_t<T> share = static_cast<op_math_t<T>>(gy[o]) / divisor;
            for_each_position(s, rz, ry, rx,
                              [&](int64_t i) { gx[i] = static_cast<T>(static_cast<op_math_t<T>>(gx[i]) + share); });
          });
    });
  });
}

}  // namespace

bool pools_take_channels_last(const PoolShape& s) { return s.in_size() <= std::numeric_limits<int32_t>::max(); }

void max_pool(const PoolShape& s, ScalarType dtype, const void* x, void* y, const Positions& positions) {
  if (s.channels) return channels_last::max_pool(s, dtype, false, x, y, positions);
  max_pool_with<FixedWindows, kPositionTypes>(s, dtype, x, y, positions);
}
void adaptive_max_pool(const PoolShape& s, ScalarType dtype, const void* x, void* y, const Positions& positions) {
  if (s.channels) return channels_last::max_pool(s, dtype, true, x, y, positions);
  max_pool_with<AdaptiveWindows, dtype_bit(kLong)>(s, dtype, x, y, positions);
}

void max_pool_backward(const PoolShape& s, ScalarType dtype, const void* grad_y, const ConstPositions& positions,
                       void* grad_x) {
  if (s.channels) return channels_last::max_pool_backward(s, dtype, grad_y, positions, grad_x);
  dispatch<kFloatingTypes>(dtype, "max_pool_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    dispatch<kPositionTypes>(positions.dtype, "max_pool_backward", [&](auto position_tag) {
      for_each_plane(s, [&](int64_t p) {
        const T* gy = static_cast<const T*>(grad_y) + p * s.out_size();
        const auto* at = static_cast<const typename decltype(position_tag)::type*>(positions.data) + p * s.out_size();
        T* gx = static_cast<T*>(grad_x) + p * s.in_size();
        std::fill(gx, gx + s.in_size(), T(0));
        for (int64_t o = 0; o < s.out_size(); ++o)
          if (at[o] != kNowhere)
            gx[at[o]] = static_cast<T>(static_cast<op_math_t<T>>(gx[at[o]]) + static_cast<op_math_t<T>>(gy[o]));
      });
    });
  });
}

void avg_pool(const PoolShape& s, ScalarType dtype, const AverageDivisor& d, const void* x, void* y) {
  if (s.channels) return channels_last::avg_pool(s, dtype, false, d, x, y);
  avg_pool_with<FixedWindows>(s, dtype, d, x, y);
}
void avg_pool_backward(const PoolShape& s, ScalarType dtype, const AverageDivisor& d, const void* grad_y,
                       void* grad_x) {
  if (s.channels) return channels_last::avg_pool_backward(s, dtype, false, d, grad_y, grad_x);
  avg_pool_backward_with<FixedWindows>(s, dtype, d, grad_y, grad_x);
}
void adaptive_avg_pool(const PoolShape& s, ScalarType dtype, const void* x, void* y) {
  if (s.channels) return channels_last::avg_pool(s, dtype, true, {}, x, y);
  avg_pool_with<AdaptiveWindows>(s, dtype, {}, x, y);
}
void adaptive_avg_pool_backward(const PoolShape& s, ScalarType dtype, const void* grad_y, void* grad_x) {
  if (s.channels) return channels_last::avg_pool_backward(s, dtype, true, {}, grad_y, grad_x);
  avg_pool_backward_with<AdaptiveWindows>(s, dtype, {}, grad_y, grad_x);
}

}  // namespace argand::cpu
