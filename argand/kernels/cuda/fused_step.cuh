// One optimizer step over many tensors: each element is read and written once.  The order of operations is that of
// ops/optim/fused_step.cpp.
#pragma once
#include "argand/kernels/cuda/many_tensors.cuh"
#include "argand/kernels/cuda/types.cuh"

namespace argand {

inline constexpr int kTensorsPerLaunch = 64, kStepTile = 2048;

// As in fused_step.cpp beside this.
struct StepTable {
  void* pointers[5][kTensorsPerLaunch];  // parameter, gradient, states
  int64_t numel[kTensorsPerLaunch];
  unsigned first_block[kTensorsPerLaunch];  // of tensor t; a block has a tile of kStepTile elements
  int count;
  unsigned scalar;  // whether some address is not a multiple of 16
  double numbers[10];
};

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

template <class T, int kKind, int kOptions, int W>
__device__ __forceinline__ void step_tile(const StepTable& table, int t, int64_t begin) {
  using M = op_math_t<T>;
  constexpr int kCount = kStates<kKind, kOptions>;
  M c[10];
#pragma unroll
  for (int i = 0; i < 10; ++i) c[i] = static_cast<M>(table.numbers[i]);
  T* const param = static_cast<T*>(table.pointers[0][t]);
  const T* const grad = static_cast<const T*>(table.pointers[1][t]);
  T* states[3];
#pragma unroll
  for (int s = 0; s < 3; ++s) states[s] = static_cast<T*>(table.pointers[2 + s][t]);
  const int64_t numel = table.numel[t], end = begin + kStepTile < numel ? begin + kStepTile : numel;
#pragma unroll 2
  for (int64_t at = begin + int64_t{threadIdx.x} * W; at < end; at += int64_t{blockDim.x} * W) {
    Vec<T, W> x = load<W>(param, at, numel);
    const Vec<T, W> g = load<W>(grad, at, numel);
    Vec<T, W> all[3];
#pragma unroll
    for (int s = 0; s < kCount; ++s) all[s] = load<W>(states[s], at, numel);
#pragma unroll
    for (int k = 0; k < W; ++k) {
      M value = convert<M>(x[k]), state[3];
#pragma unroll
      for (int s = 0; s < kCount; ++s) state[s] = convert<M>(all[s][k]);
      step_element<kKind, kOptions>(c, value, convert<M>(g[k]), state);
      x[k] = convert<T>(value);
#pragma unroll
      for (int s = 0; s < kCount; ++s) all[s][k] = convert<T>(state[s]);
    }
    store(param, at, numel, x);
#pragma unroll
    for (int s = 0; s < kCount; ++s) store(states[s], at, numel, all[s]);
  }
}

template <class T, int kKind, int kOptions>
__global__ void fused_step(const __grid_constant__ StepTable table) {
  const int t = tensor_of_block(table.first_block, table.count);
  const int64_t begin = int64_t{blockIdx.x - table.first_block[t]} * kStepTile;
  if (table.scalar)
    step_tile<T, kKind, kOptions, 1>(table, t, begin);
  else
    step_tile<T, kKind, kOptions, 16 / sizeof(T)>(table, t, begin);
}

}  // namespace argand
