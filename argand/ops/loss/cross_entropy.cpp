// Cross entropy of logits, with class indices (one fused op) or class probabilities as targets.
#include "argand/exec/autocast.h"
#include "argand/kernels/api/cross_entropy_forms.h"
#include "argand/ops/define.h"
#include "argand/ops/loss/args.h"
#include "argand/ops/loss/cross_entropy_ahead.h"
#include "argand/ops/loss/cross_entropy_call.h"
#include "argand/ops/maybe.h"
#include "argand/ops/node_name.h"

namespace argand::ops {
namespace {

void check_smoothing(double smoothing) {
  ARGAND_CHECK(ValueError, smoothing >= 0 && smoothing <= 1,
               "cross_entropy: label_smoothing must be between 0.0 and 1.0. Got: ", smoothing);
}

void check_rows(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, double smoothing) {
  ARGAND_CHECK(ShapeError, self.dim() == 2, "cross_entropy: expected input of shape [N, C], got ", self.sizes());
  check_reduction("cross_entropy", reduction);
  check_smoothing(smoothing);
  check_class_targets("cross_entropy", self, target, weight);
}

bool under_autocast(const Tensor& t) { return !t.is_meta() && autocast::is_autocast_enabled(t.device().type()); }

}  // namespace

struct CrossEntropyRows : Kernel<CrossEntropyRowsArgs> {
  static constexpr auto schema =
      "_cross_entropy(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index, float "
      "label_smoothing, bool wide=False) -> (Tensor loss, "
      "Tensor log_sum, Tensor total_weight)";
  static constexpr auto doc =
      "cross_entropy of [N, C] logits and N class indices; also log(sum(exp(self))) of each row and the sum of the "
      "targets' weights. wide: the loss of float16 and bfloat16 logits is float32.";
  static constexpr uint32_t constant_arguments = bits(kWeight), constant_results = bits(1, 2);
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr int variants = kFunction;
  static TensorMetas infer(const Args& a) {
    check_rows(a.self, a.target, a.weight, a.reduction, a.label_smoothing);
    const ScalarType type = op_math_type(a.self.dtype());
    const Dims rows{a.self.sizes()[0]};
    return {
        {a.reduction == Reduction::None ? rows : Dims{}, a.wide ? type : a.self.dtype()}, {rows, type}, {Dims{}, type}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    if (run_small(a, outs)) return;
    const CrossEntropyTensors t("cross_entropy", a.self, a.target, a.weight, a.ignore_index, a.label_smoothing);
    run_rows(t, a.reduction, outs, [&](void* losses, void* weights, void* log_sums) {
      blocks::cross_entropy.on(outs[0].device())(t.call, losses, weights, log_sums);
      return true;
    });
  }
  // One launch instead of three.
  static bool run_small(const Args& a, std::span<Tensor> outs) {
    const IntArrayRef sizes = a.self.sizes();
    if (a.self.is_cpu() || a.reduction == Reduction::None || !is_small_cross_entropy(sizes[0], sizes[1])) return false;
    const CrossEntropyTensors t("cross_entropy", a.self, a.target, a.weight, a.ignore_index, a.label_smoothing,
                                Targets::kCheckedOnCpu);
    blocks::small_cross_entropy.on(outs[0].device())("cross_entropy", t.call, a.reduction == Reduction::Mean,
                                                     outs[0].impl().data(), outs[0].dtype(), outs[1].impl().data(),
                                                     outs[2].impl().data(), nullptr);
    return true;
  }
  static Tensor grad_self(const Ctx& c, const Grads& g) {
    return _cross_entropy_backward(g[0], c.self, c.target, optional(c.weight), c.result(1), c.result(2), c.reduction,
                                   c.ignore_index, c.label_smoothing);
  }
  static void samples(S& s) {
    s.add({s->real({3, 5}), s->integer({3}, 0, 5), {}, Reduction::Mean, -100, 0.0});
    s.add({s->real({3, 5}), s->integer({3}, 0, 5), s->positive({5}), Reduction::None, 1, 0.2});
    s.add({s->real({3, 5}), s->integer({3}, 0, 5), {}, Reduction::Mean, -100, 0.0, true});
    s.add({s->real({3, 5}), s->integer({3}, 0, 5), s->positive({5}), Reduction::None, 1, 0.2, true});
    s.fails({s->real({3, 5, 2}), s->integer({3}, 0, 5), {}, Reduction::Mean, -100, 0.0},
            "cross_entropy: expected input of shape [N, C], got [3, 5, 2]");
  }
};
ARGAND_OP(CrossEntropyRows)
ARGAND_NODE(CrossEntropyRows, "NllLossBackward0")

struct CrossEntropyRowsBackward : Kernel<CrossEntropyRowsBackwardArgs> {
  static constexpr auto schema =
      "_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, Tensor log_sum, Tensor "
      "total_weight, int "
      "reduction, int ignore_index, float label_smoothing) -> Tensor";
  static constexpr auto doc =
      "The gradient of _cross_entropy for self; log_sum and total_weight are its other results.";
  // log_sum depends on self; grad_self contains its part of the second gradient.
  static constexpr uint32_t constant_arguments = bits(kWeight, kLogSum, kTotalWeight);
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    check_rows(a.self, a.target, a.weight, a.reduction, a.label_smoothing);
    const Dims expected = a.reduction == Reduction::None ? Dims{a.self.sizes()[0]} : Dims{};
    ARGAND_CHECK(ShapeError, a.grad_output.sizes() == IntArrayRef(expected),
                 "_cross_entropy_backward: expected grad_output of shape ", expected, ", got ", a.grad_output.sizes());
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const CrossEntropyTensors t("cross_entropy", a.self, a.target, a.weight, a.ignore_index, a.label_smoothing,
                                Targets::kCheckedOnCpu);
    const Tensor log_sum = exec::dense(a.log_sum), scales = exec::dense(a.grad_output, a.log_sum.dtype());
    const Tensor total = exec::dense(a.total_weight, a.log_sum.dtype());
    blocks::cross_entropy_backward.on(out.device())(
        t.call, log_sum.impl().data(), scales.impl().data(), a.reduction == Reduction::None ? 1 : 0,
        a.reduction == Reduction::Mean ? total.impl().data() : nullptr, out.impl().data());
  }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) {
    const Tensor ones = ones_like(c.grad_output);
    const Tensor d = _cross_entropy_backward(ones, c.self, c.target, optional(c.weight), c.log_sum, c.total_weight,
                                             c.reduction, c.ignore_index, c.label_smoothing);
    return (c.reduction == Reduction::None ? (g * d).sum(1) : (g * d).sum()).to(c.grad_output.dtype());
  }
  // Only the softmax in the gradient depends on the logits.
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Tensor factors =
        _cross_entropy_softmax_factors(c.self, c.target, optional(c.weight), c.ignore_index, c.label_smoothing);
    const Tensor scale = c.reduction == Reduction::Mean ? c.grad_output / c.total_weight : c.grad_output;
    const Tensor p = softmax(c.self, 1);
    return ((scale * factors).unsqueeze(1) * (p * (g - (g * p).sum(1, true)))).to(c.self.dtype());
  }
  static void samples(S& s) {
    s.fails({s->real({2}),
             s->real({3, 5}),
             s->integer({3}, 0, 5),
             {},
             s->real({3}),
             s->positive({}),
             Reduction::Mean,
             -100,
             0.0},
            "_cross_entropy_backward: expected grad_output of shape [], got [2]");
  }
};
ARGAND_OP(CrossEntropyRowsBackward)

struct CrossEntropySoftmaxFactors : Kernel<CrossEntropySoftmaxFactorsArgs> {
  static constexpr auto schema =
      "_cross_entropy_softmax_factors(Tensor self, Tensor target, Tensor? weight, int ignore_index, float "
      "label_smoothing) -> Tensor";
  static constexpr auto doc = "What each row's softmax is multiplied by in the gradient of _cross_entropy.";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static TensorMeta infer(const Args& a) {
    check_rows(a.self, a.target, a.weight, Reduction::None, a.label_smoothing);
    return {{a.self.sizes()[0]}, op_math_type(a.self.dtype())};
  }
  static void run(const Args& a, Tensor& out) {
    const CrossEntropyTensors t("cross_entropy", a.self, a.target, a.weight, a.ignore_index, a.label_smoothing);
    blocks::cross_entropy_softmax_factors.on(out.device())(t.call, out.impl().data());
  }
};
ARGAND_OP(CrossEntropySoftmaxFactors)

struct CrossEntropyLoss : Composite<CrossEntropyLossArgs> {
  static constexpr auto schema =
      "cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, int ignore_index=-100, "
      "float "
      "label_smoothing=0.0) -> Tensor";
  static constexpr auto doc =
      "Cross entropy of logits self ([C], [N, C] or [N, C, d1, ...]) with class indices (self's shape without C) or "
      "class "
      "probabilities (self's shape, floating point). weight is one factor per class. A target of ignore_index counts "
      "nothing; the mean "
      "is over the weights of the other targets. IndexError for a target outside [0, C).";
  // Under autocast, logits are read in their own dtype and the loss is float32: a copy of so many logits would take
  // longer than all other work.
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    if (!is_floating_point(a.self.dtype())) throw_unsupported_dtype("cross_entropy", a.self.dtype());
    check_smoothing(a.label_smoothing);
    check_reduction("cross_entropy", a.reduction);
    if (a.self.sizes() == a.target.sizes() && is_floating_point(a.target.dtype())) {
      if (!under_autocast(a.self)) return with_probabilities(a);
      Args in_float32 = a;
      for (Tensor* t : {&in_float32.self, &in_float32.target, &in_float32.weight})
        if (t->defined() && is_floating_point(t->dtype())) *t = t->to(op_math_type(t->dtype()));
      return with_probabilities(in_float32);
    }
    check_class_targets("cross_entropy", a.self, a.target, a.weight);
    if (a.self.dim() == 2) return rows(a.self, a.target, a);
    if (a.self.dim() == 1) {
      const Tensor loss = rows(a.self.unsqueeze(0), a.target.reshape({1}), a);
      return a.reduction == Reduction::None ? loss.reshape(a.target.sizes()) : loss;
    }
    // Classes last: one copy, and every other size is a row.
    const int64_t classes = a.self.sizes()[1];
    const Tensor logits = a.self.unsqueeze(-1).transpose(1, -1).reshape({-1, classes});
    const Tensor loss = rows(logits, a.target.reshape({-1}), a);
    return a.reduction == Reduction::None ? loss.view(a.target.sizes()) : loss;
  }
  static Tensor rows(const Tensor& logits, const Tensor& target, const Args& a) {
    const bool wide = under_autocast(logits);
    if (!a.weight.defined() && a.label_smoothing == 0)
      if (Tensor loss = cross_entropy_ahead(logits, target, a.reduction, a.ignore_index, wide); loss.defined())
        return loss;
    return std::get<0>(
        _cross_entropy(logits, target, optional(a.weight), a.reduction, a.ignore_index, a.label_smoothing, wide));
  }
  static Tensor with_probabilities(const Args& a) {
    ARGAND_CHECK(ValueError, a.ignore_index < 0,
                 "cross_entropy: ignore_index is not supported for floating point target");
    ARGAND_CHECK(ShapeError, a.self.dim() >= 1,
                 "cross_entropy: expected input with at least one dimension, the classes, got a 0-dim tensor");
    const int64_t dim = class_dim(a.self), classes = a.self.sizes()[dim];
    ARGAND_CHECK(ShapeError, !a.weight.defined() || (a.weight.dim() == 1 && a.weight.numel() == classes),
                 "cross_entropy: weight tensor should be defined either for all ", classes,
                 " classes or no classes but got weight tensor of shape: ",
                 a.weight.defined() ? a.weight.sizes() : IntArrayRef());
    Tensor target = a.target;
    if (a.label_smoothing > 0)
      target = target * (1 - a.label_smoothing) + a.label_smoothing / static_cast<double>(classes);
    Tensor terms = log_softmax(a.self, dim) * target;
    if (a.weight.defined()) {
      Dims shape(static_cast<size_t>(a.self.dim()), 1);
      shape[dim] = classes;
      terms = terms * a.weight.view(shape);
    }
    if (a.reduction == Reduction::None) return -terms.sum(dim);
    if (a.reduction == Reduction::Sum) return -terms.sum();
    const int64_t rows = numel_of(reduced_sizes(a.self.sizes(), Dims{dim}, false));
    return -(terms.sum() / static_cast<double>(rows));
  }
  static void samples(S& s) {
    s.add({s->real({3, 5}), s->integer({3}, 0, 5)});
    s.add({s->real({5}), s->integer({}, 0, 5)});
    s.add({s->real({5}), s->integer({}, 0, 5), {}, Reduction::None});
    s.add({s->real({3, 5}), s->integer({3}, 0, 5), s->positive({5}), Reduction::Mean, 2, 0.1});
    s.add({s->real({3, 5}), s->integer({3}, 0, 5), s->positive({5}), Reduction::None, 2, 0.1});
    s.add({s->real({3, 5}), s->integer({3}, 0, 5), {}, Reduction::Sum, -100, 0.3});
    s.add({s->real({2, 4, 3, 2}), s->integer({2, 3, 2}, 0, 4), s->positive({4}), Reduction::Mean, 1, 0.1});
    s.add({s->real({2, 4, 3}), s->integer({2, 3}, 0, 4), {}, Reduction::None});
    s.add({s->real({3, 5}), s->positive({3, 5})});
    s.add({s->real({2, 4, 3}), s->positive({2, 4, 3}), s->positive({4}), Reduction::None, -100, 0.1});
    s.add({s->real({4}), s->positive({4}), {}, Reduction::Sum});
    s.fails({s->real({3, 5}), s->integer({3}, 10, 11)}, "cross_entropy: Target 10 is out of bounds.");
    s.fails({s->real({3, 5}), s->integer({3}, -1, 0)}, "cross_entropy: Target -1 is out of bounds.");
    s.fails({s->real({3, 5}), s->integer({4}, 0, 5)},
            "cross_entropy: Expected input batch_size (3) to match target batch_size (4).");
    s.fails({s->real({3, 5}), s->integer({3}, 0, 5), {}, Reduction::Mean, -100, 1.5},
            "cross_entropy: label_smoothing must be between 0.0 and 1.0. Got: 1.5");
    s.fails({s->real({3, 5}), s->integer({3}, 0, 5), s->positive({4})},
            "cross_entropy: weight tensor should be defined either for all 5 classes or no classes but got weight "
            "tensor of shape: [4]");
    s.fails({s->real({3, 5}), s->positive({3, 5}), {}, Reduction::Mean, 2},
            "cross_entropy: ignore_index is not supported for floating point target");
  }
};
ARGAND_OP(CrossEntropyLoss)
ARGAND_NODE(CrossEntropyLoss, [](const CrossEntropyLossArgs& a) -> const char* {
  if (is_floating_point(a.target.dtype())) return nullptr;  // probabilities
  return a.label_smoothing > 0 ? "AddBackward0" : a.self.dim() > 2 ? "NllLoss2DBackward0" : "NllLossBackward0";
})

}  // namespace argand::ops
