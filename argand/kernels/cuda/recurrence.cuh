// A recurrent layer in one direction (kernels/api/recurrence.h).
//
// With few weights, each block processes all steps of kRows sequences, so that no block waits for another.  Its states
// stay in shared memory; the weights are read from cache in each step.  With many weights, each step is one kernel over
// the whole device (recurrence_whole_step.cuh), or a matrix product for all sequences and then a kernel for the rest
// (recurrence_step).
//
// A product with the weights is divided by columns, and each column's sum among `parts` threads, whose sums are added
// up in order: results do not depend on the number of blocks.
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

// One step of a unit of a sequence: e = row * hidden + u.  y: the state's part of its gates, without the bias.  The
// previous step stored its c in `earlier_saved`; the first step has none and uses c0.
template <int kKind, class T, class A>
__device__ __forceinline__ void finish_step(const T* gates, A* y, const T* bias, const T* h, const T* c0,
                                            const A* earlier_saved, T* output, T* last_c, A* saved, int e, int hidden) {
  using Cell = RecurrentCell<kKind>;
  const int64_t row = e / hidden, u = e % hidden, columns = int64_t{Cell::kGates} * hidden;
  A x[Cell::kGates], keep[Cell::kSaved + 1], state = convert<A>(h[e]), c = A(0);
  if constexpr (Cell::kHasCell)
    c = earlier_saved ? earlier_saved[(row * Cell::kSaved + Cell::kSaved - 1) * hidden + u] : convert<A>(c0[e]);
#pragma unroll
  for (int g = 0; g < Cell::kGates; ++g) {
    x[g] = convert<A>(gates[row * columns + g * hidden + u]);
    if (bias) y[g] += convert<A>(bias[g * hidden + u]);
  }
  Cell::forward(x, y, state, c, keep);
  output[e] = convert<T>(state);
#pragma unroll
  for (int s = 0; s < Cell::kSaved; ++s) saved[(row * Cell::kSaved + s) * hidden + u] = keep[s];
  if (Cell::kHasCell && last_c) last_c[e] = convert<T>(c);
}

// The rest of a step after the product: `sums` [batch, gates * hidden] are the product with the previous state `h`.
template <class T, int kKind>
__global__ void recurrence_step(const T* gates, const T* sums, const T* bias, const T* h, const T* c0,
                                const op_math_t<T>* earlier_saved, T* output, T* last_c, op_math_t<T>* saved, int n,
                                int hidden) {
  await_earlier_work();
  using A = op_math_t<T>;
  using Cell = RecurrentCell<kKind>;
  const int e = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (e >= n) return;
  A y[Cell::kGates];
#pragma unroll
  for (int g = 0; g < Cell::kGates; ++g)
    y[g] = convert<A>(sums[(int64_t{e / hidden} * Cell::kGates + g) * hidden + e % hidden]);
  finish_step<kKind>(gates, y, bias, h, c0, earlier_saved, output, last_c, saved, e, hidden);
}

// The arguments of the gradient of a step, except the product from the later step.  `direct` and `grad_c` hold the
// later step's contribution and receive that of this step.  state_gates: the operand of the product that takes the
// gradient to the state before.
template <class T>
struct StepGradient {
  const T *grad_output, *grad_last_c;
  const op_math_t<T>*saved, *earlier_saved;
  const T *output, *h, *c0;
  T *grad_gates, *state_gates;
  op_math_t<T>*direct, *grad_c;
};

// Finishes one unit of a sequence, e = row * hidden + u; `sum` is its element of the later step's product, if there is
// one.
template <int kKind, class T, class A>
__device__ __forceinline__ void finish_step_backward(const StepGradient<T>& s, bool has_later, A sum, int e,
                                                     int hidden) {
  using Cell = RecurrentCell<kKind>;
  const int64_t row = e / hidden, u = e % hidden, columns = int64_t{Cell::kGates} * hidden;
  A grad_h = convert<A>(s.grad_output[e]), of_c = A(0), before, straight = A(0);
  if (has_later) {
    grad_h += s.direct[e] + sum;
    if constexpr (Cell::kHasCell) of_c = s.grad_c[e];
  } else if (Cell::kHasCell && s.grad_last_c) {
    of_c = convert<A>(s.grad_last_c[e]);
  }
  A x[Cell::kGates], y[Cell::kGates], keep[Cell::kSaved + 1];
#pragma unroll
  for (int i = 0; i < Cell::kSaved; ++i) keep[i] = s.saved[(row * Cell::kSaved + i) * hidden + u];
  if constexpr (Cell::kHasCell)
    before =
        s.earlier_saved ? s.earlier_saved[(row * Cell::kSaved + Cell::kSaved - 1) * hidden + u] : convert<A>(s.c0[e]);
  else
    before = convert<A>(s.h[e]);
  Cell::backward(grad_h, of_c, keep, before, convert<A>(s.output[e]), x, y, straight);
#pragma unroll
  for (int g = 0; g < Cell::kGates; ++g) {
    const int64_t at = row * columns + g * hidden + u;
    s.grad_gates[at] = convert<T>(x[g]);
    if constexpr (Cell::kSplitGates) s.state_gates[at] = convert<T>(y[g]);
  }
  s.direct[e] = straight;
  if constexpr (Cell::kHasCell) s.grad_c[e] = of_c;
}

// The gradient of a step after the product of the later step: `sums` [batch, hidden], null at first.
template <class T, int kKind>
__global__ void recurrence_step_backward(StepGradient<T> step, const T* sums, int n, int hidden) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int e = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (e >= n) return;
  finish_step_backward<kKind>(step, sums != nullptr, sums ? convert<A>(sums[e]) : A(0), e, hidden);
}

// The gradients of the initial state, from the contribution of the first step.
template <class T>
__global__ void recurrence_start_gradients(const T* sums, const op_math_t<T>* direct, const op_math_t<T>* of_c,
                                           T* grad_h, T* grad_c, int n) {
  await_earlier_work();
  const int e = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (e >= n) return;
  grad_h[e] = convert<T>(direct[e] + convert<op_math_t<T>>(sums[e]));
  if (grad_c) grad_c[e] = convert<T>(of_c[e]);
}

}  // namespace argand
