// The threads that share a row: a warp (many rows a block) or the block.
#pragma once
#include "argand/kernels/cuda/block.cuh"
#include "argand/kernels/cuda/types.cuh"

namespace argand {

template <bool kOneWarp>
struct RowThreads {
  static __device__ __forceinline__ int rank() { return kOneWarp ? threadIdx.x % kWarp : threadIdx.x; }
  static __device__ __forceinline__ int count() { return kOneWarp ? kWarp : blockDim.x; }
  static __device__ __forceinline__ int64_t row() {
    return kOneWarp ? int64_t{blockIdx.x} * (blockDim.x / kWarp) + threadIdx.x / kWarp : int64_t{blockIdx.x};
  }
  template <class A, class F>
  static __device__ __forceinline__ A reduce(A x, F f, A identity) {
    if constexpr (kOneWarp)
      return warp_reduce(x, f);
    else
      return block_reduce(x, f, identity);
  }
};

}  // namespace argand
