// A thread for each element of contiguous planes of three dimensions.
#pragma once
#include "argand/kernels/cuda/types.cuh"

namespace argand {

// Uses 32 bits if they are enough, which is several times faster.  No number is negative.
__device__ __forceinline__ int64_t quotient(int64_t n, int64_t d) {
  return (n | d) >> 32 ? n / d : static_cast<unsigned>(n) / static_cast<unsigned>(d);
}
__device__ __forceinline__ int64_t quotient_up(int64_t n, int64_t d) { return quotient(n + d - 1, d); }

// The position of element i of [planes, size].
struct PlanePosition {
  int64_t plane, at[3];
  __device__ __forceinline__ PlanePosition(int64_t i, const int64_t (&size)[3]) {
    int64_t q = quotient(i, size[2]);
    at[2] = i - q * size[2];
    const int64_t r = quotient(q, size[1]);
    at[1] = q - r * size[1];
    plane = quotient(r, size[0]);
    at[0] = r - plane * size[0];
  }
};

__device__ __forceinline__ int64_t thread_number() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

}  // namespace argand
