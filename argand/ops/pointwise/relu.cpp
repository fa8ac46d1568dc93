// Piecewise linear activations and their backward ops.
#include <cmath>

#include "argand/ops/define.h"
#include "argand/ops/number_fits.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

struct Relu : Pointwise<ReluArgs> {
  static constexpr auto schema = "relu(Tensor self) -> Tensor";
  static constexpr auto doc =
      "self where it is positive, 0 elsewhere; NaN stays. Not defined for bool and complex numbers.";
  static constexpr int variants = kFunction | kMethod | kInplace;
  static constexpr auto compute = kRealBody;
  static constexpr auto body_kind = BodyKind::kRelu;
  ARGAND_BODY((x), x <= T(0) ? T(0) : x)  // +0 of -0, as library epilogues (Note [Epilogues])
  // Uses the result, so that an in-place relu needs no copy of its argument.
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return threshold_backward(g, c.result(), 0); }
  static void samples(S& s) {
    s.add({s->away_from(0, {2, 3})});
    s.add({s->away_from(0, {})});
    s.fails({s->boolean({2})}, "relu: not implemented for dtype bool");
  }
};
ARGAND_OP(Relu)

struct Threshold : Pointwise<ThresholdArgs> {
  static constexpr auto schema = "threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor";
  static constexpr auto doc = "self where it is greater than threshold (or NaN), value elsewhere.";
  static constexpr int variants = kFunction | kInplace | kOut;
  static constexpr auto compute = kRealBody;
  ARGAND_BODY((x, threshold, value), x <= threshold ? value : x)
  static void check(const Args& a) {
    check_fits("threshold", a.threshold, op_math_type(a.self.dtype()));
    check_fits("threshold", a.value, a.self.dtype());
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return threshold_backward(g, c.self, c.threshold); }
  static void samples(S& s) { s.add({s->away_from(0.5, {2, 3}), 0.5, 3}); }
};
ARGAND_OP(Threshold)

struct ThresholdBackward : Pointwise<ThresholdBackwardArgs> {
  static constexpr auto schema = "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor";
  static constexpr auto doc = "grad_output where self is greater than threshold (or NaN), 0 elsewhere.";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kRealBody;
  static constexpr auto body_kind = BodyKind::kThresholdBackward;
  ARGAND_BODY((g, x, threshold), x <= threshold ? T(0) : g)
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) { return threshold_backward(g, c.self, c.threshold); }
  static void samples(S& s) { s.add({s->real({2, 3}), s->away_from(0.5, {2, 3}), 0.5}); }
};
ARGAND_OP(ThresholdBackward)

struct LeakyRelu : Pointwise<LeakyReluArgs> {
  static constexpr auto schema = "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor";
  static constexpr auto doc = "self where it is positive, negative_slope * self elsewhere.";
  static constexpr int variants = kFunction | kInplace | kOut;
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((x, slope), x > T(0) ? x : x * slope)
  static void check(const Args& a) { check_fits("leaky_relu", a.negative_slope, op_math_type(a.self.dtype())); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return leaky_relu_backward(g, c.self, c.negative_slope, false);
  }
  static void samples(S& s) {
    s.add({s->away_from(0, {2, 3})});
    s.add({s->away_from(0, {2, 3}), 0.25});
    s.fails({s->integer({2}, 0, 2)}, "leaky_relu: not implemented for dtype int64");
    s.fails({s->real({2}).to(kFloat), 1e39}, "leaky_relu: value cannot be converted to type float without overflow");
  }
};
ARGAND_OP(LeakyRelu)

struct LeakyReluBackward : Pointwise<LeakyReluBackwardArgs> {
  static constexpr auto schema =
      "leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) -> Tensor";
  static constexpr auto doc = "grad_output where self is positive, negative_slope * grad_output elsewhere.";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kFloatBody;
  static constexpr int num_scalars = 1;
  ARGAND_BODY((g, x, slope), x > T(0) ? g : g * slope)
  static void scalars(const Args& a, Scalar* out) { *out = a.negative_slope; }
  static void check(const Args& a) {
    ARGAND_CHECK(ValueError, !a.self_is_result || a.negative_slope.toDouble() >= 0,
                 "leaky_relu_backward: In-place leakyReLu backward calculation is triggered with a negative slope "
                 "which is not supported.");
  }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) {
    return leaky_relu_backward(g, c.self, c.negative_slope, false);
  }
  static void samples(S& s) { s.add({s->real({2, 3}), s->away_from(0, {2, 3}), 0.25, false}); }
};
ARGAND_OP(LeakyReluBackward)

struct Prelu : Composite<PreluArgs> {
  static constexpr auto schema = "prelu(Tensor self, Tensor weight) -> Tensor";
  static constexpr auto doc =
      "self where it is positive, weight * self elsewhere; weight holds one number, or one per channel (dimension 1).";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(DtypeError, a.self.dtype() == a.weight.dtype(), "prelu: Type promoting not supported. Got ",
                 a.self.dtype(), " and ", a.weight.dtype());
    if (a.weight.numel() == 1) return _prelu_kernel(a.self, a.weight.dim() <= 1 ? a.weight.reshape({}) : a.weight);
    ARGAND_CHECK(ShapeError, a.self.dim() > 0, "prelu: Not allow zero-dim input tensor.");
    const int64_t channels = a.self.dim() > 1 ? a.self.size(1) : 1;
    ARGAND_CHECK(ShapeError, a.weight.dim() <= 1,
                 "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = ", a.weight.dim());
    ARGAND_CHECK(ShapeError, a.weight.numel() == channels,
                 "prelu: Mismatch of parameter numbers and input channel size. Found parameter numbers = ",
                 a.weight.numel(), " and channel size = ", channels, ".");
    Dims shape(static_cast<size_t>(a.self.dim()), 1);
    shape[1] = channels;
    return _prelu_kernel(a.self, a.weight.reshape(shape));
  }
  static void samples(S& s) {
    s.add({s->away_from(0, {2, 3, 4}), s->real({3})});
    s.add({s->away_from(0, {2, 3}), s->real({1})});
    s.fails({s->real({2, 3}), s->real({2})}, "Found parameter numbers = 2 and channel size = 3");
  }
};
ARGAND_OP(Prelu)

struct PreluKernel : Pointwise<PreluKernelArgs> {
  static constexpr auto schema = "_prelu_kernel(Tensor self, Tensor weight) -> Tensor";
  static constexpr auto doc = "self where it is positive, weight * self elsewhere, broadcast.";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((x, w), x > T(0) ? x : w * x)
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return where(c.self > 0, g, c.weight * g); }
  static Tensor grad_weight(const Ctx& c, const Tensor& g) { return where(c.self > 0, 0, c.self * g); }
  static void samples(S& s) { s.add({s->away_from(0, {2, 3}), s->real({3})}); }
};
ARGAND_OP(PreluKernel)

struct Hardtanh : Pointwise<HardtanhArgs> {
  static constexpr auto schema = "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor";
  static constexpr auto doc =
      "self limited to min_val ... max_val. Unlike clamp, elements at a limit have no gradient.";
  static constexpr int variants = kFunction | kInplace | kOut;
  static constexpr auto compute = kRealBody;
  ARGAND_BODY((x, low, high), min(max(x, low), high))
  static void check(const Args& a) {
    ARGAND_CHECK(DtypeError, a.self.dtype() != kByte || a.max_val.toDouble() > -1,
                 "hardtanh: max_val is below all numbers of uint8: got ", a.max_val);
    ARGAND_CHECK(ValueError, !(a.min_val.toDouble() > a.max_val.toDouble()),
                 "hardtanh: min_val cannot be greater than max_val");
    const ScalarType dtype = a.self.dtype();
    if (is_integral(dtype))  // the limits become integers before they are compared
      for (const Scalar* limit : {&a.min_val, &a.max_val}) check_fits("hardtanh", *limit, kLong);
    check_limits_fit("hardtanh", a.min_val, a.max_val, dtype);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return hardtanh_backward(g, c.self, c.min_val, c.max_val); }
  static void samples(S& s) {
    s.add({s->apart({4, 3}), -0.3, 0.3});
    s.fails({s->real({2}), 2, 1}, "hardtanh: min_val cannot be greater than max_val");
    s.fails({s->integer({2}, 0, 3).to(kChar), 300, 400},
            "hardtanh: value cannot be converted to type int8_t without overflow");
    s.fails({s->integer({2}, 0, 3).to(kChar), -400, -300},
            "hardtanh: value cannot be converted to type int8_t without overflow");
    s.fails({s->integer({2}, 0, 3), -1, INFINITY},
            "hardtanh: value cannot be converted to type int64_t without overflow");
    s.fails({s->real({2}).to(kHalf), -1, 70000}, "hardtanh: value cannot be converted to type c10::Half without");
  }
};
ARGAND_OP(Hardtanh)

struct HardtanhBackward : Pointwise<HardtanhBackwardArgs> {
  static constexpr auto schema =
      "hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor";
  static constexpr auto doc = "grad_output where min_val < self < max_val, 0 elsewhere.";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((g, x, low, high), x <= low || x >= high ? T(0) : g)
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) {
    return hardtanh_backward(g, c.self, c.min_val, c.max_val);
  }
  static void samples(S& s) { s.add({s->real({4, 3}), s->apart({4, 3}), -0.3, 0.3}); }
};
ARGAND_OP(HardtanhBackward)

struct Relu6 : Composite<Relu6Args> {
  static constexpr auto schema = "relu6(Tensor self) -> Tensor";
  static constexpr auto doc = "self limited to 0 ... 6.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(DtypeError, a.self.dtype() != kBool, "relu6: Boolean inputs not supported for relu6");
    return hardtanh(a.self, 0, 6);
  }
  static void samples(S& s) { s.add({s->away_from(0, {4, 3}, -9, 5.5)}); }
};
ARGAND_OP(Relu6)

struct Relu6Inplace : Composite<Relu6InplaceArgs> {
  static constexpr auto schema = "relu6_(Tensor(a!) self) -> Tensor(a!)";
  static constexpr auto doc = "self limited to 0 ... 6.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    Tensor self = a.self;
    return hardtanh_(self, 0, 6);
  }
};
ARGAND_OP(Relu6Inplace)

struct Hardsigmoid : Pointwise<HardsigmoidArgs> {
  static constexpr auto schema = "hardsigmoid(Tensor self) -> Tensor";
  static constexpr auto doc = "(self + 3) / 6 limited to 0 ... 1.";
  static constexpr int variants = kFunction | kInplace | kOut;
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((x), min(max(x + T(3), T(0)), T(6)) / T(6))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return hardsigmoid_backward(g, c.self); }
  static void samples(S& s) { s.add({s->apart({9, 8}) + 0.0625}); }
};
ARGAND_OP(Hardsigmoid)

struct HardsigmoidBackward : Pointwise<HardsigmoidBackwardArgs> {
  static constexpr auto schema = "hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor";
  static constexpr auto doc = "grad_output / 6 where -3 < self < 3, 0 elsewhere.";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((g, x), x > T(-3) && x < T(3) ? g / T(6) : T(0))
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) { return hardsigmoid_backward(g, c.self); }
  static void samples(S& s) { s.add({s->real({9, 8}), s->apart({9, 8}) + 0.0625}); }
};
ARGAND_OP(HardsigmoidBackward)

struct Hardswish : Pointwise<HardswishArgs> {
  static constexpr auto schema = "hardswish(Tensor self) -> Tensor";
  static constexpr auto doc = "self * hardsigmoid(self).";
  static constexpr int variants = kFunction | kInplace | kOut;
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((x), x* min(max(x + T(3), T(0)), T(6)) / T(6))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return hardswish_backward(g, c.self); }
  static void samples(S& s) { s.add({s->apart({9, 8}) + 0.0625}); }
};
ARGAND_OP(Hardswish)

struct HardswishBackward : Pointwise<HardswishBackwardArgs> {
  static constexpr auto schema = "hardswish_backward(Tensor grad_output, Tensor self) -> Tensor";
  static constexpr auto doc = "grad_output * (self / 3 + 1/2) where -3 < self < 3, 0 below, grad_output above.";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((g, x), x <= T(-3) ? T(0) : x < T(3) ? g * (x / T(3) + T(0.5)) : g)
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) { return hardswish_backward(g, c.self); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return where((c.self > -3).logical_and(c.self < 3), g * c.grad_output / 3, 0);
  }
  static void samples(S& s) { s.add({s->real({9, 8}), s->apart({9, 8}) + 0.0625}); }
};
ARGAND_OP(HardswishBackward)

namespace {
// A limit in the dtype of the values that it is compared with.
Scalar rounded(const Scalar& number, ScalarType t) {
  if (t == kHalf) return static_cast<float>(Half(number.to<float>()));
  if (t == kBFloat16) return static_cast<float>(BFloat16(number.to<float>()));
  return number;
}
}  // namespace

struct Hardshrink : Pointwise<HardshrinkArgs> {
  static constexpr auto schema = "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "0 where |self| <= lambd, self elsewhere.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto compute = kFloatBody;
  static void scalars(const Args& a, Scalar* out) { *out = rounded(a.lambd, a.self.dtype()); }
  ARGAND_BODY((x, l), x >= -l && x <= l ? T(0) : x)
  static void check(const Args& a) { check_fits("hardshrink", a.lambd, a.self.dtype()); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return hardshrink_backward(g, c.self, c.lambd); }
  static void samples(S& s) {
    s.add({s->apart({4, 3}), 0.3});
    s.fails({s->real({2}).to(kHalf), 70000}, "hardshrink: value cannot be converted to type c10::Half without");
  }
};
ARGAND_OP(Hardshrink)

struct HardshrinkBackward : Pointwise<HardshrinkBackwardArgs> {
  static constexpr auto schema = "hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor";
  static constexpr auto doc = "0 where |self| <= lambd, grad_out elsewhere.";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kFloatBody;
  static void scalars(const Args& a, Scalar* out) { *out = rounded(a.lambd, a.self.dtype()); }
  ARGAND_BODY((g, x, l), x >= -l && x <= l ? T(0) : g)
  static Tensor grad_grad_out(const Ctx& c, const Tensor& g) { return hardshrink_backward(g, c.self, c.lambd); }
  static void samples(S& s) { s.add({s->real({4, 3}), s->apart({4, 3}), 0.3}); }
};
ARGAND_OP(HardshrinkBackward)

struct Softshrink : Pointwise<SoftshrinkArgs> {
  static constexpr auto schema = "softshrink(Tensor self, Scalar lambd=0.5) -> Tensor";
  static constexpr auto doc = "self moved towards 0 by lambd (>= 0), and 0 where |self| <= lambd; NaN stays.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  static void scalars(const Args& a, Scalar* out) { *out = rounded(a.lambd, a.self.dtype()); }
  ARGAND_BODY((x, l), x > l ? x - l : x < -l ? x + l : x * T(0))
  static void check(const Args& a) {
    ARGAND_CHECK(ValueError, a.lambd.toDouble() >= 0,
                 "softshrink: lambda must be greater or equal to 0, but found to be ", a.lambd, ".");
    ARGAND_CHECK(ValueError, std::isfinite(a.lambd.toDouble()) && number_fits(a.lambd, a.self.dtype()),
                 "softshrink: lambda must be a finite number of dtype ", a.self.dtype(), ", but found ", a.lambd);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return softshrink_backward(g, c.self, c.lambd); }
  static void samples(S& s) {
    s.add({s->apart({4, 3}), 0.3});
    s.fails({s->real({2}), -1}, "softshrink: lambda must be greater or equal to 0, but found to be -1.");
    s.fails({s->real({2}), INFINITY}, "softshrink: lambda must be a finite number of dtype float64, but found inf");
    s.fails({s->real({2}).to(kFloat), 1e39}, "softshrink: lambda must be a finite number of dtype float32");
  }
};
ARGAND_OP(Softshrink)

struct SoftshrinkBackward : Pointwise<SoftshrinkBackwardArgs> {
  static constexpr auto schema = "softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor";
  static constexpr auto doc = "0 where |self| <= lambd, grad_output elsewhere.";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kFloatBody;
  static void scalars(const Args& a, Scalar* out) { *out = rounded(a.lambd, a.self.dtype()); }
  ARGAND_BODY((g, x, l), x >= -l && x <= l ? T(0) : g)
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) { return softshrink_backward(g, c.self, c.lambd); }
  static void samples(S& s) { s.add({s->real({4, 3}), s->apart({4, 3}), 0.3}); }
};
ARGAND_OP(SoftshrinkBackward)

}  // namespace argand::ops
