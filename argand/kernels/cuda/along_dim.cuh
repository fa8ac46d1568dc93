// One index per element along one dimension.
#pragma once
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// As in kernels/api/along_dim.h.
struct AlongDim {
  int64_t n, step;
  int ndim;
  int64_t sizes[16], strides[16];
};

template <class I>
__device__ __forceinline__ int64_t offset_of(const AlongDim& s, I i, const int64_t* index) {
  int64_t offset = index ? index[i] * s.step : 0;
  for (int d = s.ndim - 1; d > 0; --d) {
    const I size = I(s.sizes[d]), q = i / size;
    offset += int64_t(i - q * size) * s.strides[d];
    i = q;
  }
  return offset + int64_t(i) * s.strides[0];
}

template <class U, class I>
__global__ void gather_along(const __grid_constant__ AlongDim s, const U* from, const int64_t* index, U* to) {
  await_earlier_work();
  const I i = I(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < I(s.n)) to[i] = from[offset_of(s, i, index)];
}

template <class I>
__global__ void slots_along(const __grid_constant__ AlongDim s, const int64_t* index, int64_t* slots) {
  await_earlier_work();
  const I i = I(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < I(s.n)) slots[i] = offset_of(s, i, index);
}

}  // namespace argand
