// Orthogonal polynomials by their recurrences.  They are written in ops, so that they have gradients in x.
#include <algorithm>
#include <limits>

#include "argand/exec/pointwise.h"
#include "argand/ops/define.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

namespace {

// p_n elementwise, from p_0 = 1, p_1 and p_(k+1) = step(k, p_k, p_(k-1)); 0 for n < 0, NaN for n > limit.
template <class Step>
Tensor polynomial(const Tensor& n, const Tensor& p1, Step step, int64_t limit = std::numeric_limits<int64_t>::max()) {
  const Tensor degree = n.detach().to(kLong);
  const int64_t largest = degree.numel() == 0 ? -1 : degree.max().item<int64_t>(), most = std::min(largest, limit);
  Tensor before = ones_like(p1), last = p1;
  Tensor out = where(degree == 0, before, where(degree < 0, zeros_like(p1), p1));
  for (int64_t k = 1; k < most; ++k) {
    const Tensor next = step(static_cast<double>(k), last, before);
    before = last;
    last = next;
    out = where(degree == k + 1, last, out);
  }
  return largest > limit ? out.masked_fill(degree > limit, std::numeric_limits<double>::quiet_NaN()) : out;
}

// As in PyTorch, Hermite polynomials of a higher degree are NaN: the results would leave the range of the dtype.
int64_t hermite_limit(const Tensor& x) { return x.dtype() == kDouble ? 512 : 128; }

// x in the common dtype of x and n.
Tensor promoted(const Tensor& x, const Tensor& n) {
  const Tensor* const operands[] = {&x, &n};
  const ScalarType common = exec::result_type(operands);
  const Tensor t = x.to(is_integral(common, true) ? get_default_dtype() : common);
  return t.impl().wrapped_number ? t.clone() : t;  // which would yield to the numbers of the recurrence
}

// T, U, V and W differ only in p_1 = slope x + shift.
Tensor chebyshev(const Tensor& x, const Tensor& n, double slope, double shift) {
  return polynomial(n, x * slope + shift,
                    [&](double, const Tensor& last, const Tensor& before) { return x * 2 * last - before; });
}

}  // namespace

struct SpecialChebyshevPolynomialT : Composite<SpecialChebyshevPolynomialTArgs> {
  static constexpr auto schema = "special_chebyshev_polynomial_t(Tensor|Scalar x, Tensor|Scalar n) -> Tensor";
  static constexpr auto doc = "The Chebyshev polynomial of the first kind of degree n at x; 0 for n < 0.";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const Tensor x = promoted(a.x, a.n);
    return chebyshev(x, a.n, 1, 0);
  }
  static void samples(S& s) { s.add({s->real({2, 3}, -1, 1), s->integer({3}, -1, 6)}); }
};
ARGAND_OP(SpecialChebyshevPolynomialT)

struct SpecialChebyshevPolynomialU : Composite<SpecialChebyshevPolynomialUArgs> {
  static constexpr auto schema = "special_chebyshev_polynomial_u(Tensor|Scalar x, Tensor|Scalar n) -> Tensor";
  static constexpr auto doc = "The Chebyshev polynomial of the second kind of degree n at x; 0 for n < 0.";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const Tensor x = promoted(a.x, a.n);
    return chebyshev(x, a.n, 2, 0);
  }
  static void samples(S& s) { s.add({s->real({2, 3}, -1, 1), s->integer({3}, -1, 6)}); }
};
ARGAND_OP(SpecialChebyshevPolynomialU)

struct SpecialChebyshevPolynomialV : Composite<SpecialChebyshevPolynomialVArgs> {
  static constexpr auto schema = "special_chebyshev_polynomial_v(Tensor|Scalar x, Tensor|Scalar n) -> Tensor";
  static constexpr auto doc = "The Chebyshev polynomial of the third kind of degree n at x; 0 for n < 0.";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const Tensor x = promoted(a.x, a.n);
    return chebyshev(x, a.n, 2, -1);
  }
  static void samples(S& s) { s.add({s->real({2, 3}, -1, 1), s->integer({3}, -1, 6)}); }
};
ARGAND_OP(SpecialChebyshevPolynomialV)

struct SpecialChebyshevPolynomialW : Composite<SpecialChebyshevPolynomialWArgs> {
  static constexpr auto schema = "special_chebyshev_polynomial_w(Tensor|Scalar x, Tensor|Scalar n) -> Tensor";
  static constexpr auto doc = "The Chebyshev polynomial of the fourth kind of degree n at x; 0 for n < 0.";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const Tensor x = promoted(a.x, a.n);
    return chebyshev(x, a.n, 2, 1);
  }
  static void samples(S& s) { s.add({s->real({2, 3}, -1, 1), s->integer({3}, -1, 6)}); }
};
ARGAND_OP(SpecialChebyshevPolynomialW)

struct SpecialShiftedChebyshevPolynomialT : Composite<SpecialShiftedChebyshevPolynomialTArgs> {
  static constexpr auto schema = "special_shifted_chebyshev_polynomial_t(Tensor|Scalar x, Tensor|Scalar n) -> Tensor";
  static constexpr auto doc = "The Chebyshev polynomial of the first kind of degree n at 2 x - 1; 0 for n < 0.";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const Tensor x = promoted(a.x, a.n);
    return chebyshev(x * 2 - 1, a.n, 1, 0);
  }
  static void samples(S& s) { s.add({s->real({2, 3}, -1, 1), s->integer({3}, -1, 6)}); }
};
ARGAND_OP(SpecialShiftedChebyshevPolynomialT)

struct SpecialShiftedChebyshevPolynomialU : Composite<SpecialShiftedChebyshevPolynomialUArgs> {
  static constexpr auto schema = "special_shifted_chebyshev_polynomial_u(Tensor|Scalar x, Tensor|Scalar n) -> Tensor";
  static constexpr auto doc = "The Chebyshev polynomial of the second kind of degree n at 2 x - 1; 0 for n < 0.";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const Tensor x = promoted(a.x, a.n);
    return chebyshev(x * 2 - 1, a.n, 2, 0);
  }
  static void samples(S& s) { s.add({s->real({2, 3}, -1, 1), s->integer({3}, -1, 6)}); }
};
ARGAND_OP(SpecialShiftedChebyshevPolynomialU)

struct SpecialShiftedChebyshevPolynomialV : Composite<SpecialShiftedChebyshevPolynomialVArgs> {
  static constexpr auto schema = "special_shifted_chebyshev_polynomial_v(Tensor|Scalar x, Tensor|Scalar n) -> Tensor";
  static constexpr auto doc = "The Chebyshev polynomial of the third kind of degree n at 2 x - 1; 0 for n < 0.";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const Tensor x = promoted(a.x, a.n);
    return chebyshev(x * 2 - 1, a.n, 2, -1);
  }
  static void samples(S& s) { s.add({s->real({2, 3}, -1, 1), s->integer({3}, -1, 6)}); }
};
ARGAND_OP(SpecialShiftedChebyshevPolynomialV)

struct SpecialShiftedChebyshevPolynomialW : Composite<SpecialShiftedChebyshevPolynomialWArgs> {
  static constexpr auto schema = "special_shifted_chebyshev_polynomial_w(Tensor|Scalar x, Tensor|Scalar n) -> Tensor";
  static constexpr auto doc = "The Chebyshev polynomial of the fourth kind of degree n at 2 x - 1; 0 for n < 0.";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const Tensor x = promoted(a.x, a.n);
    return chebyshev(x * 2 - 1, a.n, 2, 1);
  }
  static void samples(S& s) { s.add({s->real({2, 3}, -1, 1), s->integer({3}, -1, 6)}); }
};
ARGAND_OP(SpecialShiftedChebyshevPolynomialW)

struct SpecialHermitePolynomialH : Composite<SpecialHermitePolynomialHArgs> {
  static constexpr auto schema = "special_hermite_polynomial_h(Tensor|Scalar x, Tensor|Scalar n) -> Tensor";
  static constexpr auto doc = "The physicists' Hermite polynomial of degree n at x; 0 for n < 0.";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const Tensor x = promoted(a.x, a.n);
    const auto step = [&](double k, const Tensor& last, const Tensor& before) {
      return x * 2 * last - before * (2 * k);
    };
    return polynomial(a.n, x * 2, step, hermite_limit(x));
  }
  static void samples(S& s) { s.add({s->real({2, 3}, -1, 1), s->integer({3}, -1, 6)}); }
};
ARGAND_OP(SpecialHermitePolynomialH)

struct SpecialHermitePolynomialHe : Composite<SpecialHermitePolynomialHeArgs> {
  static constexpr auto schema = "special_hermite_polynomial_he(Tensor|Scalar x, Tensor|Scalar n) -> Tensor";
  static constexpr auto doc = "The probabilists' Hermite polynomial of degree n at x; 0 for n < 0.";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const Tensor x = promoted(a.x, a.n);
    const auto step = [&](double k, const Tensor& last, const Tensor& before) { return x * last - before * k; };
    return polynomial(a.n, x * 1, step, hermite_limit(x));
  }
  static void samples(S& s) { s.add({s->real({2, 3}, -1, 1), s->integer({3}, -1, 6)}); }
};
ARGAND_OP(SpecialHermitePolynomialHe)

struct SpecialLaguerrePolynomialL : Composite<SpecialLaguerrePolynomialLArgs> {
  static constexpr auto schema = "special_laguerre_polynomial_l(Tensor|Scalar x, Tensor|Scalar n) -> Tensor";
  static constexpr auto doc = "The Laguerre polynomial of degree n at x; 0 for n < 0.";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const Tensor x = promoted(a.x, a.n);
    return polynomial(a.n, 1 - x, [&](double k, const Tensor& last, const Tensor& before) {
      return ((2 * k + 1 - x) * last - before * k) / (k + 1);
    });
  }
  static void samples(S& s) { s.add({s->real({2, 3}, -1, 1), s->integer({3}, -1, 6)}); }
};
ARGAND_OP(SpecialLaguerrePolynomialL)

struct SpecialLegendrePolynomialP : Composite<SpecialLegendrePolynomialPArgs> {
  static constexpr auto schema = "special_legendre_polynomial_p(Tensor|Scalar x, Tensor|Scalar n) -> Tensor";
  static constexpr auto doc = "The Legendre polynomial of degree n at x; 0 for n < 0.";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const Tensor x = promoted(a.x, a.n);
    return polynomial(a.n, x * 1, [&](double k, const Tensor& last, const Tensor& before) {
      return ((2 * k + 1) * x * last - before * k) / (k + 1);
    });
  }
  static void samples(S& s) { s.add({s->real({2, 3}, -1, 1), s->integer({3}, -1, 6)}); }
};
ARGAND_OP(SpecialLegendrePolynomialP)

}  // namespace argand::ops
