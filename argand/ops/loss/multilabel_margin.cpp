// multilabel_margin_loss: penalises labels that are not above all other classes by a margin of 1.
#include <algorithm>

#include "argand/ops/create/literal.h"
#include "argand/ops/define.h"
#include "argand/ops/loss/args.h"
#include "argand/ops/loss/target.h"

namespace argand::ops {
namespace {

constexpr int64_t kEnd = -1;  // the end of a row's labels

// All [N, C].
struct Rows {
  Tensor scores;
  Tensor labels;    // 0 where there is none
  Tensor given;     // positions before the row's first kEnd
  Tensor is_label;  // classes among the labels
};

Rows rows_of(const Tensor& self, const Tensor& target) {
  const int64_t classes = self.dim() == 0 ? 1 : self.sizes().back();
  const Tensor t = class_indices("multilabel_margin_loss", target, classes, kEnd).reshape({-1, classes});
  const Tensor given = (t == kEnd).cumsum(1) == 0, labels = where(given, t, 0);
  const Tensor is_label = zeros_like(t).scatter_add(1, labels, given.to(kLong)) != 0;
  return {self.detach().to(op_math_type(self.dtype())).reshape({-1, classes}), labels, given, is_label};
}

// Calls visit(J labels of each row [N, J], how far they are from being 1 above each other class [N, J, C]) for a few
// labels at a time, because all pairs together may exceed the memory.
template <class F>
void for_each_shortfall(const Rows& r, F visit) {
  constexpr int64_t kAtOnce = int64_t{1} << 22;  // elements
  const int64_t classes = r.scores.size(1);
  const int64_t step = std::clamp<int64_t>(kAtOnce / std::max<int64_t>(1, r.scores.numel()), 1, classes);
  const Tensor of_labels = r.scores.gather(1, r.labels), others = r.is_label.logical_not().unsqueeze(1);
  for (int64_t first = 0; first < classes; first += step) {
    const auto part = [&](const Tensor& t) { return t.narrow(1, first, std::min(step, classes - first)); };
    const Tensor lacking = (1 - part(of_labels).unsqueeze(2) + r.scores.unsqueeze(1)).relu();
    visit(part(r.labels), where(part(r.given).unsqueeze(2).logical_and(others), lacking, 0));
  }
}

}  // namespace

struct MultilabelMarginLoss : Kernel<MultilabelMarginLossArgs> {
  static constexpr auto schema = "multilabel_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor";
  static constexpr auto doc =
      "For each row of self ([N, C], or one row [C]) the sum over its labels j and the classes c that are none of "
      "max(1 - self[j] + self[c], 0) / C; the mean of all, the sum, or each. A row of target (int64, of self's shape) "
      "holds labels up to its first -1.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    check_reduction("multilabel_margin_loss", a.reduction);
    const IntArrayRef sizes = a.self.sizes();
    ARGAND_CHECK(
        ShapeError, a.self.dim() <= 2 && (a.self.dim() == 0 || sizes.back() > 0),
        "multilabel_margin_loss: Expected non-empty vector or matrix with optional 0-dim batch size, but got: ", sizes);
    const bool one_row = a.self.dim() <= 1 && a.target.dim() <= 1 && a.target.numel() == a.self.numel();
    ARGAND_CHECK(ShapeError, one_row || a.target.sizes() == sizes,
                 "multilabel_margin_loss: inconsistent target size: ", a.target.sizes(), " for input of size: ", sizes);
    ARGAND_CHECK(DtypeError, a.target.dtype() == kLong, "multilabel_margin_loss: expected target of dtype int64, got ",
                 a.target.dtype());
    const bool each = a.reduction == Reduction::None && a.self.dim() == 2;
    return {each ? Dims{sizes[0]} : Dims{}, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const Rows rows = rows_of(a.self, a.target);
    Tensor losses = zeros({rows.scores.size(0)}, rows.scores.options());
    for_each_shortfall(rows, [&](const Tensor&, const Tensor& lacking) { losses = losses + lacking.sum({1, 2}); });
    losses = losses / static_cast<double>(rows.scores.size(1));
    exec::copy_elements(out, reduce_loss(losses, a.reduction).reshape(out.sizes()));
  }
  // At the kink 0, as in PyTorch.
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Rows rows = rows_of(c.self, c.target);
    Tensor slopes = zeros_like(rows.scores);
    for_each_shortfall(rows, [&](const Tensor& labels, const Tensor& lacking) {
      const Tensor counts = lacking > 0;
      slopes = (slopes + counts.sum(1)).scatter_add(1, labels, -counts.sum(2).to(slopes.scalar_type()));
    });
    const int64_t rows_in_mean = c.reduction == Reduction::Mean ? rows.scores.size(0) : 1;
    const Tensor slope = slopes / static_cast<double>(rows.scores.size(1) * std::max<int64_t>(1, rows_in_mean));
    return slope.reshape(c.self.sizes()) * (g.dim() == 1 ? g.unsqueeze(1) : g);
  }
  static void samples(S& s) {
    s.add({s->real({4, 5}), s->integer({4, 5}, -1, 5)});
    s.add({s->real({3, 6}), s->integer({3, 6}, 0, 6), Reduction::None});
    s.add({s->real({6}), tensor({4, 0, 4, -1, 2, 3}, kLong), Reduction::Sum});  // a label twice, and some after the end
    s.add({s->real({2, 3}), full({2, 3}, -1, kLong)});
    s.add({s->real({}), zeros({}, kLong)});
    s.add({s->real({0, 3}), zeros({0, 3}, kLong), Reduction::None});
    s.fails({s->real({2, 3}), s->integer({3}, 0, 3)},
            "multilabel_margin_loss: inconsistent target size: [3] for input of size: [2, 3]");
    s.fails({s->real({2, 3, 4}), s->integer({2, 3, 4}, 0, 3)},
            "multilabel_margin_loss: Expected non-empty vector or matrix with optional 0-dim batch size, but got: [2, "
            "3, 4]");
    s.fails({s->real({2, 0}), zeros({2, 0}, kLong)}, "multilabel_margin_loss: Expected non-empty vector or matrix");
    s.fails({s->real({2, 3}), s->integer({2, 3}, 0, 3).to(kInt)},
            "multilabel_margin_loss: expected target of dtype int64, got int32");
    s.fails({s->real({2, 3}), full({2, 3}, 3, kLong)}, "multilabel_margin_loss: Target 3 is out of bounds");
    s.fails({s->real({2, 3}), full({2, 3}, -2, kLong)}, "multilabel_margin_loss: Target -2 is out of bounds");
    s.fails({s->real({3}), zeros({3}, kLong), 3}, "multilabel_margin_loss: expected reduction 0 (none)");
  }
};
ARGAND_OP(MultilabelMarginLoss)

}  // namespace argand::ops
