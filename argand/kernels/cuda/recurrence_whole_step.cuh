// A step of a float32 recurrent layer as one kernel, forward or backward: the product with the previous step's result
// and the work after it.
//
// A block has some sequences, and all gates of some units or, in the gradient, some units.  Its warps divide the terms
// of the product and read them from memory in the layout of tensor cores, each number once; the warps' sums are added
// up in order, so results do not depend on the number of blocks.  Numbers are split into two TF32 numbers, as in
// attention, which gives the accuracy of float32.
#pragma once
#include "argand/kernels/cuda/recurrence.cuh"
#include "argand/kernels/cuda/recurrence_tile.cuh"
#include "argand/kernels/cuda/tensor_cores.cuh"

namespace argand {

// The operands of a block's product: rows of `left` [batch, terms] and columns of `right` [terms, columns], eight from
// each of column, column + next_tile, ...  terms: a multiple of 16; addresses: of 16 bytes.
struct StepProduct {
  const float *left, *right;
  int batch, terms, columns, row, column, next_tile;
};

// The product's share of a warp: every kStepWarps-th of the units of 16 terms.  kRows: a multiple of 16.
template <int kRows, int kTiles>
__device__ __forceinline__ void multiply_share(const StepProduct& p, TileSums (&sums)[kRows / 16][kTiles]) {
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
#pragma unroll 2
  for (int first = warp * 16; first < p.terms; first += kStepWarps * 16) {
    // A lane's four terms are adjacent; their order in the tensor core does not matter.
    const int term = first + 4 * t;
    float x[kRows / 8][4], w[kTiles][4];
#pragma unroll
    for (int i = 0; i < kRows / 8; ++i) {
      const int row = p.row + g + 8 * i;
      const float4 v =
          row < p.batch ? *reinterpret_cast<const float4*>(p.left + row * p.terms + term) : float4{0, 0, 0, 0};
      x[i][0] = v.x, x[i][1] = v.y, x[i][2] = v.z, x[i][3] = v.w;
    }
#pragma unroll
    for (int j = 0; j < kTiles; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) w[j][i] = p.right[(term + i) * p.columns + p.column + j * p.next_tile + g];
#pragma unroll
    for (int s = 0; s < 4; s += 2) {
      TensorCore<float>::Left left[kRows / 16];
#pragma unroll
      for (int m = 0; m < kRows / 16; ++m)
        left[m] = TensorCore<float>::left({__float_as_uint(x[2 * m][s]), __float_as_uint(x[2 * m + 1][s]),
                                           __float_as_uint(x[2 * m][s + 1]), __float_as_uint(x[2 * m + 1][s + 1])});
#pragma unroll
      for (int j = 0; j < kTiles; ++j) {
        const auto right = TensorCore<float>::right(__float_as_uint(w[j][s]), __float_as_uint(w[j][s + 1]));
#pragma unroll
        for (int m = 0; m < kRows / 16; ++m) TensorCore<float>::add(sums[m][j], left[m], right);
      }
    }
  }
}

// The block's product in shared memory, a row every pitch_of_step(kTiles) numbers; other warps' sums stand behind it.
template <int kRows, int kTiles>
__device__ __forceinline__ const float* multiply_tile(const StepProduct& p) {
  constexpr int kColumns = 8 * kTiles, kPitch = pitch_of_step(kTiles), kTile = kRows * kPitch;
  extern __shared__ __align__(16) float step_memory[];
  TileSums sums[kRows / 16][kTiles] = {};
  multiply_share<kRows, kTiles>(p, sums);
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int m = 0; m < kRows / 16; ++m)
#pragma unroll
    for (int j = 0; j < kTiles; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        *reinterpret_cast<float2*>(step_memory + warp * kTile + (16 * m + 8 * half + g) * kPitch + 8 * j + 2 * t) =
            float2{sums[m][j].x[2 * half], sums[m][j].x[2 * half + 1]};
  __syncthreads();
  for (int e = threadIdx.x; e < kRows * kColumns; e += blockDim.x) {
    float* at = step_memory + e / kColumns * kPitch + e % kColumns;
    float sum = at[0];
#pragma unroll
    for (int w = 1; w < kStepWarps; ++w) sum += at[w * kTile];
    at[0] = sum;
  }
  __syncthreads();
  return step_memory;
}

template <int kKind>
__global__ void __launch_bounds__(kStepWarps * 32, 1)
    recurrence_whole_step(const float* gates, const float* transposed, const float* bias, const float* h,
                          const float* c0, const float* earlier_saved, float* output, float* last_c, float* saved,
                          int batch, int hidden) {
  await_earlier_work();
  using Cell = RecurrentCell<kKind>;
  constexpr int kUnits = units_of_step(Cell::kGates), kTiles = tiles_of_step(Cell::kGates);
  const int blocks_of_units = hidden / kUnits, first_row = int(blockIdx.x) / blocks_of_units * kStepRows,
            first_unit = int(blockIdx.x) % blocks_of_units * kUnits;
  const float* const sums = multiply_tile<kStepRows, kTiles>(
      {h, transposed, batch, hidden, Cell::kGates * hidden, first_row, first_unit, Cell::kGates == 1 ? 8 : hidden});
  for (int e = threadIdx.x; e < kStepRows * kUnits; e += blockDim.x) {
    const int r = e / kUnits, u = e % kUnits;
    if (first_row + r >= batch) continue;
    float y[Cell::kGates];
#pragma unroll
    for (int gate = 0; gate < Cell::kGates; ++gate) y[gate] = sums[r * pitch_of_step(kTiles) + gate * kUnits + u];
    finish_step<kKind>(gates, y, bias, h, c0, earlier_saved, output, last_c, saved,
                       (first_row + r) * hidden + first_unit + u, hidden);
  }
}

// later_gates [batch, gates * hidden]: what the later step left for the product with `weight` [gates * hidden, hidden].
template <int kKind>
__global__ void __launch_bounds__(kStepWarps * 32, 1)
    recurrence_whole_step_backward(StepGradient<float> step, const float* later_gates, const float* weight, int batch,
                                   int hidden) {
  await_earlier_work();
  constexpr int kUnits = kGradientUnits, kTiles = kUnits / 8;
  const int blocks_of_units = hidden / kUnits, first_row = int(blockIdx.x) / blocks_of_units * kGradientRows,
            first_unit = int(blockIdx.x) % blocks_of_units * kUnits;
  const float* const sums = multiply_tile<kGradientRows, kTiles>(
      {later_gates, weight, batch, RecurrentCell<kKind>::kGates * hidden, hidden, first_row, first_unit, 8});
  for (int e = threadIdx.x; e < kGradientRows * kUnits; e += blockDim.x) {
    const int r = e / kUnits, u = e % kUnits;
    if (first_row + r < batch)
      finish_step_backward<kKind>(step, true, sums[r * pitch_of_step(kTiles) + u],
                                  (first_row + r) * hidden + first_unit + u, hidden);
  }
}

}  // namespace argand
