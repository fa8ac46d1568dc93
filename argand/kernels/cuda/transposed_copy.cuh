// A copy whose input and output have different fastest dimensions: tiles go through shared memory, so that both are
// accessed along their own fastest dimension.
#pragma once
#include "argand/kernels/cuda/transpose_shape.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

inline constexpr int kTransposeThreads = 256;

// R rows by C columns, moved as words of V elements: V neighbours of V rows are turned round in registers.
template <class In, class M, class Out, int V, int R, int C>
struct TransposeTile {
  static constexpr int kLanes = C / V, kGroups = R / V;
  static constexpr int kWordBytes = V * sizeof(Out);
  // The elements that a warp stores at a time (neighbouring columns, of several rows if a tile is narrow) are in
  // different banks.
  static constexpr int kPad = kWordBytes < 4 ? 4 / kWordBytes : kLanes < 32 ? 32 / kLanes : 1;
  static constexpr int kPitch = kGroups + kPad, kSteps = kLanes * kGroups / kTransposeThreads;
  Vec<Out, V> words[C * kPitch];

  // kWhole: all R x C elements are there.
  template <bool kWhole, class I>
  __device__ __forceinline__ void move(const In* in, Out* out, I in_stride, I out_stride, int rows, int columns) {
    Vec<In, V> x[kSteps][V];
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const int at = i * kTransposeThreads + int(threadIdx.x), c = at % kLanes * V, r = at / kLanes * V;
#pragma unroll
      for (int j = 0; j < V; ++j)
        if (kWhole || (c < columns && r + j < rows))
          x[i][j] = *reinterpret_cast<const Vec<In, V>*>(in + I(r + j) * in_stride + I(c));
    }
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const int at = i * kTransposeThreads + int(threadIdx.x), lane = at % kLanes, group = at / kLanes;
#pragma unroll
      for (int k = 0; k < V; ++k) {
        Vec<Out, V> word;
#pragma unroll
        for (int j = 0; j < V; ++j) word[j] = convert<Out>(convert<M>(x[i][j][k]));
        words[(k * kLanes + lane) * kPitch + group] = word;  // column lane * V + k
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kSteps * V; ++i) {
      const int at = i * kTransposeThreads + int(threadIdx.x), group = at % kGroups, c = at / kGroups, r = group * V;
      if (kWhole || (c < columns && r < rows))
        *reinterpret_cast<Vec<Out, V>*>(out + I(c) * out_stride + I(r)) =
            words[(c % V * kLanes + c / V) * kPitch + group];
    }
  }
};

// Elements become Out by way of M.  Where V > 1, sizes, strides and addresses are multiples of V elements; I holds the
// offsets within a tile.
template <class In, class M, class Out, int V, int R, int C, class I>
__global__ void __launch_bounds__(kTransposeThreads) transposed_copy(const __grid_constant__ TransposeShape s) {
  await_earlier_work();
  __shared__ TransposeTile<In, M, Out, V, R, C> tile;
  unsigned row_tile = blockIdx.x;
  unsigned column_tile = split(row_tile, s.row_tiles);
  unsigned rest = split(column_tile, s.column_tiles);
  const In* in = static_cast<const In*>(s.in);
  Out* out = static_cast<Out*>(s.out);
  for (int d = s.batch_dims - 1; d >= 0; --d) {
    const unsigned q = split(rest, s.batch[d].by_size);
    in += rest * s.batch[d].in_stride;
    out += rest * s.batch[d].out_stride;
    rest = q;
  }
  const int64_t first_row = int64_t{row_tile} * R, first_column = int64_t{column_tile} * C;
  in += first_row * s.in_stride + first_column;
  out += first_column * s.out_stride + first_row;
  const int64_t rows = s.rows - first_row, columns = s.columns - first_column;
  const I in_stride = I(s.in_stride), out_stride = I(s.out_stride);
  if (rows >= R && columns >= C)
    tile.template move<true>(in, out, in_stride, out_stride, R, C);
  else
    tile.template move<false>(in, out, in_stride, out_stride, int(rows < R ? rows : R), int(columns < C ? columns : C));
}

}  // namespace argand
