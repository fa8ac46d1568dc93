// Classification of elements, and whether two are close: bool results, no gradients.
#include "argand/ops/define.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

struct Isnan : Pointwise<IsnanArgs> {
  static constexpr auto schema = "isnan(Tensor self) -> Tensor";
  static constexpr auto doc = "Where self is NaN (a complex number: in either part).";
  static constexpr int variants = kFunction | kMethod;
  static constexpr auto promote = Promote::kCompare;
  static constexpr bool differentiable = false;
  ARGAND_BODY((x), x != x)
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(Isnan)

struct Isinf : Pointwise<IsinfArgs> {
  static constexpr auto schema = "isinf(Tensor self) -> Tensor";
  static constexpr auto doc = "Where self is infinite (a complex number: in either part).";
  static constexpr int variants = kFunction | kMethod;
  static constexpr auto promote = Promote::kCompare;
  static constexpr bool differentiable = false;
  ARGAND_BODY((x), isinf(x))
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(Isinf)

struct Isfinite : Pointwise<IsfiniteArgs> {
  static constexpr auto schema = "isfinite(Tensor self) -> Tensor";
  static constexpr auto doc = "Where self is neither infinite nor NaN.";
  static constexpr int variants = kFunction | kMethod;
  static constexpr auto promote = Promote::kCompare;
  static constexpr bool differentiable = false;
  ARGAND_BODY((x), isfinite(x))
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(Isfinite)

struct Isposinf : Pointwise<IsposinfArgs> {
  static constexpr auto schema = "isposinf(Tensor self) -> Tensor";
  static constexpr auto doc = "Where self is positive infinity.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static constexpr auto promote = Promote::kCompare;
  static constexpr auto compute = kRealBoolBody;
  static constexpr bool differentiable = false;
  ARGAND_BODY((x), isinf(x) && x > T(0))
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(Isposinf)

struct Isneginf : Pointwise<IsneginfArgs> {
  static constexpr auto schema = "isneginf(Tensor self) -> Tensor";
  static constexpr auto doc = "Where self is negative infinity.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static constexpr auto promote = Promote::kCompare;
  static constexpr auto compute = kRealBoolBody;
  static constexpr bool differentiable = false;
  ARGAND_BODY((x), isinf(x) && x < T(0))
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(Isneginf)

struct Isclose : Pointwise<IscloseArgs> {
  static constexpr auto schema =
      "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor";
  static constexpr auto doc =
      "|self - other| <= atol + rtol * |other| for finite numbers; infinities and, with equal_nan, NaNs are close to "
      "their equals only. Integers are compared in float64, and as they are if rtol and atol are 0. Both must have one "
      "dtype.";
  static constexpr int variants = kFunction | kMethod;
  static constexpr bool differentiable = false;
  struct Near : Pointwise<IscloseArgs> {
    static constexpr auto promote = Promote::kCompareFloat;
    static constexpr auto compute = kFloatComplexBody;
    ARGAND_BODY((x, y, rtol, atol, equal_nan), is_close(x, y, rtol, atol, equal_nan))
  };
  // Without tolerances integers are compared as they are: float64 rounds those beyond 2^53.
  struct Equal : Pointwise<IscloseArgs> {
    static constexpr auto promote = Promote::kCompare;
    static constexpr int num_scalars = 0;
    ARGAND_BODY((x, y), x == y)
  };
  static const PointwiseInfo& form(const Args& a) {
    return is_integral(a.self.dtype(), true) && a.rtol == 0 && a.atol == 0 ? form_of<Equal> : form_of<Near>;
  }
  static void check(const Args& a) {
    ARGAND_CHECK(DtypeError, a.self.dtype() == a.other.dtype(), "isclose: ", a.self.dtype(), " did not match ",
                 a.other.dtype());
    ARGAND_CHECK(ValueError, a.rtol >= 0, "isclose: rtol must be greater than or equal to zero, but got ", a.rtol);
    ARGAND_CHECK(ValueError, a.atol >= 0, "isclose: atol must be greater than or equal to zero, but got ", a.atol);
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), s->real({4}), 0.5, 0.5});
    s.add({s->integer({3, 4}, -2, 2), s->integer({3, 4}, -2, 2)});
    s.add({s->integer({3, 4}, -2, 2), s->integer({3, 4}, -2, 2), 0.0, 0.0});
    s.fails({s->real({2}), s->real({2}), -1.0}, "isclose: rtol must be greater than or equal to zero, but got -1");
    s.fails({s->real({2}), s->integer({2}, 0, 2)}, "isclose: float64 did not match int64");
  }
};
ARGAND_OP(Isclose)

}  // namespace argand::ops
