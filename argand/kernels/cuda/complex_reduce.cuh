// Reductions and scans of complex elements.
#pragma once
#include "argand/kernels/cuda/complex.cuh"
#include "argand/kernels/cuda/reduce.cuh"
#include "argand/kernels/cuda/scan.cuh"

namespace argand {

template <class T>
__device__ __forceinline__ Complex<T> shuffle_xor(Complex<T> x, int step) {
  return {__shfl_xor_sync(0xffffffffu, x.re, step), __shfl_xor_sync(0xffffffffu, x.im, step)};
}
template <class T>
__device__ __forceinline__ Complex<T> shuffle_up(Complex<T> x, int step) {
  return {__shfl_up_sync(0xffffffffu, x.re, step), __shfl_up_sync(0xffffffffu, x.im, step)};
}
template <class T>
__device__ __forceinline__ Complex<T> shuffle_from(Complex<T> x, int lane) {
  return {__shfl_sync(0xffffffffu, x.re, lane), __shfl_sync(0xffffffffu, x.im, lane)};
}

template <class T>
struct LogSumExpOp<Complex<T>> : ReduceOp<Complex<T>> {
  using A = Complex<T>;
  static __device__ __forceinline__ A identity() { return {kLowest<T>, 0}; }
  __device__ __forceinline__ A map(A x, A) const { return x; }
  // Not inlined: the kernels call it dozens of times, and took half a minute to compile.
  static __device__ __noinline__ A combine(A a, A b) {
    if (a.re == kLowest<T> && b.re == kLowest<T>) return identity();  // logarithms of 0, whose angle means nothing
    const bool later = b.re >= a.re;
    const A high = later ? b : a, low = later ? a : b;
    return high + math::log1p(math::exp(A(low.re == high.re ? 0 : low.re - high.re, low.im - high.im)));
  }
};

}  // namespace argand
