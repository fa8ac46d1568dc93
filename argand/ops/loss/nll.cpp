// The negative log likelihood of class indices.
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/loss/args.h"
#include "argand/ops/loss/target.h"
#include "argand/ops/maybe.h"
#include "argand/ops/node_name.h"
#include "argand/ops/reduce/reduction.h"
#include "argand/ops/workspace.h"

namespace argand::ops {
namespace {

Dims target_sizes(const Tensor& self) {
  Dims sizes = self.impl().sizes;
  sizes.erase(sizes.begin() + class_dim(self));
  return sizes;
}

// The tensors to which a kernel call points, except the input.
struct CallTensors {
  Tensor targets, weight;
  NllLossCall call;
  CallTensors(const char* op, const Tensor& self, const Tensor& target, const Tensor& class_weight,
              int64_t ignore_index)
      : targets(class_indices(op, target, self.sizes()[class_dim(self)], ignore_index)),
        weight(exec::dense(class_weight)) {
    const DimSplit s(self.sizes(), class_dim(self));
    call = {self.dtype(),
            nullptr,
            static_cast<const int64_t*>(targets.impl().data()),
            weight.defined() ? weight.impl().data() : nullptr,
            s.outer,
            s.size,
            s.inner,
            ignore_index};
  }
};

}  // namespace

struct NllLossForward : Kernel<NllLossForwardArgs> {
  static constexpr auto schema =
      "nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index) -> (Tensor "
      "output, Tensor total_weight)";
  static constexpr auto doc = "nll_loss and the sum of the weights of the targets.";
  static constexpr uint32_t constant_arguments = bits(kWeight), constant_results = bits(1);
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr int variants = kFunction;
  static TensorMetas infer(const Args& a) {
    check_reduction("nll_loss", a.reduction);
    check_class_targets("nll_loss", a.self, a.target, a.weight);
    return {{a.reduction == Reduction::None ? target_sizes(a.self) : Dims{}, a.self.dtype()}, {Dims{}, a.self.dtype()}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const Tensor self = exec::dense(a.self);
    CallTensors t("nll_loss", self, a.target, a.weight, a.ignore_index);
    t.call.input = self.impl().data();
    const ScalarType type = op_math_type(self.dtype());
    const Device& device = outs[0].device();
    const int64_t n = t.targets.numel(), nbytes = n * element_size(type);
    Workspace<8192> work(2 * nbytes, device);
    void *losses = work.data(), *weights = work.data() + nbytes;
    Tensor wide;  // the losses of rows before they are rounded
    const bool each = a.reduction == Reduction::None;
    if (each && type != outs[0].dtype()) wide = exec::new_tensor({outs[0].impl().sizes, type}, device);
    if (each) losses = (wide.defined() ? wide : outs[0]).impl().data();
    blocks::nll_loss.on(device)(t.call, losses, weights);
    if (wide.defined()) exec::copy_elements(outs[0], wide);
    if (each) return exec::copy_elements(outs[1], exec::wrapped_number(0));
    blocks::total_loss.on(device)({type, losses, weights, n, a.reduction == Reduction::Mean, outs[0].impl().data(),
                                   outs[0].dtype(), outs[1].impl().data(), outs[1].dtype()});
  }
  static Tensor grad_self(const Ctx& c, const Grads& g) {
    return nll_loss_backward(g[0], c.self, c.target, optional(c.weight), c.reduction, c.ignore_index, c.result(1));
  }
  static void samples(S& s) {
    s.add({s->real({3, 5}), s->integer({3}, 0, 5), {}, Reduction::Mean, -100});
    s.add({s->real({3, 5}), s->integer({3}, 0, 5), s->positive({5}), Reduction::None, -100});
  }
};
ARGAND_OP(NllLossForward)
ARGAND_NODE(NllLossForward, "NllLossBackward0")

struct NllLossBackward : Kernel<NllLossBackwardArgs> {
  static constexpr auto schema =
      "nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, int "
      "ignore_index, Tensor "
      "total_weight) -> Tensor";
  static constexpr auto doc = "The gradient of nll_loss for self.";
  static constexpr uint32_t constant_arguments = bits(kWeight, kTotalWeight);
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    check_reduction("nll_loss_backward", a.reduction);
    check_class_targets("nll_loss_backward", a.self, a.target, a.weight);
    const Dims expected = a.reduction == Reduction::None ? target_sizes(a.self) : Dims{};
    ARGAND_CHECK(ShapeError, a.grad_output.sizes() == IntArrayRef(expected),
                 "nll_loss_backward: expected grad_output of shape ", expected, ", got ", a.grad_output.sizes());
    for (const auto& [name, t] : {std::pair("grad_output", a.grad_output), std::pair("total_weight", a.total_weight)})
      ARGAND_CHECK(DtypeError, t.dtype() == a.self.dtype(), "nll_loss_backward: expected ", name, " of dtype ",
                   a.self.dtype(), ", got ", t.dtype());
    ARGAND_CHECK(ShapeError, a.total_weight.numel() == 1,
                 "nll_loss_backward: expected total_weight to be one number, got shape ", a.total_weight.sizes());
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const CallTensors t("nll_loss_backward", out, a.target, a.weight, a.ignore_index);
    const Tensor grad = exec::dense(a.grad_output), total = exec::dense(a.total_weight);
    blocks::nll_loss_backward.on(out.device())(t.call, grad.impl().data(), a.reduction == Reduction::None ? 1 : 0,
                                               a.reduction == Reduction::Mean ? total.impl().data() : nullptr,
                                               out.impl().data());
  }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) {
    return std::get<0>(nll_loss_forward(g, c.target, optional(c.weight), c.reduction, c.ignore_index));
  }
  static void samples(S& s) {
    // total_weight as nll_loss_forward gives it.
    s.add({s->real({}), s->real({3, 5}), s->integer({3}, 0, 5), {}, Reduction::Mean, -100, s->real({}, 3, 3)});
    s.fails({s->real({3}), s->real({3, 5}), s->integer({3}, 0, 5), {}, Reduction::Mean, -100, s->positive({})},
            "nll_loss_backward: expected grad_output of shape [], got [3]");
  }
};
ARGAND_OP(NllLossBackward)

struct NllLoss : Composite<NllLossArgs> {
  static constexpr auto schema =
      "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, int ignore_index=-100) -> Tensor";
  static constexpr const char* overloads[] = {
      "nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, int ignore_index=-100) -> "
      "Tensor",
      "nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, int ignore_index=-100) -> "
      "Tensor"};
  static constexpr auto doc =
      "-weight[target] * self[target] for log-probabilities self ([C], [N, C] or [N, C, d1, ...]) and class indices "
      "target (the same "
      "without C); 0 where target is ignore_index. The mean is over the weights of the targets. IndexError for a "
      "target outside [0, C).";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return std::get<0>(nll_loss_forward(a.self, a.target, optional(a.weight), a.reduction, a.ignore_index));
  }
  static void samples(S& s) {
    s.add({s->real({3, 5}), s->integer({3}, 0, 5)});
    s.add({s->real({5}), s->integer({}, 0, 5)});
    s.add({s->real({3, 5}), s->integer({3}, 0, 5), s->positive({5}), Reduction::Mean, 2});
    s.add({s->real({3, 5}), s->integer({3}, 0, 5), s->positive({5}), Reduction::None, 2});
    s.add({s->real({2, 4, 3, 2}), s->integer({2, 3, 2}, 0, 4), s->positive({4}), Reduction::Sum});
    s.add({s->real({2, 4, 3}), s->integer({2, 3}, 0, 4), {}, Reduction::None, 1});
    s.fails({s->real({3, 5}), s->integer({3}, 10, 11)}, "nll_loss: Target 10 is out of bounds.");
    s.fails({s->real({3, 5}), s->integer({2}, 0, 5)},
            "nll_loss: Expected input batch_size (3) to match target batch_size (2).");
    s.fails({s->real({2, 4, 3}), s->integer({2, 4}, 0, 4)},
            "nll_loss: expected target of shape [2, 3] for input of shape [2, 4, 3], got [2, 4]");
    s.fails({s->real({3, 5}), s->real({3})}, "nll_loss: expected target of dtype int64 or uint8, got float64");
    s.fails({s->real({3, 5}), s->integer({3}, 0, 5), s->positive({4})},
            "nll_loss: weight tensor should be defined either for all 5 classes");
    s.fails({s->real({3, 5}), s->integer({3}, 0, 5), {}, 7},
            "nll_loss: expected reduction 0 (none), 1 (mean) or 2 (sum), got 7");
  }
};
ARGAND_OP(NllLoss)
ARGAND_NODE(NllLoss, [](const NllLossArgs& a) { return a.self.dim() > 2 ? "NllLoss2DBackward0" : nullptr; })

}  // namespace argand::ops
