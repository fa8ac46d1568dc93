// Depthwise convolution (groups of one channel) and its gradients, with channels last.
#pragma once
#include "argand/kernels/cuda/depthwise_shape.cuh"
#include "argand/kernels/cuda/store_result.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// The work of a thread: V channels of strips of neighbouring results; its next strip is one step of all threads
// further.
template <int V>
struct DepthwiseLane {
  int lane, channel;
  long long strip, step;
  bool works;
  __device__ __forceinline__ explicit DepthwiseLane(const DepthwiseShape& s) {
    const int at_once = kDepthwiseThreads / s.vectors, mine = static_cast<int>(threadIdx.x) / s.vectors;
    lane = static_cast<int>(threadIdx.x) % s.vectors;
    channel = (static_cast<int>(blockIdx.y) * s.vectors + lane) * V;
    strip = static_cast<long long>(blockIdx.x) * at_once + mine;
    step = static_cast<long long>(gridDim.x) * at_once;
    works = mine < at_once && channel < s.c;
  }
};
struct DepthwiseStrip {
  unsigned image, row;  // rows are counted over all images
  int y, x;             // of the first result
  __device__ __forceinline__ DepthwiseStrip(const DepthwiseShape& s, long long strip, int length) {
    unsigned column = static_cast<unsigned>(strip);
    row = split(column, s.strips_of_row);
    unsigned place = row;
    image = split(place, s.out_h);
    y = static_cast<int>(place);
    x = static_cast<int>(column) * length;
  }
};

// `count` neighbours of a row of `width`, from `first` on, zero outside.  All loads are issued before the first is
// waited for, because none depends on a branch.
template <int kCount, class T, int V>
__device__ __forceinline__ void load_row(Vec<T, V> (&to)[kCount], const T* row, int first, int width, int c) {
#pragma unroll
  for (int j = 0; j < kCount; ++j) {
    const bool inside = static_cast<unsigned>(first + j) < static_cast<unsigned>(width);
    to[j] = *reinterpret_cast<const Vec<T, V>*>(row + static_cast<long long>(inside ? first + j : 0) * c);
    if (!inside) to[j] = Vec<T, V>{};
  }
}

// The weights of the block's channels, by taps.
template <class T, int V, int K>
__device__ __forceinline__ void load_taps(Vec<op_math_t<T>, V> (&taps)[K * K][kDepthwiseVectors], const T* w,
                                          const DepthwiseShape& s) {
  using A = op_math_t<T>;
  const int first = static_cast<int>(blockIdx.y) * s.vectors * V;
  for (int i = static_cast<int>(threadIdx.x); i < s.vectors * V * K * K; i += kDepthwiseThreads) {
    const int channel = i / (K * K), tap = i % (K * K);
    taps[s.turned ? K * K - 1 - tap : tap][channel / V][channel % V] =
        first + channel < s.c ? convert<A>(w[static_cast<long long>(first + channel) * (K * K) + tap]) : A(0);
  }
  __syncthreads();
}

// A thread makes P neighbouring results, in a row; block y has the channels.  K is the window's side, S the stride.
template <class T, int V, int K, int S, int P>
__global__ void __launch_bounds__(kDepthwiseThreads)
    depthwise_forward(const T* x, const T* w, const T* bias, T* y, const __grid_constant__ DepthwiseShape s,
                      Epilogue<T> epilogue) {
  await_earlier_work();
  using A = op_math_t<T>;
  __shared__ Vec<A, V> weights[K * K][kDepthwiseVectors];
  load_taps<T, V, K>(weights, w, s);
  const DepthwiseLane<V> mine(s);
  if (!mine.works) return;
  Vec<A, V> base{};
  if (bias)
    for (int v = 0; v < V; ++v) base[v] = convert<A>(bias[mine.channel + v]);
  for (long long strip = mine.strip; strip < s.strips; strip += mine.step) {
    const DepthwiseStrip at(s, strip, P);
    const int in_x = at.x * S - s.padding_w, in_y = at.y * S - s.padding_h;
    A sums[P][V] = {};
#pragma unroll
    for (int i = 0; i < K; ++i) {
      if (static_cast<unsigned>(in_y + i) >= static_cast<unsigned>(s.in_h)) continue;
      Vec<T, V> in[(P - 1) * S + K];
      load_row(in, x + (static_cast<long long>(at.image) * s.in_h + in_y + i) * s.in_w * s.c + mine.channel, in_x,
               s.in_w, s.c);
#pragma unroll
      for (int j = 0; j < K; ++j) {
        const Vec<A, V> tap = weights[i * K + j][mine.lane];
#pragma unroll
        for (int p = 0; p < P; ++p)
#pragma unroll
          for (int v = 0; v < V; ++v) sums[p][v] += convert<A>(in[p * S + j][v]) * tap[v];
      }
    }
#pragma unroll
    for (int p = 0; p < P; ++p) {
      if (at.x + p >= s.out_w) continue;
      Vec<T, V> result;
#pragma unroll
      for (int v = 0; v < V; ++v) result[v] = convert<T>(sums[p][v] + base[v]);
      store_results(epilogue, y, (static_cast<long long>(at.row) * s.out_w + at.x + p) * s.c + mine.channel, result);
    }
  }
}

// The gradient for the input of a convolution with stride 2: `in` of the shape is its result, `out` its input, and the
// padding is that of the convolution.  kOdd: the padding in x is odd.  Input i meets result o at tap i + padding - 2 o.
template <class T, int V, int K, int P, bool kOdd>
__global__ void __launch_bounds__(kDepthwiseThreads)
    depthwise_input_gradient(const T* gy, const T* w, T* gx, const __grid_constant__ DepthwiseShape s) {
  await_earlier_work();
  using A = op_math_t<T>;
  __shared__ Vec<A, V> weights[K * K][kDepthwiseVectors];
  load_taps<T, V, K>(weights, w, s);
  const DepthwiseLane<V> mine(s);
  if (!mine.works) return;
  constexpr int kBefore = (K - 1 - kOdd) / 2, kCount = kBefore + (P - 1 + kOdd) / 2 + 1;
  for (long long strip = mine.strip; strip < s.strips; strip += mine.step) {
    const DepthwiseStrip at(s, strip, P);
    const int first = (at.x + s.padding_w - kOdd) / 2 - kBefore;
    A sums[P][V] = {};
#pragma unroll
    for (int i = 0; i < K; ++i) {
      const int twice = at.y + s.padding_h - i;
      if (twice < 0 || twice % 2 != 0 || twice / 2 >= s.in_h) continue;
      Vec<T, V> in[kCount];
      load_row(in, gy + (static_cast<long long>(at.image) * s.in_h + twice / 2) * s.in_w * s.c + mine.channel, first,
               s.in_w, s.c);
#pragma unroll
      for (int t = 0; t < kCount; ++t)
#pragma unroll
        for (int p = 0; p < P; ++p) {
          const int j = kOdd + p - 2 * (t - kBefore);
          if (j < 0 || j >= K) continue;
          const Vec<A, V> tap = weights[i * K + j][mine.lane];
#pragma unroll
          for (int v = 0; v < V; ++v) sums[p][v] += convert<A>(in[t][v]) * tap[v];
        }
    }
#pragma unroll
    for (int p = 0; p < P; ++p) {
      if (at.x + p >= s.out_w) continue;
      Vec<T, V> result;
#pragma unroll
      for (int v = 0; v < V; ++v) result[v] = convert<T>(sums[p][v]);
      *reinterpret_cast<Vec<T, V>*>(gx + (static_cast<long long>(at.row) * s.out_w + at.x + p) * s.c + mine.channel) =
          result;
    }
  }
}

// Part blockIdx.x of the gradient for the weights [c, K, K]: the sum over the strips of a block.
template <class T, int V, int K, int S, int P>
__global__ void __launch_bounds__(kDepthwiseThreads)
    depthwise_weight_gradient(const T* gy, const T* x, op_math_t<T>* parts, const __grid_constant__ DepthwiseShape s) {
  await_earlier_work();
  using A = op_math_t<T>;
  __shared__ Vec<A, V> shared[kDepthwiseThreads];
  const DepthwiseLane<V> mine(s);
  A sums[K * K][V] = {};
  if (mine.works) {
    for (long long strip = mine.strip; strip < s.strips; strip += mine.step) {
      const DepthwiseStrip at(s, strip, P);
      const int in_x = at.x * S - s.padding_w, in_y = at.y * S - s.padding_h;
      Vec<T, V> g[P];
      load_row(g, gy + static_cast<long long>(at.row) * s.out_w * s.c + mine.channel, at.x, s.out_w, s.c);
#pragma unroll
      for (int i = 0; i < K; ++i) {
        if (static_cast<unsigned>(in_y + i) >= static_cast<unsigned>(s.in_h)) continue;
        Vec<T, V> in[(P - 1) * S + K];
        load_row(in, x + (static_cast<long long>(at.image) * s.in_h + in_y + i) * s.in_w * s.c + mine.channel, in_x,
                 s.in_w, s.c);
#pragma unroll
        for (int j = 0; j < K; ++j)
#pragma unroll
          for (int p = 0; p < P; ++p)
#pragma unroll
            for (int v = 0; v < V; ++v) sums[i * K + j][v] += convert<A>(in[p * S + j][v]) * convert<A>(g[p][v]);
      }
    }
  }
  parts += static_cast<long long>(blockIdx.x) * s.c * (K * K);
  const int at_once = kDepthwiseThreads / s.vectors;
#pragma unroll
  for (int tap = 0; tap < K * K; ++tap) {
    __syncthreads();
#pragma unroll
    for (int v = 0; v < V; ++v) shared[threadIdx.x][v] = sums[tap][v];
    __syncthreads();
    if (static_cast<int>(threadIdx.x) >= s.vectors || mine.channel >= s.c) continue;
    for (int v = 0; v < V; ++v) {
      A sum = 0;
      for (int k = 0; k < at_once; ++k) sum += shared[k * s.vectors + static_cast<int>(threadIdx.x)][v];
      parts[static_cast<long long>(mine.channel + v) * (K * K) + tap] = sum;
    }
  }
}

}  // namespace argand
