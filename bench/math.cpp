// Nanoseconds per element of the functions pointwise bodies are written in, over a tile that stays in the first-level
// cache, for each vector unit.  Time / 2048 is the time of one element: `ns_per_element`.
#include "argand/kernels/math.h"

#include <benchmark/benchmark.h>

#include <random>
#include <vector>

namespace {

using namespace argand;

constexpr int kElements = 2048;

template <class F, class T>
[[gnu::always_inline]] inline void loop(const T* __restrict x, T* __restrict out) {
  for (int i = 0; i < kElements; ++i) out[i] = F::call(x[i]);
}
template <class F, class T>
[[gnu::noinline]] void baseline(const T* x, T* out) {
  loop<F>(x, out);
}
#if defined(__x86_64__)
template <class F, class T>
[[gnu::target("avx2,fma"), gnu::noinline]] void avx2(const T* x, T* out) {
  loop<F>(x, out);
}
#if defined(__clang__)
#define ARGAND_AVX512 "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl"
#else
#define ARGAND_AVX512 "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"
#endif
template <class F, class T>
[[gnu::target(ARGAND_AVX512), gnu::noinline]] void avx512(const T* x, T* out) {
  loop<F>(x, out);
}
#endif

template <class T>
void measure(benchmark::State& state, void (*f)(const T*, T*), double low, double high) {
  std::vector<T> x(kElements), out(kElements);
  std::mt19937 random(1);
  std::uniform_real_distribution<T> uniform(static_cast<T>(low), static_cast<T>(high));
  for (T& v : x) v = uniform(random);
  for (auto _ : state) {
    f(x.data(), out.data());
    benchmark::ClobberMemory();
  }
  state.counters["ns_per_element"] =
      benchmark::Counter(kElements * 1e-9, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

template <class F, class T>
void add(const std::string& name, double low, double high) {
  const auto variant = [&](const char* unit, void (*f)(const T*, T*)) {
    benchmark::RegisterBenchmark((name + (sizeof(T) == 4 ? "/float/" : "/double/") + unit).c_str(),
                                 [=](benchmark::State& state) { measure<T>(state, f, low, high); });
  };
  variant("baseline", baseline<F, T>);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) variant("avx2", avx2<F, T>);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    variant("avx512", avx512<F, T>);
#endif
}

struct Functions {
#define FUNCTION(name)                                 \
  struct name##_ {                                     \
    template <class T>                                 \
    [[gnu::always_inline]] static inline T call(T x) { \
      return math::name(x);                            \
    }                                                  \
  };
// clang-format off
#define FUNCTIONS(X)                                                                                       \
  X(exp, -20, 20) X(log, 0, 100) X(tanh, -5, 5) X(sigmoid, -10, 10) X(erf, -3, 3) X(gelu, -5, 5)           \
  X(gelu_tanh, -5, 5) X(expm1, -5, 5) X(log1p, -1, 10) X(log_sigmoid, -10, 10) X(sin, -10, 10) X(cos, -10, 10) \
  X(atan, -5, 5) X(rsqrt, 0.1, 100)
// clang-format on
#define DEFINE(name, low, high) FUNCTION(name)
  FUNCTIONS(DEFINE)
  struct pow_ {
    template <class T>
    [[gnu::always_inline]] static inline T call(T x) {
      return math::pow(x, T(1.7));
    }
  };
};

}  // namespace

int main(int argc, char** argv) {
#define ADD(name, low, high)                        \
  add<Functions::name##_, float>(#name, low, high); \
  add<Functions::name##_, double>(#name, low, high);
  FUNCTIONS(ADD)
  add<Functions::pow_, float>("pow", 0.1, 10);
  add<Functions::pow_, double>("pow", 0.1, 10);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
