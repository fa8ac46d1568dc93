// The operations of reductions: identity, map (of an element and its result's center), combine.
#pragma once
#include <cmath>
#include <complex>
#include <limits>

#include "argand/kernels/cpu/multiversion.h"
#include "argand/kernels/math.h"

namespace argand::cpu {

template <class A>
ARGAND_INLINE A add_wrapping(A a, A b) {
  if constexpr (std::is_same_v<A, int64_t>)
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}

template <class A>
struct ReduceOp {
  using Acc = A;
  static constexpr bool kRounds = true;  // the order matters: add in blocks and trees
  static constexpr bool kCentered = false;
  static constexpr bool kCostly = false;  // map is worth vectorising even for a few elements
  double parameter = 0;
};

template <class A>
struct SumOp : ReduceOp<A> {
  static constexpr A identity() { return A{}; }
  ARGAND_INLINE A map(A x, A) const { return x; }
  ARGAND_INLINE static A combine(A a, A b) { return add_wrapping(a, b); }
};
template <class A>
struct NanSumOp : SumOp<A> {
  ARGAND_INLINE A map(A x, A) const { return x == x ? x : A(0); }
};
template <class A>
struct ProdOp : ReduceOp<A> {
  static constexpr A identity() { return A(1); }
  ARGAND_INLINE A map(A x, A) const { return x; }
  ARGAND_INLINE static A combine(A a, A b) {
    if constexpr (std::is_same_v<A, int64_t>) {
      return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    } else if constexpr (std::is_floating_point_v<A>) {
      return a * b;
    } else {  // std::complex's own product is slow, because it looks for infinities among the parts of a NaN
      return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
    }
  }
};

// A NaN wins over every number.
template <class A>
struct MaxOp : ReduceOp<A> {
  static constexpr bool kRounds = false;
  static constexpr A identity() {
    return std::numeric_limits<A>::has_infinity ? -std::numeric_limits<A>::infinity()
                                                : std::numeric_limits<A>::lowest();
  }
  ARGAND_INLINE A map(A x, A) const { return x; }
  ARGAND_INLINE static A combine(A a, A b) { return b > a || b != b ? b : a; }
};
template <class A>
struct MinOp : ReduceOp<A> {
  static constexpr bool kRounds = false;
  static constexpr A identity() {
    return std::numeric_limits<A>::has_infinity ? std::numeric_limits<A>::infinity() : std::numeric_limits<A>::max();
  }
  ARGAND_INLINE A map(A x, A) const { return x; }
  ARGAND_INLINE static A combine(A a, A b) { return b < a || b != b ? b : a; }
};

struct AnyOp : ReduceOp<uint8_t> {
  static constexpr bool kRounds = false;
  static constexpr uint8_t identity() { return 0; }
  ARGAND_INLINE uint8_t map(uint8_t x, uint8_t) const { return x != 0; }
  ARGAND_INLINE static uint8_t combine(uint8_t a, uint8_t b) { return a | b; }
};
struct AllOp : ReduceOp<uint8_t> {
  static constexpr bool kRounds = false;
  static constexpr uint8_t identity() { return 1; }
  ARGAND_INLINE uint8_t map(uint8_t x, uint8_t) const { return x != 0; }
  ARGAND_INLINE static uint8_t combine(uint8_t a, uint8_t b) { return a & b; }
};

template <class A>
struct SumAbsOp : SumOp<A> {
  ARGAND_INLINE A map(A x, A) const { return std::fabs(x); }
};
template <class A>
struct SumSquaresOp : SumOp<A> {
  ARGAND_INLINE A map(A x, A) const { return x * x; }
};
template <class A>
struct MaxAbsOp : MaxOp<A> {
  static constexpr A identity() { return 0; }
  ARGAND_INLINE A map(A x, A) const { return std::fabs(x); }
};
template <class A>
struct MinAbsOp : MinOp<A> {
  ARGAND_INLINE A map(A x, A) const { return std::fabs(x); }
};
template <class A>
struct SumPowersOp : SumOp<A> {
  static constexpr bool kCostly = true;
  ARGAND_INLINE A map(A x, A) const { return math::pow(std::fabs(x), static_cast<A>(this->parameter)); }
};
template <class A>
struct CenteredSquaresOp : SumOp<A> {
  static constexpr bool kCentered = true;
  ARGAND_INLINE A map(A x, A center) const { return (x - center) * (x - center); }
};
template <class A>
struct CenteredExpOp : SumOp<A> {
  static constexpr bool kCentered = true, kCostly = true;
  ARGAND_INLINE A map(A x, A center) const { return math::exp(x - center); }
};

}  // namespace argand::cpu
