// Matrix products too small to fill a GPU: one kernel that takes little longer than one memory access.
#pragma once
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/block.cuh"
#include "argand/kernels/cuda/product_tile.cuh"
#include "argand/kernels/cuda/store_result.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// Elements [first, first + R) of a line of n that begins at p[start]; those beyond it are some of its others.
struct Elements {
  template <int R, class T>
  static __device__ __forceinline__ Vec<T, R> load(const T* p, int start, int first, int n, int stride) {
    Vec<T, R> out;
#pragma unroll
    for (int i = 0; i < R; ++i) out[i] = p[start + (first + i < n ? first + i : n - 1) * stride];
    return out;
  }
};
// The same for a stride of 1 and aligned addresses.
struct Vectors {
  template <int R, class T>
  static __device__ __forceinline__ Vec<T, R> load(const T* p, int start, int first, int n, int) {
    constexpr int kWidth = R * sizeof(T) < 16 ? R : 16 / sizeof(T);
    Vec<T, R> out;
#pragma unroll
    for (int i = 0; i < R; i += kWidth) {
      const auto part = *reinterpret_cast<const Vec<T, kWidth>*>(p + (start + (first < n ? first : 0) + i));
#pragma unroll
      for (int j = 0; j < kWidth; ++j) out[i + j] = part[j];
    }
    return out;
  }
};

// The products of kCount of this thread's share of k; column `ones` of B (none if outside the tile) is ones.
template <int kCount, int R, class AForm, class BForm, class T, class Sum>
__device__ __forceinline__ void add_products(const T* a, const T* b, const SmallProduct& s, int row0, int column0,
                                             int ones, int k, Sum (&sums)[R * R]) {
  Vec<T, R> x[kCount], y[kCount];
#pragma unroll
  for (int u = 0; u < kCount; ++u, k += blockDim.x) {
    x[u] = AForm::template load<R>(a, blockIdx.z * s.a_batch + k * s.a_column, row0, s.m, s.a_row);
    y[u] = BForm::template load<R>(b, blockIdx.z * s.b_batch + k * s.b_row, column0, s.n, s.b_column);
  }
#pragma unroll
  for (int u = 0; u < kCount; ++u)
#pragma unroll
    for (int j = 0; j < R; ++j) {
      const Sum right = j == ones ? Sum(1) : convert<Sum>(y[u][j]);
#pragma unroll
      for (int i = 0; i < R; ++i)
        sums[i * R + j] = ProductMath<T>::multiply_add(convert<Sum>(x[u][i]), right, sums[i * R + j]);
    }
}

// Adds N sums up over the warp, each lane getting its own: sum lane * N / kWarp + i is then at i.  Of fewer than kWarp,
// neighbouring lanes have the same.
template <int N, int kStep = kWarp / 2, class T>
__device__ __forceinline__ void spread_warp_sums(T* x) {
  if constexpr (N == 1) x[0] += __shfl_xor_sync(0xffffffffu, x[0], kStep);
  const bool upper = threadIdx.x & kStep;
#pragma unroll
  for (int i = 0; i < N / 2; ++i) {
    const T low = x[i], high = x[i + N / 2];
    x[i] = (upper ? high : low) + __shfl_xor_sync(0xffffffffu, upper ? low : high, kStep);
  }
  if constexpr (kStep > 1) spread_warp_sums<N == 1 ? 1 : N / 2, kStep / 2>(x);
}

// c = alpha a b + beta c (+ bias); a_sums, if any, receives the sum of each row of a, as if b had one more column, of
// ones. Block x, y is the tile of R x R, z the number in the batch.  All threads have sums of the whole tile, each over
// its share of k: operands are loaded once, all at a time, from where they are, and then added up in the order of
// threads. One block of a multiprocessor is enough: for more the compiler would save registers and load one after the
// other.
template <class T, int R, class AForm, class BForm>
__global__ void __launch_bounds__(kSmallProductThreads, 1)
    small_product(const T* a, const T* b, T* c, const T* bias, T* a_sums, SmallProduct s,
                  typename ProductMath<T>::Sum alpha, typename ProductMath<T>::Sum beta, Epilogue<T> epilogue) {
  await_earlier_work();
  using Math = ProductMath<T>;
  using Sum = typename Math::Sum;
  constexpr int kSums = R * R, kEach = kSums > kWarp ? kSums / kWarp : 1, kSame = kWarp * kEach / kSums;
  __shared__ Sum parts[kSmallProductThreads / kWarp][kSums];
  const int row0 = blockIdx.y * R, column0 = blockIdx.x * R;
  const int warp = threadIdx.x / kWarp, threads = blockDim.x, lane = threadIdx.x % kWarp;

  // The first warp loads what it needs for the store before it waits for anything.
  const int first = lane / kSame * kEach;
  const int row = row0 + first / R, column = column0 + first % R;
  const int out = blockIdx.z * s.c_batch + row * s.c_row + column;
  T before[kEach] = {}, added[kEach] = {};
  if (warp == 0 && row < s.m) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (column + i >= s.n) break;
      if (beta != Sum(0)) before[i] = c[out + i];
      if (bias) added[i] = bias[column + i];
    }
  }

  Sum sums[kSums] = {};
  const int ones = a_sums ? s.n - column0 : -1;
  int k = threadIdx.x;
  for (; k + threads < s.k; k += 2 * threads) add_products<2, R, AForm, BForm>(a, b, s, row0, column0, ones, k, sums);
  if (k < s.k) add_products<1, R, AForm, BForm>(a, b, s, row0, column0, ones, k, sums);
  spread_warp_sums<kSums>(sums);
  if (warp > 0)
    for (int i = 0; i < kEach; ++i) parts[warp][first + i] = sums[i];
  __syncthreads();
  if (warp > 0 || lane % kSame > 0 || row >= s.m) return;
  for (int w = 1; w < threads / kWarp; ++w)
#pragma unroll
    for (int i = 0; i < kEach; ++i) sums[i] += parts[w][first + i];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    if (column + i < s.n) {
      const Sum x = Math::multiply_add(beta, convert<Sum>(before[i]), alpha * sums[i]);
      store_result(epilogue, c, out + i, convert<T>(x + convert<Sum>(added[i])));
    } else if (first % R + i == ones) {
      a_sums[row] = convert<T>(sums[i]);
    }
  }
}

}  // namespace argand
