// Sums of exponentials relative to their largest term, as softmax and cross entropy need them.
#pragma once
#include "argand/kernels/cuda/block.cuh"
#include "argand/kernels/cuda/types.cuh"

namespace argand {

// e^(x - shift) of elements of T, for the terms of a sum whose largest is 1 and for results that are rounded to T.
template <class T>
struct ExpTerm {  // of 16 bits: the error, |shift| 2^-23, is far below their rounding
  static constexpr float kLog2E = 0x1.715476p+0f;
  float scaled_shift;
  __device__ __forceinline__ explicit ExpTerm(float shift) : scaled_shift(-shift * kLog2E) {}
  __device__ __forceinline__ float operator()(float x) const {
    float e;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(::__fmaf_rn(x, kLog2E, scaled_shift)));
    return e;
  }
};
// The error that the product brings grows with |x - shift|, but the term times that does not.
template <>
struct ExpTerm<float> {
  float shift;
  __device__ __forceinline__ explicit ExpTerm(float s) : shift(s) {}
  __device__ __forceinline__ float operator()(float x) const { return ::exp2f((x - shift) * 0x1.715476p+0f); }
};
template <>
struct ExpTerm<double> {
  double shift;
  __device__ __forceinline__ explicit ExpTerm(double s) : shift(s) {}
  __device__ __forceinline__ double operator()(double x) const { return math::exp(x - shift); }
};

// The largest of some numbers x, and the sum of e^(x - top).
template <class A>
struct ExpSum {
  static constexpr A kLow = -math::detail::kInfinity<A>;
  A top = kLow, sum = 0;
  // The base to which terms are relative.  A sum of only -inf is 0.
  static __device__ __forceinline__ A base(A top) { return top == kLow ? A(0) : top; }
  __device__ __forceinline__ A base() const { return base(top); }

  // U vectors, of which those of `valid` count.
  template <class T, int W, int U>
  __device__ __forceinline__ void add(const Vec<T, W> (&v)[U], int valid) {
    A x[U][W], high = top;
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int k = 0; k < W; ++k) {
        x[u][k] = u < valid ? convert<A>(v[u][k]) : kLow;
        high = Max()(high, x[u][k]);
      }
    const ExpTerm<T> term(base(high));
    sum *= term(top);
    top = high;
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int k = 0; k < W; ++k) sum += term(x[u][k]);
  }
};

template <class A>
__device__ __forceinline__ ExpSum<A> warp_total(ExpSum<A> s) {
  ExpSum<A> all;
  all.top = warp_reduce(s.top, Max());
  all.sum = warp_reduce(s.sum * math::exp(s.top - all.base()), Add());
  return all;
}

// The total of the whole block.  Part p of thread t stands for thread p * blockDim.x + t of a larger block, which gives
// the same bits.  A loop passes turns 0, 1, 0, ...; without turns, a kernel may call this only once.
template <class A, int kParts>
__device__ __forceinline__ ExpSum<A> block_total(const ExpSum<A> (&parts)[kParts], int turn = 0) {
  __shared__ A tops[2][kWarp], sums[2][kWarp];
  const int lane = int(threadIdx.x) % kWarp, warp = int(threadIdx.x) / kWarp, warps = int(blockDim.x) / kWarp;
#pragma unroll
  for (int p = 0; p < kParts; ++p) {
    const ExpSum<A> s = warp_total(parts[p]);
    if (lane == 0) {
      tops[turn][p * warps + warp] = s.top;
      sums[turn][p * warps + warp] = s.sum;
    }
  }
  __syncthreads();
  ExpSum<A> s;
  if (lane < kParts * warps) {
    s.top = tops[turn][lane];
    s.sum = sums[turn][lane];
  }
  return warp_total(s);
}
template <class A>
__device__ __forceinline__ ExpSum<A> block_total(const ExpSum<A>& own, int turn = 0) {
  const ExpSum<A> parts[1] = {own};
  return block_total(parts, turn);
}

}  // namespace argand
