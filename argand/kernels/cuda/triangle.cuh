// Triangles of matrices.
#pragma once
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// Zeroes the elements, n in all, outside a triangle: as in kernels/cpu/triangle.h.
template <class U, class I>
__global__ void zero_outside(U* matrices, I n, I rows, I columns, int64_t diagonal, bool lower) {
  await_earlier_work();
  const I i = I(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const I row = i / columns, column = i - row * columns;
  const int64_t from_diagonal = int64_t(column) - int64_t(row % rows);
  if (lower ? from_diagonal > diagonal : from_diagonal < diagonal) matrices[i] = U{};
}

}  // namespace argand
