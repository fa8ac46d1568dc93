// How kernels with an epilogue (Note [Epilogues]) store what they have computed.
#pragma once
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/epilogue.cuh"

namespace argand {

// x after the epilogue, which there is: to the bit what relu and threshold_backward make of it.  `mask`: the mask's
// element, if there is a mask.
template <class T>
__device__ __forceinline__ T activated(const Epilogue<T>& e, T mask, T x) {
  using A = op_math_t<T>;
  const A value = convert<A>(x);
  return convert<T>((e.mask ? convert<A>(mask) : value) <= A(0) ? A(0) : value);
}

// Element i of `result` is x.
template <class T>
__device__ __forceinline__ void store_result(const Epilogue<T>& e, T* result, int64_t i, T x) {
  if (e.out) {
    e.out[i] = activated(e, e.mask ? e.mask[i] : T{}, x);
    if (!e.keep) return;
  }
  result[i] = x;
}

}  // namespace argand
