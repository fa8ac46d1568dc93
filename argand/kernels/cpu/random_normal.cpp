#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <type_traits>

#include "argand/base/half_convert.h"
#include "argand/kernels/cpu/random.h"
#include "argand/kernels/cpu/random_blocks.h"
#include "argand/kernels/cpu/random_draws.h"

namespace argand::cpu {

double standard_normal(CpuGeneratorImpl& gen) {
  if (const auto cached = gen.take_cached_normal()) return *cached;
  const double angle = 2.0 * std::numbers::pi * fraction(gen);
  const double radius = std::sqrt(-2.0 * std::log1p(-fraction(gen)));
  gen.cache_normal(radius * std::sin(angle));
  return radius * std::cos(angle);
}

namespace {

constexpr size_t kBlock = 16;

// The type in which samples of T are drawn and computed.
template <class T>
using Compute = std::conditional_t<std::is_same_v<T, double>, double, float>;
template <class T>
constexpr size_t kWordsOf = sizeof(Compute<T>) / sizeof(uint32_t);

template <class T>
void draws_to_normal(const uint32_t* draws, size_t count, T mean, T std, T* out) {
  to_uniform(draws, count, Interval<T>{0, 1}, out);
  to_normal(out, count / kBlock, mean, std);
}

template <ReducedFloat T>
void draws_to_normal(const uint32_t* draws, size_t count, float mean, float std, T* out) {
  float samples[kDrawsAtOnce];
  draws_to_normal(draws, count, mean, std, samples);
  convert(samples, out, static_cast<int64_t>(count));
}

// Samples for `blocks` whole blocks.
template <class T>
void fill_blocks(Mt19937& engine, T* out, size_t blocks, double mean, double std) {
  const auto m = static_cast<Compute<T>>(mean), s = static_cast<Compute<T>>(std);
  for_each_batch<kWordsOf<T>>(
      engine, static_cast<int64_t>(blocks * kBlock),
      [&](const uint32_t* draws, size_t first, size_t count) { draws_to_normal(draws, count, m, s, out + first); });
}

template <class T>
void serial(CpuGeneratorImpl& gen, T* out, int64_t n, double mean, double std) {
  for (int64_t i = 0; i < n; ++i) out[i] = from_double<T>(std::fma(standard_normal(gen), std, mean));
}

}  // namespace

template <class T>
void normal_serial(CpuGeneratorImpl& gen, T* out, int64_t n, double mean, double std) {
  std::lock_guard<std::mutex> lock(gen.mutex_);
  serial(gen, out, n, mean, std);
}

template <class T>
void normal(CpuGeneratorImpl& gen, T* out, int64_t n, double mean, double std) {
  std::lock_guard<std::mutex> lock(gen.mutex_);
  const size_t size = static_cast<size_t>(n);
  if (size < kBlock) return serial(gen, out, n, mean, std);
  fill_blocks(gen.engine(), out, size / kBlock, mean, std);
  const size_t rest = size % kBlock;
  if (rest == 0) return;
  // The last 16 elements are drawn again.  float and double have consumed the draws of the unfinished block by then.
  if constexpr (!ReducedFloat<T>) {
    uint32_t unused[2 * kBlock];
    gen.engine().fill(unused, rest * kWordsOf<T>);
  }
  fill_blocks(gen.engine(), out + (size - kBlock), 1, mean, std);
}

template <class T>
void log_normal(CpuGeneratorImpl& gen, T* out, int64_t n, double mean, double std) {
  std::lock_guard<std::mutex> lock(gen.mutex_);
  for (int64_t i = 0; i < n; ++i) out[i] = from_double<T>(std::exp(std::fma(standard_normal(gen), std, mean)));
}

#define ARGAND_INSTANTIATE(T)                                               \
  template void normal(CpuGeneratorImpl&, T*, int64_t, double, double);     \
  template void log_normal(CpuGeneratorImpl&, T*, int64_t, double, double); \
  template void normal_serial(CpuGeneratorImpl&, T*, int64_t, double, double);

ARGAND_INSTANTIATE(float)
ARGAND_INSTANTIATE(double)
ARGAND_INSTANTIATE(Half)
ARGAND_INSTANTIATE(BFloat16)

}  // namespace argand::cpu
