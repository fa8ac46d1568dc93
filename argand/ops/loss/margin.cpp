// Losses with a margin: soft_margin_loss, hinge_embedding_loss, margin_ranking_loss, cosine_embedding_loss,
// triplet_margin_loss, multi_margin_loss.
#include "argand/ops/define.h"
#include "argand/ops/loss/args.h"
#include "argand/ops/loss/target.h"
#include "argand/ops/node_name.h"

namespace argand::ops {
namespace {

// Differences of unsigned numbers would wrap.
constexpr DtypeSet kSigned = kAllTypes & ~kBoolType & ~dtype_bit(kByte);

// Samples: 0 and 1 as -1 and 1.
Tensor signs(const Tensor& bits) { return bits * 2 - 1; }

}  // namespace

struct SoftMarginLoss : Composite<SoftMarginLossArgs> {
  static constexpr auto schema = "soft_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor";
  static constexpr auto doc =
      "log(1 + exp(-target self)) for targets of -1 and 1, without overflow; the mean of all, the sum, or each.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    check_reduction("soft_margin_loss", a.reduction);
    return reduce_loss(-log_sigmoid(a.target * a.self), a.reduction);
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), signs(s->integer({3, 4}, 0, 2))});
    s.add({s->real({3, 4}), s->real({3, 4}), Reduction::None});
    s.fails({s->real({3}), s->real({2})}, "shapes [2] and [3] do not broadcast");
    s.fails({s->real({3}), s->real({3}), 3}, "soft_margin_loss: expected reduction 0 (none), 1 (mean) or 2 (sum)");
  }
};
ARGAND_OP(SoftMarginLoss)
ARGAND_NODE(SoftMarginLoss)

struct HingeEmbeddingLoss : Composite<HingeEmbeddingLossArgs> {
  static constexpr auto schema =
      "hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=Mean) -> Tensor";
  static constexpr auto doc =
      "self where target is 1, max(margin - self, 0) where it is -1; the mean of all, the sum, or each.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    check_reduction("hinge_embedding_loss", a.reduction);
    const Tensor far = (a.margin - a.self).clamp_min(0);
    return reduce_loss(where(a.target != 1, far, 0) + where(a.target != -1, a.self, 0), a.reduction);
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), signs(s->integer({3, 4}, 0, 2)), 0.7});
    s.add({s->real({3, 4}), signs(s->integer({4}, 0, 2)), 0.7, Reduction::None});
    s.fails({s->real({3}), s->real({2})}, "shapes [2] and [3] do not broadcast");
    s.fails({s->real({3}), s->real({3}), 1.0, 3}, "hinge_embedding_loss: expected reduction 0 (none)");
  }
};
ARGAND_OP(HingeEmbeddingLoss)

struct MarginRankingLoss : Composite<MarginRankingLossArgs> {
  static constexpr auto schema =
      "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=Mean) -> "
      "Tensor";
  static constexpr auto doc =
      "max(margin - target (input1 - input2), 0) for targets of -1 and 1; the mean of all, the sum, or each.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kSigned;
  static Tensor compose(const Args& a) {
    check_reduction("margin_ranking_loss", a.reduction);
    return reduce_loss((-a.target * (a.input1 - a.input2) + a.margin).clamp_min(0), a.reduction);
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), s->real({3, 4}), signs(s->integer({3, 4}, 0, 2)), 0.3});
    s.add({s->real({6}, -2, 0), s->real({6}, 0.2, 0.7), signs(s->integer({6}, 0, 2)), 0.0, Reduction::None});
    s.fails({s->real({3}), s->real({2}), s->real({3})}, "shapes [3] and [2] do not broadcast");
    s.fails({s->real({3}), s->real({3}), s->real({3}), 0.0, 3}, "margin_ranking_loss: expected reduction 0 (none)");
  }
};
ARGAND_OP(MarginRankingLoss)

struct CosineEmbeddingLoss : Composite<CosineEmbeddingLossArgs> {
  static constexpr auto schema =
      "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=Mean) -> "
      "Tensor";
  static constexpr auto doc =
      "With the cosine of the angle between rows of input1 and input2: 1 - cosine where target is 1, max(cosine - "
      "margin, 0) where it is -1. Inputs [N, D] and target [N], or [D] and one number. The mean of all, the sum, or "
      "each.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    constexpr double kSmallest = 1e-12;  // PyTorch's; keeps a zero row from dividing by zero
    check_reduction("cosine_embedding_loss", a.reduction);
    ARGAND_CHECK(ShapeError, a.target.dim() <= 1,
                 "cosine_embedding_loss: 0D or 1D target tensor expected, multi-target not supported; got ",
                 a.target.sizes());
    const int64_t dim = a.target.dim() + 1;
    ARGAND_CHECK(ShapeError, a.input1.dim() == dim && a.input2.dim() == dim, "cosine_embedding_loss: ", dim - 1,
                 "D target tensor expects ", dim, "D input tensors, but found inputs with sizes ", a.input1.sizes(),
                 " and ", a.input2.sizes());
    const Tensor norms = (a.input1.square().sum(-1) + kSmallest) * (a.input2.square().sum(-1) + kSmallest);
    const Tensor cosine = (a.input1 * a.input2).sum(-1) / norms.sqrt();
    const Tensor far = (cosine - a.margin).clamp_min(0);
    return reduce_loss(where(a.target == 1, 1 - cosine, 0) + where(a.target == -1, far, 0), a.reduction);
  }
  static void samples(S& s) {
    s.add({s->real({5, 4}), s->real({5, 4}), signs(s->integer({5}, 0, 2)), 0.1});
    s.add({s->real({4}), s->real({4}), signs(s->integer({}, 0, 2)), -0.2, Reduction::None});
    s.fails({s->real({3, 2}), s->real({3, 2}), s->real({3, 2})},
            "cosine_embedding_loss: 0D or 1D target tensor expected, multi-target not supported; got [3, 2]");
    s.fails(
        {s->real({3}), s->real({3}), s->real({3})},
        "cosine_embedding_loss: 1D target tensor expects 2D input tensors, but found inputs with sizes [3] and [3]");
  }
};
ARGAND_OP(CosineEmbeddingLoss)

struct TripletMarginLoss : Composite<TripletMarginLossArgs> {
  static constexpr auto schema =
      "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, float "
      "eps=1e-06, bool swap=False, int reduction=Mean) -> Tensor";
  static constexpr auto doc =
      "max(margin + |anchor - positive| - |anchor - negative|, 0) in the p-norm of the last dimension, of differences "
      "to which eps is added; with swap, |positive - negative| counts where it is smaller than the last. The mean of "
      "all, the sum, or each.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kSigned;
  static Tensor compose(const Args& a) {
    check_reduction("triplet_margin_loss", a.reduction);
    ARGAND_CHECK(ShapeError, a.anchor.dim() == a.positive.dim() && a.anchor.dim() == a.negative.dim(),
                 "triplet_margin_loss: The anchor, positive, and negative tensors are expected to have the same number "
                 "of dimensions, but got: anchor ",
                 a.anchor.dim(), "D, positive ", a.positive.dim(), "D, and negative ", a.negative.dim(), "D inputs");
    ARGAND_CHECK(ValueError, a.p > 0, "triplet_margin_loss: expected p > 0, got ", a.p);
    const Tensor near = pairwise_distance(a.anchor, a.positive, a.p, a.eps);
    Tensor far = pairwise_distance(a.anchor, a.negative, a.p, a.eps);
    if (a.swap) far = minimum(far, pairwise_distance(a.positive, a.negative, a.p, a.eps));
    return reduce_loss((a.margin + near - far).clamp_min(0), a.reduction);
  }
  static void samples(S& s) {
    s.add({s->real({5, 4}), s->real({5, 4}), s->real({5, 4})});
    s.add({s->real({5, 4}), s->real({5, 4}), s->real({5, 4}), 0.5, 2.0, 1e-6, true, Reduction::None});
    s.add({s->real({5, 4}), s->real({5, 4}), s->real({5, 4}), 0.5, 3.0, 1e-6, false, Reduction::Sum});
    s.add({s->real({4}), s->real({4}), s->real({4}), 3.1, 1.0});
    s.fails({s->real({3, 2}), s->real({3}), s->real({3, 2})},
            "triplet_margin_loss: The anchor, positive, and negative tensors are expected to have the same number");
  }
};
ARGAND_OP(TripletMarginLoss)

struct MultiMarginLoss : Composite<MultiMarginLossArgs> {
  static constexpr auto schema =
      "multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int "
      "reduction=Mean) -> Tensor";
  static constexpr auto doc =
      "For each row of self ([N, C], or one row [C]) the sum over the classes c other than target of weight[target] "
      "max(margin - self[target] + self[c], 0)^p / C, with p 1 or 2; the mean of all, the sum, or each.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    check_reduction("multi_margin_loss", a.reduction);
    ARGAND_CHECK(ShapeError, a.self.dim() <= 2 && (a.self.dim() == 0 || a.self.sizes().back() > 0),
                 "multi_margin_loss: Expected non-empty vector or matrix with optional 0-dim batch size, but got: ",
                 a.self.sizes());
    check_class_targets("multi_margin_loss", a.self, a.target, a.weight);
    const double p = a.p.to<double>();
    ARGAND_CHECK(ValueError, p == 1 || p == 2, "multi_margin_loss: only p == 1 and p == 2 are supported, got ", p);
    const int64_t classes = a.self.sizes().back();
    const Tensor x = a.self.reshape({-1, classes}), target = a.target.to(kLong).reshape({-1, 1});
    const Tensor short_of = (x - x.gather(1, target) + a.margin).relu().scatter(1, target, 0);
    Tensor losses = (p == 2 ? short_of.square() : short_of).sum(1) / static_cast<double>(classes);
    if (a.weight.defined()) losses = losses * a.weight.take(target.squeeze(1));
    return reduce_loss(losses.reshape(a.target.sizes()), a.reduction);
  }
  static void samples(S& s) {
    s.add({s->real({4, 5}), s->integer({4}, 0, 5)});
    s.add({s->real({4, 5}), s->integer({4}, 0, 5), 2, 0.8, s->positive({5}), Reduction::None});
    s.add({s->real({5}), s->integer({}, 0, 5), 1, 0.7, {}, Reduction::Sum});
    s.fails({s->real({4, 5}), s->integer({4}, 0, 5), 3},
            "multi_margin_loss: only p == 1 and p == 2 are supported, got 3");
    s.fails(
        {s->real({4, 5, 6}), s->integer({4, 6}, 0, 5)},
        "multi_margin_loss: Expected non-empty vector or matrix with optional 0-dim batch size, but got: [4, 5, 6]");
    s.fails({s->real({4, 5}), s->integer({4}, 7, 8)}, "gather: index 7 is out of bounds for dimension 1 with size 5");
  }
};
ARGAND_OP(MultiMarginLoss)
ARGAND_NODE(MultiMarginLoss)

}  // namespace argand::ops
