// Special functions, and replacing what is not finite.
#include <cmath>
#include <limits>
#include <numbers>

#include "argand/ops/define.h"
#include "argand/ops/pointwise/args.h"

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
  // At the poles of even n both infinities meet; PyTorch takes one.
  ARGAND_BODY((x, n),
              n > T(0) && n == T(2) * floor(n / T(2)) && x <= T(0) && x == floor(x) ? log(T(0)) : polygamma(n, x))
  static void check(const Args& a) {
    ARGAND_CHECK(ValueError, a.n >= 0, "polygamma: polygamma(n, x) does not support negative n, got ", a.n);
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

struct I0 : Pointwise<I0Args> {
  static constexpr auto schema = "i0(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"special_i0(Tensor self) -> Tensor"};
  static constexpr auto doc = "The modified Bessel function of the first kind of order 0.";
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), bessel_i0(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * special_i1(c.self); }
  static void samples(S& s) { s.add({s->real({2, 3}, -3, 3)}); }
};
ARGAND_OP(I0)

struct SpecialI1 : Pointwise<SpecialI1Args> {
  static constexpr auto schema = "special_i1(Tensor self) -> Tensor";
  static constexpr auto doc = "The modified Bessel function of the first kind of order 1.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), bessel_i1(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Tensor slope = i0(c.self) - c.result() / c.self;
    return g * where(c.self == 0, 0.5, slope);
  }
  static void samples(S& s) { s.add({s->away_from(0, {2, 3}, -3, 3)}); }
};
ARGAND_OP(SpecialI1)

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

struct NanToNum : Pointwise<NanToNumArgs> {
  static constexpr auto schema =
      "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor";
  static constexpr auto doc =
      "NaN replaced by nan (0), infinities by posinf and neginf (the largest and smallest number of the dtype).";
  struct Real : Pointwise<NanToNumArgs> {
    static constexpr auto compute = kRealBoolBody;
    static constexpr int num_scalars = 3;
    ARGAND_BODY((x, nan, largest, smallest), isnan(x) ? nan : !isinf(x) ? x : x > T(0) ? largest : smallest)
  };
  // Each part for itself.
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
