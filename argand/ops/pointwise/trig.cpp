// Trigonometric functions, angles in radians.
#include <numbers>

#include "argand/ops/define.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

struct Sin : Pointwise<SinArgs> {
  static constexpr auto schema = "sin(Tensor self) -> Tensor";
  static constexpr auto doc = "The sine.";
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), sin(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * c.self.cos().conj(); }
  static void samples(S& s) { s.add({s->real({2, 3}, -4, 4)}); }
};
ARGAND_OP(Sin)

struct Cos : Pointwise<CosArgs> {
  static constexpr auto schema = "cos(Tensor self) -> Tensor";
  static constexpr auto doc = "The cosine.";
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), cos(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * -c.self.sin().conj(); }
  static void samples(S& s) { s.add({s->real({2, 3}, -4, 4)}); }
};
ARGAND_OP(Cos)

struct Tan : Pointwise<TanArgs> {
  static constexpr auto schema = "tan(Tensor self) -> Tensor";
  static constexpr auto doc = "The tangent.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), tan(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * (c.result() * c.result() + 1).conj(); }
  static void samples(S& s) { s.add({s->real({2, 3}, -1, 1)}); }
};
ARGAND_OP(Tan)

struct Asin : Pointwise<AsinArgs> {
  static constexpr auto schema = "asin(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"arcsin(Tensor self) -> Tensor"};
  static constexpr auto doc = "The angle in -pi/2 ... pi/2 with this sine; NaN outside -1 ... 1.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), asin(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * (1 - c.self * c.self).rsqrt().conj(); }
  static void samples(S& s) { s.add({s->real({2, 3}, -0.9, 0.9)}); }
};
ARGAND_OP(Asin)

struct Acos : Pointwise<AcosArgs> {
  static constexpr auto schema = "acos(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"arccos(Tensor self) -> Tensor"};
  static constexpr auto doc = "The angle in 0 ... pi with this cosine; NaN outside -1 ... 1.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), acos(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * -(1 - c.self * c.self).rsqrt().conj(); }
  static void samples(S& s) { s.add({s->real({2, 3}, -0.9, 0.9)}); }
};
ARGAND_OP(Acos)

struct Atan : Pointwise<AtanArgs> {
  static constexpr auto schema = "atan(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"arctan(Tensor self) -> Tensor"};
  static constexpr auto doc = "The angle in -pi/2 ... pi/2 with this tangent.";
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), atan(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g / (c.self * c.self + 1).conj(); }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(Atan)

struct Atan2 : Pointwise<Atan2Args> {
  static constexpr auto schema = "atan2(Tensor self, Tensor other) -> Tensor";
  static constexpr const char* overloads[] = {"arctan2(Tensor self, Tensor other) -> Tensor"};
  static constexpr auto doc = "The angle of the point (other, self), in -pi ... pi.";
  static constexpr auto autocast = Autocast::kPromote, autocast_cpu = Autocast::kNone;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((y, x), atan2(y, x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * slope(c.other, c.self, c.other); }
  static Tensor grad_other(const Ctx& c, const Tensor& g) { return g * -slope(c.self, c.self, c.other); }
  static Tensor slope(const Tensor& part, const Tensor& y, const Tensor& x) {
    const Tensor square = y * y + x * x;
    return (part / square).masked_fill(square == 0, 0);
  }
  static void samples(S& s) {
    s.add({s->away_from(0, {2, 3}), s->away_from(0, {3})});
    s.fails({s->real({2}), s->real({3})}, "atan2: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(Atan2)

struct Sinc : Pointwise<SincArgs> {
  static constexpr auto schema = "sinc(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"special_sinc(Tensor self) -> Tensor"};
  static constexpr auto doc = "sin(pi self) / (pi self), 1 at 0.";
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), x == T(0) ? T(1) : sin(kPi<T> * x) / (kPi<T> * x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Tensor angle = c.self * std::numbers::pi;
    const Tensor square = angle * c.self;  // 0 near 0, too
    return g * ((angle.cos() * angle - angle.sin()) / square).masked_fill(square == 0, 0).conj();
  }
  static void samples(S& s) { s.add({s->away_from(0, {2, 3})}); }
};
ARGAND_OP(Sinc)

struct Deg2rad : Pointwise<Deg2radArgs> {
  static constexpr auto schema = "deg2rad(Tensor self) -> Tensor";
  static constexpr auto doc = "Degrees to radians.";
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), x*(kPi<T> / T(180)))
  static Tensor grad_self(const Ctx&, const Tensor& g) { return g.deg2rad(); }
  static void samples(S& s) { s.add({s->real({2, 3}, -120, 120)}); }
};
ARGAND_OP(Deg2rad)

struct Rad2deg : Pointwise<Rad2degArgs> {
  static constexpr auto schema = "rad2deg(Tensor self) -> Tensor";
  static constexpr auto doc = "Radians to degrees.";
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), x*(T(180) / kPi<T>))
  static Tensor grad_self(const Ctx&, const Tensor& g) { return g.rad2deg(); }
  static void samples(S& s) { s.add({s->real({2, 3}, -7, 7)}); }
};
ARGAND_OP(Rad2deg)

}  // namespace argand::ops
