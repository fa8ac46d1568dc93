// The exponential linear units: elu, selu, celu.
#include <cmath>
#include <numbers>

#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/number_fits.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

struct Elu : Pointwise<EluArgs> {
  static constexpr auto schema = "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor";
  static constexpr auto doc =
      "scale * self where self is positive, scale * alpha * (e^(input_scale * self) - 1) elsewhere.";
  static constexpr int variants = kFunction | kInplace | kOut;
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((x, alpha, scale, input_scale), x < T(0) ? expm1(x * input_scale) * (alpha * scale) : x * scale)
  static void check(const Args& a) {
    for (const Scalar* factor : {&a.alpha, &a.scale, &a.input_scale})
      check_fits("elu", *factor, op_math_type(a.self.dtype()));
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return elu_backward(g, c.alpha, c.scale, c.input_scale, false, c.self);
  }
  static void samples(S& s) {
    s.add({s->away_from(0, {2, 3})});
    s.add({s->away_from(0, {2, 3}), 0.5, 2, 0.25});
    s.fails({s->integer({2}, 0, 2)}, "elu: not implemented for dtype int64");
    s.fails({s->real({2}).to(kFloat), 1e39}, "elu: value cannot be converted to type float without overflow");
  }
};
ARGAND_OP(Elu)

struct EluBackward : Pointwise<EluBackwardArgs> {
  static constexpr auto schema =
      "elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, Tensor "
      "self_or_result) -> Tensor";
  static constexpr auto doc = "grad_output times the derivative of elu, from its argument or (is_result) its result.";
  static constexpr int variants = kFunction;
  struct FromSelf : Pointwise<EluBackwardArgs> {
    static constexpr auto compute = kFloatBody;
    static constexpr int num_scalars = 3;
    ARGAND_BODY((g, x, alpha, scale, input_scale),
                x <= T(0) ? g * input_scale * (alpha * scale) * exp(x * input_scale) : g * scale)
  };
  struct FromResult : Pointwise<EluBackwardArgs> {
    static constexpr auto compute = kFloatBody;
    static constexpr int num_scalars = 3;
    ARGAND_BODY((g, y, alpha, scale, input_scale), y <= T(0) ? g * input_scale * (y + alpha * scale) : g * scale)
  };
  static const PointwiseInfo& form(const Args& a) { return a.is_result ? form_of<FromResult> : form_of<FromSelf>; }
  static void scalars(const Args& a, Scalar* out) { out[0] = a.alpha, out[1] = a.scale, out[2] = a.input_scale; }
  static void check(const Args& a) {
    ARGAND_CHECK(
        ValueError, !a.is_result || a.alpha.toDouble() >= 0,
        "elu_backward: In-place elu backward calculation is triggered with a negative slope which is not supported.");
  }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) {
    return elu_backward(g, c.alpha, c.scale, c.input_scale, c.is_result, c.self_or_result);
  }
  static Tensor grad_self_or_result(const Ctx& c, const Tensor& g) {
    const Tensor slope = c.is_result ? g * c.grad_output * c.input_scale
                                     : g * c.grad_output * exp(c.self_or_result * c.input_scale) *
                                           factor(c.alpha, c.scale, c.input_scale);
    return where(c.self_or_result <= 0, slope, 0);
  }
  static Scalar factor(const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
    return alpha.toDouble() * scale.toDouble() * input_scale.toDouble() * input_scale.toDouble();
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), 0.5, 2, 0.25, false, s->away_from(0, {2, 3})});
    s.add({s->real({2, 3}), 0.5, 2, 0.25, true, s->away_from(0, {2, 3})});
  }
};
ARGAND_OP(EluBackward)

namespace {

// The constants with which zero mean and unit variance are a fixed point (Klambauer et al., "Self-Normalizing Neural
// Networks", 2017, equation 14).
struct SeluConstants {
  double alpha, scale;
  SeluConstants() {
    const double pi = std::numbers::pi, e = std::numbers::e, root_e = std::sqrt(e);
    const double tail = std::erfc(std::sqrt(0.5)), far_tail = std::erfc(std::sqrt(2.0));
    alpha = -std::sqrt(2 / pi) / (tail * root_e - 1);
    scale = (1 - tail * root_e) * std::sqrt(2 * pi) /
            std::sqrt(2 * far_tail * e * e + pi * tail * tail * e - 2 * (2 + pi) * tail * root_e + pi + 2);
  }
};
const SeluConstants& selu_constants() {
  static const SeluConstants c;
  return c;
}

void check_celu(const char* op, const Scalar& alpha) {
  ARGAND_CHECK(ValueError, !alpha.equal(0), op, ": alpha cannot be 0 for CELU");
}

}  // namespace

struct Selu : Composite<SeluArgs> {
  static constexpr auto schema = "selu(Tensor self) -> Tensor";
  static constexpr auto doc = "elu with the constants of self-normalizing networks.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return elu(a.self, selu_constants().alpha, selu_constants().scale); }
  static void samples(S& s) { s.add({s->away_from(0, {2, 3})}); }
};
ARGAND_OP(Selu)

struct SeluInplace : Composite<SeluInplaceArgs> {
  static constexpr auto schema = "selu_(Tensor(a!) self) -> Tensor(a!)";
  static constexpr auto doc = "elu with the constants of self-normalizing networks.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    Tensor self = a.self;
    return elu_(self, selu_constants().alpha, selu_constants().scale);
  }
};
ARGAND_OP(SeluInplace)

struct Celu : Composite<CeluArgs> {
  static constexpr auto schema = "celu(Tensor self, Scalar alpha=1.0) -> Tensor";
  static constexpr auto doc = "self where it is positive, alpha * (e^(self / alpha) - 1) elsewhere.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    check_celu("celu", a.alpha);
    return elu(a.self, a.alpha, 1, 1 / a.alpha.toDouble());
  }
  static void samples(S& s) {
    s.add({s->away_from(0, {2, 3}), 0.5});
    s.fails({s->real({2}), 0}, "celu: alpha cannot be 0 for CELU");
  }
};
ARGAND_OP(Celu)
ARGAND_NODE(Celu)

struct CeluInplace : Composite<CeluInplaceArgs> {
  static constexpr auto schema = "celu_(Tensor(a!) self, Scalar alpha=1.0) -> Tensor(a!)";
  static constexpr auto doc = "self where it is positive, alpha * (e^(self / alpha) - 1) elsewhere.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    check_celu("celu_", a.alpha);
    Tensor self = a.self;
    return elu_(self, a.alpha, 1, 1 / a.alpha.toDouble());
  }
};
ARGAND_OP(CeluInplace)

}  // namespace argand::ops
