// Reductions over the threads of a warp and of a block.  The order is that of the threads: the same bits every time.
#pragma once
#include "argand/kernels/math.h"

namespace argand {

inline constexpr int kWarp = 32;

// All threads of the warp get the result.
template <class T, class F>
__device__ __forceinline__ T warp_reduce(T x, F f) {
#pragma unroll
  for (int step = kWarp / 2; step > 0; step /= 2) x = f(x, __shfl_xor_sync(0xffffffffu, x, step));
  return x;
}

// The sum over the lanes up to and including this one.
__device__ __forceinline__ unsigned warp_sum_upto(unsigned x) {
  const unsigned lane = threadIdx.x % kWarp;
#pragma unroll
  for (unsigned step = 1; step < kWarp; step *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffffu, x, step);
    if (lane >= step) x += other;
  }
  return x;
}

// All threads of the block get the result; blockDim.x is a multiple of the warp size.  `identity` is the neutral
// element.
template <class T, class F>
__device__ __forceinline__ T block_reduce(T x, F f, T identity) {
  __shared__ T partial[kWarp];
  x = warp_reduce(x, f);
  if (threadIdx.x % kWarp == 0) partial[threadIdx.x / kWarp] = x;
  __syncthreads();
  x = threadIdx.x % kWarp < blockDim.x / kWarp ? partial[threadIdx.x % kWarp] : identity;
  x = warp_reduce(x, f);
  __syncthreads();  // `partial` may be used again
  return x;
}

struct Add {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a + b;
  }
};
// A NaN in either operand is the result.
struct Max {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return math::max(a, b);
  }
  __device__ __forceinline__ float operator()(float a, float b) const {
#if __CUDA_ARCH__ >= 800
    float larger;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
    return larger;
#else
    return math::max(a, b);
#endif
  }
};
struct Min {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return math::min(a, b);
  }
};

}  // namespace argand
