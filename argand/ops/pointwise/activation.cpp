// Smooth activations and their backward ops.
#include <cmath>
#include <numbers>

#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/number_fits.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

struct Sigmoid : Pointwise<SigmoidArgs> {
  static constexpr auto schema = "sigmoid(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"special_expit(Tensor self) -> Tensor"};
  static constexpr auto doc = "1 / (1 + e^-self); integers give floating point.";
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), sigmoid(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return sigmoid_backward(g, c.result()); }
  static void samples(S& s) {
    s.add({s->real({2, 3}, -9, 9)});
    s.add({s->real({})});
    s.add({s->real({0, 3})});
  }
};
ARGAND_OP(Sigmoid)

struct SigmoidBackward : Pointwise<SigmoidBackwardArgs> {
  static constexpr auto schema = "sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor";
  static constexpr auto doc = "grad_output * (1 - output) * output.";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kFloatComplexBody;
  ARGAND_BODY((g, y), g*(T(1) - conjugate(y)) * conjugate(y))
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) { return sigmoid_backward(g, c.output.conj()); }
  static Tensor grad_output(const Ctx& c, const Tensor& g) {
    return g.conj() * c.grad_output * (1 - 2 * c.output.conj());
  }
  static void samples(S& s) { s.add({s->real({2, 3}), s->real({2, 3})}); }
};
ARGAND_OP(SigmoidBackward)

struct LogSigmoid : Pointwise<LogSigmoidArgs> {
  static constexpr auto schema = "log_sigmoid(Tensor self) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "log(sigmoid(self)), without underflow.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((x), log_sigmoid(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return _log_sigmoid_backward(g, c.self); }
  static void samples(S& s) { s.add({s->real({2, 3}, -9, 9)}); }
};
ARGAND_OP(LogSigmoid)

struct LogSigmoidBackward : Pointwise<LogSigmoidBackwardArgs> {
  static constexpr auto schema = "_log_sigmoid_backward(Tensor grad_output, Tensor self) -> Tensor";
  static constexpr auto doc = "grad_output * sigmoid(-self).";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((g, x), g* sigmoid(-x))
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) { return _log_sigmoid_backward(g, c.self); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return -sigmoid_backward(g * c.grad_output, sigmoid(c.self));
  }
  static void samples(S& s) { s.add({s->real({2, 3}), s->real({2, 3}, -9, 9)}); }
};
ARGAND_OP(LogSigmoidBackward)

struct Silu : Pointwise<SiluArgs> {
  static constexpr auto schema = "silu(Tensor self) -> Tensor";
  static constexpr auto doc = "self * sigmoid(self).";
  static constexpr int variants = kFunction | kInplace | kOut;
  static constexpr auto compute = kFloatComplexBody;
  ARGAND_BODY((x), x* sigmoid(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return silu_backward(g, c.self); }
  static void samples(S& s) {
    s.add({s->real({2, 3}, -4, 4)});
    s.fails({s->integer({2}, 0, 2)}, "silu: not implemented for dtype int64");
  }
};
ARGAND_OP(Silu)

struct SiluBackward : Pointwise<SiluBackwardArgs> {
  static constexpr auto schema = "silu_backward(Tensor grad_output, Tensor self) -> Tensor";
  static constexpr auto doc = "grad_output * s * (1 + self * (1 - s)) with s = sigmoid(self).";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kFloatComplexBody;
  ARGAND_BODY((g, x), g* conjugate(sigmoid(x)) * conjugate(T(1) + x * (T(1) - sigmoid(x))))
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) { return silu_backward(g, c.self.conj()); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Tensor s = sigmoid(c.self);
    return sigmoid_backward(g.conj() * c.grad_output, s) * (2 + c.self * (1 - 2 * s)).conj();
  }
  static void samples(S& s) { s.add({s->real({2, 3}), s->real({2, 3}, -4, 4)}); }
};
ARGAND_OP(SiluBackward)

struct Mish : Pointwise<MishArgs> {
  static constexpr auto schema = "mish(Tensor self) -> Tensor";
  static constexpr auto doc = "self * tanh(log(1 + e^self)).";
  static constexpr int variants = kFunction | kInplace | kOut;
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((x), x* tanh_softplus(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return mish_backward(g, c.self); }
  static void samples(S& s) { s.add({s->real({2, 3}, -4, 4)}); }
};
ARGAND_OP(Mish)

struct MishBackward : Pointwise<MishBackwardArgs> {
  static constexpr auto schema = "mish_backward(Tensor grad_output, Tensor self) -> Tensor";
  static constexpr auto doc = "grad_output * (t + self * sigmoid(self) * (1 - t^2)) with t = tanh(log(1 + e^self)).";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((g, x), g*(tanh_softplus(x) + x * sigmoid(x) * (T(1) - tanh_softplus(x) * tanh_softplus(x))))
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) { return mish_backward(g, c.self); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Tensor s = sigmoid(c.self), t = tanh(softplus(c.self));
    return g * c.grad_output * s * (1 - t * t) * (2 + c.self * (1 - s) - 2 * c.self * s * t);
  }
  static void samples(S& s) { s.add({s->real({2, 3}), s->real({2, 3}, -4, 4)}); }
};
ARGAND_OP(MishBackward)

struct Gelu : Pointwise<GeluArgs> {
  static constexpr auto schema = "gelu(Tensor self, *, str approximate='none') -> Tensor";
  static constexpr auto doc =
      "self * P(X <= self) of the standard normal distribution; approximate='tanh': "
      "self * (1 + tanh(sqrt(2 / pi) (self + 0.044715 self^3))) / 2.";
  static constexpr int variants = kFunction | kInplace | kOut;
  struct Exact : Pointwise<GeluArgs> {
    static constexpr auto compute = kFloatBody;
    ARGAND_BODY((x), gelu(x))
  };
  struct Tanh : Pointwise<GeluArgs> {
    static constexpr auto compute = kFloatBody;
    ARGAND_BODY((x), gelu_tanh(x))
  };
  static const PointwiseInfo& form(const Args& a) { return a.approximate == "tanh" ? form_of<Tanh> : form_of<Exact>; }
  static void check(const Args& a) {
    ARGAND_CHECK(ValueError, a.approximate == "none" || a.approximate == "tanh",
                 "gelu: approximate argument must be either none or tanh, got ", a.approximate);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return gelu_backward(g, c.self, c.approximate); }
  static void samples(S& s) {
    s.add({s->real({2, 3}, -4, 4)});
    s.add({s->real({2, 3}, -4, 4), "tanh"});
    s.fails({s->real({2}), "sin"}, "gelu: approximate argument must be either none or tanh, got sin");
    s.fails({s->integer({2}, 0, 2)}, "gelu: not implemented for dtype int64");
  }
};
ARGAND_OP(Gelu)

struct GeluBackward : Pointwise<GeluBackwardArgs> {
  static constexpr auto schema = "gelu_backward(Tensor grad_output, Tensor self, *, str approximate='none') -> Tensor";
  static constexpr auto doc = "grad_output times the derivative of gelu at self.";
  static constexpr int variants = kFunction;
  struct Exact : Pointwise<GeluBackwardArgs> {
    static constexpr auto compute = kFloatBody;
    ARGAND_BODY((g, x), g*(normal_cdf(x) + x * normal_pdf(x)))
  };
  struct Tanh : Pointwise<GeluBackwardArgs> {
    static constexpr auto compute = kFloatBody;
    ARGAND_BODY((g, x), g* gelu_tanh_derivative(x))
  };
  static const PointwiseInfo& form(const Args& a) { return a.approximate == "tanh" ? form_of<Tanh> : form_of<Exact>; }
  static void check(const Args& a) {
    ARGAND_CHECK(ValueError, a.approximate == "none" || a.approximate == "tanh",
                 "gelu_backward: approximate argument must be either none or tanh, got ", a.approximate);
  }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) { return gelu_backward(g, c.self, c.approximate); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return g * c.grad_output * second_derivative(c.self, c.approximate == "tanh");
  }
  static Tensor second_derivative(const Tensor& x, bool tanh_form) {
    const Tensor square = x * x;
    if (!tanh_form) return exp(square * -0.5) * (2 - square) * std::sqrt(0.5 / std::numbers::pi);
    // gelu = x (1 + t) / 2 with t = tanh(u): gelu'' = (1 - t^2) (u' - x t u'^2 + x u'' / 2)
    const double k = std::sqrt(2 / std::numbers::pi), cubic = 0.044715;
    const Tensor t = tanh(k * (x + cubic * square * x)), du = k * (1 + 3 * cubic * square);
    return (1 - t * t) * (du - x * t * du * du + 3 * k * cubic * square);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({2, 3}, -4, 4)});
    s.add({s->real({2, 3}), s->real({2, 3}, -4, 4), "tanh"});
  }
};
ARGAND_OP(GeluBackward)

struct Softplus : Pointwise<SoftplusArgs> {
  static constexpr auto schema = "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor";
  static constexpr auto doc = "log(1 + e^(beta * self)) / beta; self itself where beta * self > threshold.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((x, beta, threshold), x* beta > threshold ? x : log1p_exp(x * beta) / beta)
  static void check(const Args& a) {
    check_fits("softplus", a.beta, op_math_type(a.self.dtype()));
    check_fits("softplus", a.threshold, op_math_type(a.self.dtype()));
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return softplus_backward(g, c.self, c.beta, c.threshold); }
  static void samples(S& s) {
    s.add({s->real({2, 3}, -4, 4)});
    s.add({s->away_from(1.5, {2, 3}, -4, 4), 2, 3});
    s.fails({s->real({2}).to(kFloat), 1e39}, "softplus: value cannot be converted to type float without overflow");
  }
};
ARGAND_OP(Softplus)

struct SoftplusBackward : Pointwise<SoftplusBackwardArgs> {
  static constexpr auto schema =
      "softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor";
  static constexpr auto doc = "grad_output * sigmoid(beta * self); grad_output itself where beta * self > threshold.";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((g, x, beta, threshold), x* beta > threshold ? g : g * sigmoid(x * beta))
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) {
    return softplus_backward(g, c.self, c.beta, c.threshold);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Tensor scaled = c.self * c.beta;
    return where(scaled > c.threshold, 0, sigmoid_backward(g * c.grad_output, sigmoid(scaled)) * c.beta);
  }
  static void samples(S& s) { s.add({s->real({2, 3}), s->away_from(1.5, {2, 3}, -4, 4), 2, 3}); }
};
ARGAND_OP(SoftplusBackward)

struct Softsign : Pointwise<SoftsignArgs> {
  static constexpr auto schema = "softsign(Tensor self) -> Tensor";
  static constexpr auto doc = "self / (1 + |self|).";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), x / (abs(x) + T(1)))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Tensor size = c.self.abs(), below = size + 1;
    if (!c.self.is_complex()) return g / below.square();
    return g / below - c.self.sgn() * real(g * c.self.conj()) / below.square();
  }
  static void samples(S& s) { s.add({s->away_from(0, {2, 3}, -4, 4)}); }
};
ARGAND_OP(Softsign)

struct Tanhshrink : Pointwise<TanhshrinkArgs> {
  static constexpr auto schema = "tanhshrink(Tensor self) -> Tensor";
  static constexpr auto doc = "self - tanh(self).";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), x - tanh(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * c.self.tanh().square().conj(); }
  static void samples(S& s) { s.add({s->real({2, 3}, -4, 4)}); }
};
ARGAND_OP(Tanhshrink)

struct Glu : Composite<GluArgs> {
  static constexpr auto schema = "glu(Tensor self, int dim=-1) -> Tensor";
  static constexpr auto doc = "The first half of self along dim times the sigmoid of the second half.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() > 0, "glu: does not support 0-dimensional tensors");
    const int64_t d = wrap_dim(a.dim, a.self.dim(), "glu"), size = a.self.size(d);
    ARGAND_CHECK(ShapeError, size % 2 == 0, "glu: Halving dimension must be even, but dimension ", d, " is size ",
                 size);
    return a.self.narrow(d, 0, size / 2) * a.self.narrow(d, size / 2, size / 2).sigmoid();
  }
  static void samples(S& s) {
    s.add({s->real({3, 4})});
    s.add({s->real({4, 3}), 0});
    s.fails({s->real({3})}, "glu: Halving dimension must be even, but dimension 0 is size 3");
    s.fails({s->real({})}, "glu: does not support 0-dimensional tensors");
  }
};
ARGAND_OP(Glu)
ARGAND_NODE(Glu)

}  // namespace argand::ops
