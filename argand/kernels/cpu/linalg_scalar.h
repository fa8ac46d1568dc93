// Helpers of the loops of linear algebra: they go through batches in parallel, and treat real and complex elements
// alike.
#pragma once
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "argand/core/dispatch.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu::linalg {

inline constexpr DtypeSet kElements = kFloatTypes | kComplexTypes;

inline int64_t at_least_one(int64_t n) { return n < 1 ? 1 : n; }

// Calls f(index of a matrix), in parallel if each call takes `cost` steps.
template <class F>
void each_matrix(int64_t count, int64_t cost, F f) {
  parallel_for(0, count, at_least_one((int64_t{1} << 15) / at_least_one(cost)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

template <class T>
struct real_of {
  using type = T;
};
template <class T>
struct real_of<std::complex<T>> {
  using type = T;
};
template <class T>
using real_of_t = typename real_of<T>::type;

// The type in which a matrix of T is decomposed (linalg_decompose.h).
template <class T>
using wide_t = std::conditional_t<is_complex_v<T>, std::complex<double>, double>;

template <class T>
T conjugated(T x) {
  if constexpr (is_complex_v<T>)
    return std::conj(x);
  else
    return x;
}
template <class T>
real_of_t<T> real_part(T x) {
  if constexpr (is_complex_v<T>)
    return x.real();
  else
    return x;
}
// The magnitude by which LAPACK chooses a pivot.
template <class T>
real_of_t<T> size_of(T x) {
  if constexpr (is_complex_v<T>)
    return std::abs(x.real()) + std::abs(x.imag());
  else
    return std::abs(x);
}

}  // namespace argand::cpu::linalg
