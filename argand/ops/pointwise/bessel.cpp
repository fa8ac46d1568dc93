// Bessel functions, and one of Airy's.
#include "argand/kernels/math/airy.h"
#include "argand/kernels/math/special.h"
#include "argand/ops/define.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

struct I0 : Pointwise<I0Args> {
  static constexpr auto schema = "i0(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"special_i0(Tensor self) -> Tensor",
                                              "special_modified_bessel_i0(Tensor self) -> Tensor"};
  static constexpr auto doc = "The modified Bessel function of the first kind of order 0.";
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  static constexpr auto math_header = "special";
  ARGAND_BODY((x), bessel_i0(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * special_i1(c.self); }
  static void samples(S& s) { s.add({s->real({2, 3}, -3, 3)}); }
};
ARGAND_OP(I0)

struct SpecialI1 : Pointwise<SpecialI1Args> {
  static constexpr auto schema = "special_i1(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"special_modified_bessel_i1(Tensor self) -> Tensor"};
  static constexpr auto doc = "The modified Bessel function of the first kind of order 1.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  static constexpr auto math_header = "special";
  ARGAND_BODY((x), bessel_i1(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Tensor slope = i0(c.self) - c.result() / c.self;
    return g * where(c.self == 0, 0.5, slope);
  }
  static void samples(S& s) { s.add({s->away_from(0, {2, 3}, -3, 3)}); }
};
ARGAND_OP(SpecialI1)

struct SpecialI0e : Pointwise<SpecialI0eArgs> {
  static constexpr auto schema = "special_i0e(Tensor self) -> Tensor";
  static constexpr auto doc = "exp(-|self|) * i0(self).";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  static constexpr auto math_header = "special";
  ARGAND_BODY((x), bessel_i0e(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return g * (special_i1e(c.self) - c.self.sgn() * c.result());
  }
  static void samples(S& s) { s.add({s->away_from(0, {2, 3}, -3, 3)}); }
};
ARGAND_OP(SpecialI0e)

struct SpecialI1e : Pointwise<SpecialI1eArgs> {
  static constexpr auto schema = "special_i1e(Tensor self) -> Tensor";
  static constexpr auto doc = "exp(-|self|) * i1(self).";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  static constexpr auto math_header = "special";
  ARGAND_BODY((x), bessel_i1e(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return g * where(c.self == 0, 0.5, special_i0e(c.self) - c.result() * (c.self.sgn() + c.self.reciprocal()));
  }
  static void samples(S& s) { s.add({s->away_from(0, {2, 3}, -3, 3)}); }
};
ARGAND_OP(SpecialI1e)

struct SpecialBesselJ0 : Pointwise<SpecialBesselJ0Args> {
  static constexpr auto schema = "special_bessel_j0(Tensor self) -> Tensor";
  static constexpr auto doc = "The Bessel function of the first kind of order 0.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  static constexpr auto math_header = "special";
  ARGAND_BODY((x), bessel_j0(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return -g * special_bessel_j1(c.self); }
  static void samples(S& s) { s.add({s->away_from(0, {2, 3}, -3, 3)}); }
};
ARGAND_OP(SpecialBesselJ0)

struct SpecialBesselJ1 : Pointwise<SpecialBesselJ1Args> {
  static constexpr auto schema = "special_bessel_j1(Tensor self) -> Tensor";
  static constexpr auto doc = "The Bessel function of the first kind of order 1.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  static constexpr auto math_header = "special";
  ARGAND_BODY((x), bessel_j1(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return g * where(c.self == 0, 0.5, special_bessel_j0(c.self) - c.result() / c.self);
  }
  static void samples(S& s) { s.add({s->away_from(0, {2, 3}, -3, 3)}); }
};
ARGAND_OP(SpecialBesselJ1)

struct SpecialBesselY0 : Pointwise<SpecialBesselY0Args> {
  static constexpr auto schema = "special_bessel_y0(Tensor self) -> Tensor";
  static constexpr auto doc = "The Bessel function of the second kind of order 0.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  static constexpr auto math_header = "special";
  ARGAND_BODY((x), bessel_y0(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return -g * special_bessel_y1(c.self); }
  static void samples(S& s) { s.add({s->positive({2, 3})}); }
};
ARGAND_OP(SpecialBesselY0)

struct SpecialBesselY1 : Pointwise<SpecialBesselY1Args> {
  static constexpr auto schema = "special_bessel_y1(Tensor self) -> Tensor";
  static constexpr auto doc = "The Bessel function of the second kind of order 1.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  static constexpr auto math_header = "special";
  ARGAND_BODY((x), bessel_y1(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return g * (special_bessel_y0(c.self) - c.result() / c.self);
  }
  static void samples(S& s) { s.add({s->positive({2, 3})}); }
};
ARGAND_OP(SpecialBesselY1)

struct SpecialModifiedBesselK0 : Pointwise<SpecialModifiedBesselK0Args> {
  static constexpr auto schema = "special_modified_bessel_k0(Tensor self) -> Tensor";
  static constexpr auto doc = "The modified Bessel function of the second kind of order 0.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  static constexpr auto math_header = "special";
  ARGAND_BODY((x), bessel_k0(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return -g * special_modified_bessel_k1(c.self); }
  static void samples(S& s) { s.add({s->positive({2, 3})}); }
};
ARGAND_OP(SpecialModifiedBesselK0)

struct SpecialModifiedBesselK1 : Pointwise<SpecialModifiedBesselK1Args> {
  static constexpr auto schema = "special_modified_bessel_k1(Tensor self) -> Tensor";
  static constexpr auto doc = "The modified Bessel function of the second kind of order 1.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  static constexpr auto math_header = "special";
  ARGAND_BODY((x), bessel_k1(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return -g * (special_modified_bessel_k0(c.self) + c.result() / c.self);
  }
  static void samples(S& s) { s.add({s->positive({2, 3})}); }
};
ARGAND_OP(SpecialModifiedBesselK1)

struct SpecialScaledModifiedBesselK0 : Pointwise<SpecialScaledModifiedBesselK0Args> {
  static constexpr auto schema = "special_scaled_modified_bessel_k0(Tensor x) -> Tensor";
  static constexpr auto doc = "exp(x) * modified_bessel_k0(x).";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  static constexpr auto math_header = "special";
  ARGAND_BODY((x), bessel_k0e(x))
  static Tensor grad_x(const Ctx& c, const Tensor& g) {
    return g * (c.result() - special_scaled_modified_bessel_k1(c.x));
  }
  static void samples(S& s) { s.add({s->positive({2, 3})}); }
};
ARGAND_OP(SpecialScaledModifiedBesselK0)

struct SpecialScaledModifiedBesselK1 : Pointwise<SpecialScaledModifiedBesselK1Args> {
  static constexpr auto schema = "special_scaled_modified_bessel_k1(Tensor x) -> Tensor";
  static constexpr auto doc = "exp(x) * modified_bessel_k1(x).";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  static constexpr auto math_header = "special";
  ARGAND_BODY((x), bessel_k1e(x))
  static Tensor grad_x(const Ctx& c, const Tensor& g) {
    return g * (c.result() - special_scaled_modified_bessel_k0(c.x) - c.result() / c.x);
  }
  static void samples(S& s) { s.add({s->positive({2, 3})}); }
};
ARGAND_OP(SpecialScaledModifiedBesselK1)

struct SpecialSphericalBesselJ0 : Pointwise<SpecialSphericalBesselJ0Args> {
  static constexpr auto schema = "special_spherical_bessel_j0(Tensor x) -> Tensor";
  static constexpr auto doc = "sin(x) / self, 1 at 0.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  static constexpr auto math_header = "special";
  ARGAND_BODY((x), spherical_bessel_j0(x))
  static Tensor grad_x(const Ctx& c, const Tensor& g) { return g * where(c.x == 0, 0, (c.x.cos() - c.result()) / c.x); }
  static void samples(S& s) { s.add({s->away_from(0, {2, 3}, -3, 3)}); }
};
ARGAND_OP(SpecialSphericalBesselJ0)

struct SpecialAiryAi : Pointwise<SpecialAiryAiArgs> {
  static constexpr auto schema = "special_airy_ai(Tensor x) -> Tensor";
  static constexpr auto doc = "The Airy function Ai, which falls to 0 where x grows and oscillates below 0.";
  static constexpr int variants = kFunction | kOut;
  static constexpr bool differentiable = false;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  static constexpr auto math_header = "airy";
  ARGAND_BODY((x), airy_ai(x))
  static void samples(S& s) {
    s.add({s->real({2, 3}, -12, -9)});
    s.add({s->real({2, 3}, -9, 1)});
    s.add({s->real({2, 3}, 1, 5)});
  }
};
ARGAND_OP(SpecialAiryAi)

}  // namespace argand::ops
