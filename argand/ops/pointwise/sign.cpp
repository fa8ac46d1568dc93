// Signs and absolute values.
#include "argand/ops/define.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

struct Abs : Pointwise<AbsArgs> {
  static constexpr auto schema = "abs(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"absolute(Tensor self) -> Tensor"};
  static constexpr auto doc = "The absolute value, real for a complex number. The gradient at 0 is 0.";
  static constexpr auto compute = kRealBody | kComplexTypes;
  static constexpr auto promote = Promote::kReal;
  ARGAND_BODY((x), abs(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * c.self.sgn(); }
  static void samples(S& s) {
    s.add({s->away_from(0, {2, 3})});
    s.fails({s->boolean({2})}, "abs: not implemented for dtype bool");
  }
};
ARGAND_OP(Abs)

struct Sign : Pointwise<SignArgs> {
  static constexpr auto schema = "sign(Tensor self) -> Tensor";
  static constexpr auto doc = "-1, 0 or 1; 0 for NaN. Not defined for complex numbers.";
  static constexpr auto compute = kRealBoolBody;
  ARGAND_BODY((x), sign(x))
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add({s->away_from(0, {2, 3})});
    s.add({s->integer({2, 3}, -1, 2)});
  }
};
ARGAND_OP(Sign)

struct Sgn : Pointwise<SgnArgs> {
  static constexpr auto schema = "sgn(Tensor self) -> Tensor";
  static constexpr auto doc = "sign; for complex numbers self / |self|, 0 at 0.";
  ARGAND_BODY((x), sign(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    if (!g.is_complex()) return zeros_like(g);
    const Tensor absolute = c.self.abs(), s = c.result();
    // Only the part of g across the direction of self turns it.
    const Tensor along = (g * s.conj() + g.conj() * s) / 2;
    return ((g - along * s) / absolute).masked_fill(absolute == 0, 0);
  }
  static void samples(S& s) { s.add({s->away_from(0, {2, 3})}); }
};
ARGAND_OP(Sgn)

struct Signbit : Pointwise<SignbitArgs> {
  static constexpr auto schema = "signbit(Tensor self) -> Tensor";
  static constexpr auto doc = "Where the sign is negative, that of zero included.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto compute = kRealBoolBody;
  static constexpr auto promote = Promote::kCompare;
  static constexpr bool differentiable = false;
  ARGAND_BODY((x), sign_bit(x))
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(Signbit)

struct Copysign : Pointwise<CopysignArgs> {
  static constexpr auto schema = "copysign(Tensor self, Tensor|Scalar other) -> Tensor";
  static constexpr auto doc = "|self| with the sign of other (that of zero included); integers give floating point.";
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x, y), copysign(x, y))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return g * (c.result() / c.self).masked_fill(c.self == 0, 0);
  }
  static Tensor grad_other(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add({s->away_from(0, {2, 3}), s->away_from(0, {3})});
    s.add({s->away_from(0, {2, 3}), exec::wrapped_number(-2)});
    s.fails({s->real({2}), s->real({3})}, "copysign: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(Copysign)

struct Heaviside : Pointwise<HeavisideArgs> {
  static constexpr auto schema = "heaviside(Tensor self, Tensor values) -> Tensor";
  static constexpr auto doc =
      "0 where self is negative (or NaN), 1 where it is positive, values where it is 0; tensors of one dtype.";
  static constexpr auto compute = kRealBoolBody;
  ARGAND_BODY((x, v), x == T(0) ? v : T(x > T(0)))
  static void check(const Args& a) {
    ARGAND_CHECK(DtypeError, a.self.dtype() == a.values.dtype(),
                 "heaviside: not yet implemented for tensors with different dtypes: ", a.self.dtype(), " and ",
                 a.values.dtype());
  }
  static void samples(S& s) {
    s.add_without_gradient({s->integer({2, 3}, -1, 2), s->integer({3}, 3, 9)});
    s.fails({s->real({2}), s->integer({2}, 0, 2)}, "heaviside: not yet implemented for tensors with different dtypes");
  }
};
ARGAND_OP(Heaviside)

struct Nextafter : Pointwise<NextafterArgs> {
  static constexpr auto schema = "nextafter(Tensor self, Tensor other) -> Tensor";
  static constexpr auto doc = "The next number of the dtype after self in the direction of other; float32 and float64.";
  static constexpr auto compute = kFloatBody;
  static constexpr DtypeSet dtypes = kFloatTypes;
  ARGAND_BODY((x, y), nextafter(x, y))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return where(c.self != c.other, g, 0); }
  static Tensor grad_other(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add_without_gradient({s->real({2, 3}), s->real({3})});
    s.fails({s->integer({2}, 0, 2), s->real({2})}, "nextafter: not implemented for dtype int64");
  }
};
ARGAND_OP(Nextafter)

}  // namespace argand::ops
