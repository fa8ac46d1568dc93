// Maps whose coefficients are those of the channel, over a contiguous [n, channels, inner] tensor.
#pragma once
#include "argand/kernels/cuda/store_result.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// The channels of W neighbours: one, or where inner is 1 (kColumns) as many.
template <int W, bool kColumns, class A>
__device__ __forceinline__ Vec<A, W> coefficients(const A* p, unsigned long long channel) {
  Vec<A, W> v;
  if constexpr (kColumns && W * sizeof(A) >= 16) {
    constexpr int kStep = 16 / sizeof(A);
#pragma unroll
    for (int k = 0; k < W; k += kStep) {
      const Vec<A, kStep> part = *reinterpret_cast<const Vec<A, kStep>*>(p + channel + k);
#pragma unroll
      for (int j = 0; j < kStep; ++j) v[k + j] = part[j];
    }
  } else {
#pragma unroll
    for (int k = 0; k < W; ++k) v[k] = p[kColumns ? channel + k : channel];
  }
  return v;
}

// I is unsigned and holds the number of elements.  W divides the length of a plane, or of a row where kColumns.
template <int W, bool kColumns, class I>
__device__ __forceinline__ I channel_at(I at, I channels, I inner) {
  return kColumns ? at % channels : at / inner % channels;
}

// y = (x - center) * scale + shift
template <class T, int W, bool kColumns, class I>
__global__ void channel_scale(const T* x, T* y, const op_math_t<T>* center, const op_math_t<T>* scale,
                              const op_math_t<T>* shift, I total, I channels, I inner, Epilogue<T> epilogue) {
  await_earlier_work();
  using A = op_math_t<T>;
  const I step = I(gridDim.x) * blockDim.x * W;
  for (I at = (I(blockIdx.x) * blockDim.x + threadIdx.x) * W; at < total; at += step) {
    const I c = channel_at<W, kColumns>(at, channels, inner);
    const Vec<T, W> in = *reinterpret_cast<const Vec<T, W>*>(x + at);
    const Vec<A, W> m = coefficients<W, kColumns>(center, c), a = coefficients<W, kColumns>(scale, c);
    Vec<T, W> out;
    if (shift) {
      const Vec<A, W> b = coefficients<W, kColumns>(shift, c);
#pragma unroll
      for (int k = 0; k < W; ++k) out[k] = convert<T>((convert<A>(in[k]) - m[k]) * a[k] + b[k]);
    } else {
#pragma unroll
      for (int k = 0; k < W; ++k) out[k] = convert<T>((convert<A>(in[k]) - m[k]) * a[k]);
    }
    store_results(epilogue, y, at, out);
  }
}

// out = g * scale + (x - center) * slope + shift, or g * scale without slope.
template <class T, int W, bool kColumns, class I>
__global__ void channel_gradient(const T* g, const T* x, T* out, const op_math_t<T>* center, const op_math_t<T>* scale,
                                 const op_math_t<T>* slope, const op_math_t<T>* shift, I total, I channels, I inner) {
  await_earlier_work();
  using A = op_math_t<T>;
  const I step = I(gridDim.x) * blockDim.x * W;
  for (I at = (I(blockIdx.x) * blockDim.x + threadIdx.x) * W; at < total; at += step) {
    const I c = channel_at<W, kColumns>(at, channels, inner);
    const Vec<T, W> gs = *reinterpret_cast<const Vec<T, W>*>(g + at);
    const Vec<A, W> a = coefficients<W, kColumns>(scale, c);
    Vec<T, W> v;
    if (slope) {
      const Vec<T, W> xs = *reinterpret_cast<const Vec<T, W>*>(x + at);
      const Vec<A, W> m = coefficients<W, kColumns>(center, c), s = coefficients<W, kColumns>(slope, c),
                      b = coefficients<W, kColumns>(shift, c);
#pragma unroll
      for (int k = 0; k < W; ++k)
        v[k] = convert<T>(convert<A>(gs[k]) * a[k] + (convert<A>(xs[k]) - m[k]) * s[k] + b[k]);
    } else {
#pragma unroll
      for (int k = 0; k < W; ++k) v[k] = convert<T>(convert<A>(gs[k]) * a[k]);
    }
    *reinterpret_cast<Vec<T, W>*>(out + at) = v;
  }
}

}  // namespace argand
