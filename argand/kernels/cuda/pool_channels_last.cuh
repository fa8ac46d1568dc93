// Pooling of [N, spatial..., C]: a thread for each V channels of a result, with the windows of pool.cuh.  A gradient
// is gathered.
#pragma once
#include "argand/kernels/cuda/pool.cuh"

namespace argand {

// V channels of an element of [N, size..., C]: the element's number is that of `place` without its channel.
template <int V>
struct ChannelsOf {
  int64_t pixel, channel;
  bool inside;
  __device__ __forceinline__ ChannelsOf(const PoolShape& s, int64_t plane_size) {
    const int64_t vectors = s.channels / V, i = thread_number();
    pixel = quotient(i, vectors);
    channel = (i - pixel * vectors) * V;
    inside = i < s.planes / s.channels * plane_size * vectors;
  }
};

template <class T, int V>
__device__ __forceinline__ Vec<T, V> channels_at(const T* x, int64_t at) {
  return *reinterpret_cast<const Vec<T, V>*>(x + at);
}
template <class T, int V>
__device__ __forceinline__ void put_channels(T* y, int64_t at, const Vec<T, V>& v) {
  if constexpr (sizeof(T) * V <= 16) {
    *reinterpret_cast<Vec<T, V>*>(y + at) = v;
  } else {
    for (int k = 0; k < V; ++k) y[at + k] = v[k];
  }
}

// As in max_pool().  Planes have less than 2^31 elements.
template <class T, class I, class Windows, int V>
__global__ void max_pool_channels(const T* x, T* y, I* positions, PoolShape s) {
  await_earlier_work();
  using A = op_math_t<T>;
  constexpr int kTogether = 3;
  const ChannelsOf<V> place(s, s.out_size());
  if (!place.inside) return;
  const PlanePosition p(place.pixel, s.out);
  x += p.plane * s.in_size() * s.channels + place.channel;
  Vec<A, V> value;
  Vec<int, V> best;
#pragma unroll
  for (int k = 0; k < V; ++k) value[k] = kMaximumOfNone<A>, best[k] = -1;
  const Range rz = Windows::covered(s, 0, p.at[0]), ry = Windows::covered(s, 1, p.at[1]),
              rx = Windows::covered(s, 2, p.at[2]);
  const int step = static_cast<int>(rx.step);
  for (int64_t z = rz.begin; z < rz.end; z += rz.step)
    for (int64_t y_in = ry.begin; y_in < ry.end && rx.begin < rx.end; y_in += ry.step) {
      const int row = static_cast<int>((z * s.in[1] + y_in) * s.in[2]);
      const int last = row + static_cast<int>(rx.begin + quotient(rx.end - 1 - rx.begin, rx.step) * rx.step);
      // Several loads are in flight at once; those past the end read the last element again, which changes nothing.
      for (int at = row + static_cast<int>(rx.begin); at <= last; at += kTogether * step) {
        Vec<T, V> in[kTogether];
        int from[kTogether];
#pragma unroll
        for (int j = 0; j < kTogether; ++j) {
          from[j] = at + j * step < last ? at + j * step : last;
          in[j] = channels_at<T, V>(x, from[j] * s.channels);
        }
#pragma unroll
        for (int j = 0; j < kTogether; ++j)
#pragma unroll
          for (int k = 0; k < V; ++k) {
            const A c = convert<A>(in[j][k]);
            const bool stays = best[k] >= 0 && !(c > value[k]) && c == c;
            value[k] = stays ? value[k] : c;
            best[k] = stays ? best[k] : from[j];
          }
      }
    }
  Vec<T, V> out;
  Vec<I, V> at;
#pragma unroll
  for (int k = 0; k < V; ++k) {
    out[k] = convert<T>(value[k]);
    at[k] = static_cast<I>(best[k]);
  }
  const int64_t to = place.pixel * s.channels + place.channel;
  put_channels(y, to, out);
  put_channels(positions, to, at);
}

template <class T, class I, class Windows, int V>
__global__ void max_pool_channels_backward(const T* grad_y, const I* positions, T* grad_x, PoolShape s) {
  await_earlier_work();
  using A = op_math_t<T>;
  const ChannelsOf<V> place(s, s.in_size());
  if (!place.inside) return;
  const PlanePosition p(place.pixel, s.in);
  const int64_t mine = place.pixel - p.plane * s.in_size();
  const int64_t first = p.plane * s.out_size() * s.channels + place.channel;
  Vec<A, V> sum{};
  for_each_covering<Windows>(s, p.at, [&](int64_t oz, int64_t oy, int64_t ox) {
    const int64_t o = first + ((oz * s.out[1] + oy) * s.out[2] + ox) * s.channels;
    const Vec<T, V> g = channels_at<T, V>(grad_y, o);
#pragma unroll
    for (int k = 0; k < V; ++k)
      if (positions[o + k] == mine) sum[k] += convert<A>(g[k]);
  });
  Vec<T, V> out;
#pragma unroll
  for (int k = 0; k < V; ++k) out[k] = convert<T>(sum[k]);
  put_channels(grad_x, place.pixel * s.channels + place.channel, out);
}

template <class T, class Windows, int V>
__global__ void avg_pool_channels(const T* x, T* y, PoolShape s, AverageDivisor d) {
  await_earlier_work();
  using A = op_math_t<T>;
  const ChannelsOf<V> place(s, s.out_size());
  if (!place.inside) return;
  const PlanePosition p(place.pixel, s.out);
  x += p.plane * s.in_size() * s.channels + place.channel;
  Vec<A, V> sum{};
  for_each_covered<Windows>(s, p.at, [&](int64_t at) {
    const Vec<T, V> in = channels_at<T, V>(x, at * s.channels);
#pragma unroll
    for (int k = 0; k < V; ++k) sum[k] += convert<A>(in[k]);
  });
  const A divisor = static_cast<A>(divisor_of<Windows>(s, d, p.at[0], p.at[1], p.at[2]));
  Vec<T, V> out;
#pragma unroll
  for (int k = 0; k < V; ++k) out[k] = convert<T>(sum[k] / divisor);
  put_channels(y, place.pixel * s.channels + place.channel, out);
}

template <class T, class Windows, int V>
__global__ void avg_pool_channels_backward(const T* grad_y, T* grad_x, PoolShape s, AverageDivisor d) {
  await_earlier_work();
  using A = op_math_t<T>;
  const ChannelsOf<V> place(s, s.in_size());
  if (!place.inside) return;
  const PlanePosition p(place.pixel, s.in);
  grad_y += p.plane * s.out_size() * s.channels + place.channel;
  Vec<A, V> sum{};
  for_each_covering<Windows>(s, p.at, [&](int64_t oz, int64_t oy, int64_t ox) {
    const Vec<T, V> g = channels_at<T, V>(grad_y, ((oz * s.out[1] + oy) * s.out[2] + ox) * s.channels);
    const A divisor = static_cast<A>(divisor_of<Windows>(s, d, oz, oy, ox));
#pragma unroll
    for (int k = 0; k < V; ++k) sum[k] += convert<A>(g[k]) / divisor;
  });
  Vec<T, V> out;
#pragma unroll
  for (int k = 0; k < V; ++k) out[k] = convert<T>(sum[k]);
  put_channels(grad_x, place.pixel * s.channels + place.channel, out);
}

// One output for each channel: block x has an image, block y kLanes vectors of channels, of which the rows of threads
// sum a share of the pixels each.
template <class T, int V, int kLanes>
__global__ void __launch_bounds__(256) average_channels(const T* x, T* y, int64_t channels, int64_t size) {
  await_earlier_work();
  using A = op_math_t<T>;
  constexpr int kRows = 256 / kLanes;
  __shared__ Vec<A, V> sums[kRows][kLanes];
  const int lane = static_cast<int>(threadIdx.x) % kLanes, row = static_cast<int>(threadIdx.x) / kLanes;
  const int64_t channel = (int64_t{blockIdx.y} * kLanes + lane) * V;
  Vec<A, V> sum{};
  if (channel < channels) {
    x += int64_t{blockIdx.x} * size * channels + channel;
#pragma unroll 4
    for (int64_t i = row; i < size; i += kRows) {
      const Vec<T, V> in = channels_at<T, V>(x, i * channels);
#pragma unroll
      for (int k = 0; k < V; ++k) sum[k] += convert<A>(in[k]);
    }
  }
  sums[row][lane] = sum;
  __syncthreads();
  if (row != 0 || channel >= channels) return;
  for (int r = 1; r < kRows; ++r)
#pragma unroll
    for (int k = 0; k < V; ++k) sum[k] += sums[r][lane][k];
  Vec<T, V> out;
#pragma unroll
  for (int k = 0; k < V; ++k) out[k] = convert<T>(sum[k] / static_cast<A>(size));
  put_channels(y, int64_t{blockIdx.x} * channels + channel, out);
}

}  // namespace argand
