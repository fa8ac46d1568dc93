#include <cmath>
#include <cstdint>
#include <mutex>
#include <numbers>
#include <type_traits>

#include "argand/kernels/cpu/random.h"
#include "argand/kernels/cpu/random_blocks.h"
#include "argand/kernels/cpu/random_draws.h"

namespace argand::cpu {

namespace {

// out[i] = transform(u) for fractions u in [0, 1) of 53 bits: all these distributions are computed in double.
template <class T, class Transform>
void from_fractions(CpuGeneratorImpl& gen, T* out, int64_t n, Transform transform) {
  std::lock_guard<std::mutex> lock(gen.mutex_);
  for_each_batch<2>(gen.engine(), n, [&](const uint32_t* draws, size_t first, size_t count) {
    double u[kDrawsAtOnce / 2];
    to_uniform(draws, count, Interval<double>{0.0, 1.0}, u);
    for (size_t i = 0; i < count; ++i) out[first + i] = from_double<T>(transform(u[i]));
  });
}

}  // namespace

template <class T>
void exponential(CpuGeneratorImpl& gen, T* out, int64_t n, double lambda) {
  const double scale = -1.0 / lambda;
  from_fractions(gen, out, n, [=](double u) { return scale * std::log1p(-u); });
}

template <class T>
void geometric(CpuGeneratorImpl& gen, T* out, int64_t n, double p) {
  const double log_failure = std::log1p(-p);
  from_fractions(gen, out, n, [=](double u) { return std::ceil(std::log(u) / log_failure); });
}

template <class T>
void cauchy(CpuGeneratorImpl& gen, T* out, int64_t n, double median, double sigma) {
  from_fractions(gen, out, n,
                 [=](double u) { return std::fma(sigma, std::tan(std::numbers::pi * (u - 0.5)), median); });
}

#define ARGAND_INSTANTIATE_FLOATING(T)                                  \
  template void exponential(CpuGeneratorImpl&, T*, int64_t, double);    \
  template void cauchy(CpuGeneratorImpl&, T*, int64_t, double, double); \
  template void geometric(CpuGeneratorImpl&, T*, int64_t, double);
#define ARGAND_INSTANTIATE_INTEGER(T) template void geometric(CpuGeneratorImpl&, T*, int64_t, double);

ARGAND_INSTANTIATE_FLOATING(float)
ARGAND_INSTANTIATE_FLOATING(double)
ARGAND_INSTANTIATE_FLOATING(Half)
ARGAND_INSTANTIATE_FLOATING(BFloat16)
ARGAND_INSTANTIATE_INTEGER(int8_t)
ARGAND_INSTANTIATE_INTEGER(int16_t)
ARGAND_INSTANTIATE_INTEGER(int32_t)
ARGAND_INSTANTIATE_INTEGER(int64_t)
ARGAND_INSTANTIATE_INTEGER(uint8_t)

}  // namespace argand::cpu
