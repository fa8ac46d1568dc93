// Binary cross entropy of probabilities and of logits.
#include "argand/exec/autocast.h"
#include "argand/exec/has_values.h"
#include "argand/ops/define.h"
#include "argand/ops/loss/args.h"
#include "argand/ops/loss/target.h"
#include "argand/ops/node_name.h"

namespace argand::ops {
namespace {

void check_same_sizes(const char* op, const Tensor& self, const Tensor& target) {
  ARGAND_CHECK(ShapeError, target.sizes() == self.sizes(), op, ": target size ", target.sizes(),
               " must be the same as input size ", self.sizes());
}

void check_weight(const char* op, const char* name, const Tensor& self, const Tensor& weight) {
  if (!weight.defined()) return;
  ARGAND_CHECK(ShapeError, IntArrayRef(broadcast_shapes(self.sizes(), weight.sizes(), op)) == self.sizes(), op,
               ": expected ", name, " that broadcasts to input's size ", self.sizes(), ", got ", weight.sizes());
}

// A GPU does not wait for this check: of such an input the loss is NaN there, of such a target what the formula gives.
void check_probabilities(const char* op, const char* name, const Tensor& values) {
  if (!values.is_cpu() || !exec::has_values(values)) return;
  const Tensor in = exec::dense(values.detach());
  dispatch<kFloatingTypes>(in.dtype(), op, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = op_math_t<T>;
    const T* p = raw<T>(in);
    for (int64_t i = 0; i < in.numel(); ++i) {
      const A x = static_cast<A>(p[i]);
      ARGAND_CHECK(ValueError, x >= 0 && x <= 1, op, ": all elements of ", name, " should be between 0 and 1, got ", x,
                   " at position ", i);
    }
  });
}

// The logarithm is limited before it reaches -infinity.
constexpr double kLowestLog = -100;

}  // namespace

struct BinaryCrossEntropyTerms : Pointwise<BinaryCrossEntropyTermsArgs> {
  static constexpr auto schema = "_binary_cross_entropy_terms(Tensor self, Tensor target) -> Tensor";
  static constexpr auto doc =
      "-(target log(self) + (1 - target) log(1 - self)), logarithms no lower than -100; what binary_cross_entropy "
      "sums.";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((x, y), (y - T(1)) * max(log1p(-x), T(-100)) - y * max(log(x), T(-100)))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return binary_cross_entropy_backward(g, c.self, c.target, {}, Reduction::None);
  }
  static Tensor grad_target(const Ctx& c, const Tensor& g) {
    return g * ((-c.self).log1p().clamp_min(kLowestLog) - c.self.log().clamp_min(kLowestLog));
  }
  static void samples(S& s) { s.add({s->real({3, 4}, 0.1, 0.9), s->real({3, 4}, 0, 1)}); }
};
ARGAND_OP(BinaryCrossEntropyTerms)

struct BinaryCrossEntropyBackward : Composite<BinaryCrossEntropyBackwardArgs> {
  static constexpr auto schema =
      "binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, int "
      "reduction=Mean) -> Tensor";
  static constexpr auto doc = "The gradient of binary_cross_entropy for self; finite where self is 0 or 1.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    constexpr double kSmallest = 1e-12F;  // PyTorch's, a float
    check_reduction("binary_cross_entropy_backward", a.reduction);
    Tensor out = a.grad_output * ((a.self - a.target) / ((1 - a.self) * a.self).clamp_min(kSmallest));
    if (a.weight.defined()) out = out * a.weight;
    return a.reduction == Reduction::Mean ? out / static_cast<double>(a.self.numel()) : out;
  }
  static void samples(S& s) {
    s.add({s->real({}), s->real({3, 4}, 0.1, 0.9), s->real({3, 4}, 0, 1)});
    s.add({s->real({3, 4}), s->real({3, 4}, 0.1, 0.9), s->real({3, 4}, 0, 1), s->positive({4}), Reduction::None});
  }
};
ARGAND_OP(BinaryCrossEntropyBackward)

struct BinaryCrossEntropy : Composite<BinaryCrossEntropyArgs> {
  static constexpr auto schema =
      "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean) -> Tensor";
  static constexpr auto doc =
      "-weight (target log(self) + (1 - target) log(1 - self)) of probabilities self, with logarithms no lower than "
      "-100; the mean of all, the sum, or each. ValueError for a probability or a target outside [0, 1].";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(
        ValueError, !a.self.is_accelerator() || !autocast::is_autocast_enabled(a.self.device().type()),
        "binary_cross_entropy: unsafe under autocast on ", a.self.device().type(),
        ", because float16 cannot hold probabilities near 1 "
        "and the gradients near 0. binary_cross_entropy_with_logits takes what comes before the sigmoid and is "
        "safe; or call this with float32 tensors where autocast is disabled");
    check_reduction("binary_cross_entropy", a.reduction);
    // As in PyTorch, the op (nn::functional's form does not) takes a target whose dimensions of size 1 are others.
    const bool differ_in_ones =
        !(a.target.sizes() == a.self.sizes()) && a.target.squeeze().sizes() == a.self.squeeze().sizes();
    const Tensor target = differ_in_ones ? a.target.reshape(a.self.sizes()) : a.target;
    check_same_sizes("binary_cross_entropy", a.self, target);
    check_weight("binary_cross_entropy", "weight", a.self, a.weight);
    check_probabilities("binary_cross_entropy", "input", a.self);
    check_probabilities("binary_cross_entropy", "target", target);
    const Tensor terms = _binary_cross_entropy_terms(a.self, target);
    return reduce_loss(a.weight.defined() ? terms * a.weight : terms, a.reduction);
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}, 0.1, 0.9), s->real({3, 4}, 0.1, 0.9)});
    s.add({s->real({3, 4}, 0.1, 0.9), s->real({3, 4}, 0.1, 0.9), s->positive({4})});
    s.add({s->real({3, 4}, 0.1, 0.9), s->real({3, 4}, 0.1, 0.9), s->positive({3, 4}), Reduction::None});
    s.add({s->real({}, 0.1, 0.9), s->real({}, 0.1, 0.9), {}, Reduction::Sum});
    s.add({s->real({3, 1}, 0.1, 0.9), s->real({3}, 0.1, 0.9)});
    s.add({s->real({0, 2}), s->real({0, 2}), {}, Reduction::Sum});
    // At the ends PyTorch's gradient is a large number that stands for infinity.
    s.add_without_gradient({s->integer({8}, 0, 2).to(kDouble), s->integer({8}, 0, 2).to(kDouble), {}, Reduction::None});
    s.fails({s->real({3}, 1.5, 2), s->real({3}, 0, 1)},
            "binary_cross_entropy: all elements of input should be between 0 and 1, got ");
    s.fails({s->real({3}, 0, 1), s->real({3}, 1.5, 2)},
            "binary_cross_entropy: all elements of target should be between 0 and 1, got ");
    s.fails({s->real({3}, 0, 1), s->real({2}, 0, 1)},
            "binary_cross_entropy: target size [2] must be the same as input size [3]");
    s.fails({s->real({3}, 0, 1), s->real({3}, 0, 1), s->positive({2, 3})},
            "binary_cross_entropy: expected weight that broadcasts to input's size [3], got [2, 3]");
    s.fails({s->real({3}, 0, 1), s->real({3}, 0, 1), {}, 4}, "binary_cross_entropy: expected reduction 0 (none)");
  }
};
ARGAND_OP(BinaryCrossEntropy)
ARGAND_NODE(BinaryCrossEntropy)

struct BinaryCrossEntropyWithLogits : Composite<BinaryCrossEntropyWithLogitsArgs> {
  static constexpr auto schema =
      "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int "
      "reduction=Mean) -> Tensor";
  static constexpr auto doc =
      "-weight (pos_weight target log(sigmoid(self)) + (1 - target) log(1 - sigmoid(self))), without overflow; the "
      "mean "
      "of all, the sum, or each.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    constexpr const char* kOp = "binary_cross_entropy_with_logits";
    check_reduction(kOp, a.reduction);
    check_same_sizes(kOp, a.self, a.target);
    check_weight(kOp, "weight", a.self, a.weight);
    check_weight(kOp, "pos_weight", a.self, a.pos_weight);
    // log(1 - sigmoid(x)) = log(sigmoid(x)) - x
    const Tensor log_p = log_sigmoid(a.self), off = (1 - a.target) * a.self;
    const Tensor terms = a.pos_weight.defined() ? off - ((a.pos_weight - 1) * a.target + 1) * log_p : off - log_p;
    return reduce_loss(a.weight.defined() ? terms * a.weight : terms, a.reduction);
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}, -4, 4), s->real({3, 4}, 0, 1)});
    s.add({s->real({3, 4}, -4, 4), s->real({3, 4}, 0, 1), s->positive({4}), s->positive({3, 1}), Reduction::Sum});
    s.add({s->real({3, 4}, -4, 4), s->real({3, 4}, 0, 1), {}, s->positive({4}), Reduction::None});
    s.add({s->real({}, -4, 4), s->real({}, 0, 1)});
    s.add({s->real({4}, -900, 900), s->real({4}, 0, 1), {}, {}, Reduction::None});
    s.fails({s->real({3}), s->real({2})},
            "binary_cross_entropy_with_logits: target size [2] must be the same as input size [3]");
    s.fails({s->real({3}), s->real({3}), {}, s->positive({2, 3})},
            "binary_cross_entropy_with_logits: expected pos_weight that broadcasts to input's size [3], got [2, 3]");
  }
};
ARGAND_OP(BinaryCrossEntropyWithLogits)
ARGAND_NODE(BinaryCrossEntropyWithLogits)

}  // namespace argand::ops
