// One optimizer step over many tensors: each element is read and written once.  The order of operations is that of
// ops/optim/fused_step.cpp.
#pragma once
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/many_tensors.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// Elements of a tensor that a block handles: a vector of 16 bytes a thread.
template <class T>
inline constexpr int kStepTile = kStepThreads * 16 / sizeof(T);

enum { kSgd, kAdam, kRmsprop };
enum { kAmsgrad = 1, kMomentum = 2, kNesterov = 4, kCentered = 8 };

template <int kKind, int kOptions>
inline constexpr int kStates = kKind == kAdam      ? 2 + (kOptions & kAmsgrad ? 1 : 0)
                               : kKind == kRmsprop ? 1 + (kOptions & kCentered ? 1 : 0) + (kOptions & kMomentum ? 1 : 0)
                                                   : (kOptions& kMomentum ? 1 : 0);

// x and the states are updated; `c` are the numbers of kernels/fused_step.h.
template <int kKind, int kOptions, class M>
__device__ __forceinline__ void step_element(const M (&c)[10], M& x, M g, M (&state)[3]) {
  if constexpr (kKind == kSgd) {
    const M d = c[2] * g + c[1] * x;
    if constexpr ((kOptions & kMomentum) != 0) {
      const M take = c[6] != M(0) ? M(1) : M(1) - c[5];
      const M b = c[4] * state[0] + take * d;
      state[0] = b;
      x = x - c[0] * ((kOptions & kNesterov) != 0 ? d + c[3] * b : b);
    } else {
      x = x - c[0] * d;
    }
  } else if constexpr (kKind == kAdam) {
    const M d = c[7] * g + c[8] * x;
    const M m = c[0] * state[0] + c[1] * d, v = c[2] * state[1] + c[3] * d * d;
    state[0] = m;
    state[1] = v;
    M largest = v;
    if constexpr ((kOptions & kAmsgrad) != 0) state[2] = largest = state[2] > v ? state[2] : v;
    x = x * c[9] - c[4] * (m / (math::sqrt(largest) / c[5] + c[6]));
  } else {
    constexpr int kBuffer = (kOptions & kCentered) != 0 ? 2 : 1;
    const M d = c[6] * g + c[4] * x;
    const M s = c[1] * state[0] + c[2] * d * d;
    state[0] = s;
    M variance = s;
    if constexpr ((kOptions & kCentered) != 0) {
      const M mean = state[1] + c[2] * (d - state[1]);
      state[1] = mean;
      variance = s - mean * mean;
    }
    M update = d / (math::sqrt(variance) + c[3]);
    if constexpr ((kOptions & kMomentum) != 0) {
      update = c[5] * state[kBuffer] + update;
      state[kBuffer] = update;
    }
    x = x - c[0] * update;
  }
}

// kWhole: the tile is full.
template <class T, int kKind, int kOptions, int W, bool kWhole, class Table>
__device__ __forceinline__ void step_tile(const Table& table, const typename Table::Tensor& tensor, int64_t begin) {
  using M = op_math_t<T>;
  constexpr int kCount = kStates<kKind, kOptions>, kTile = kStepTile<T>;
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
      M value = convert<M>(v[0][k]), state[3];
#pragma unroll
      for (int s = 0; s < kCount; ++s) state[s] = convert<M>(v[1 + s][k]);
      step_element<kKind, kOptions>(table.numbers, value, convert<M>(v[1 + kCount][k]), state);
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

template <class T, int kKind, int kOptions, int kTensors>
__global__ void __launch_bounds__(kStepThreads)
    fused_step(const __grid_constant__ StepTable<op_math_t<T>, kTensors> table) {
  await_earlier_work();
  constexpr int W = 16 / sizeof(T);
  const int t = tensor_of_block(table.first_block, table.count);
  const auto& tensor = table.tensors[t];
  const int64_t begin = int64_t{blockIdx.x - table.first_block[t]} * kStepTile<T>;
  if (table.scalar)
    step_tile<T, kKind, kOptions, 1, false>(table, tensor, begin);
  else if (begin + kStepTile<T> <= tensor.numel)
    step_tile<T, kKind, kOptions, W, true>(table, tensor, begin);
  else
    step_tile<T, kKind, kOptions, W, false>(table, tensor, begin);
}

// Few elements, one a thread: a chain of divisions and a root takes longer than all memory accesses.
template <class T, int kKind, int kOptions, int kTensors>
__global__ void __launch_bounds__(kStepThreads)
    small_fused_step(const __grid_constant__ StepTable<op_math_t<T>, kTensors> table) {
  await_earlier_work();
  using M = op_math_t<T>;
  constexpr int kCount = kStates<kKind, kOptions>;
  const int t = tensor_of_block(table.first_block, table.count);
  const auto& tensor = table.tensors[t];
  const unsigned at = (blockIdx.x - table.first_block[t]) * kStepThreads + threadIdx.x;
  if (at >= static_cast<unsigned>(tensor.numel)) return;
  T* const param = static_cast<T*>(tensor.arrays[0]) + at;
  const T gradient = static_cast<const T*>(tensor.arrays[1])[at], before = *param;
  T* states[3];
  M state[3];
#pragma unroll
  for (int s = 0; s < kCount; ++s) {
    states[s] = static_cast<T*>(tensor.arrays[2 + s]) + at;
    state[s] = convert<M>(*states[s]);
  }
  M value = convert<M>(before);
  step_element<kKind, kOptions>(table.numbers, value, convert<M>(gradient), state);
  *param = convert<T>(value);
#pragma unroll
  for (int s = 0; s < kCount; ++s) *states[s] = convert<T>(state[s]);
}

}  // namespace argand
