// Pooling of contiguous planes: a thread for each result.  Gradients are gathered: each input element adds the
// contributions of the windows that contain it, in the order of the windows.  Only if windows do not overlap, each
// output stores the gradient of its maximum; windows of 2 x 2 that tile their planes have kernels of their own.
#pragma once
#include "argand/kernels/cuda/block.cuh"
#include "argand/kernels/cuda/plane_position.cuh"
#include "argand/kernels/cuda/store_result.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// PoolShape
struct PoolShape {
  int64_t planes;
  int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
  int64_t channels;  // 0 in this file
  __device__ __forceinline__ int64_t in_size() const { return in[0] * in[1] * in[2]; }
  __device__ __forceinline__ int64_t out_size() const { return out[0] * out[1] * out[2]; }
};
// AverageDivisor
struct AverageDivisor {
  bool count_padding;
  int64_t fixed;
};

// Positions [begin, end) in steps of `step` along one dimension.
struct Range {
  int64_t begin, end, step;
};

struct FixedWindows {
  // The range that output o covers.
  static __device__ __forceinline__ Range covered(const PoolShape& s, int d, int64_t o) {
    int64_t begin = o * s.stride[d] - s.padding[d];
    int64_t end = begin + (s.kernel[d] - 1) * s.dilation[d] + 1;
    if (end > s.in[d]) end = s.in[d];
    if (begin < 0) begin += quotient_up(-begin, s.dilation[d]) * s.dilation[d];
    return {begin, end, s.dilation[d]};
  }
  // The outputs that cover input i, if contains() agrees.
  static __device__ __forceinline__ Range covering(const PoolShape& s, int d, int64_t i) {
    const int64_t last = i + s.padding[d], first = last - (s.kernel[d] - 1) * s.dilation[d];
    const int64_t end = quotient(last, s.stride[d]) + 1;
    return {first <= 0 ? 0 : quotient_up(first, s.stride[d]), end < s.out[d] ? end : s.out[d], 1};
  }
  static __device__ __forceinline__ bool contains(const PoolShape& s, int d, int64_t o, int64_t i) {
    const int64_t from_begin = i + s.padding[d] - o * s.stride[d];
    return s.dilation[d] == 1 || from_begin == quotient(from_begin, s.dilation[d]) * s.dilation[d];
  }
};
struct AdaptiveWindows {
  static __device__ __forceinline__ Range covered(const PoolShape& s, int d, int64_t o) {
    return {quotient(o * s.in[d], s.out[d]), quotient_up((o + 1) * s.in[d], s.out[d]), 1};
  }
  // From floor(o in / out) <= i < ceil((o + 1) in / out).
  static __device__ __forceinline__ Range covering(const PoolShape& s, int d, int64_t i) {
    return {quotient(i * s.out[d], s.in[d]), quotient_up((i + 1) * s.out[d], s.in[d]), 1};
  }
  static __device__ __forceinline__ bool contains(const PoolShape&, int, int64_t, int64_t) { return true; }
};

// visit(position in the input plane) for the window of output o.
template <class Windows, class F>
__device__ __forceinline__ void for_each_covered(const PoolShape& s, const int64_t (&o)[3], F visit) {
  const Range rz = Windows::covered(s, 0, o[0]), ry = Windows::covered(s, 1, o[1]), rx = Windows::covered(s, 2, o[2]);
  for (int64_t z = rz.begin; z < rz.end; z += rz.step)
    for (int64_t y = ry.begin; y < ry.end; y += ry.step)
      for (int64_t x = rx.begin; x < rx.end; x += rx.step) visit((z * s.in[1] + y) * s.in[2] + x);
}

// visit(output) for the outputs, z, y and x, whose window contains input i.
template <class Windows, class F>
__device__ __forceinline__ void for_each_covering(const PoolShape& s, const int64_t (&i)[3], F visit) {
  const Range rz = Windows::covering(s, 0, i[0]), ry = Windows::covering(s, 1, i[1]),
              rx = Windows::covering(s, 2, i[2]);
  for (int64_t z = rz.begin; z < rz.end; ++z) {
    if (!Windows::contains(s, 0, z, i[0])) continue;
    for (int64_t y = ry.begin; y < ry.end; ++y) {
      if (!Windows::contains(s, 1, y, i[1])) continue;
      for (int64_t x = rx.begin; x < rx.end; ++x)
        if (Windows::contains(s, 2, x, i[2])) visit(z, y, x);
    }
  }
}

// The maximum of a dilated window that steps from the padding over the whole input; its position is -1.
template <class A>
inline constexpr A kMaximumOfNone = -math::detail::kInfinity<A>;
template <>
inline constexpr int64_t kMaximumOfNone<int64_t> = -0x7fffffffffffffffLL - 1;
template <>
inline constexpr int kMaximumOfNone<int> = -0x7fffffff - 1;
template <>
inline constexpr short kMaximumOfNone<short> = -0x8000;
template <>
inline constexpr signed char kMaximumOfNone<signed char> = -0x80;
template <>
inline constexpr unsigned char kMaximumOfNone<unsigned char> = 0;

// The first of equal elements wins, and the last NaN.
template <class T, class I, class Windows>
__global__ void max_pool(const T* x, T* y, I* positions, PoolShape s) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t i = thread_number();
  if (i >= s.planes * s.out_size()) return;
  const PlanePosition p(i, s.out);
  x += p.plane * s.in_size();
  int64_t best = -1;
  A value = kMaximumOfNone<A>;
  for_each_covered<Windows>(s, p.at, [&](int64_t at) {
    const A c = convert<A>(x[at]);
    if (best >= 0 && !(c > value) && c == c) return;
    value = c;
    best = at;
  });
  y[i] = convert<T>(value);
  positions[i] = static_cast<I>(best);
}

template <class T, class I, class Windows>
__global__ void max_pool_backward(const T* grad_y, const I* positions, T* grad_x, PoolShape s) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t i = thread_number();
  if (i >= s.planes * s.in_size()) return;
  const PlanePosition p(i, s.in);
  const int64_t mine = i - p.plane * s.in_size(), outputs = p.plane * s.out_size();
  A sum = 0;
  for_each_covering<Windows>(s, p.at, [&](int64_t oz, int64_t oy, int64_t ox) {
    const int64_t o = outputs + (oz * s.out[1] + oy) * s.out[2] + ox;
    if (positions[o] == mine) sum += convert<A>(grad_y[o]);
  });
  grad_x[i] = convert<T>(sum);
}

// ---- maxima of windows of 2 x 2 that tile flat planes of less than 2^32 elements in all: rows of x are twice those of
// y, whatever the plane, and lie aligned as pairs

template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T left, right;
};
// Output i: its window's two pairs, and the position of the first element in its plane.
struct Tile {
  unsigned pair, first;
  __device__ __forceinline__ Tile(unsigned i, unsigned out_h, unsigned out_w) {
    const unsigned row = i / out_w, column = i - row * out_w;
    pair = 2 * row * out_w + column;  // the other one is out_w further
    first = 4 * (row % out_h) * out_w + 2 * column;
  }
};

template <class T, class I>
__global__ void max_pool_tiles(const Pair<T>* x, T* y, I* positions, unsigned outputs, unsigned out_h, unsigned out_w) {
  await_earlier_work();
  using A = op_math_t<T>;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= outputs) return;
  const Tile t(i, out_h, out_w);
  const Pair<T> upper = x[t.pair], lower = x[t.pair + out_w];
  A value = convert<A>(upper.left);
  unsigned best = 0;
  const auto visit = [&](T candidate, unsigned at) {
    const A c = convert<A>(candidate);
    if (!(c > value) && c == c) return;
    value = c;
    best = at;
  };
  visit(upper.right, 1);
  visit(lower.left, 2 * out_w);
  visit(lower.right, 2 * out_w + 1);
  y[i] = convert<T>(value);
  positions[i] = static_cast<I>(t.first + best);
}

template <class T, class I>
__global__ void max_pool_tiles_backward(const T* grad_y, const I* positions, Pair<T>* grad_x, unsigned outputs,
                                        unsigned out_h, unsigned out_w, Epilogue<T> epilogue) {
  await_earlier_work();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= outputs) return;
  const Tile t(i, out_h, out_w);
  const T g = grad_y[i], zero{};
  const unsigned at = static_cast<unsigned>(positions[i]) - t.first;
  const auto store = [&](unsigned pair, unsigned first) {
    const Pair<T> x{at == first ? g : zero, at == first + 1 ? g : zero};
    if (epilogue.out) {
      Pair<T> mask{};
      if (epilogue.mask) mask = reinterpret_cast<const Pair<T>*>(epilogue.mask)[pair];
      reinterpret_cast<Pair<T>*>(epilogue.out)[pair] = {activated(epilogue, mask.left, x.left),
                                                        activated(epilogue, mask.right, x.right)};
      if (!epilogue.keep) return;
    }
    grad_x[pair] = x;
  };
  store(t.pair, 0);
  store(t.pair + out_w, 2 * out_w);
}

// For windows that do not overlap: each output writes to where its maximum was, and grad_x holds zeros.
template <class T, class I>
__global__ void max_pool_scatter(const T* grad_y, const I* positions, T* grad_x, int64_t outputs, int64_t out_size,
                                 int64_t in_size) {
  await_earlier_work();
  const int64_t i = thread_number();
  if (i < outputs && positions[i] >= 0) grad_x[quotient(i, out_size) * in_size + positions[i]] = grad_y[i];
}

// Elements the average of a window is divided by.
template <class Windows>
__device__ __forceinline__ int64_t divisor_of(const PoolShape& s, const AverageDivisor& d, int64_t oz, int64_t oy,
                                              int64_t ox) {
  if (d.fixed) return d.fixed;
  const int64_t o[3] = {oz, oy, ox};
  int64_t n = 1;
  for (int k = 0; k < 3; ++k) {
    if (d.count_padding) {
      const int64_t begin = o[k] * s.stride[k] - s.padding[k], limit = s.in[k] + s.padding[k];
      n *= (begin + s.kernel[k] < limit ? begin + s.kernel[k] : limit) - begin;
    } else {
      const Range r = Windows::covered(s, k, o[k]);
      n *= r.end - r.begin;
    }
  }
  return n;
}

template <class T, class Windows>
__global__ void avg_pool(const T* x, T* y, PoolShape s, AverageDivisor d) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t i = thread_number();
  if (i >= s.planes * s.out_size()) return;
  const PlanePosition p(i, s.out);
  x += p.plane * s.in_size();
  A sum = 0;
  for_each_covered<Windows>(s, p.at, [&](int64_t at) { sum += convert<A>(x[at]); });
  y[i] = convert<T>(sum / static_cast<A>(divisor_of<Windows>(s, d, p.at[0], p.at[1], p.at[2])));
}

template <class T, class Windows>
__global__ void avg_pool_backward(const T* grad_y, T* grad_x, PoolShape s, AverageDivisor d) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t i = thread_number();
  if (i >= s.planes * s.in_size()) return;
  const PlanePosition p(i, s.in);
  grad_y += p.plane * s.out_size();
  A sum = 0;
  for_each_covering<Windows>(s, p.at, [&](int64_t oz, int64_t oy, int64_t ox) {
    const A g = convert<A>(grad_y[(oz * s.out[1] + oy) * s.out[2] + ox]);
    sum += g / static_cast<A>(divisor_of<Windows>(s, d, oz, oy, ox));
  });
  grad_x[i] = convert<T>(sum);
}

// One output for each plane: a warp reads it.
template <class T>
__global__ void average_planes(const T* x, T* y, int64_t planes, int64_t size) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t plane = int64_t{blockIdx.x} * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  if (plane >= planes) return;
  A sum = 0;
  for (int64_t i = threadIdx.x % kWarp; i < size; i += kWarp) sum += convert<A>(x[plane * size + i]);
  sum = warp_reduce(sum, Add());
  if (threadIdx.x % kWarp == 0) y[plane] = convert<T>(sum / static_cast<A>(size));
}

}  // namespace argand
