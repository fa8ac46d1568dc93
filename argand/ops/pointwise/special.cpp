// Special functions, and replacing what is not finite.
#include <cmath>
#include <limits>
#include <numbers>

#include "argand/ops/define.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

struct Erf : Pointwise<ErfArgs> {
  static constexpr auto schema = "erf(Tensor self) -> Tensor";
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
  static constexpr auto doc = "The n-th derivative of digamma at self, n >= 0.";
  static constexpr auto compute = kFloatBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x, n), polygamma(n, x))
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
