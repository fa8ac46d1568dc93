// at::ceil_div(n, m): n / m rounded up; at::round_up(n, m): the next multiple of m.  For integers that are not
// negative.
#pragma once
#include "c10/namespaces.h"

#ifdef __CUDACC__
#define ARGAND_HOST_DEVICE __host__ __device__
#else
#define ARGAND_HOST_DEVICE
#endif
namespace at {
template <class T>
constexpr ARGAND_HOST_DEVICE T ceil_div(T n, T m) {
  return (n + m - 1) / m;
}
template <class T>
constexpr ARGAND_HOST_DEVICE T round_up(T n, T m) {
  return ceil_div(n, m) * m;
}
}  // namespace at
#undef ARGAND_HOST_DEVICE
