// Exponentials and logarithms.
#include <numbers>

#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

struct Exp : Pointwise<ExpArgs> {
  static constexpr auto schema = "exp(Tensor self) -> Tensor";
  static constexpr auto doc = "e^self; integers give floating point.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), exp(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * c.result().conj(); }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.add({s->real({})});
    s.add({s->real({0, 3})});
  }
};
ARGAND_OP(Exp)

struct Exp2 : Pointwise<Exp2Args> {
  static constexpr auto schema = "exp2(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"special_exp2(Tensor self) -> Tensor"};
  static constexpr auto doc = "2^self; integers give floating point.";
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), exp2(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * c.result().conj() * std::numbers::ln2; }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(Exp2)

struct Expm1 : Pointwise<Expm1Args> {
  static constexpr auto schema = "expm1(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"special_expm1(Tensor self) -> Tensor"};
  static constexpr auto doc = "e^self - 1, exact near 0; integers give floating point.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), expm1(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * (c.result().conj() + 1); }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(Expm1)

struct Log : Pointwise<LogArgs> {
  static constexpr auto schema = "log(Tensor self) -> Tensor";
  static constexpr auto doc = "The natural logarithm; NaN for negative numbers.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), log(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g / c.self.conj(); }
  static void samples(S& s) { s.add({s->positive({2, 3})}); }
};
ARGAND_OP(Log)

struct Log2 : Pointwise<Log2Args> {
  static constexpr auto schema = "log2(Tensor self) -> Tensor";
  static constexpr auto doc = "The logarithm to base 2; NaN for negative numbers.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), log2(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g / (c.self.conj() * std::numbers::ln2); }
  static void samples(S& s) { s.add({s->positive({2, 3})}); }
};
ARGAND_OP(Log2)

struct Log10 : Pointwise<Log10Args> {
  static constexpr auto schema = "log10(Tensor self) -> Tensor";
  static constexpr auto doc = "The logarithm to base 10; NaN for negative numbers.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), log10(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g / (c.self.conj() * std::numbers::ln10); }
  static void samples(S& s) { s.add({s->positive({2, 3})}); }
};
ARGAND_OP(Log10)

struct Log1p : Pointwise<Log1pArgs> {
  static constexpr auto schema = "log1p(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"special_log1p(Tensor self) -> Tensor"};
  static constexpr auto doc = "log(1 + self), exact near 0.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), log1p(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g / (c.self.conj() + 1); }
  static void samples(S& s) { s.add({s->real({2, 3}, -0.75, 2)}); }
};
ARGAND_OP(Log1p)

struct Xlogy : Pointwise<XlogyArgs> {
  static constexpr auto schema = "xlogy(Tensor|Scalar self, Tensor|Scalar other) -> Tensor";
  static constexpr const char* overloads[] = {"special_xlogy(Tensor|Scalar self, Tensor|Scalar other) -> Tensor"};
  static constexpr auto doc = "self * log(other), 0 where self is 0 unless other is NaN.";
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x, y), isnan(y) ? y : x == T(0) ? T(0) : x * log(y))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return xlogy(g, c.other).masked_fill((c.self == 0).logical_and(c.other <= 0), 0);
  }
  static Tensor grad_other(const Ctx& c, const Tensor& g) { return g * c.self / c.other; }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->positive({2, 3})});
    s.add({s->real({2, 3}), s->positive({3})});
    s.add({s->real({2, 3}), exec::wrapped_number(1.5)});
    s.fails({s->real({2}), s->real({3})}, "xlogy: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(Xlogy)
ARGAND_NODE(Xlogy, [](const XlogyArgs& a) {
  return is_number(a.self) ? "XlogyBackward1" : is_number(a.other) ? "XlogyBackward2" : nullptr;
})

struct Logaddexp : Pointwise<LogaddexpArgs> {
  static constexpr auto schema = "logaddexp(Tensor self, Tensor other) -> Tensor";
  static constexpr auto doc = "log(e^self + e^other), without overflow.";
  static constexpr int variants = kFunction | kMethod | kOut;
  struct OfReals : Pointwise<LogaddexpArgs> {
    static constexpr auto compute = kFloatBody;
    ARGAND_BODY((x, y), logaddexp(x, y))
  };
  // The number with the greater real part outside of the logarithm.  Two infinite ones tell nothing of their
  // difference; a NaN in any part is one in both.
  struct OfComplex : Pointwise<LogaddexpArgs> {
    static constexpr auto compute = kComplexTypes;
    ARGAND_BODY((x, y), isnan(x) || isnan(y)
                            ? T(x.real() + x.imag() + y.real() + y.imag(), x.real() + x.imag() + y.real() + y.imag())
                        : x.real() == y.real() && isinf(x.real()) ? (x.real() < 0 ? x : log(exp(x) + exp(y)))
                        : x.real() < y.real()                     ? y + log1p(exp(x - y))
                                                                  : x + log1p(exp(y - x)))
  };
  static const PointwiseInfo& form(const Args& a) {
    return a.self.is_complex() || a.other.is_complex() ? form_of<OfComplex> : form_of<OfReals>;
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g / (1 + exp(c.other - c.self)).conj(); }
  static Tensor grad_other(const Ctx& c, const Tensor& g) { return g / (1 + exp(c.self - c.other)).conj(); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({3})});
    s.fails({s->real({2}), s->real({3})}, "logaddexp: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(Logaddexp)

struct Logaddexp2 : Pointwise<Logaddexp2Args> {
  static constexpr auto schema = "logaddexp2(Tensor self, Tensor other) -> Tensor";
  static constexpr auto doc = "log2(2^self + 2^other), without overflow.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((x, y), x == y && isinf(x) ? x : max(x, y) + log1p(exp2(-abs(x - y))) * T(0x1.71547652b82fep+0))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g / (1 + exp2(c.other - c.self)); }
  static Tensor grad_other(const Ctx& c, const Tensor& g) { return g / (1 + exp2(c.self - c.other)); }
  static void samples(S& s) { s.add({s->real({2, 3}), s->real({3})}); }
};
ARGAND_OP(Logaddexp2)

struct Logit : Pointwise<LogitArgs> {
  static constexpr auto schema = "logit(Tensor self, float? eps=None) -> Tensor";
  static constexpr const char* overloads[] = {"special_logit(Tensor self, float? eps=None) -> Tensor"};
  static constexpr auto doc = "log(self / (1 - self)); with eps, self is first limited to eps ... 1 - eps.";
  struct Plain : Pointwise<LogitArgs> {
    static constexpr auto compute = kFloatBody;
    static constexpr auto promote = Promote::kFloat;
    static constexpr int num_scalars = 0;
    ARGAND_BODY((x), log(x / (T(1) - x)))
  };
  struct Limited : Pointwise<LogitArgs> {
    static constexpr auto compute = kFloatBody;
    static constexpr auto promote = Promote::kFloat;
    static constexpr int num_scalars = 1;
    // If eps > 1/2, the limits are in the wrong order, and the lower one is tested first.
    ARGAND_BODY((x, eps),
                x<eps ? log(eps / (T(1) - eps)) : x> T(1) - eps ? log((T(1) - eps) / eps) : log(x / (T(1) - x)))
  };
  static const PointwiseInfo& form(const Args& a) { return a.eps ? form_of<Limited> : form_of<Plain>; }
  static void scalars(const Args& a, Scalar* out) { *out = a.eps.value_or(0); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return logit_backward(g, c.self, c.eps); }
  static void samples(S& s) {
    s->accuracy({4, "the limit 1 - eps is rounded before its logarithm, which is near 0"});
    s.add({s->real({2, 3}, 0.1, 0.9)});
    s.add({s->apart({4, 3}) + 0.53, 0.25});
    s.add_without_gradient({s->apart({4, 3}) + 0.53, 0.6});
  }
};
ARGAND_OP(Logit)

struct LogitBackward : Pointwise<LogitBackwardArgs> {
  static constexpr auto schema = "logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor";
  static constexpr auto doc = "grad_output / (self * (1 - self)); outside eps ... 1 - eps 0, or NaN without eps.";
  static constexpr int variants = kFunction;
  struct Plain : Pointwise<LogitBackwardArgs> {
    static constexpr auto compute = kFloatBody;
    static constexpr int num_scalars = 0;
    ARGAND_BODY((g, x), x<T(0) || x> T(1)        ? math::detail::kNaN<T>
                        : x == T(0) || x == T(1) ? g * math::detail::kInfinity<T>
                                                 : g / (x * (T(1) - x)))
  };
  struct Limited : Pointwise<LogitBackwardArgs> {
    static constexpr auto compute = kFloatBody;
    static constexpr int num_scalars = 1;
    ARGAND_BODY((g, x, eps), x<eps || x> T(1) - eps   ? T(0)
                             : x == T(0) || x == T(1) ? g * math::detail::kInfinity<T>
                                                      : g / (x * (T(1) - x)))
  };
  static const PointwiseInfo& form(const Args& a) { return a.eps ? form_of<Limited> : form_of<Plain>; }
  static void scalars(const Args& a, Scalar* out) { *out = a.eps.value_or(0); }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) { return logit_backward(g, c.self, c.eps); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Tensor x = c.self * (1 - c.self);
    return logit_backward(g * c.grad_output, c.self, c.eps) * (2 * c.self - 1) / x;
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({2, 3}, 0.1, 0.9)});
    s.add({s->real({4, 3}), s->apart({4, 3}) + 0.53, 0.25});
  }
};
ARGAND_OP(LogitBackward)

}  // namespace argand::ops
