// Signs and absolute values.
#include <cmath>

#include "argand/exec/pointwise.h"
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
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
  static constexpr bool out_is_exact = true;
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
  static constexpr bool out_is_exact = true;
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
  static constexpr bool out_is_exact = true;
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
ARGAND_NODE(Copysign, [](const CopysignArgs& a) { return is_number(a.other) ? "CopysignBackward1" : nullptr; })

struct Heaviside : Pointwise<HeavisideArgs> {
  static constexpr auto schema = "heaviside(Tensor self, Tensor values) -> Tensor";
  static constexpr auto doc =
      "0 where self is negative (or NaN), 1 where it is positive, values where it is 0; tensors of one dtype.";
  static constexpr auto compute = kRealBoolBody;
  static constexpr bool out_is_exact = true;
  ARGAND_BODY((x, v), x == T(0) ? v : T(x > T(0)))
  static void check(const Args& a) {
    ARGAND_CHECK(DtypeError, !a.self.is_complex() && !a.values.is_complex(),
                 "heaviside: heaviside is not yet implemented for complex tensors.");
    ARGAND_CHECK(DtypeError, a.self.dtype() == a.values.dtype(),
                 "heaviside: heaviside is not yet implemented for tensors with different dtypes. Got ", a.self.dtype(),
                 " and ", a.values.dtype());
  }
  static void samples(S& s) {
    s.add_without_gradient({s->integer({2, 3}, -1, 2), s->integer({3}, 3, 9)});
    s.fails({s->real({2}), s->integer({2}, 0, 2)}, "is not yet implemented for tensors with different dtypes. Got");
    s.fails({s->real({2}), s->real({2}).to(kComplexFloat)}, "is not yet implemented for complex tensors");
  }
};
ARGAND_OP(Heaviside)

struct Nextafter : Pointwise<NextafterArgs> {
  static constexpr auto schema = "nextafter(Tensor self, Tensor other) -> Tensor";
  static constexpr auto doc = "The next number of the dtype after self in the direction of other.";
  static constexpr DtypeSet dtypes = kFloatingTypes;
  struct Plain : Pointwise<NextafterArgs> {
    static constexpr auto compute = kFloatBody;
    static constexpr int num_scalars = 0;
    ARGAND_BODY((x, y), nextafter(x, y))
  };
  // float16 and bfloat16 compute in float32.  x moved by between a half and one and a half of the distance to the next
  // number of its dtype is rounded to that one.
  struct Narrow : Pointwise<NextafterArgs> {
    static constexpr auto compute = kFloatBody;
    static constexpr int num_scalars = 3;
    ARGAND_BODY((x, y, relative, least, greatest), isnan(x)             ? x
                                                   : isnan(y) || x == y ? y
                                                   : isinf(x)           ? (x < y ? -greatest : greatest)
                                                   : x < y              ? x + max(abs(x) * relative, least)
                                                                        : x - max(abs(x) * relative, least))
  };
  static std::optional<ScalarType> narrow_dtype(const Args& a) {
    const Tensor* const operands[] = {&a.self, &a.other};
    const ScalarType t = exec::result_type(operands);
    return t == kHalf || t == kBFloat16 ? std::optional(t) : std::nullopt;
  }
  static const PointwiseInfo& form(const Args& a) { return narrow_dtype(a) ? form_of<Narrow> : form_of<Plain>; }
  static void scalars(const Args& a, Scalar* out) {
    const auto t = narrow_dtype(a);
    if (!t) return;
    const bool half = *t == kHalf;
    out[0] = std::ldexp(1.25, half ? -11 : -8);  // relative to x, which has 11 or 8 bits
    out[1] = std::ldexp(0.75, half ? -24 : -133);
    out[2] = half ? 65504.0 : std::ldexp(255.0, 120);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return where(c.self != c.other, g, 0); }
  static Tensor grad_other(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add_without_gradient({s->real({2, 3}), s->real({3})});
    s.fails({s->integer({2}, 0, 2), s->real({2})}, "nextafter: not implemented for dtype int64");
  }
};
ARGAND_OP(Nextafter)

}  // namespace argand::ops
