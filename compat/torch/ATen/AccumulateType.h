// at::acc_type<T, is_cuda>: the type of sums of T.
#pragma once
#include "ATen/OpMathType.h"

namespace at {

namespace detail {
template <class T, bool is_cuda>
struct AccumulateTypeOf {
  // On the CPU, real and complex numbers are summed in double precision, integers in 64 bits; on a GPU float stays
  // float.
  using Float = std::conditional_t<is_cuda, float, double>;
  using type = std::conditional_t<
      std::is_same_v<T, bool>, bool,
      std::conditional_t<std::is_integral_v<T>, int64_t,
                         std::conditional_t<std::is_same_v<T, double>, double,
                                            std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>,
                                                               float, Float>>>>;
};
template <class R, bool is_cuda>
struct AccumulateTypeOf<std::complex<R>, is_cuda> {
  using type = std::complex<typename AccumulateTypeOf<R, is_cuda>::type>;
};
}  // namespace detail

template <class T, bool is_cuda>
using acc_type = typename detail::AccumulateTypeOf<T, is_cuda>::type;

inline ScalarType toAccumulateType(ScalarType t, bool is_cuda) {
  if (t == kBool || t == kDouble || t == kComplexDouble) return t;
  if (is_integral(t)) return kLong;
  if (t == kHalf || t == kBFloat16 || is_cuda) return op_math_type(t);
  return t == kComplexFloat ? kComplexDouble : kDouble;
}

}  // namespace at
