// Special functions, and the replacement of values that are not finite.
#include "argand/kernels/math/special.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "argand/kernels/math/incomplete.h"
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/pointwise/args.h"
#include "argand/ops/write_into.h"

namespace argand::ops {

struct Erf : Pointwise<ErfArgs> {
  static constexpr auto schema = "erf(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"special_erf(Tensor self) -> Tensor"};
  static constexpr auto doc = "The error function.";
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), erf(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return g * exp(-c.self.square()) * (2 / std::sqrt(std::numbers::pi));
  }
  static void samples(S& s) { s.add({s->real({2, 3}, -3, 3)}); }
};
ARGAND_OP(Erf)

struct Erfc : Pointwise<ErfcArgs> {
  static constexpr auto schema = "erfc(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"special_erfc(Tensor self) -> Tensor"};
  static constexpr auto doc = "1 - erf(self), exact for large self.";
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), erfc(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return g * exp(-c.self.square()) * (-2 / std::sqrt(std::numbers::pi));
  }
  static void samples(S& s) { s.add({s->real({2, 3}, -3, 3)}); }
};
ARGAND_OP(Erfc)

struct Erfinv : Pointwise<ErfinvArgs> {
  static constexpr auto schema = "erfinv(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"special_erfinv(Tensor self) -> Tensor"};
  static constexpr auto doc = "The inverse of erf; infinite at -1 and 1, NaN beyond.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), erfinv(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return g * exp(c.result().square()) * (std::sqrt(std::numbers::pi) / 2);
  }
  static void samples(S& s) { s.add({s->real({2, 3}, -0.9, 0.9)}); }
};
ARGAND_OP(Erfinv)

struct Lgamma : Pointwise<LgammaArgs> {
  static constexpr auto schema = "lgamma(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"special_gammaln(Tensor self) -> Tensor"};
  static constexpr auto doc = "log |gamma(self)|.";
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), lgamma(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * c.self.digamma(); }
  static void samples(S& s) { s.add({s->real({2, 3}, 0.2, 4)}); }
};
ARGAND_OP(Lgamma)

struct Digamma : Pointwise<DigammaArgs> {
  static constexpr auto schema = "digamma(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"special_digamma(Tensor self) -> Tensor",
                                              "special_psi(Tensor self) -> Tensor"};
  static constexpr auto doc = "The derivative of log gamma(self).";
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), digamma(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * polygamma(1, c.self); }
  static void samples(S& s) { s.add({s->real({2, 3}, 0.2, 4)}); }
};
ARGAND_OP(Digamma)

struct Polygamma : Pointwise<PolygammaArgs> {
  static constexpr auto schema = "polygamma(int n, Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"special_polygamma(int n, Tensor self) -> Tensor"};
  static constexpr auto doc = "The n-th derivative of digamma at self, n >= 0.";
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  // At the poles for even n the two limits have different infinities; PyTorch takes one.
  ARGAND_BODY((x, n),
              n > T(0) && n == T(2) * floor(n / T(2)) && x <= T(0) && x == floor(x) ? log(T(0)) : polygamma(n, x))
  static void check(const Args& a) {
    ARGAND_CHECK(ValueError, a.n >= 0, "polygamma: polygamma(n, x) does not support negative n. Got ", a.n);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * polygamma(c.n + 1, c.self); }
  static void samples(S& s) {
    s.add({0, s->real({2, 3}, 0.5, 4)});
    s.add({1, s->real({2, 3}, 0.5, 4)});
    s.add({3, s->real({2, 3}, 0.5, 4)});
    s.fails({-1, s->real({2})}, "polygamma(n, x) does not support negative n");
  }
};
ARGAND_OP(Polygamma)

struct SpecialErfcx : Pointwise<SpecialErfcxArgs> {
  static constexpr auto schema = "special_erfcx(Tensor self) -> Tensor";
  static constexpr auto doc = "exp(self^2) * erfc(self), exact for large self.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  static constexpr auto math_header = "special";
  ARGAND_BODY((x), erfcx(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return g * (2 * c.self * c.result() - 2 / std::sqrt(std::numbers::pi));
  }
  static void samples(S& s) { s.add({s->real({2, 3}, -3, 3)}); }
};
ARGAND_OP(SpecialErfcx)

struct SpecialLogNdtr : Pointwise<SpecialLogNdtrArgs> {
  static constexpr auto schema = "special_log_ndtr(Tensor self) -> Tensor";
  static constexpr auto doc = "The logarithm of the part of the standard normal distribution below self.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  static constexpr auto math_header = "special";
  ARGAND_BODY((x), log_normal_cdf(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return g / special_erfcx(c.self * -std::sqrt(0.5)) * std::sqrt(2 / std::numbers::pi);
  }
  static void samples(S& s) { s.add({s->real({2, 3}, -9, 3)}); }
};
ARGAND_OP(SpecialLogNdtr)

struct SpecialNdtri : Pointwise<SpecialNdtriArgs> {
  static constexpr auto schema = "special_ndtri(Tensor self) -> Tensor";
  static constexpr auto doc = "The quantiles of the standard normal distribution: the inverse of ndtr.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  static constexpr auto math_header = "special";
  ARGAND_BODY((x), normal_quantile(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return g * exp(c.result().square() / 2) * std::sqrt(2 * std::numbers::pi);
  }
  static void samples(S& s) { s.add({s->real({2, 3}, 0.01, 0.99)}); }
};
ARGAND_OP(SpecialNdtri)

struct SpecialZeta : Pointwise<SpecialZetaArgs> {
  static constexpr auto schema = "special_zeta(Tensor|Scalar self, Tensor|Scalar other) -> Tensor";
  static constexpr auto doc = "Hurwitz' zeta function: the sum of (other + k)^-self over k = 0, 1, ...; self >= 1.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  static constexpr uint32_t unimplemented_gradients = bits(kSelf);
  ARGAND_BODY((s, q), zeta(s, q))
  static Tensor grad_other(const Ctx& c, const Tensor& g) { return -g * c.self * special_zeta(c.self + 1, c.other); }
  static void samples(S& s) {
    s.add_without_gradient({s->real({2, 3}, 1.5, 4), s->positive({2, 3})});
    s.add_without_gradient({s->real({2, 3}, 1.5, 4), s->positive({3})});
    s.fails({s->positive({2}), s->positive({3})}, "special_zeta: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(SpecialZeta)

struct Igamma : Pointwise<IgammaArgs> {
  static constexpr auto schema = "igamma(Tensor self, Tensor other) -> Tensor";
  static constexpr const char* overloads[] = {"special_gammainc(Tensor self, Tensor other) -> Tensor"};
  static constexpr auto doc =
      "The part of the gamma distribution with the shape self below other: the lower incomplete gamma function, "
      "divided by gamma(self). The gradient is for other alone.";
  static constexpr auto compute = kFloatBody;
  static constexpr uint32_t unimplemented_gradients = bits(kSelf);
  static constexpr auto math_header = "incomplete";
  ARGAND_BODY((a, x), igamma(a, x))
  static Tensor grad_other(const Ctx& c, const Tensor& g) {
    return g * exp((c.self - 1) * c.other.log() - c.other - c.self.lgamma());
  }
  static void samples(S& s) {
    s.add_without_gradient({s->positive({2, 3}), s->positive({2, 3})});
    s.add_without_gradient({s->positive({2, 3}), s->positive({3})});
    s.fails({s->positive({2}), s->positive({3})}, "igamma: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(Igamma)

struct Igammac : Pointwise<IgammacArgs> {
  static constexpr auto schema = "igammac(Tensor self, Tensor other) -> Tensor";
  static constexpr const char* overloads[] = {"special_gammaincc(Tensor self, Tensor other) -> Tensor"};
  static constexpr auto doc =
      "The part of the gamma distribution with the shape self above other, 1 - igamma(self, other), exact for large "
      "other. The gradient is for other alone.";
  static constexpr auto compute = kFloatBody;
  static constexpr uint32_t unimplemented_gradients = bits(kSelf);
  static constexpr auto math_header = "incomplete";
  ARGAND_BODY((a, x), igammac(a, x))
  static Tensor grad_other(const Ctx& c, const Tensor& g) {
    return -g * exp((c.self - 1) * c.other.log() - c.other - c.self.lgamma());
  }
  static void samples(S& s) {
    s.add_without_gradient({s->positive({2, 3}), s->positive({2, 3})});
    s.add_without_gradient({s->positive({2, 3}), s->positive({3})});
    s.fails({s->positive({2}), s->positive({3})}, "igammac: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(Igammac)

struct SpecialEntr : Pointwise<SpecialEntrArgs> {
  static constexpr auto schema = "special_entr(Tensor self) -> Tensor";
  static constexpr auto doc = "-self * log(self), 0 at 0 and minus infinity below.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), isnan(x) ? x : x > T(0) ? -x * log(x) : x == T(0) ? T(0) : log(T(0)))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * (-c.self.log() - 1); }
  static void samples(S& s) { s.add({s->positive({2, 3})}); }
};
ARGAND_OP(SpecialEntr)

struct SpecialNdtr : Pointwise<SpecialNdtrArgs> {
  static constexpr auto schema = "special_ndtr(Tensor self) -> Tensor";
  static constexpr auto doc = "The part of the standard normal distribution below self.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), T(0.5) * erfc(-x * sqrt(T(0.5))))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return g * exp(c.self.square() * -0.5) / std::sqrt(2 * std::numbers::pi);
  }
  static void samples(S& s) { s.add({s->real({2, 3}, -3, 3)}); }
};
ARGAND_OP(SpecialNdtr)

struct SpecialXlog1py : Pointwise<SpecialXlog1pyArgs> {
  static constexpr auto schema = "special_xlog1py(Tensor|Scalar self, Tensor|Scalar other) -> Tensor";
  static constexpr auto doc = "self * log(1 + other), 0 where self is 0 unless other is NaN.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x, y), isnan(y) ? y : x == T(0) ? T(0) : x * log1p(y))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return special_xlog1py(g, c.other).masked_fill((c.self == 0).logical_and(c.other <= -1), 0);
  }
  static Tensor grad_other(const Ctx& c, const Tensor& g) { return g * c.self / (c.other + 1); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->positive({2, 3})});
    s.add({s->real({2, 3}), s->positive({3})});
    s.add({s->real({2, 3}), exec::wrapped_number(1.5)});
    s.fails({s->real({2}), s->real({3})}, "special_xlog1py: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(SpecialXlog1py)

struct Mvlgamma : Composite<MvlgammaArgs> {
  static constexpr auto schema = "mvlgamma(Tensor self, int p) -> Tensor";
  static constexpr const char* overloads[] = {"special_multigammaln(Tensor self, int p) -> Tensor"};
  static constexpr auto doc = "The logarithm of the gamma function of p dimensions, for self > (p - 1) / 2.";
  static constexpr auto autocast = Autocast::kAsGiven;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr DtypeSet dtypes = kRealTypes & ~kBoolType;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ValueError, a.p >= 1, "mvlgamma: p has to be greater than or equal to 1, got ", a.p);
    const auto p = static_cast<double>(a.p);
    const ScalarType type = is_integral(a.self.dtype()) ? get_default_dtype() : a.self.dtype();
    const Tensor below = arange((1 - p) / 2, 0.25, 0.5, a.self.options().dtype(type));
    return (a.self.unsqueeze(-1) + below).lgamma().sum(-1) + p * (p - 1) / 4 * std::log(std::numbers::pi);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}, 1.5, 4), 3});
    s.add({s->real({3}, 0.5, 4), 1});
    s.fails({s->real({2}), 0}, "mvlgamma: p has to be greater than or equal to 1, got 0");
  }
};
ARGAND_OP(Mvlgamma)
ARGAND_NODE(Mvlgamma)

struct MvlgammaInplace : Composite<MvlgammaInplaceArgs> {
  static constexpr auto schema = "mvlgamma_(Tensor(a!) self, int p) -> Tensor(a!)";
  static constexpr auto doc = "mvlgamma, into self.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) {
    return write_into("mvlgamma_", a.self, [&](const Tensor& self) { return self.mvlgamma(a.p); });
  }
  static void samples(S& s) { s.add({s->real({2, 3}, 1.5, 4), 3}); }
};
ARGAND_OP(MvlgammaInplace)

struct NanToNum : Pointwise<NanToNumArgs> {
  static constexpr auto schema =
      "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "NaN replaced by nan (0), infinities by posinf and neginf (the largest and smallest number of the dtype).";
  struct Real : Pointwise<NanToNumArgs> {
    static constexpr auto compute = kRealBoolBody;
    static constexpr int num_scalars = 3;
    ARGAND_BODY((x, nan, largest, smallest), isnan(x) ? nan : !isinf(x) ? x : x > T(0) ? largest : smallest)
  };
  // Handles each part separately.
  struct Complex : Pointwise<NanToNumArgs> {
    static constexpr auto compute = kComplexTypes;
    static constexpr int num_scalars = 3;
    ARGAND_BODY((x, nan, largest, smallest), T(isnan(x.real())    ? nan.real()
                                               : !isinf(x.real()) ? x.real()
                                               : x.real() > 0     ? largest.real()
                                                                  : smallest.real(),
                                               isnan(x.imag())    ? nan.real()
                                               : !isinf(x.imag()) ? x.imag()
                                               : x.imag() > 0     ? largest.real()
                                                                  : smallest.real()))
  };
  static const PointwiseInfo& form(const Args& a) { return a.self.is_complex() ? form_of<Complex> : form_of<Real>; }
  static void scalars(const Args& a, Scalar* out) {
    if (!is_differentiable(a.self.dtype())) return;  // integers have nothing to replace
    const double largest = dispatch<kFloatingTypes>(to_real_type(a.self.dtype()), "nan_to_num", [](auto tag) {
      return static_cast<double>(static_cast<op_math_t<typename decltype(tag)::type>>(
          std::numeric_limits<typename decltype(tag)::type>::max()));
    });
    out[0] = a.nan.value_or(0), out[1] = a.posinf.value_or(largest), out[2] = a.neginf.value_or(-largest);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * c.self.isfinite(); }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.add({s->real({2, 3}), 1.0, 2.0, 3.0});
    s.add({s->integer({2}, 0, 2)});
  }
};
ARGAND_OP(NanToNum)

}  // namespace argand::ops
