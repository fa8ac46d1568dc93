// One optimizer step over many tensors: each element is read and written once.
#pragma once
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/many_tensors.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/kernels/step_rules.h"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// Elements of a tensor that a block handles: a vector of 16 bytes a thread.
template <class T>
inline constexpr int kStepTile = kStepThreads * 16 / sizeof(T);

// kWhole: the tile is full.
template <class T, int kKind, int W, bool kWhole, class Table>
__device__ __forceinline__ void step_tile(const Table& table, const typename Table::Tensor& tensor, int64_t begin) {
  using M = op_math_t<T>;
  using Rule = StepRule<static_cast<StepKind>(kKind)>;
  constexpr int kCount = Rule::kStates, kTile = kStepTile<T>;
  T* arrays[2 + kCount];  // parameter, states, gradient
  arrays[0] = static_cast<T*>(tensor.arrays[0]) + begin;
#pragma unroll
  for (int s = 0; s < kCount; ++s) arrays[1 + s] = static_cast<T*>(tensor.arrays[2 + s]) + begin;
  arrays[1 + kCount] = static_cast<T*>(tensor.arrays[1]) + begin;
  const int64_t rest = tensor.numel - begin;
  const int end = kWhole || rest > kTile ? kTile : int(rest);
  for (int at = int(threadIdx.x) * W; at < end; at += kStepThreads * W) {
    Vec<T, W> v[2 + kCount];
#pragma unroll
    for (int a = 0; a < 2 + kCount; ++a)
      v[a] = kWhole ? *reinterpret_cast<const Vec<T, W>*>(arrays[a] + at) : load<W>(arrays[a], at, end);
#pragma unroll
    for (int k = 0; k < W; ++k) {
      M value = convert<M>(v[0][k]), state[kCount + 1];
#pragma unroll
      for (int s = 0; s < kCount; ++s) state[s] = convert<M>(v[1 + s][k]);
      Rule::update(table.numbers, value, convert<M>(v[1 + kCount][k]), state);
      v[0][k] = convert<T>(value);
#pragma unroll
      for (int s = 0; s < kCount; ++s) v[1 + s][k] = convert<T>(state[s]);
    }
#pragma unroll
    for (int a = 0; a < 1 + kCount; ++a)
      if constexpr (kWhole)
        *reinterpret_cast<Vec<T, W>*>(arrays[a] + at) = v[a];
      else
        store(arrays[a], at, end, v[a]);
  }
}

template <class T, int kKind, int kTensors>
__global__ void __launch_bounds__(kStepThreads)
    fused_step(const __grid_constant__ StepTable<op_math_t<T>, kTensors> table) {
  await_earlier_work();
  constexpr int W = 16 / sizeof(T);
  const int t = tensor_of_block(table.first_block, table.count);
  const auto& tensor = table.tensors[t];
  const int64_t begin = int64_t{blockIdx.x - table.first_block[t]} * kStepTile<T>;
  if (table.scalar)
    step_tile<T, kKind, 1, false>(table, tensor, begin);
  else if (begin + kStepTile<T> <= tensor.numel)
    step_tile<T, kKind, W, true>(table, tensor, begin);
  else
    step_tile<T, kKind, W, false>(table, tensor, begin);
}

// Few elements, one a thread: a chain of divisions and a root takes longer than all memory accesses.
template <class T, int kKind, int kTensors>
__global__ void __launch_bounds__(kStepThreads)
    small_fused_step(const __grid_constant__ StepTable<op_math_t<T>, kTensors> table) {
  await_earlier_work();
  using M = op_math_t<T>;
  using Rule = StepRule<static_cast<StepKind>(kKind)>;
  constexpr int kCount = Rule::kStates;
  const int t = tensor_of_block(table.first_block, table.count);
  const auto& tensor = table.tensors[t];
  const unsigned at = (blockIdx.x - table.first_block[t]) * kStepThreads + threadIdx.x;
  if (at >= static_cast<unsigned>(tensor.numel)) return;
  T* const param = static_cast<T*>(tensor.arrays[0]) + at;
  const T gradient = static_cast<const T*>(tensor.arrays[1])[at], before = *param;
  T* states[kCount + 1];  // one more than are used: arrays are not empty
  M state[kCount + 1];
#pragma unroll
  for (int s = 0; s < kCount; ++s) {
    states[s] = static_cast<T*>(tensor.arrays[2 + s]) + at;
    state[s] = convert<M>(*states[s]);
  }
  M value = convert<M>(before);
  Rule::update(table.numbers, value, convert<M>(gradient), state);
  *param = convert<T>(value);
#pragma unroll
  for (int s = 0; s < kCount; ++s) *states[s] = convert<T>(state[s]);
}

}  // namespace argand
