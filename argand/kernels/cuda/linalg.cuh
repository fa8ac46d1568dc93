// Small steps of linear algebra that no library has: the order of rows after swaps, and products of reflections for
// batches of small matrices.
#pragma once
#include "argand/kernels/cuda/complex.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// One block for the pivots of a matrix: order[i] becomes the row that stands at i after rows k and pivots[k] - 1 have
// changed places.  kShared: `rows` integers of shared memory hold it meanwhile.
template <bool kShared>
__global__ void row_order(const int* pivots, int64_t* order, int64_t rows, int64_t count) {
  await_earlier_work();
  extern __shared__ __align__(16) unsigned char row_order_memory[];
  int* const shared = reinterpret_cast<int*>(row_order_memory);
  pivots += int64_t{blockIdx.x} * count;
  order += int64_t{blockIdx.x} * rows;
  for (int64_t i = threadIdx.x; i < rows; i += blockDim.x) {
    if constexpr (kShared)
      shared[i] = int(i);
    else
      order[i] = i;
  }
  __syncthreads();
  const auto swap_all = [&](auto* at) {
    for (int64_t k = 0; k < count; ++k) {
      const int64_t other = pivots[k] - 1;
      const auto x = at[k];
      at[k] = at[other];
      at[other] = x;
    }
  };
  if (threadIdx.x == 0) {
    if constexpr (kShared)
      swap_all(shared);
    else
      swap_all(order);
  }
  if constexpr (kShared) {
    __syncthreads();
    for (int64_t i = threadIdx.x; i < rows; i += blockDim.x) order[i] = shared[i];
  }
}

inline constexpr int kSquare = 32;

// Transposes matrices [n, n] in place; those of a batch are blockIdx.z.  A block of kSquare x 8 threads takes the two
// squares (x, y) and (y, x) with x <= y.
template <class T>
__global__ void transpose_squares(T* a, int64_t n) {
  await_earlier_work();
  if (blockIdx.x > blockIdx.y) return;
  __shared__ T one[kSquare][kSquare + 1], other[kSquare][kSquare + 1];
  a += int64_t{blockIdx.z} * n * n;
  const int64_t x = int64_t{blockIdx.x} * kSquare, y = int64_t{blockIdx.y} * kSquare;
  const int column = threadIdx.x;
  for (int row = threadIdx.y; row < kSquare; row += 8) {
    if (x + row < n && y + column < n) one[row][column] = a[(x + row) * n + y + column];
    if (y + row < n && x + column < n) other[row][column] = a[(y + row) * n + x + column];
  }
  __syncthreads();
  for (int row = threadIdx.y; row < kSquare; row += 8) {
    if (x + row < n && y + column < n) a[(x + row) * n + y + column] = other[column][row];
    if (y + row < n && x + column < n) a[(y + row) * n + x + column] = one[column][row];
  }
}

template <class T>
__device__ __forceinline__ T conjugated(T x) {
  return x;
}
template <class T>
__device__ __forceinline__ Complex<T> conjugated(const Complex<T>& x) {
  return {x.re, -x.im};
}

// One thread for each of `total` columns: the column of the product of the reflections I - tau v v^H, the last applied
// first.  Matrices are column-major [m, columns]; v stands below the diagonal of `vectors` and is 1 on it.
template <class T>
__global__ void reflections_product(const T* vectors, const T* tau, T* out, int64_t m, int64_t columns, int64_t count,
                                    int64_t total) {
  await_earlier_work();
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const int64_t matrix = i / columns, column = i % columns;
  vectors += matrix * m * columns;
  tau += matrix * count;
  T* const q = out + i * m;
  for (int64_t r = 0; r < m; ++r) q[r] = T(r == column ? 1 : 0);
  // Later reflections leave a column of I as it is.
  for (int64_t k = column < count ? column : count - 1; k >= 0; --k) {
    const T* const v = vectors + k * m;
    T dot = q[k];
    for (int64_t r = k + 1; r < m; ++r) dot = dot + conjugated(v[r]) * q[r];
    dot = tau[k] * dot;
    q[k] = q[k] + T(-1) * dot;
    for (int64_t r = k + 1; r < m; ++r) q[r] = q[r] + T(-1) * dot * v[r];
  }
}

}  // namespace argand
