// Losses of two tensors element by element, their derivatives and their sums.
#pragma once
#include "argand/kernels/cuda/reduce.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// f is the loss, f1 and f2 its derivatives by d = x - y.  At kinks as on the CPU: the slope of |d| at 0 is 0.
template <class A>
__device__ __forceinline__ A sign_of(A d) {
  return d > 0 ? A(1) : d < 0 ? A(-1) : d;  // NaN stays NaN
}
struct Square {
  template <class A>
  static __device__ __forceinline__ A f(A d, A) {
    return d * d;
  }
  template <class A>
  static __device__ __forceinline__ A f1(A d, A) {
    return 2 * d;
  }
  template <class A>
  static __device__ __forceinline__ A f2(A, A) {
    return 2;
  }
};
struct Abs {
  template <class A>
  static __device__ __forceinline__ A f(A d, A) {
    return math::abs(d);
  }
  template <class A>
  static __device__ __forceinline__ A f1(A d, A) {
    return sign_of(d);
  }
  template <class A>
  static __device__ __forceinline__ A f2(A, A) {
    return 0;
  }
};
struct SmoothL1 {
  template <class A>
  static __device__ __forceinline__ A f(A d, A beta) {
    const A m = math::abs(d);
    return m < beta ? A(0.5) * m * m / beta : m - A(0.5) * beta;
  }
  template <class A>
  static __device__ __forceinline__ A f1(A d, A beta) {
    return math::abs(d) < beta ? d / beta : sign_of(d);
  }
  template <class A>
  static __device__ __forceinline__ A f2(A d, A beta) {
    return math::abs(d) < beta ? 1 / beta : A(0);
  }
};
struct Huber {
  template <class A>
  static __device__ __forceinline__ A f(A d, A delta) {
    const A m = math::abs(d);
    return m <= delta ? A(0.5) * m * m : delta * (m - A(0.5) * delta);
  }
  template <class A>
  static __device__ __forceinline__ A f1(A d, A delta) {
    return math::abs(d) <= delta ? d : delta * sign_of(d);
  }
  template <class A>
  static __device__ __forceinline__ A f2(A d, A delta) {
    return math::abs(d) <= delta ? A(1) : A(0);
  }
};

// A thread per W elements; kOrder 0 is the loss itself.  grad: of each element (kEach), of all, or null.
template <class T, class Loss, int kOrder, bool kEach, int W>
__global__ void pair_loss(const T* x, const T* y, const T* grad, T* out, double parameter, double scale, int64_t n) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t at = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * W;
  if (at >= n) return;
  const Vec<T, W> a = load<W>(x, at, n), b = load<W>(y, at, n);
  Vec<T, W> g, v;
  if constexpr (kEach) g = load<W>(grad, at, n);
  const A p = static_cast<A>(parameter);
  const A factor = static_cast<A>(scale) * (grad && !kEach ? convert<A>(*grad) : A(1));
#pragma unroll
  for (int k = 0; k < W; ++k) {
    const A d = convert<A>(a[k]) - convert<A>(b[k]);
    A r = kOrder == 0 ? Loss::f(d, p) : factor * (kOrder == 1 ? Loss::f1(d, p) : Loss::f2(d, p));
    if constexpr (kEach) r = r * convert<A>(g[k]);
    v[k] = convert<T>(r);
  }
  store(out, at, n, v);
}

// Block b stores the sum of the losses of elements [b * step, (b + 1) * step); step is a multiple of W.  A thread loads
// U vectors at once.
template <class T, class Loss, int W, int U, class Store>
__global__ void __launch_bounds__(1024)
    pair_loss_sum(const T* x, const T* y, Store store, double parameter, int64_t n, int64_t step) {
  await_earlier_work();
  using A = op_math_t<T>;
  const A p = static_cast<A>(parameter);
  const int64_t begin = blockIdx.x * step, end = begin + step < n ? begin + step : n, stride = int64_t{blockDim.x} * W;
  A sums[W] = {};
  for (int64_t i = begin + int64_t{threadIdx.x} * W; i < end; i += U * stride) {
    Vec<T, W> a[U], b[U];
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (i + u * stride < end) {
        a[u] = load<W>(x, i + u * stride, n);
        b[u] = load<W>(y, i + u * stride, n);
      }
#pragma unroll
    for (int k = 0; k < W; ++k) {
      A terms[U];
#pragma unroll
      for (int u = 0; u < U; ++u)
        terms[u] = i + u * stride + k < end ? Loss::f(convert<A>(a[u][k]) - convert<A>(b[u][k]), p) : A(0);
      sums[k] += combine_tree<SumOp<A>>(terms);
    }
  }
  const A sum = reduce_lanes<SumOp<A>>(combine_tree<SumOp<A>>(sums), blockDim.x);
  if (threadIdx.x == 0) store(blockIdx.x, sum);
}

}  // namespace argand
