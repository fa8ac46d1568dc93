// A recurrent layer in one direction (kernels/recurrence.h): each block takes kRows sequences through all the steps, so
// that no block waits for another.  Its states stay in shared memory; the weights are read again in each step, from
// cache.
//
// A product with the weights is shared out by columns, and each column's sum among `parts` threads, whose sums are
// added up in order: results do not depend on the number of blocks.
#pragma once
#include "argand/kernels/cuda/types.cuh"
#include "argand/kernels/recurrent_cell.h"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// sums[part][row][column] = the part's share of sum_k left[row][k] weight[k][column], for kRows rows.
template <int kRows, class T, class A>
__device__ __forceinline__ void share_product(const A* left, const T* __restrict__ weight, A* sums, int inner,
                                              int columns, int parts) {
  const int lanes = blockDim.x / parts, part = threadIdx.x / lanes;
  const int each = (inner + parts - 1) / parts, begin = part * each, end = begin + each < inner ? begin + each : inner;
  for (int j = threadIdx.x % lanes; j < columns; j += lanes) {
    A sum[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) sum[r] = A(0);
#pragma unroll 8
    for (int k = begin; k < end; ++k) {
      const A w = convert<A>(weight[int64_t{k} * columns + j]);
#pragma unroll
      for (int r = 0; r < kRows; ++r) sum[r] += left[r * inner + k] * w;
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) sums[(part * kRows + r) * columns + j] = sum[r];
  }
}

template <int kRows, class A>
__device__ __forceinline__ A whole_sum(const A* sums, int row, int column, int columns, int parts) {
  A sum = sums[row * columns + column];
  for (int p = 1; p < parts; ++p) sum += sums[(p * kRows + row) * columns + column];
  return sum;
}

// transposed: weight^T, [hidden, gates * hidden].  Shared memory: kRows * hidden * (2 + gates * parts) numbers.
template <class T, int kKind, int kRows>
__global__ void __launch_bounds__(1024)
    recurrence(const T* gates, const T* transposed, const T* bias, const T* h0, const T* c0, T* output, T* last_c,
               op_math_t<T>* saved, int steps, int batch, int hidden, int parts, bool reverse) {
  await_earlier_work();
  using A = op_math_t<T>;
  using Cell = RecurrentCell<kKind>;
  extern __shared__ __align__(16) unsigned char recurrence_memory[];
  A *h = reinterpret_cast<A*>(recurrence_memory), *c = h + kRows * hidden, *sums = c + kRows * hidden;
  const int columns = Cell::kGates * hidden, first = int(blockIdx.x) * kRows;
  for (int e = threadIdx.x; e < kRows * hidden; e += blockDim.x) {
    const int row = first + e / hidden;
    const int64_t at = int64_t{row} * hidden + e % hidden;
    h[e] = row < batch ? convert<A>(h0[at]) : A(0);
    c[e] = Cell::kHasCell && row < batch ? convert<A>(c0[at]) : A(0);
  }
  __syncthreads();
  for (int i = 0; i < steps; ++i) {
    const int t = reverse ? steps - 1 - i : i;
    share_product<kRows>(h, transposed, sums, hidden, columns, parts);
    __syncthreads();
    for (int e = threadIdx.x; e < kRows * hidden; e += blockDim.x) {
      const int r = e / hidden, u = e % hidden, row = first + r;
      if (row >= batch) continue;
      const int64_t at = int64_t{t} * batch + row;
      A x[Cell::kGates], y[Cell::kGates], keep[Cell::kSaved + 1];
#pragma unroll
      for (int g = 0; g < Cell::kGates; ++g) {
        x[g] = convert<A>(gates[at * columns + g * hidden + u]);
        y[g] = whole_sum<kRows>(sums, r, g * hidden + u, columns, parts);
        if (bias) y[g] += convert<A>(bias[g * hidden + u]);
      }
      Cell::forward(x, y, h[e], c[e], keep);
      output[at * hidden + u] = convert<T>(h[e]);
#pragma unroll
      for (int s = 0; s < Cell::kSaved; ++s) saved[(at * Cell::kSaved + s) * hidden + u] = keep[s];
    }
    __syncthreads();
  }
  if constexpr (Cell::kHasCell)
    for (int e = threadIdx.x; e < kRows * hidden; e += blockDim.x) {
      const int row = first + e / hidden;
      if (row < batch) last_c[int64_t{row} * hidden + e % hidden] = convert<T>(c[e]);
    }
}

// Shared memory: kRows * hidden * (2 + gates + parts) numbers.
template <class T, int kKind, int kRows>
__global__ void __launch_bounds__(1024)
    recurrence_backward(const T* grad_output, const T* grad_last_c, const op_math_t<T>* saved, const T* output,
                        const T* h0, const T* c0, const T* weight, T* grad_gates, T* grad_state_gates, T* grad_h0,
                        T* grad_c0, int steps, int batch, int hidden, int parts, bool reverse) {
  await_earlier_work();
  using A = op_math_t<T>;
  using Cell = RecurrentCell<kKind>;
  extern __shared__ __align__(16) unsigned char recurrence_memory[];
  A *direct = reinterpret_cast<A*>(recurrence_memory), *grad_c = direct + kRows * hidden,
    *state_gates = grad_c + kRows * hidden, *sums = state_gates + Cell::kGates * kRows * hidden;
  const int columns = Cell::kGates * hidden, first = int(blockIdx.x) * kRows;
  for (int e = threadIdx.x; e < kRows * hidden; e += blockDim.x) {
    const int row = first + e / hidden;
    direct[e] = A(0);
    grad_c[e] = Cell::kHasCell && grad_last_c && row < batch
                    ? convert<A>(grad_last_c[int64_t{row} * hidden + e % hidden])
                    : A(0);
  }
  for (int e = threadIdx.x; e < parts * kRows * hidden; e += blockDim.x) sums[e] = A(0);
  for (int e = threadIdx.x; e < kRows * columns; e += blockDim.x) state_gates[e] = A(0);  // of rows that are not there
  __syncthreads();
  for (int i = steps; i-- > 0;) {
    const int t = reverse ? steps - 1 - i : i, earlier = reverse ? t + 1 : t - 1;
    for (int e = threadIdx.x; e < kRows * hidden; e += blockDim.x) {
      const int r = e / hidden, u = e % hidden, row = first + r;
      if (row >= batch) continue;
      const int64_t at = int64_t{t} * batch + row, at_start = int64_t{row} * hidden + u,
                    at_earlier = int64_t{earlier} * batch + row;
      const A grad_h =
          direct[e] + whole_sum<kRows>(sums, r, u, hidden, parts) + convert<A>(grad_output[at * hidden + u]);
      A x[Cell::kGates], y[Cell::kGates], keep[Cell::kSaved + 1], before;
#pragma unroll
      for (int s = 0; s < Cell::kSaved; ++s) keep[s] = saved[(at * Cell::kSaved + s) * hidden + u];
      if (i == 0)
        before = convert<A>(Cell::kHasCell ? c0[at_start] : h0[at_start]);
      else if constexpr (Cell::kHasCell)  // the last of what is saved
        before = saved[(at_earlier * Cell::kSaved + Cell::kSaved - 1) * hidden + u];
      else
        before = convert<A>(output[at_earlier * hidden + u]);
      Cell::backward(grad_h, grad_c[e], keep, before, convert<A>(output[at * hidden + u]), x, y, direct[e]);
#pragma unroll
      for (int g = 0; g < Cell::kGates; ++g) {
        grad_gates[at * columns + g * hidden + u] = convert<T>(x[g]);
        if constexpr (Cell::kSplitGates) grad_state_gates[at * columns + g * hidden + u] = convert<T>(y[g]);
        state_gates[r * columns + g * hidden + u] = Cell::kSplitGates ? y[g] : x[g];
      }
    }
    __syncthreads();
    share_product<kRows>(state_gates, weight, sums, columns, hidden, parts);
    __syncthreads();
  }
  for (int e = threadIdx.x; e < kRows * hidden; e += blockDim.x) {
    const int r = e / hidden, u = e % hidden, row = first + r;
    if (row >= batch) continue;
    const int64_t at = int64_t{row} * hidden + u;
    grad_h0[at] = convert<T>(direct[e] + whole_sum<kRows>(sums, r, u, hidden, parts));
    if (Cell::kHasCell) grad_c0[at] = convert<T>(grad_c[e]);
  }
}

}  // namespace argand
