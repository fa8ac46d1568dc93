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

}  // namespace argand
