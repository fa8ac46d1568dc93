// Losses of element-wise differences: mse_loss, l1_loss, smooth_l1_loss, huber_loss, and their gradients.
#include "argand/exec/known_ones.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/loss/args.h"
#include "argand/ops/loss/target.h"

namespace argand::ops {
namespace {

TensorMeta loss_meta(const char* op, const Tensor& self, const Tensor& target, int64_t reduction) {
  check_reduction(op, reduction);
  const Dims sizes = broadcast_shapes(self.sizes(), target.sizes(), op);
  const ScalarType type = promote_types(self.dtype(), target.dtype());
  ARGAND_CHECK(DtypeError, is_floating_point(type), op, ": not implemented for dtype ", type);
  return {reduction == Reduction::None ? sizes : Dims{}, type};
}

TensorMeta gradient_meta(const char* op, const Tensor& grad, const Tensor& self, const Tensor& target,
                         int64_t reduction) {
  const TensorMeta loss = loss_meta(op, self, target, reduction);
  ARGAND_CHECK(ShapeError, broadcast_shapes(grad.sizes(), loss.sizes, op) == loss.sizes, op,
               ": expected grad_output of shape ", loss.sizes, ", got ", grad.sizes());
  return {broadcast_shapes(self.sizes(), target.sizes(), op), loss.dtype};
}

// A tensor as contiguous elements of the given shape and dtype.
Tensor operand(const Tensor& t, IntArrayRef sizes, ScalarType dtype) {
  if (t.sizes() == sizes) return exec::dense(t, dtype);
  return exec::dense_clone(t.expand(sizes), dtype);
}

struct Pair {
  Tensor x, y;
  PairLossCall call;
  Pair(PairLossKind kind, const Tensor& self, const Tensor& target, double parameter) {
    const Dims sizes = broadcast_shapes(self.sizes(), target.sizes(), "loss");
    const ScalarType type = promote_types(self.dtype(), target.dtype());
    x = operand(self, sizes, type), y = operand(target, sizes, type);
    call = {kind, type, x.impl().data(), y.impl().data(), x.numel(), parameter};
  }
};

void run_loss(PairLossKind kind, const Tensor& self, const Tensor& target, int64_t reduction, double parameter,
              const Tensor& out) {
  const Pair pair(kind, self, target, parameter);
  if (reduction == Reduction::None) return blocks::pair_loss.on(out.device())(pair.call, out.impl().data());
  blocks::pair_loss_sum.on(out.device())(pair.call, reduction == Reduction::Mean, out.impl().data());
}

void run_gradient(PairLossKind kind, const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction,
                  double parameter, const Tensor& out) {
  const bool ones = exec::known_ones(grad), each = !ones && grad.numel() != 1;
  const Pair pair(kind, self, target, parameter);
  const Tensor g = ones ? Tensor() : operand(grad, each ? out.sizes() : grad.sizes(), pair.call.type);
  const double scale = reduction == Reduction::Mean ? 1 / static_cast<double>(pair.call.n) : 1;
  blocks::pair_loss_derivative.on(out.device())(pair.call, 1, ones ? nullptr : g.impl().data(), each ? 1 : 0, scale,
                                                out.impl().data());
}

// The gradients of a loss's gradient: from its gradient `g`, those of grad_output and self (target gets the negative).
Tensor to_grad_output(PairLossKind kind, const Tensor& g, const Tensor& self, const Tensor& target, int64_t reduction,
                      double parameter) {
  return reduce_loss(g * _pair_loss_derivative(self, target, static_cast<int64_t>(kind), parameter, 1), reduction);
}
Tensor to_self(PairLossKind kind, const Tensor& g, const Tensor& grad, const Tensor& self, const Tensor& target,
               int64_t reduction, double parameter) {
  const Tensor t = g * grad * _pair_loss_derivative(self, target, static_cast<int64_t>(kind), parameter, 2);
  return reduction == Reduction::Mean ? t / static_cast<double>(t.numel()) : t;
}

template <class S>
void add_loss_samples(S& s, const char* op) {
  s.add({s->real({3, 4}, -2, 0), s->real({3, 4}, 0.2, 0.7)});
  s.add({s->real({3, 4}, -2, 0), s->real({3, 4}, 0.2, 0.7), Reduction::None});
  s.add({s->real({3, 4}, -2, 0), s->real({3, 4}, 0.2, 0.7), Reduction::Sum});
  s.add({s->real({3, 1}, -2, 0), s->real({4}, 0.2, 0.7), Reduction::None});
  s.add({s->real({}, -2, 0), s->real({}, 0.2, 0.7)});
  s.add_without_gradient({s->integer({3, 4}, 0, 2).to(kDouble), s->integer({3, 4}, 0, 2).to(kDouble)});  // equal ones
  s.add({s->real({0, 3}), s->real({0, 3}), Reduction::Sum});
  s.fails({s->real({2, 3}), s->real({4})}, std::string(op) + ": shapes [2, 3] and [4] do not broadcast");
  s.fails({s->real({2}), s->real({2}), 5},
          std::string(op) + ": expected reduction 0 (none), 1 (mean) or 2 (sum), got 5");
}

}  // namespace

struct PairLossDerivative : Kernel<PairLossDerivativeArgs> {
  static constexpr auto schema =
      "_pair_loss_derivative(Tensor self, Tensor target, int kind, float parameter, int order) -> Tensor";
  static constexpr auto doc =
      "The first or second derivative by self of one of the losses of element-wise differences.";
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    return loss_meta("_pair_loss_derivative", a.self, a.target, Reduction::None);
  }
  static void run(const Args& a, Tensor& out) {
    const Pair pair(static_cast<PairLossKind>(a.kind), a.self, a.target, a.parameter);
    blocks::pair_loss_derivative.on(out.device())(pair.call, static_cast<int>(a.order), nullptr, 0, 1,
                                                  out.impl().data());
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return next(g, c.self, c.target, c.kind, c.parameter, c.order);
  }
  static Tensor grad_target(const Ctx& c, const Tensor& g) {
    return -next(g, c.self, c.target, c.kind, c.parameter, c.order);
  }
  // Second derivatives are constant wherever they are smooth.
  static Tensor next(const Tensor& g, const Tensor& self, const Tensor& target, int64_t kind, double parameter,
                     int64_t order) {
    return order == 1 ? g * _pair_loss_derivative(self, target, kind, parameter, 2) : zeros_like(g);
  }
};
ARGAND_OP(PairLossDerivative)

struct MseLoss : Kernel<MseLossArgs> {
  static constexpr auto schema = "mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor";
  static constexpr auto doc = "(self - target)^2, broadcast; the mean of all, the sum, or each.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) { return loss_meta("mse_loss", a.self, a.target, a.reduction); }
  static void run(const Args& a, Tensor& out) {
    run_loss(PairLossKind::kSquare, a.self, a.target, a.reduction, 0, out);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return mse_loss_backward(g, c.self, c.target, c.reduction); }
  static Tensor grad_target(const Ctx& c, const Tensor& g) {
    return -mse_loss_backward(g, c.self, c.target, c.reduction);
  }
  static void samples(S& s) { add_loss_samples(s, "mse_loss"); }
};
ARGAND_OP(MseLoss)

struct MseLossBackward : Kernel<MseLossBackwardArgs> {
  static constexpr auto schema =
      "mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor";
  static constexpr auto doc = "The gradient of mse_loss for self.";
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    return gradient_meta("mse_loss_backward", a.grad_output, a.self, a.target, a.reduction);
  }
  static void run(const Args& a, Tensor& out) {
    run_gradient(PairLossKind::kSquare, a.grad_output, a.self, a.target, a.reduction, 0, out);
  }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) {
    return to_grad_output(PairLossKind::kSquare, g, c.self, c.target, c.reduction, 0);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return to_self(PairLossKind::kSquare, g, c.grad_output, c.self, c.target, c.reduction, 0);
  }
  static Tensor grad_target(const Ctx& c, const Tensor& g) {
    return -to_self(PairLossKind::kSquare, g, c.grad_output, c.self, c.target, c.reduction, 0);
  }
  static void samples(S& s) {
    s.add({s->real({}), s->real({3, 4}, -2, 0), s->real({3, 4}, 0.2, 0.7), Reduction::Mean});
    s.fails({s->real({2}), s->real({3, 4}), s->real({3, 4}), Reduction::Mean},
            "mse_loss_backward: expected grad_output of shape [], got [2]");
  }
};
ARGAND_OP(MseLossBackward)

struct L1Loss : Kernel<L1LossArgs> {
  static constexpr auto schema = "l1_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor";
  static constexpr auto doc = "|self - target|, broadcast; the mean of all, the sum, or each. Of complex numbers, too.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static bool of_complex(const Tensor& self, const Tensor& target) { return self.is_complex() || target.is_complex(); }
  static TensorMeta infer(const Args& a) {
    if (!of_complex(a.self, a.target)) return loss_meta("l1_loss", a.self, a.target, a.reduction);
    check_reduction("l1_loss", a.reduction);
    const Dims sizes = broadcast_shapes(a.self.sizes(), a.target.sizes(), "l1_loss");
    return {a.reduction == Reduction::None ? sizes : Dims{},
            to_real_type(promote_types(a.self.dtype(), a.target.dtype()))};
  }
  static void run(const Args& a, Tensor& out) {
    if (!of_complex(a.self, a.target)) return run_loss(PairLossKind::kAbs, a.self, a.target, a.reduction, 0, out);
    const NoGradGuard no_grad;
    exec::copy_elements(out, reduce_loss((a.self - a.target).abs(), a.reduction));
  }
  static Tensor derivative(const Tensor& g, const Tensor& self, const Tensor& target, int64_t reduction) {
    if (!of_complex(self, target)) return l1_loss_backward(g, self, target, reduction);
    const Tensor slopes = g * (self - target).sgn();
    return reduction == Reduction::Mean ? slopes / static_cast<double>(slopes.numel()) : slopes;
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return derivative(g, c.self, c.target, c.reduction); }
  static Tensor grad_target(const Ctx& c, const Tensor& g) { return -derivative(g, c.self, c.target, c.reduction); }
  static void samples(S& s) { add_loss_samples(s, "l1_loss"); }
};
ARGAND_OP(L1Loss)

struct L1LossBackward : Kernel<L1LossBackwardArgs> {
  static constexpr auto schema =
      "l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor";
  static constexpr auto doc = "The gradient of l1_loss for self.";
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    return gradient_meta("l1_loss_backward", a.grad_output, a.self, a.target, a.reduction);
  }
  static void run(const Args& a, Tensor& out) {
    run_gradient(PairLossKind::kAbs, a.grad_output, a.self, a.target, a.reduction, 0, out);
  }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) {
    return to_grad_output(PairLossKind::kAbs, g, c.self, c.target, c.reduction, 0);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return to_self(PairLossKind::kAbs, g, c.grad_output, c.self, c.target, c.reduction, 0);
  }
  static Tensor grad_target(const Ctx& c, const Tensor& g) {
    return -to_self(PairLossKind::kAbs, g, c.grad_output, c.self, c.target, c.reduction, 0);
  }
  static void samples(S& s) {
    s.add({s->real({}), s->real({3, 4}, -2, 0), s->real({3, 4}, 0.2, 0.7), Reduction::Mean});
    s.fails({s->real({2}), s->real({3, 4}), s->real({3, 4}), Reduction::Mean},
            "l1_loss_backward: expected grad_output of shape [], got [2]");
  }
};
ARGAND_OP(L1LossBackward)

struct SmoothL1Loss : Kernel<SmoothL1LossArgs> {
  static constexpr auto schema =
      "smooth_l1_loss(Tensor self, Tensor target, int reduction=Mean, float beta=1.0) -> Tensor";
  static constexpr auto doc =
      "With d = |self - target|: d^2 / (2 beta) where d < beta, else d - beta / 2; the mean of all, the sum, or each.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ValueError, a.beta >= 0, "smooth_l1_loss: does not support negative values for beta, got ", a.beta);
    return loss_meta("smooth_l1_loss", a.self, a.target, a.reduction);
  }
  static void run(const Args& a, Tensor& out) {
    run_loss(PairLossKind::kSmoothL1, a.self, a.target, a.reduction, a.beta, out);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return smooth_l1_loss_backward(g, c.self, c.target, c.reduction, c.beta);
  }
  static Tensor grad_target(const Ctx& c, const Tensor& g) {
    return -smooth_l1_loss_backward(g, c.self, c.target, c.reduction, c.beta);
  }
  static void samples(S& s) {
    add_loss_samples(s, "smooth_l1_loss");
    s.add({s->real({3, 4}, -2, 0), s->real({3, 4}, 0.2, 0.7), Reduction::Mean, 0.0});
    s.fails({s->real({2}), s->real({2}), Reduction::Mean, -1.0},
            "smooth_l1_loss: does not support negative values for beta, got -1");
  }
};
ARGAND_OP(SmoothL1Loss)

struct SmoothL1LossBackward : Kernel<SmoothL1LossBackwardArgs> {
  static constexpr auto schema =
      "smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> Tensor";
  static constexpr auto doc = "The gradient of smooth_l1_loss for self.";
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    return gradient_meta("smooth_l1_loss_backward", a.grad_output, a.self, a.target, a.reduction);
  }
  static void run(const Args& a, Tensor& out) {
    run_gradient(PairLossKind::kSmoothL1, a.grad_output, a.self, a.target, a.reduction, a.beta, out);
  }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) {
    return to_grad_output(PairLossKind::kSmoothL1, g, c.self, c.target, c.reduction, c.beta);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return to_self(PairLossKind::kSmoothL1, g, c.grad_output, c.self, c.target, c.reduction, c.beta);
  }
  static Tensor grad_target(const Ctx& c, const Tensor& g) {
    return -to_self(PairLossKind::kSmoothL1, g, c.grad_output, c.self, c.target, c.reduction, c.beta);
  }
  static void samples(S& s) {
    s.add({s->real({}), s->real({3, 4}, -2, 0), s->real({3, 4}, 0.2, 0.7), Reduction::Mean, 0.6});
    s.fails({s->real({2}), s->real({3, 4}), s->real({3, 4}), Reduction::Mean, 0.6},
            "smooth_l1_loss_backward: expected grad_output of shape [], got [2]");
  }
};
ARGAND_OP(SmoothL1LossBackward)

struct HuberLoss : Kernel<HuberLossArgs> {
  static constexpr auto schema =
      "huber_loss(Tensor self, Tensor target, int reduction=Mean, float delta=1.0) -> Tensor";
  static constexpr auto doc =
      "With d = |self - target|: d^2 / 2 where d <= delta, else delta (d - delta / 2); the mean of all, the sum, or "
      "each.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ValueError, a.delta > 0, "huber_loss: does not support non-positive values for delta, got ", a.delta);
    return loss_meta("huber_loss", a.self, a.target, a.reduction);
  }
  static void run(const Args& a, Tensor& out) {
    run_loss(PairLossKind::kHuber, a.self, a.target, a.reduction, a.delta, out);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return huber_loss_backward(g, c.self, c.target, c.reduction, c.delta);
  }
  static Tensor grad_target(const Ctx& c, const Tensor& g) {
    return -huber_loss_backward(g, c.self, c.target, c.reduction, c.delta);
  }
  static void samples(S& s) {
    add_loss_samples(s, "huber_loss");
    s.fails({s->real({2}), s->real({2}), Reduction::Mean, 0.0},
            "huber_loss: does not support non-positive values for delta, got 0");
  }
};
ARGAND_OP(HuberLoss)

struct HuberLossBackward : Kernel<HuberLossBackwardArgs> {
  static constexpr auto schema =
      "huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor";
  static constexpr auto doc = "The gradient of huber_loss for self.";
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    return gradient_meta("huber_loss_backward", a.grad_output, a.self, a.target, a.reduction);
  }
  static void run(const Args& a, Tensor& out) {
    run_gradient(PairLossKind::kHuber, a.grad_output, a.self, a.target, a.reduction, a.delta, out);
  }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) {
    return to_grad_output(PairLossKind::kHuber, g, c.self, c.target, c.reduction, c.delta);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return to_self(PairLossKind::kHuber, g, c.grad_output, c.self, c.target, c.reduction, c.delta);
  }
  static Tensor grad_target(const Ctx& c, const Tensor& g) {
    return -to_self(PairLossKind::kHuber, g, c.grad_output, c.self, c.target, c.reduction, c.delta);
  }
  static void samples(S& s) {
    s.add({s->real({}), s->real({3, 4}, -2, 0), s->real({3, 4}, 0.2, 0.7), Reduction::Mean, 0.6});
    s.fails({s->real({2}), s->real({3, 4}), s->real({3, 4}), Reduction::Mean, 0.6},
            "huber_loss_backward: expected grad_output of shape [], got [2]");
  }
};
ARGAND_OP(HuberLossBackward)

}  // namespace argand::ops
