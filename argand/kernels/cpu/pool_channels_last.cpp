#include "argand/kernels/cpu/pool_channels_last.h"

#include <algorithm>
#include <vector>

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/pool_windows.h"
#include "argand/runtime/cpu/thread_pool.h"

// Vectors lie along the channels: what a window does with its elements, it does for a block of channels at once.

namespace argand::cpu::channels_last {
namespace {

constexpr int64_t kBlock = 64;  // channels at a time
constexpr int64_t kWork = 32768;

// Keeps the steps of the loop around it apart: GCC does two at once, but then without vectors.
template <class P>
ARGAND_INLINE P* alone(P* p) {
  asm volatile("" : "+r"(p));
  return p;
}

// Elements of an image that a window covers, as places in a plane.
struct Window {
  std::array<int64_t, 3> at;  // the output's
  std::vector<int32_t> places;

  void cover(const PoolShape& s, bool adaptive, int64_t o) {
    at = {o / (s.out[1] * s.out[2]), o / s.out[2] % s.out[1], o % s.out[2]};
    Range r[3];
    for (int d = 0; d < 3; ++d) {
      const int64_t i = at[static_cast<size_t>(d)];
      r[d] = adaptive ? AdaptiveWindows::of(s, d, i) : FixedWindows::of(s, d, i);
    }
    places.clear();
    for_each_position(s, r[0], r[1], r[2], [&](int64_t place) { places.push_back(static_cast<int32_t>(place)); });
  }
};

// visit(image, output position, window) for all of them, each by one thread.
template <class F>
void for_each_output(const PoolShape& s, bool adaptive, F visit) {
  const int64_t images = s.planes / s.channels, per_output = s.channels * (1 + s.in_size() / s.out_size());
  parallel_for(0, images * s.out_size(), std::max<int64_t>(1, kWork / per_output), [&](int64_t begin, int64_t end) {
    Window window;
    for (int64_t i = begin; i < end; ++i) {
      window.cover(s, adaptive, i % s.out_size());
      visit(i / s.out_size(), i % s.out_size(), window);
    }
  });
}

// visit(image, first channel, channels) for blocks of channels, each by one thread: windows that overlap add up in the
// order of the outputs.
template <class F>
void for_each_block(const PoolShape& s, F visit) {
  const int64_t images = s.planes / s.channels, blocks = (s.channels + kBlock - 1) / kBlock;
  const int64_t work = std::max<int64_t>(1, (s.in_size() + s.out_size()) * std::min(kBlock, s.channels));
  parallel_for(0, images * blocks, std::max<int64_t>(1, kWork / work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % blocks * kBlock;
      visit(i / blocks, first, std::min(kBlock, s.channels - first));
    }
  });
}

template <class T, class I>
struct MaxBody {
  ARGAND_INLINE static void run(const T* in, int64_t channels, const int32_t* places, int64_t count, T* out,
                                I* positions) {
    T best[kBlock];
    int32_t chosen[kBlock];
    for (int64_t first = 0; first < channels; first += kBlock) {
      const int64_t n = std::min(kBlock, channels - first);
      for (int64_t c = 0; c < n; ++c) best[c] = in[places[0] * channels + first + c], chosen[c] = places[0];
      for (int64_t k = 1; k < count; ++k) {
        const T* const from = alone(in + places[k] * channels + first);
        const int32_t place = places[k];
        ARGAND_VECTORIZE
        for (int64_t c = 0; c < n; ++c) {
          const T candidate = from[c], before = best[c];
          const int32_t at = chosen[c];
          const bool better = wins(candidate, before);
          chosen[c] = better ? place : at;
          best[c] = better ? candidate : before;
        }
      }
      ARGAND_VECTORIZE
      for (int64_t c = 0; c < n; ++c) {
        out[first + c] = best[c];
        positions[first + c] = static_cast<I>(chosen[c]);
      }
    }
  }
};

template <class T>
struct AverageBody {
  using A = op_math_t<T>;
  ARGAND_INLINE static void add(const T* in, int64_t channels, const int32_t* places, int64_t k, int64_t end, int64_t n,
                                A* sum) {
    for (int64_t c = 0; c < n; ++c) sum[c] = A{};
    for (; k < end; ++k) {
      const T* const from = alone(in + places[k] * channels);
      ARGAND_VECTORIZE
      for (int64_t c = 0; c < n; ++c) sum[c] = sum[c] + static_cast<A>(from[c]);
    }
  }
  ARGAND_INLINE static void run(const T* in, int64_t channels, const int32_t* places, int64_t count, A divisor,
                                T* out) {
    A total[kBlock], part[kBlock];
    for (int64_t first = 0; first < channels; first += kBlock) {
      const int64_t n = std::min(kBlock, channels - first);
      const int64_t in_total = std::min(count, kAveragePiece);
      add(in + first, channels, places, 0, in_total, n, total);
      for (int64_t k = in_total; k < count; k += kAveragePiece) {
        add(in + first, channels, places, k, std::min(count, k + kAveragePiece), n, part);
        for (int64_t c = 0; c < n; ++c) total[c] = total[c] + part[c];
      }
      ARGAND_VECTORIZE
      for (int64_t c = 0; c < n; ++c) out[first + c] = static_cast<T>(total[c] / divisor);
    }
  }
};

// Adds the share of n channels of an output, at most kBlock, to the elements of its window.
template <class T>
struct ShareBody {
  using A = op_math_t<T>;
  ARGAND_INLINE static void run(const T* gy, int64_t n, A divisor, const int32_t* places, int64_t count,
                                int64_t channels, T* gx) {
    A share[kBlock];
    ARGAND_VECTORIZE
    for (int64_t c = 0; c < n; ++c) share[c] = static_cast<A>(gy[c]) / divisor;
    for (int64_t k = 0; k < count; ++k) {
      T* const to = alone(gx + places[k] * channels);
      ARGAND_VECTORIZE
      for (int64_t c = 0; c < n; ++c) to[c] = static_cast<T>(static_cast<A>(to[c]) + share[c]);
    }
  }
};

template <class T>
op_math_t<T> divisor_for(const PoolShape& s, bool adaptive, const AverageDivisor& d, const Window& w) {
  const auto covered = static_cast<int64_t>(w.places.size());
  return adaptive ? static_cast<op_math_t<T>>(covered) : divisor_of<T>(s, d, w.at, covered);
}

}  // namespace

void max_pool(const PoolShape& s, ScalarType dtype, bool adaptive, const void* x, void* y, const Positions& positions) {
  if (s.planes == 0 || s.out_size() == 0) return;
  dispatch<kPoolTypes>(dtype, "max_pool", [&](auto tag) {
    using T = typename decltype(tag)::type;
    dispatch<kPositionTypes>(positions.dtype, "max_pool", [&](auto position_tag) {
      using I = typename decltype(position_tag)::type;
      for_each_output(s, adaptive, [&](int64_t image, int64_t o, const Window& w) {
        const int64_t at = (image * s.out_size() + o) * s.channels;
        if (w.places.empty()) {
          std::fill_n(static_cast<T*>(y) + at, s.channels, maximum_of_none<T>());
          std::fill_n(static_cast<I*>(positions.data) + at, s.channels, static_cast<I>(kNowhere));
          return;
        }
        run_body<T, MaxBody<T, I>>(static_cast<const T*>(x) + image * s.in_size() * s.channels, s.channels,
                                   w.places.data(), static_cast<int64_t>(w.places.size()), static_cast<T*>(y) + at,
                                   static_cast<I*>(positions.data) + at);
      });
    });
  });
}

void max_pool_backward(const PoolShape& s, ScalarType dtype, const void* grad_y, const ConstPositions& positions,
                       void* grad_x) {
  if (s.planes == 0) return;
  dispatch<kFloatingTypes>(dtype, "max_pool_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = op_math_t<T>;
    dispatch<kPositionTypes>(positions.dtype, "max_pool_backward", [&](auto position_tag) {
      using I = typename decltype(position_tag)::type;
      for_each_block(s, [&](int64_t image, int64_t first, int64_t n) {
        T* const gx = static_cast<T*>(grad_x) + image * s.in_size() * s.channels + first;
        for (int64_t i = 0; i < s.in_size(); ++i) std::fill_n(gx + i * s.channels, n, T(0));
        const int64_t begin = image * s.out_size() * s.channels + first;
        for (int64_t o = 0; o < s.out_size(); ++o) {
          const T* const gy = static_cast<const T*>(grad_y) + begin + o * s.channels;
          const I* const at = static_cast<const I*>(positions.data) + begin + o * s.channels;
          for (int64_t c = 0; c < n; ++c) {
            if (at[c] == kNowhere) continue;
            T& to = gx[at[c] * s.channels + c];
            to = static_cast<T>(static_cast<A>(to) + static_cast<A>(gy[c]));
          }
        }
      });
    });
  });
}

void avg_pool(const PoolShape& s, ScalarType dtype, bool adaptive, const AverageDivisor& d, const void* x, void* y) {
  if (s.planes == 0 || s.out_size() == 0) return;
  dispatch<kFloatingTypes | dtype_bit(kLong)>(dtype, "avg_pool", [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_output(s, adaptive, [&](int64_t image, int64_t o, const Window& w) {
      run_body<T, AverageBody<T>>(static_cast<const T*>(x) + image * s.in_size() * s.channels, s.channels,
                                  w.places.data(), static_cast<int64_t>(w.places.size()),
                                  divisor_for<T>(s, adaptive, d, w),
                                  static_cast<T*>(y) + (image * s.out_size() + o) * s.channels);
    });
  });
}

void avg_pool_backward(const PoolShape& s, ScalarType dtype, bool adaptive, const AverageDivisor& d, const void* grad_y,
                       void* grad_x) {
  if (s.planes == 0) return;
  dispatch<kFloatingTypes>(dtype, "avg_pool_backward", [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_block(s, [&](int64_t image, int64_t first, int64_t n) {
      T* const gx = static_cast<T*>(grad_x) + image * s.in_size() * s.channels + first;
      for (int64_t i = 0; i < s.in_size(); ++i) std::fill_n(gx + i * s.channels, n, T(0));
      Window w;
      for (int64_t o = 0; o < s.out_size(); ++o) {
        w.cover(s, adaptive, o);
        run_body<T, ShareBody<T>>(static_cast<const T*>(grad_y) + (image * s.out_size() + o) * s.channels + first, n,
                                  divisor_for<T>(s, adaptive, d, w), w.places.data(),
                                  static_cast<int64_t>(w.places.size()), s.channels, gx);
      }
    });
  });
}

}  // namespace argand::cpu::channels_last
