#include "argand/kernels/cpu/random.h"

#include <cmath>
#include <limits>
#include <mutex>
#include <type_traits>
#include <utility>

#include "argand/kernels/cpu/random_blocks.h"
#include "argand/kernels/cpu/random_draws.h"

namespace argand::cpu {

namespace {

using Lock = std::lock_guard<std::mutex>;

// How many 32-bit draws a fraction of this type takes.
template <class T>
constexpr size_t kWordsOf = std::is_same_v<T, double> ? 2 : 1;

template <class T>
constexpr uint64_t full_range() {
  if constexpr (std::is_same_v<T, bool>) {
    return 2;
  } else if constexpr (std::numeric_limits<T>::is_integer) {
    return static_cast<uint64_t>(std::numeric_limits<T>::max()) + 1;
  } else {
    return (uint64_t{1} << std::numeric_limits<T>::digits) + 1;
  }
}

}  // namespace

template <class T>
void uniform(CpuGeneratorImpl& gen, T* out, int64_t n, double from, double to) {
  Lock lock(gen.mutex_);
  if constexpr (ReducedFloat<T>) {
    const Interval<float> interval{static_cast<float>(from), static_cast<float>(to)};
    const T low(interval.from), high(interval.to);
    for_each_batch<1>(gen.engine(), n, [&](const uint32_t* draws, size_t first, size_t count) {
      float samples[kDrawsAtOnce];
      to_uniform(draws, count, interval, samples);
      for (size_t i = 0; i < count; ++i) {
        const T x(samples[i]);
        out[first + i] = x == high ? low : x;
      }
    });
  } else {
    const Interval<T> interval{static_cast<T>(from), static_cast<T>(to)};
    for_each_batch<kWordsOf<T>>(gen.engine(), n, [&](const uint32_t* draws, size_t first, size_t count) {
      to_uniform(draws, count, interval, out + first);
    });
  }
}

// The remainder of each draw.  It is not uniform unless `range` is a power of two, but this is PyTorch's stream; for
// ranges in which this would matter 64 bits are used.
template <class T>
void random_from_to(CpuGeneratorImpl& gen, T* out, int64_t n, int64_t from, uint64_t range) {
  constexpr uint64_t kWideRange = uint64_t{1} << 28;
  const auto base = static_cast<uint64_t>(from);
  Lock lock(gen.mutex_);
  if (range >= kWideRange || range == 0) {
    for_each_batch<2>(gen.engine(), n, [&](const uint32_t* draws, size_t first, size_t count) {
      for (size_t i = 0; i < count; ++i) {
        const uint64_t draw = draw64(draws, i);
        out[first + i] = from_integer<T>(static_cast<int64_t>(range == 0 ? draw : draw % range + base));
      }
    });
  } else {
    const auto narrow = static_cast<uint32_t>(range);
    for_each_batch<1>(gen.engine(), n, [&](const uint32_t* draws, size_t first, size_t count) {
      for (size_t i = 0; i < count; ++i)
        out[first + i] = from_integer<T>(static_cast<int64_t>(draws[i] % narrow + base));
    });
  }
}

template <class T>
void random_full(CpuGeneratorImpl& gen, T* out, int64_t n) {
  constexpr uint64_t kRange = full_range<T>();
  constexpr bool kWide = std::is_same_v<T, int64_t> || std::is_same_v<T, double>;
  Lock lock(gen.mutex_);
  for_each_batch<kWide ? 2 : 1>(gen.engine(), n, [&](const uint32_t* draws, size_t first, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const uint64_t draw = kWide ? draw64(draws, i) : draws[i];
      out[first + i] = from_integer<T>(static_cast<int64_t>(draw % kRange));
    }
  });
}

// A fraction k / 2^digits is below p just when k is below p * 2^digits, which is exact: no conversion per element.
template <class T>
void bernoulli(CpuGeneratorImpl& gen, T* out, int64_t n, double p) {
  const auto limit = static_cast<uint64_t>(std::ceil(p * 0x1p53));
  Lock lock(gen.mutex_);
  for_each_batch<2>(gen.engine(), n, [&](const uint32_t* draws, size_t first, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const uint64_t fraction = draw64(draws, i) & ((uint64_t{1} << 53) - 1);
      out[first + i] = from_integer<T>(fraction < limit);
    }
  });
}

template <class T, class P>
void bernoulli(CpuGeneratorImpl& gen, T* out, const P* p, int64_t n) {
  using Fraction = std::conditional_t<std::is_same_v<P, double>, double, float>;
  Lock lock(gen.mutex_);
  for_each_batch<kWordsOf<P>>(gen.engine(), n, [&](const uint32_t* draws, size_t first, size_t count) {
    Fraction samples[kDrawsAtOnce / kWordsOf<P>];
    to_uniform(draws, count, Interval<Fraction>{0, 1}, samples);
    for (size_t i = 0; i < count; ++i)
      out[first + i] = from_integer<T>(samples[i] < static_cast<Fraction>(p[first + i]));
  });
}

namespace {

// Fisher and Yates: out[i] changes places with one of out[i], ..., out[n - 1].
template <class T>
void shuffle_forward(CpuGeneratorImpl& gen, T* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = from_integer<T>(i);
  for_each_batch<1>(gen.engine(), std::max<int64_t>(n - 1, 0), [&](const uint32_t* draws, size_t first, size_t count) {
    const size_t total = static_cast<size_t>(n);
    for (size_t i = first; i < first + count; ++i) std::swap(out[i], out[i + draws[i - first] % (total - i)]);
  });
}

// The same without initial values: element i takes the place of one of out[0], ..., out[i], which moves to the end.
template <class T>
void shuffle_inside_out(CpuGeneratorImpl& gen, T* out, int64_t n) {
  for_each_batch<2>(gen.engine(), n, [&](const uint32_t* draws, size_t first, size_t count) {
    for (size_t i = first; i < first + count; ++i) {
      const size_t place = draw64(draws, i - first) % (i + 1);
      out[i] = from_integer<T>(static_cast<int64_t>(i));
      std::swap(out[i], out[place]);
    }
  });
}

}  // namespace

template <class T>
void randperm(CpuGeneratorImpl& gen, T* out, int64_t n) {
  constexpr int64_t kLong = std::numeric_limits<uint32_t>::max() / 20;  // where the remainder's bias begins to matter
  Lock lock(gen.mutex_);
  n < kLong ? shuffle_forward(gen, out, n) : shuffle_inside_out(gen, out, n);
}

#define ARGAND_FOR_FLOATS(X) X(float) X(double) X(Half) X(BFloat16)
#define ARGAND_FOR_INTEGERS(X) X(int8_t) X(int16_t) X(int32_t) X(int64_t) X(uint8_t)
#define ARGAND_INSTANTIATE_UNIFORM(T) template void uniform(CpuGeneratorImpl&, T*, int64_t, double, double);
#define ARGAND_INSTANTIATE_ANY(T)                                                  \
  template void random_from_to(CpuGeneratorImpl&, T*, int64_t, int64_t, uint64_t); \
  template void random_full(CpuGeneratorImpl&, T*, int64_t);                       \
  template void bernoulli(CpuGeneratorImpl&, T*, int64_t, double);                 \
  template void bernoulli(CpuGeneratorImpl&, T*, const float*, int64_t);           \
  template void bernoulli(CpuGeneratorImpl&, T*, const double*, int64_t);          \
  template void bernoulli(CpuGeneratorImpl&, T*, const Half*, int64_t);            \
  template void bernoulli(CpuGeneratorImpl&, T*, const BFloat16*, int64_t);
#define ARGAND_INSTANTIATE_PERM(T) template void randperm(CpuGeneratorImpl&, T*, int64_t);

ARGAND_FOR_FLOATS(ARGAND_INSTANTIATE_UNIFORM)
ARGAND_FOR_FLOATS(ARGAND_INSTANTIATE_ANY)
ARGAND_FOR_INTEGERS(ARGAND_INSTANTIATE_ANY)
ARGAND_INSTANTIATE_ANY(bool)
ARGAND_FOR_FLOATS(ARGAND_INSTANTIATE_PERM)
ARGAND_FOR_INTEGERS(ARGAND_INSTANTIATE_PERM)

}  // namespace argand::cpu
