// Elements that meet at one position: products in the order of the elements (combine_rows.cuh), and the greatest or
// least, by atomic operations on the result, which give the same bits in any order.
#pragma once
#include "argand/kernels/cuda/combine_rows.cuh"
#include "argand/kernels/cuda/complex.cuh"

namespace argand {

template <int kBytes>
struct IntegersOfSize;
template <>
struct IntegersOfSize<2> {
  using Signed = short;
  using Unsigned = unsigned short;
};
template <>
struct IntegersOfSize<4> {
  using Signed = int;
  using Unsigned = unsigned;
};
template <>
struct IntegersOfSize<8> {
  using Signed = long long;
  using Unsigned = unsigned long long;
};

// An element by its bits.
template <class T>
struct Ordered {
  using Bits = typename IntegersOfSize<sizeof(T)>::Signed;
  static constexpr Bits kAllButSign = static_cast<Bits>(~(Bits{1} << (8 * sizeof(T) - 1)));

  static __device__ __forceinline__ bool is_nan(Bits b) {
    if constexpr (!kHasFractions<T>) return false;
    const auto x = convert<op_math_t<T>>(__builtin_bit_cast(T, b));
    return x != x;
  }
  // -0.0 comes before 0.0, so that the result does not depend on which of them arrives first.
  static __device__ __forceinline__ Bits order(Bits b) {
    return kHasFractions<T> && b < 0 ? static_cast<Bits>(b ^ kAllButSign) : b;
  }
  template <bool kGreatest>
  static __device__ __forceinline__ bool replaces(Bits x, Bits old) {
    if (is_nan(old) || is_nan(x)) return !is_nan(old);
    return kGreatest ? order(x) > order(old) : order(x) < order(old);
  }
};

// to[slots[k]] = the greatest (least) of it and from[k].
template <class T, bool kGreatest>
__global__ void extreme_at(T* to, const int64_t* slots, int64_t n, const T* from) {
  await_earlier_work();
  using Order = Ordered<T>;
  using Bits = typename Order::Bits;
  using Unsigned = typename IntegersOfSize<sizeof(T)>::Unsigned;
  const int64_t k = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (k >= n) return;
  Bits* const slot = reinterpret_cast<Bits*>(to) + slots[k];
  Bits x = __builtin_bit_cast(Bits, from[k]), old = *static_cast<volatile Bits*>(slot);
  if (!Order::template replaces<kGreatest>(x, old)) return;
  if (Order::is_nan(x)) x = kGreatest ? Order::kAllButSign : Bits(-1);  // the bits of one NaN, beyond all numbers
  if constexpr (sizeof(T) == 2) {
    while (Order::template replaces<kGreatest>(x, old)) {
      const auto expected = static_cast<Unsigned>(old);
      old = static_cast<Bits>(atomicCAS(reinterpret_cast<Unsigned*>(slot), expected, static_cast<Unsigned>(x)));
      if (static_cast<Unsigned>(old) == expected) return;
    }
  } else if constexpr (!kHasFractions<T>) {
    kGreatest ? atomicMax(slot, x) : atomicMin(slot, x);
  } else {
    // Numbers without a sign bit rise with their bits, others fall.
    auto* const magnitude = reinterpret_cast<Unsigned*>(slot);
    if (x >= 0)
      kGreatest ? atomicMax(slot, x) : atomicMin(slot, x);
    else
      kGreatest ? atomicMin(magnitude, static_cast<Unsigned>(x)) : atomicMax(magnitude, static_cast<Unsigned>(x));
  }
}

}  // namespace argand
