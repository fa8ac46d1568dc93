// Window functions of signal processing, and range.
#include <cmath>
#include <numbers>

#include "argand/base/log.h"
#include "argand/ops/create/args.h"
#include "argand/ops/define.h"

namespace argand::ops {
namespace {

// The result for lengths 0 and 1, which have no angle; undefined for others.
Tensor short_window(const char* op, int64_t length, const TensorOptions& options) {
  ARGAND_CHECK(DtypeError, is_floating_point(options.dtype()), op,
               ": expects floating point dtypes, got: ", options.dtype());
  ARGAND_CHECK(ValueError, length >= 0, op, ": requires non-negative window_length, got window_length=", length);
  return length <= 1 ? ones({length}, options) : Tensor();
}

// Angles of steps 0 ... length - 1 as fractions of `whole`: a symmetric window's last step completes it.
Tensor steps(int64_t length, bool periodic, double whole, const TensorOptions& options) {
  return arange(0, length, {}, options) * (whole / static_cast<double>(periodic ? length : length - 1));
}

// first - second cos(angle) + third cos(2 angle)
Tensor cosines(const char* op, int64_t length, bool periodic, double first, double second, double third,
               const TensorOptions& options) {
  const Tensor known = short_window(op, length, options);
  if (known.defined()) return known;
  const Tensor angle = steps(length, periodic, 2 * std::numbers::pi, options);
  const Tensor window = first - second * angle.cos();
  return third == 0 ? window : window + third * (2 * angle).cos();
}

template <class S>
void window_samples(S& s, const std::string& op) {
  s.add({7});
  s.add({6, false});
  s.add({1});
  s.add({0});
  s.fails({-1}, op + ": requires non-negative window_length, got window_length=-1");
}

}  // namespace

struct HannWindow : Composite<HannWindowArgs> {
  static constexpr auto schema =
      "hann_window(int window_length, bool periodic=True, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto doc = "The window 0.5 - 0.5 cos(2 pi i / n): n is the length, less 1 unless periodic.";
  static Tensor compose(const Args& a) {
    return cosines(Args::kName, a.window_length, a.periodic, 0.5, 0.5, 0, a.options);
  }
  static void samples(S& s) { window_samples(s, Args::kName); }
};
ARGAND_OP(HannWindow)

struct HammingWindow : Composite<HammingWindowArgs> {
  static constexpr auto schema =
      "hamming_window(int window_length, bool periodic=True, float alpha=0.54, float beta=0.46, *, ScalarType? "
      "dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto doc = "The window alpha - beta cos(2 pi i / n): n is the length, less 1 unless periodic.";
  static Tensor compose(const Args& a) {
    return cosines(Args::kName, a.window_length, a.periodic, a.alpha, a.beta, 0, a.options);
  }
  static void samples(S& s) {
    window_samples(s, Args::kName);
    s.add({5, true, 0.6, 0.4});
  }
};
ARGAND_OP(HammingWindow)

struct BlackmanWindow : Composite<BlackmanWindowArgs> {
  static constexpr auto schema =
      "blackman_window(int window_length, bool periodic=True, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto doc =
      "The window 0.42 - 0.5 cos(2 pi i / n) + 0.08 cos(4 pi i / n): n is the length, less 1 unless periodic.";
  static Tensor compose(const Args& a) {
    return cosines(Args::kName, a.window_length, a.periodic, 0.42, 0.5, 0.08, a.options);
  }
  static void samples(S& s) { window_samples(s, Args::kName); }
};
ARGAND_OP(BlackmanWindow)

struct BartlettWindow : Composite<BartlettWindowArgs> {
  static constexpr auto schema =
      "bartlett_window(int window_length, bool periodic=True, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto doc = "The window 1 - |2 i / n - 1|: n is the length, less 1 unless periodic.";
  static Tensor compose(const Args& a) {
    const Tensor known = short_window(Args::kName, a.window_length, a.options);
    return known.defined() ? known : 1 - (steps(a.window_length, a.periodic, 2, a.options) - 1).abs();
  }
  static void samples(S& s) { window_samples(s, Args::kName); }
};
ARGAND_OP(BartlettWindow)

struct KaiserWindow : Composite<KaiserWindowArgs> {
  static constexpr auto schema =
      "kaiser_window(int window_length, bool periodic=True, float beta=12.0, *, ScalarType? dtype=None, Layout? "
      "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto doc =
      "The window i0(beta sqrt(1 - (2 i / n - 1)^2)) / i0(beta): n is the length, less 1 unless periodic.";
  static Tensor compose(const Args& a) {
    const Tensor known = short_window(Args::kName, a.window_length, a.options);
    if (known.defined()) return known;
    const Tensor off = steps(a.window_length, a.periodic, 2, a.options) - 1;
    const Tensor whole = full({}, a.beta, a.options).i0();
    return (a.beta * (1 - off * off).clamp_min(0).sqrt()).i0() / whole;
  }
  static void samples(S& s) {
    window_samples(s, Args::kName);
    s.add({5, true, 3.0});
  }
};
ARGAND_OP(KaiserWindow)

struct Range : Composite<RangeArgs> {
  static constexpr auto schema =
      "range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto doc = "arange with the end in it; without a dtype, of the default float dtype.";
  static constexpr bool out_is_counted = true;
  static constexpr bool out_keeps_shape = true;
  static Tensor compose(const Args& a) {
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).");
    const double start = a.start.toDouble(), end = a.end.toDouble(), step = a.step.toDouble();
    ARGAND_CHECK(ValueError, step != 0, "range: step must be nonzero");
    ARGAND_CHECK(ValueError, std::isfinite(start) && std::isfinite(end), "range: unsupported range: ", start, " -> ",
                 end);
    ARGAND_CHECK(ValueError, (step > 0) == (end >= start) || start == end,
                 "range: upper bound and lower bound inconsistent with step sign: start ", start, ", end ", end,
                 ", step ", step);
    const auto count = static_cast<int64_t>((end - start) / step + 1);
    const TensorOptions options = a.options.dtype(a.options.dtype());
    if (is_integral(options.dtype())) return arange(0, count, {}, options) * a.step.toLong() + a.start.toLong();
    return arange(0, count, {}, options) * step + start;
  }
  static void samples(S& s) {
    s.add({0, 3});
    s.add({1, 2, 0.25});
    s.add({5, 0, -2, TensorOptions(kLong)});
    s.fails({0, 3, 0}, "range: step must be nonzero");
    s.fails({0, 3, -1}, "range: upper bound and lower bound inconsistent with step sign");
    s.fails({0, INFINITY}, "range: unsupported range");
  }
};
ARGAND_OP(Range)

}  // namespace argand::ops
