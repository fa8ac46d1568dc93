// Copies of many pieces of memory in one launch.
#pragma once
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/many_tensors.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// Copies the tile of piece p that begins at byte `begin`, in units of U; I holds the number of units of a piece.
template <class U, class I>
__device__ __forceinline__ void copy_tile(const PieceTable& table, int p, int64_t begin) {
  const int64_t nbytes = table.nbytes[p], end = begin + kPieceTile < nbytes ? begin + kPieceTile : nbytes;
  const I last = static_cast<I>(end / sizeof(U)), row_units = static_cast<I>(table.row_bytes[p] / sizeof(U));
  const bool one_row = table.row_bytes[p] == nbytes;
  auto* const to = static_cast<char*>(table.to[p]);
  const auto* const from = static_cast<const char*>(table.from[p]);
#pragma unroll 4
  for (I at = static_cast<I>(begin / sizeof(U)) + threadIdx.x; at < last; at += blockDim.x) {
    const I row = one_row ? 0 : at / row_units;
    const int64_t column = int64_t(at - row * row_units) * sizeof(U);
    *reinterpret_cast<U*>(to + row * table.to_stride[p] + column) =
        *reinterpret_cast<const U*>(from + row * table.from_stride[p] + column);
  }
}

// U is a unit that all pieces consist of; those that consist of 16 bytes are copied in such.
template <class U, class I>
__global__ void copy_pieces(const __grid_constant__ PieceTable table) {
  await_earlier_work();
  const int p = tensor_of_block(table.first_block, table.count);
  const int64_t begin = int64_t{blockIdx.x - table.first_block[p]} * kPieceTile;
  if (table.wide >> p & 1)
    copy_tile<Vec<uint64_t, 2>, I>(table, p, begin);
  else
    copy_tile<U, I>(table, p, begin);
}

}  // namespace argand
