// Samples whose number of draws is itself random: gamma, Poisson, binomial.
#include <algorithm>
#include <limits>
#include <mutex>

#include "argand/kernels/cpu/random.h"
#include "argand/kernels/cpu/random_draws.h"
#include "argand/kernels/rejection.h"

namespace argand::cpu {

namespace {

struct CpuSource {
  CpuGeneratorImpl& generator;
  double fraction() { return cpu::fraction(generator); }
  double normal() { return standard_normal(generator); }
};

}  // namespace

template <class T>
void standard_gamma(CpuGeneratorImpl& gen, T* out, const T* alpha, int64_t n) {
  const std::lock_guard lock(gen.mutex_);
  CpuSource source{gen};
  const auto least = static_cast<double>(std::numeric_limits<T>::min());
  for (int64_t i = 0; i < n; ++i)
    out[i] = from_double<T>(std::max(gamma_sample(source, static_cast<double>(alpha[i])), least));
}

template <class T>
void poisson(CpuGeneratorImpl& gen, T* out, const T* rate, int64_t n) {
  const std::lock_guard lock(gen.mutex_);
  CpuSource source{gen};
  for (int64_t i = 0; i < n; ++i) out[i] = from_double<T>(poisson_sample(source, static_cast<double>(rate[i])));
}

template <class T>
void binomial(CpuGeneratorImpl& gen, T* out, const T* count, const T* p, int64_t n) {
  const std::lock_guard lock(gen.mutex_);
  CpuSource source{gen};
  for (int64_t i = 0; i < n; ++i)
    out[i] = from_double<T>(binomial_sample(source, static_cast<double>(count[i]), static_cast<double>(p[i])));
}

#define ARGAND_INSTANTIATE(T)                                             \
  template void standard_gamma(CpuGeneratorImpl&, T*, const T*, int64_t); \
  template void poisson(CpuGeneratorImpl&, T*, const T*, int64_t);        \
  template void binomial(CpuGeneratorImpl&, T*, const T*, const T*, int64_t);

ARGAND_INSTANTIATE(float)
ARGAND_INSTANTIATE(double)
ARGAND_INSTANTIATE(Half)
ARGAND_INSTANTIATE(BFloat16)

}  // namespace argand::cpu
