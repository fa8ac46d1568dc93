// Hyperbolic functions.
#include "argand/ops/define.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

struct Tanh : Pointwise<TanhArgs> {
  static constexpr auto schema = "tanh(Tensor self) -> Tensor";
  static constexpr auto doc = "The hyperbolic tangent.";
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), tanh(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return tanh_backward(g, c.result()); }
  static void samples(S& s) {
    s.add({s->real({2, 3}, -4, 4)});
    s.add({s->real({})});
  }
};
ARGAND_OP(Tanh)

struct TanhBackward : Pointwise<TanhBackwardArgs> {
  static constexpr auto schema = "tanh_backward(Tensor grad_output, Tensor output) -> Tensor";
  static constexpr auto doc = "grad_output * (1 - output^2).";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kFloatComplexBody;
  ARGAND_BODY((g, y), g*(T(1) - conjugate(y * y)))
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) { return tanh_backward(g, c.output.conj()); }
  static Tensor grad_output(const Ctx& c, const Tensor& g) { return g.conj() * c.grad_output * (-2 * c.output.conj()); }
  static void samples(S& s) { s.add({s->real({2, 3}), s->real({2, 3})}); }
};
ARGAND_OP(TanhBackward)

struct Sinh : Pointwise<SinhArgs> {
  static constexpr auto schema = "sinh(Tensor self) -> Tensor";
  static constexpr auto doc = "The hyperbolic sine.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), sinh(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * c.self.cosh().conj(); }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(Sinh)

struct Cosh : Pointwise<CoshArgs> {
  static constexpr auto schema = "cosh(Tensor self) -> Tensor";
  static constexpr auto doc = "The hyperbolic cosine.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), cosh(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * c.self.sinh().conj(); }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(Cosh)

struct Asinh : Pointwise<AsinhArgs> {
  static constexpr auto schema = "asinh(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"arcsinh(Tensor self) -> Tensor"};
  static constexpr auto doc = "The inverse of sinh.";
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), asinh(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * (c.self * c.self + 1).rsqrt().conj(); }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(Asinh)

struct Acosh : Pointwise<AcoshArgs> {
  static constexpr auto schema = "acosh(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"arccosh(Tensor self) -> Tensor"};
  static constexpr auto doc = "The non-negative inverse of cosh; NaN below 1.";
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), acosh(x))
  // Two roots, because that of the product has another branch for complex numbers.
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    if (!c.self.is_complex()) return g * (c.self * c.self - 1).rsqrt();
    return g * ((c.self - 1).rsqrt() * (c.self + 1).rsqrt()).conj();
  }
  static void samples(S& s) { s.add({s->real({2, 3}, 1.1, 4)}); }
};
ARGAND_OP(Acosh)

struct Atanh : Pointwise<AtanhArgs> {
  static constexpr auto schema = "atanh(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"arctanh(Tensor self) -> Tensor"};
  static constexpr auto doc = "The inverse of tanh; infinite at -1 and 1, NaN beyond.";
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), atanh(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g / (1 - c.self * c.self).conj(); }
  static void samples(S& s) { s.add({s->real({2, 3}, -0.9, 0.9)}); }
};
ARGAND_OP(Atanh)

}  // namespace argand::ops
