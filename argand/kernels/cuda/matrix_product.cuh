// Matrix products for every real element type and any strides; where cuBLASLt has a kernel it is faster.
#pragma once
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/product_tile.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// c = alpha a b + beta c (+ bias); Number is float, double, or long long for all integers.  Block x is the tile, rows
// first; block z the number in the batch.
template <class T, class Number>
__global__ void matrix_product(const T* a, const T* b, T* c, const T* bias, StridedProduct s, Number alpha,
                               Number beta) {
  await_earlier_work();
  using Math = ProductMath<T>;
  using Tile = ProductTile<Math, 4>;
  using Sum = typename Math::Sum;
  __shared__ Tile tile;
  a += int64_t{blockIdx.z} * s.a_batch;
  b += int64_t{blockIdx.z} * s.b_batch;
  c += int64_t{blockIdx.z} * s.c_batch;
  const int64_t row_tiles = (s.m + Tile::kRows - 1) / Tile::kRows;
  const int64_t row0 = blockIdx.x % row_tiles * Tile::kRows, column0 = blockIdx.x / row_tiles * kTileColumns;
  // Neighbouring threads load along the dimension in which neighbours lie closer.
  const bool a_along_k = s.a_column <= s.a_row, b_along_k = s.b_row < s.b_column;
  Sum sums[4][4] = {};
  for (int64_t k0 = 0; k0 < s.k; k0 += kTileDepth) {
#pragma unroll
    for (int part = 0; part < Tile::kRows * kTileDepth; part += kTileThreads) {
      const int i = part + threadIdx.x;
      const int k = a_along_k ? i % kTileDepth : i / Tile::kRows, row = a_along_k ? i / kTileDepth : i % Tile::kRows;
      const bool inside = row0 + row < s.m && k0 + k < s.k;
      tile.a[k][row] = inside ? convert<Sum>(a[(row0 + row) * s.a_row + (k0 + k) * s.a_column]) : Sum(0);
    }
#pragma unroll
    for (int part = 0; part < kTileColumns * kTileDepth; part += kTileThreads) {
      const int i = part + threadIdx.x;
      const int k = b_along_k ? i % kTileDepth : i / kTileColumns, col = b_along_k ? i / kTileDepth : i % kTileColumns;
      const bool inside = column0 + col < s.n && k0 + k < s.k;
      tile.b[k][col] = inside ? convert<Sum>(b[(k0 + k) * s.b_row + (column0 + col) * s.b_column]) : Sum(0);
    }
    __syncthreads();
    tile.multiply_add(sums);
    __syncthreads();
  }
  const int64_t row = row0 + Tile::row(), column = column0 + Tile::column();
  for (int i = 0; i < 4 && row + i < s.m; ++i)
    for (int j = 0; j < 4 && column + j < s.n; ++j) {
      T& out = c[(row + i) * s.c_row + column + j];
      Sum x = Math::multiply_add(static_cast<Sum>(alpha), sums[i][j], Sum(0));
      if (beta != Number(0)) x = Math::multiply_add(static_cast<Sum>(beta), convert<Sum>(out), x);
      if (bias) x = Math::multiply_add(Sum(1), convert<Sum>(bias[column + j]), x);
      out = convert<T>(x);
    }
}

// Each row of c [m, n] becomes `row`.
template <class T>
__global__ void fill_rows(const T* row, T* c, int64_t m, int64_t n, int64_t c_row) {
  await_earlier_work();
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < m * n) c[i / n * c_row + i % n] = row[i % n];
}

}  // namespace argand
