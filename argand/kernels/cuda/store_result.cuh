// How kernels with an epilogue (Note [Epilogues]) store what they have computed.
#pragma once
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/epilogue.cuh"

namespace argand {

// x after the epilogue, which must not be empty: the same bits as relu and threshold_backward give.  `mask`: the mask's
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

// The elements from i on are those of x, in one piece.
template <class T, int W, class I>
__device__ __forceinline__ void store_results(const Epilogue<T>& e, T* result, I i, const Vec<T, W>& x) {
  if (e.out) {
    Vec<T, W> mask{}, active;
    if (e.mask) mask = *reinterpret_cast<const Vec<T, W>*>(e.mask + i);
#pragma unroll
    for (int v = 0; v < W; ++v) active[v] = activated(e, mask[v], x[v]);
    *reinterpret_cast<Vec<T, W>*>(e.out + i) = active;
    if (!e.keep) return;
  }
  *reinterpret_cast<Vec<T, W>*>(result + i) = x;
}

}  // namespace argand
