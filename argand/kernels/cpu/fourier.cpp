#include "argand/kernels/cpu/fourier.h"

#include <algorithm>
#include <complex>

#include "argand/base/error.h"
#include "argand/kernels/cpu/fourier_plan.h"
#include "argand/kernels/cpu/scratch.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

constexpr int64_t kMostLanes = 16;
constexpr int64_t kGrain = 1 << 14;  // numbers that one thread takes at a time

// The number of lines that are transformed together: working memory stays in the L2 cache, and if lines are columns,
// whole cache lines are used.
int64_t lanes_for(int64_t room) { return room <= 1024 ? kMostLanes : room <= 4096 ? 8 : 4; }

// Lines that are transformed together: where each begins on either side.
struct Block {
  int64_t lanes;
  int64_t from[kMostLanes], to[kMostLanes];
};

// The working memory of a thread, for planes of element type T.
template <class T>
struct Work {
  ScratchBuffer<T> memory;
  int64_t size;
  explicit Work(int64_t elements) : memory(4 * elements), size(elements) {}
  Planes<T> first() { return {memory.data(), memory.data() + size}; }
  Planes<T> second() { return {memory.data() + 2 * size, memory.data() + 3 * size}; }
};

// f(block, work) for all lines, whose lengths differ on the two sides.
template <class T, class F>
void each_block(const FourierShape& s, int64_t from_length, int64_t to_length, int64_t room, F f) {
  const int64_t lines = s.outer * s.inner, lanes = std::min(lanes_for(room), std::max<int64_t>(lines, 1));
  const int64_t grain = std::max<int64_t>(1, kGrain / (room * lanes));
  parallel_for(0, (lines + lanes - 1) / lanes, grain, [&](int64_t begin, int64_t end) {
    Work<T> work(room * lanes);
    for (int64_t b = begin; b < end; ++b) {
      Block block{std::min(lanes, lines - b * lanes), {}, {}};
      for (int64_t l = 0; l < block.lanes; ++l) {
        const int64_t line = b * lanes + l, outer = line / s.inner, inner = line % s.inner;
        block.from[l] = outer * from_length * s.inner + inner;
        block.to[l] = outer * to_length * s.inner + inner;
      }
      f(block, work);
    }
  });
}

// f(element type of the tensors, that of the planes): float64 for lengths with large primes.
template <class F>
void with_types(ScalarType real, int64_t length, F f) {
  ARGAND_ASSERT(real == kFloat || real == kDouble);
  if (real == kDouble)
    f(double{}, double{});
  else if (FourierPlan<float>::needs_convolution(length))
    f(float{}, double{});
  else
    f(float{}, float{});
}

template <class T, class W>
void complex_lines(const FourierShape& s, const std::complex<T>* from, std::complex<T>* to) {
  const auto plan = FourierPlan<W>::of(s.n);
  const W scale = static_cast<W>(s.scale);
  each_block<W>(s, s.n, s.n, plan->room(), [&](const Block& b, Work<W>& work) {
    const Planes<W> x = work.first();
    for (int64_t j = 0; j < s.n; ++j)
      for (int64_t l = 0; l < b.lanes; ++l) {
        const std::complex<T> v = from[b.from[l] + j * s.inner];
        x.re[j * b.lanes + l] = v.real(), x.im[j * b.lanes + l] = v.imag();
      }
    const Planes<W> y =
        s.forward ? plan->run(x, work.second(), b.lanes) : plan->run(x.swapped(), work.second(), b.lanes).swapped();
    for (int64_t k = 0; k < s.n; ++k)
      for (int64_t l = 0; l < b.lanes; ++l)
        to[b.to[l] + k * s.inner] = {static_cast<T>(y.re[k * b.lanes + l] * scale),
                                     static_cast<T>(y.im[k * b.lanes + l] * scale)};
  });
}

// An even number of real numbers is half as many complex ones.
template <class T, class W>
void lines_from_real(const FourierShape& s, bool whole, const T* from, std::complex<T>* to) {
  const int64_t n = s.n, half = n / 2, pairs = n % 2 == 0 ? 2 : 1, length = n / pairs;
  const auto plan = FourierPlan<W>::of(length);
  const std::complex<W>* roots = pairs == 2 ? plan->joining_roots().data() : nullptr;
  const W scale = static_cast<W>(s.scale);
  each_block<W>(s, n, whole ? n : half + 1, plan->room(), [&](const Block& b, Work<W>& work) {
    const Planes<W> x = work.first();
    for (int64_t j = 0; j < length; ++j)
      for (int64_t l = 0; l < b.lanes; ++l) {
        const T* v = from + b.from[l] + j * pairs * s.inner;
        x.re[j * b.lanes + l] = v[0], x.im[j * b.lanes + l] = pairs == 2 ? v[s.inner] : T(0);
      }
    const Planes<W> y = plan->run(x, work.second(), b.lanes);
    for (int64_t k = 0; k <= half; ++k) {
      const int64_t at = k % length * b.lanes, mirrored = (length - k) % length * b.lanes;
      for (int64_t l = 0; l < b.lanes; ++l) {
        W re = y.re[at + l], im = y.im[at + l];
        if (pairs == 2) {
          const W even_re = re + y.re[mirrored + l], even_im = im - y.im[mirrored + l];
          const W odd_re = im + y.im[mirrored + l], odd_im = y.re[mirrored + l] - re;
          const W w_re = roots[k].real(), w_im = roots[k].imag();
          re = (even_re + (odd_re * w_re - odd_im * w_im)) / 2;
          im = (even_im + (odd_re * w_im + odd_im * w_re)) / 2;
        }
        // An element that is its own mirror image is real; rounding may leave an imaginary part.
        if (k == 0 || 2 * k == n) im = 0;
        const std::complex<T> value{static_cast<T>(re * scale), static_cast<T>(im * scale)};
        to[b.to[l] + k * s.inner] = value;
        if (whole && k > 0 && 2 * k < n) to[b.to[l] + (n - k) * s.inner] = std::conj(value);
      }
    }
  });
}

template <class T, class W>
void lines_to_real(const FourierShape& s, const std::complex<T>* from, T* to) {
  const int64_t n = s.n, half = n / 2, pairs = n % 2 == 0 ? 2 : 1, length = n / pairs;
  const auto plan = FourierPlan<W>::of(length);
  const std::complex<W>* roots = pairs == 2 ? plan->joining_roots().data() : nullptr;
  const W scale = static_cast<W>(s.scale);
  each_block<W>(s, half + 1, n, plan->room(), [&](const Block& b, Work<W>& work) {
    const Planes<W> x = work.first();
    const auto load = [&](int64_t k, int64_t l) {
      const std::complex<T> v = from[b.from[l] + k * s.inner];
      return std::complex<W>(v.real(), k == 0 || 2 * k == n ? T(0) : v.imag());
    };
    if (pairs == 1) {
      for (int64_t k = 0; k <= half; ++k)
        for (int64_t l = 0; l < b.lanes; ++l) {
          const std::complex<W> v = load(k, l);
          const int64_t at = k * b.lanes + l, mirrored = (n - k) % n * b.lanes + l;
          x.re[mirrored] = v.real(), x.im[mirrored] = -v.imag();
          x.re[at] = v.real(), x.im[at] = v.imag();
        }
    } else {
      for (int64_t k = 0; k < half; ++k)
        for (int64_t l = 0; l < b.lanes; ++l) {
          const std::complex<W> v = load(k, l), m = std::conj(load(half - k, l));
          const W odd_re = v.real() - m.real(), odd_im = v.imag() - m.imag();
          const W w_re = roots[k].real(), w_im = -roots[k].imag();
          x.re[k * b.lanes + l] = v.real() + m.real() - (odd_re * w_im + odd_im * w_re);
          x.im[k * b.lanes + l] = v.imag() + m.imag() + (odd_re * w_re - odd_im * w_im);
        }
    }
    const Planes<W> y = plan->run(x.swapped(), work.second(), b.lanes).swapped();
    for (int64_t j = 0; j < length; ++j)
      for (int64_t l = 0; l < b.lanes; ++l) {
        T* v = to + b.to[l] + j * pairs * s.inner;
        v[0] = static_cast<T>(y.re[j * b.lanes + l] * scale);
        if (pairs == 2) v[s.inner] = static_cast<T>(y.im[j * b.lanes + l] * scale);
      }
  });
}

}  // namespace

void fourier_complex(ScalarType real, const FourierShape& s, const void* from, void* to) {
  with_types(real, s.n, [&](auto element, auto worker) {
    using T = decltype(element);
    using C = std::complex<T>;
    complex_lines<T, decltype(worker)>(s, static_cast<const C*>(from), static_cast<C*>(to));
  });
}

void fourier_from_real(ScalarType real, const FourierShape& s, bool whole, const void* from, void* to) {
  with_types(real, s.n, [&](auto element, auto worker) {
    using T = decltype(element);
    lines_from_real<T, decltype(worker)>(s, whole, static_cast<const T*>(from), static_cast<std::complex<T>*>(to));
  });
}

void fourier_to_real(ScalarType real, const FourierShape& s, const void* from, void* to) {
  with_types(real, s.n, [&](auto element, auto worker) {
    using T = decltype(element);
    lines_to_real<T, decltype(worker)>(s, static_cast<const std::complex<T>*>(from), static_cast<T*>(to));
  });
}

}  // namespace argand::cpu
