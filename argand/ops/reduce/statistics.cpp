// Quantiles and covariances.
#include <cmath>

#include "argand/exec/has_values.h"
#include "argand/ops/define.h"
#include "argand/ops/maybe.h"
#include "argand/ops/reduce/args.h"

namespace argand::ops {
namespace {

bool is_one_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* w) { return word == w; });
}

void check_quantile(const char* op, const Tensor& self, const Tensor& q, const std::string& how) {
  ARGAND_CHECK(ShapeError, self.numel() > 0, op, ": quantile() input tensor must be non-empty");
  ARGAND_CHECK(ShapeError, q.dim() <= 1, op, ": quantile() q must be a scalar or 1D tensor, got ", q.sizes());
  ARGAND_CHECK(DtypeError, contains(kFloatTypes, self.dtype()), op,
               ": quantile() input tensor must be either float or double dtype, got ", self.dtype());
  ARGAND_CHECK(DtypeError, q.impl().wrapped_number || q.dtype() == self.dtype(), op,
               ": quantile() q tensor must be same dtype as the input tensor, got ", q.dtype(), " and ", self.dtype());
  ARGAND_CHECK(ValueError, is_one_of(how, {"linear", "lower", "higher", "midpoint", "nearest"}), op,
               ": quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got ", how);
}

// The values of rows, sorted along their last dimension, at places that need not be whole.
Tensor interpolated(const Tensor& rows, const Tensor& places, const std::string& how) {
  if (how == "higher") return rows.gather(-1, places.ceil().to(kLong));
  if (how == "nearest") return rows.gather(-1, places.round().to(kLong));
  const Tensor floor = places.floor(), below = rows.gather(-1, floor.to(kLong));
  if (how == "lower") return below;
  const Tensor above = rows.gather(-1, places.ceil().to(kLong));
  return below.lerp(above, how == "linear" ? places - floor : full_like(places, 0.5));
}

Tensor quantiles(const char* op, const Tensor& self, const Tensor& given, std::optional<int64_t> dim, bool keepdim,
                 const std::string& how, bool ignore_nan) {
  check_quantile(op, self, given, how);
  const int64_t ndim = self.dim();
  if (dim) dim = wrap_dim(*dim, ndim, op);
  if (given.impl().wrapped_number) {
    const double number = given.item().toDouble();
    ARGAND_CHECK(ValueError, number >= 0 && number <= 1, op, ": quantile() q must be in the range [0, 1] but got ",
                 number);
  }
  // Values on the CPU are checked, because that waits for no device, as in PyTorch.
  if (given.is_cpu())
    ARGAND_CHECK(ValueError, !exec::has_values(given) || given.ge(0).logical_and(given.le(1)).all().item().toBool(), op,
                 ": quantile() q values must be in the range [0, 1]");
  const Tensor q = given.to(self.device(), self.dtype());
  const bool all = !dim || ndim == 0;
  const Tensor rows = std::get<0>((all ? self.reshape({-1}) : self.movedim(*dim, -1)).sort(-1));  // NaNs come last
  const Tensor missing = rows.isnan();
  const int64_t size = rows.sizes().back();
  Tensor places;
  if (ignore_nan) {
    const Tensor last = (missing.logical_not().sum(-1, true) - 1).clamp_min(0).to(self.dtype());
    places = q.reshape({-1}) * last;
  } else {
    places = (q.reshape({-1}) * (size - 1)).masked_fill(missing.any(-1, true), size - 1);
  }
  Tensor result = interpolated(rows, places, how);  // a row of quantiles for each row of elements
  if (keepdim) {
    Dims sizes(static_cast<size_t>(ndim), 1);
    sizes.push_back(q.numel());
    result = all ? result.reshape(sizes) : result.unsqueeze(-2).movedim(-2, *dim);
  }
  return q.dim() == 0 ? result.squeeze(-1) : result.movedim(-1, 0);
}

template <class S>
void quantile_samples(S& s, const char* op) {
  const auto q = [&] { return s->real({2}, 0.1, 0.9); };
  s.add({s->apart({3, 4}), exec::wrapped_number(0.3)});
  for (const char* how : {"linear", "lower", "higher", "midpoint", "nearest"})
    s.add({s->apart({5, 4}), q(), 0, false, how});
  s.add({s->apart({3, 4}), q(), 1, true});
  s.add({s->apart({3, 4}), exec::wrapped_number(1.0), {}, true});
  s.fails({s->real({3}), exec::wrapped_number(1.5)},
          std::string(op) + ": quantile() q must be in the range [0, 1] but got 1.5");
  s.fails({s->real({3}), full({1}, 1.5, TensorOptions(kCPU).dtype(kDouble))},
          std::string(op) + ": quantile() q values must be in the range [0, 1]");
  s.fails({s->integer({3}, 0, 4), exec::wrapped_number(0.5)},
          std::string(op) + ": quantile() input tensor must be either float or double dtype, got int64");
  s.fails({s->real({3}), exec::wrapped_number(0.5), {}, false, "best"},
          "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got best");
  s.fails({s->real({0}), exec::wrapped_number(0.5)}, "quantile() input tensor must be non-empty");
  s.fails({s->real({3}), s->real({1, 1})}, "quantile() q must be a scalar or 1D tensor, got [1, 1]");
}

}  // namespace

struct Quantile : Composite<QuantileArgs> {
  static constexpr auto schema =
      "quantile(Tensor self, Tensor|Scalar q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> "
      "Tensor";
  static constexpr auto doc =
      "The values below which the parts q of the elements lie, of all or along dim; NaN where there is one.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr bool out_is_exact = true;
  static constexpr auto out_names = "out";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    return quantiles("quantile", a.self, a.q, a.dim, a.keepdim, a.interpolation, false);
  }
  static void samples(S& s) { quantile_samples(s, Args::kName); }
};
ARGAND_OP(Quantile)

struct Nanquantile : Composite<NanquantileArgs> {
  static constexpr auto schema =
      "nanquantile(Tensor self, Tensor|Scalar q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> "
      "Tensor";
  static constexpr auto doc = "quantile() of what is not NaN.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr bool out_is_exact = true;
  static constexpr auto out_names = "out";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    return quantiles("nanquantile", a.self, a.q, a.dim, a.keepdim, a.interpolation, true);
  }
  static void samples(S& s) {
    quantile_samples(s, Args::kName);
    s.add_without_gradient({s->apart({4, 3}).masked_fill(s->boolean({4, 3}), NAN), exec::wrapped_number(0.4), 1});
  }
};
ARGAND_OP(Nanquantile)

namespace {

void check_weights(const char* name, const Tensor& w, const Tensor& observations, bool is_whole) {
  ARGAND_CHECK(ShapeError, w.dim() <= 1, "cov: expected ", name, " to have one or fewer dimensions but got ", name,
               " with ", w.dim(), " dimensions");
  ARGAND_CHECK(DtypeError, is_whole ? is_integral(w.dtype()) : is_floating_point(w.dtype()), "cov: expected ", name,
               " to have ", is_whole ? "integral" : "floating point", " dtype but got ", name, " with ", w.dtype(),
               " dtype");
  ARGAND_CHECK(ShapeError, w.numel() == observations.sizes()[1], "cov: expected ", name,
               " to have the same numel as there are observations in the input but got ", w.numel(),
               " != ", observations.sizes()[1]);
  if (w.is_cpu() && w.numel() > 0)
    ARGAND_CHECK(ValueError, !exec::has_values(w) || w.ge(0).all().item().toBool(), "cov: ", name,
                 " cannot be negative");
}

}  // namespace

struct Cov : Composite<CovArgs> {
  static constexpr auto schema =
      "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor";
  static constexpr auto doc =
      "The covariances of variables, a row of observations each: fweights say how often an observation counts, "
      "aweights "
      "how much.";
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() <= 2,
                 "cov: expected input to have two or fewer dimensions but got an input with ", a.self.dim(),
                 " dimensions");
    ARGAND_CHECK(DtypeError, a.self.dtype() != kBool, "cov: bool dtype is not supported for input");
    Tensor x = a.self.dim() < 2 ? a.self.reshape({1, -1}) : a.self;
    Tensor weights;
    if (a.fweights.defined()) check_weights("fweights", a.fweights, x, true);
    if (a.aweights.defined()) check_weights("aweights", a.aweights, x, false);
    if (is_integral(x.dtype(), true)) x = x.to(get_default_dtype());
    for (const Tensor* w : {&a.fweights, &a.aweights})
      if (w->defined()) weights = weights.defined() ? weights * *w : w->to(to_real_type(x.dtype()));
    Tensor product, divisor;
    if (weights.defined()) {
      const Tensor total = weights.sum();
      const Tensor centered = x - (x * weights).sum(1, true) / total;
      Tensor lost = full({}, a.correction, total.options());
      if (a.aweights.defined()) lost = lost * (weights * a.aweights).sum() / total;
      product = (centered * weights).matmul(centered.conj().t());
      return (product / (total - lost).clamp_min(0)).squeeze();
    }
    const Tensor centered = x - x.mean(1, true);
    const auto free = static_cast<double>(std::max<int64_t>(x.sizes()[1] - a.correction, 0));
    return (centered.matmul(centered.conj().t()) / free).squeeze();
  }
  static void samples(S& s) {
    s.add({s->real({3, 5})});
    s.add({s->real({3, 5}), 0});
    s.add({s->real({5})});
    s.add({s->real({2, 4}), 1, s->integer({4}, 1, 4), s->positive({4})});
    s.fails({s->boolean({2, 3})}, "cov: bool dtype is not supported for input");
    s.fails({s->real({2, 2, 2})}, "cov: expected input to have two or fewer dimensions");
    s.fails({s->real({2, 4}), 1, s->real({4})}, "cov: expected fweights to have integral dtype");
    s.fails({s->real({2, 4}), 1, {}, s->positive({3})},
            "cov: expected aweights to have the same numel as there are observations");
  }
};
ARGAND_OP(Cov)

struct Corrcoef : Composite<CorrcoefArgs> {
  static constexpr auto schema = "corrcoef(Tensor self) -> Tensor";
  static constexpr auto doc = "The correlations of variables, a row of observations each.";
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() <= 2,
                 "corrcoef: expected input to have two or fewer dimensions but got an input with ", a.self.dim(),
                 " dimensions");
    const Tensor c = a.self.cov();
    if (c.dim() == 0) return c / c;
    const Tensor diagonal = c.diagonal();
    const Tensor deviation = (c.is_complex() ? real(diagonal) : diagonal).sqrt();
    const Tensor r = c / deviation.unsqueeze(1) / deviation;
    return r.is_complex() ? complex(real(r).clamp(-1, 1), imag(r).clamp(-1, 1)) : r.clamp(-1, 1);
  }
  static void samples(S& s) {
    s.add({s->real({3, 5})});
    s.add({s->real({5})});
    s.fails({s->real({2, 2, 2})}, "corrcoef: expected input to have two or fewer dimensions");
  }
};
ARGAND_OP(Corrcoef)

}  // namespace argand::ops
