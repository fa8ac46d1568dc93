// Rows of a contiguous [outer, rows, inner] block, chosen by number, moved as units of 1 to 16 bytes.
#pragma once
#include "argand/kernels/cuda/types.cuh"

namespace argand {

using Unit16 = Vec<uint64_t, 2>;

inline constexpr int kRowItems = 4;  // units of a thread, all loaded before the first is stored

// to[o][k] = from[o][index[k]].  `units`: of a row; `total`: of the result.  I is unsigned and holds `total`.
template <class U, class I>
__global__ void take_rows(const U* from, U* to, const int64_t* index, I n, I rows, I units, I total) {
  const I first = I(blockIdx.x) * (blockDim.x * kRowItems) + threadIdx.x;
  U x[kRowItems];
#pragma unroll
  for (int j = 0; j < kRowItems; ++j) {
    const I at = first + I(j) * blockDim.x;
    if (at >= total) break;
    const I row = at / units, o = row / n;
    x[j] = from[(int64_t(o) * int64_t(rows) + index[row - o * n]) * int64_t(units) + int64_t(at - row * units)];
  }
#pragma unroll
  for (int j = 0; j < kRowItems; ++j) {
    const I at = first + I(j) * blockDim.x;
    if (at < total) to[at] = x[j];
  }
}

// last[r]: the greatest k with index[k] == r; it was -1 before.
__global__ void last_of_equal(const int64_t* index, int n, int* last) {
  const int k = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (k < n) atomicMax(last + index[k], k);
}

// to[o][index[k]] = from[o][k] where k is the last for its row; without `last`, for every k.
template <class U, class I>
__global__ void put_rows(U* to, const U* from, const int64_t* index, const int* last, I n, I rows, I units, I total) {
  const I first = I(blockIdx.x) * (blockDim.x * kRowItems) + threadIdx.x;
#pragma unroll
  for (int j = 0; j < kRowItems; ++j) {
    const I at = first + I(j) * blockDim.x;
    if (at >= total) return;
    const I row = at / units, o = row / n, k = row - o * n;
    const int64_t r = index[k];
    if (last && last[r] != int(k)) continue;
    to[(int64_t(o) * int64_t(rows) + r) * int64_t(units) + int64_t(at - row * units)] = from[at];
  }
}

}  // namespace argand
