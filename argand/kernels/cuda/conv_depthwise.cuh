// Convolution of groups of one channel with the channels last: every channel of an image by its own window.
#pragma once
#include "argand/kernels/cuda/depthwise_shape.cuh"
#include "argand/kernels/cuda/store_result.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// A thread makes P neighbouring results of V channels, in a row; block y has the channels.  K is the window's side, S
// the stride.
template <class T, int V, int K, int S, int P>
__global__ void __launch_bounds__(kDepthwiseThreads)
    depthwise_forward(const T* x, const T* w, const T* bias, T* y, const __grid_constant__ DepthwiseShape s,
                      Epilogue<T> epilogue) {
  await_earlier_work();
  using A = op_math_t<T>;
  using Channels = Vec<T, V>;
  constexpr int kColumns = (P - 1) * S + K;
  __shared__ Vec<A, V> weights[K * K][kDepthwiseVectors];
  const int first = static_cast<int>(blockIdx.y) * s.vectors * V;
  for (int i = static_cast<int>(threadIdx.x); i < s.vectors * V * K * K; i += kDepthwiseThreads) {
    const int channel = i / (K * K), tap = i % (K * K);
    weights[tap][channel / V][channel % V] =
        first + channel < s.c ? convert<A>(w[static_cast<long long>(first + channel) * (K * K) + tap]) : A(0);
  }
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x) % s.vectors, at_once = kDepthwiseThreads / s.vectors;
  const int channel = first + lane * V, mine = static_cast<int>(threadIdx.x) / s.vectors;
  if (mine >= at_once || channel >= s.c) return;
  Vec<A, V> base{};
  if (bias)
    for (int v = 0; v < V; ++v) base[v] = convert<A>(bias[channel + v]);
  for (long long strip = static_cast<long long>(blockIdx.x) * at_once + mine; strip < s.strips;
       strip += static_cast<long long>(gridDim.x) * at_once) {
    unsigned column = static_cast<unsigned>(strip);
    const unsigned row = split(column, s.strips_of_row);
    unsigned out_y = row;
    const unsigned image = split(out_y, s.out_h);
    const int out_x = static_cast<int>(column) * P;
    const int in_x = out_x * S - s.padding_w, in_y = static_cast<int>(out_y) * S - s.padding_h;
    A sums[P][V] = {};
#pragma unroll
    for (int i = 0; i < K; ++i) {
      if (static_cast<unsigned>(in_y + i) >= static_cast<unsigned>(s.in_h)) continue;
      const T* from = x + (static_cast<long long>(image) * s.in_h + in_y + i) * s.in_w * s.c + channel;
      // All of a row's loads are on their way before the first is waited for: none hangs on a branch.
      Channels in[kColumns];
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        const int at = in_x + j;
        const bool inside = static_cast<unsigned>(at) < static_cast<unsigned>(s.in_w);
        in[j] = *reinterpret_cast<const Channels*>(from + static_cast<long long>(inside ? at : 0) * s.c);
        if (!inside) in[j] = Channels{};
      }
#pragma unroll
      for (int j = 0; j < K; ++j) {
        const Vec<A, V> tap = weights[i * K + j][lane];
#pragma unroll
        for (int p = 0; p < P; ++p)
#pragma unroll
          for (int v = 0; v < V; ++v) sums[p][v] += convert<A>(in[p * S + j][v]) * tap[v];
      }
    }
#pragma unroll
    for (int p = 0; p < P; ++p) {
      if (out_x + p >= s.out_w) continue;
      const long long to = (static_cast<long long>(row) * s.out_w + out_x + p) * s.c + channel;
      Channels result;
#pragma unroll
      for (int v = 0; v < V; ++v) result[v] = convert<T>(sums[p][v] + base[v]);
      if (epilogue.out) {
        Channels mask{}, active;
        if (epilogue.mask) mask = *reinterpret_cast<const Channels*>(epilogue.mask + to);
#pragma unroll
        for (int v = 0; v < V; ++v) active[v] = activated(epilogue, mask[v], result[v]);
        *reinterpret_cast<Channels*>(epilogue.out + to) = active;
        if (!epilogue.keep) continue;
      }
      *reinterpret_cast<Channels*>(y + to) = result;
    }
  }
}

}  // namespace argand
