// The operations of reductions and scans: identity, map (of a converted element and its result's center), combine.
// Those of the CPU are in kernels/cpu/reduce_ops.h.
#pragma once
#include "argand/kernels/cuda/types.cuh"

namespace argand {

template <class A>
inline constexpr A kLowest = -math::detail::kInfinity<A>;
template <>
inline constexpr int64_t kLowest<int64_t> = -0x7fffffffffffffffLL - 1;
template <class A>
inline constexpr A kHighest = math::detail::kInfinity<A>;
template <>
inline constexpr int64_t kHighest<int64_t> = 0x7fffffffffffffffLL;

template <class A>
struct ReduceOp {
  using Acc = A;
  using Value = A;  // what elements are converted to
  static constexpr bool kCentered = false;
  static constexpr bool kThroughBool = false;
  static constexpr bool kIndexed = false;  // map takes the element's index too
  double parameter;
};

template <class A>
struct SumOp : ReduceOp<A> {
  static __device__ __forceinline__ A identity() { return A(0); }
  __device__ __forceinline__ A map(A x, A) const { return x; }
  static __device__ __forceinline__ A combine(A a, A b) {
    if constexpr (math::detail::Integer<A>)
      return static_cast<A>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
      return a + b;
  }
};
template <class A>
struct CountOp : SumOp<A> {
  static constexpr bool kThroughBool = true;
};
template <class A>
struct NanSumOp : SumOp<A> {
  __device__ __forceinline__ A map(A x, A) const { return x == x ? x : A(0); }
};
template <class A>
struct ProdOp : ReduceOp<A> {
  static __device__ __forceinline__ A identity() { return A(1); }
  __device__ __forceinline__ A map(A x, A) const { return x; }
  static __device__ __forceinline__ A combine(A a, A b) {
    if constexpr (math::detail::Integer<A>)
      return static_cast<A>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
      return a * b;
  }
};

// A NaN wins over every number.
template <class A>
struct MaxOp : ReduceOp<A> {
  static __device__ __forceinline__ A identity() { return kLowest<A>; }
  __device__ __forceinline__ A map(A x, A) const { return x; }
  static __device__ __forceinline__ A combine(A a, A b) { return b > a || b != b ? b : a; }
};
template <class A>
struct MinOp : ReduceOp<A> {
  static __device__ __forceinline__ A identity() { return kHighest<A>; }
  __device__ __forceinline__ A map(A x, A) const { return x; }
  static __device__ __forceinline__ A combine(A a, A b) { return b < a || b != b ? b : a; }
};

template <class A>
struct AnyOp : ReduceOp<A> {
  static constexpr bool kThroughBool = true;
  static __device__ __forceinline__ A identity() { return 0; }
  __device__ __forceinline__ A map(A x, A) const { return x; }
  static __device__ __forceinline__ A combine(A a, A b) { return a | b; }
};
template <class A>
struct AllOp : AnyOp<A> {
  static __device__ __forceinline__ A identity() { return 1; }
  static __device__ __forceinline__ A combine(A a, A b) { return a & b; }
};

template <class A>
struct SumAbsOp : SumOp<A> {
  __device__ __forceinline__ A map(A x, A) const { return math::abs(x); }
};
template <class A>
struct SumSquaresOp : SumOp<A> {
  __device__ __forceinline__ A map(A x, A) const { return x * x; }
};
template <class A>
struct MaxAbsOp : MaxOp<A> {
  static __device__ __forceinline__ A identity() { return 0; }
  __device__ __forceinline__ A map(A x, A) const { return math::abs(x); }
};
template <class A>
struct MinAbsOp : MinOp<A> {
  __device__ __forceinline__ A map(A x, A) const { return math::abs(x); }
};
template <class A>
struct SumPowersOp : SumOp<A> {
  __device__ __forceinline__ A map(A x, A) const { return math::pow(math::abs(x), static_cast<A>(this->parameter)); }
};
template <class A>
struct CenteredSquaresOp : SumOp<A> {
  static constexpr bool kCentered = true;
  __device__ __forceinline__ A map(A x, A center) const { return (x - center) * (x - center); }
};
template <class A>
struct CenteredExpOp : SumOp<A> {
  static constexpr bool kCentered = true;
  __device__ __forceinline__ A map(A x, A center) const { return math::exp(x - center); }
};

template <class A>
struct LogSumExpOp : ReduceOp<A> {
  static __device__ __forceinline__ A identity() { return kLowest<A>; }
  __device__ __forceinline__ A map(A x, A) const { return x; }
  static __device__ __forceinline__ A combine(A a, A b) {
    const A high = MaxOp<A>::combine(a, b), low = MinOp<A>::combine(a, b);
    // Equal infinities are their own sum; their difference would be NaN.
    return low != high || math::isfinite(low) ? high + math::log1p(math::exp(low - high)) : a;
  }
};

// ---- an extreme and where it is

template <class A>
struct Extreme {
  A value;
  int64_t index;
};

// Among equal elements it takes the first or the last; NaNs count as equal, and beyond all numbers.
template <class A, bool kLargest, bool kFirst>
struct ExtremeOp {
  using Acc = Extreme<A>;
  using Value = A;
  static constexpr bool kCentered = false, kThroughBool = false, kIndexed = true;
  double parameter;
  // Any element is preferred to it.
  static __device__ __forceinline__ Acc identity() {
    return {kLargest ? kLowest<A> : kHighest<A>, kFirst ? kHighest<int64_t> : -1};
  }
  static __device__ __forceinline__ Acc map(A x, int64_t index) { return {x, index}; }
  static __device__ __forceinline__ Acc combine(Acc a, Acc b) {
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    const bool equal = a.value == b.value || (a_nan && b_nan);
    const bool beyond = !a_nan && (b_nan || (kLargest ? b.value > a.value : b.value < a.value));
    return (equal ? (kFirst ? b.index < a.index : b.index > a.index) : beyond) ? b : a;
  }
};

// Partial results, combined as they are.
template <class Op>
struct Merge : Op {
  using Value = typename Op::Acc;
  static constexpr bool kCentered = false, kThroughBool = false, kIndexed = false;
  __device__ __forceinline__ Value map(Value x, Value) const { return x; }
};

// ---- what kernels call

template <class Op, class T>
__device__ __forceinline__ typename Op::Acc mapped(const Op& op, T x, typename Op::Value center, int64_t index) {
  if constexpr (Op::kIndexed)
    return op.map(convert<typename Op::Value>(x), index);
  else if constexpr (Op::kThroughBool)
    return op.map(static_cast<typename Op::Value>(convert<bool>(x)), center);
  else
    return op.map(convert<typename Op::Value>(x), center);
}

template <class T>
__device__ __forceinline__ T shuffle_xor(T x, int step) {
  return __shfl_xor_sync(0xffffffffu, x, step);
}
template <class A>
__device__ __forceinline__ Extreme<A> shuffle_xor(Extreme<A> x, int step) {
  return {__shfl_xor_sync(0xffffffffu, x.value, step), __shfl_xor_sync(0xffffffffu, x.index, step)};
}
template <class T>
__device__ __forceinline__ T shuffle_up(T x, int step) {
  return __shfl_up_sync(0xffffffffu, x, step);
}
template <class A>
__device__ __forceinline__ Extreme<A> shuffle_up(Extreme<A> x, int step) {
  return {__shfl_up_sync(0xffffffffu, x.value, step), __shfl_up_sync(0xffffffffu, x.index, step)};
}
template <class T>
__device__ __forceinline__ T shuffle_from(T x, int lane) {
  return __shfl_sync(0xffffffffu, x, lane);
}
template <class A>
__device__ __forceinline__ Extreme<A> shuffle_from(Extreme<A> x, int lane) {
  return {__shfl_sync(0xffffffffu, x.value, lane), __shfl_sync(0xffffffffu, x.index, lane)};
}

}  // namespace argand
