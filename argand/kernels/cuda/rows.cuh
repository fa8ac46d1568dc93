// Rows of a contiguous [outer, rows, inner] block, selected by index, moved as units of 1 to 16 bytes.
#pragma once
#include "argand/kernels/cuda/error_slot.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

using Unit16 = Vec<uint64_t, 2>;

inline constexpr int kRowItems = 4;  // units of a thread, all loaded before the first is stored

// to[o][k] = from[o][index[k]].  `units`: of a row; `total`: of the result.  I is unsigned and holds `total`.
template <class U, class I>
__global__ void take_rows(const U* from, U* to, const int64_t* index, I n, I rows, I units, I total) {
  await_earlier_work();
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

// The same for long rows: a warp moves `piece` <= 32 * kItems units of one row, all loaded before the first is stored.
// With a slot, numbers outside [0, rows) are reported as of `op`.
template <class U, class I, class Index, int kItems>
__global__ void __launch_bounds__(256)
    take_long_rows(const U* from, U* to, const Index* index, I n, I rows, I units, I piece, I pieces_per_row, I pieces,
                   ErrorSlot* slot, const char* op) {
  await_earlier_work();
  const I at = I(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (at >= pieces) return;
  const I row = at / pieces_per_row, o = row / n, begin = (at - row * pieces_per_row) * piece;
  const I end = begin + piece < units ? begin + piece : units, first = begin + threadIdx.x % 32;
  int64_t number = index[row - o * n];
  if (slot) number = checked_index(number, int64_t(rows), false, slot, op, 0);
  from += (int64_t(o) * int64_t(rows) + number) * int64_t(units);
  to += int64_t(row) * int64_t(units);
  U x[kItems];
#pragma unroll
  for (int j = 0; j < kItems; ++j) x[j] = first + j * 32 < end ? from[first + j * 32] : U{};
#pragma unroll
  for (int j = 0; j < kItems; ++j)
    if (first + j * 32 < end) to[first + j * 32] = x[j];
}

// last[r]: the greatest k with index[k] == r; it was -1 before.
__global__ void last_of_equal(const int64_t* index, int n, int* last) {
  await_earlier_work();
  const int k = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (k < n) atomicMax(last + index[k], k);
}

// to[o][index[k]] = from[o][k] where k is the last for its row; without `last`, for every k.
template <class U, class I>
__global__ void put_rows(U* to, const U* from, const int64_t* index, const int* last, I n, I rows, I units, I total) {
  await_earlier_work();
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
