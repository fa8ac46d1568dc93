#include "argand/nn/modules/adaptive.h"

#include "argand/nn/modules/recorded_test.h"
#include "argand/ops/create/literal.h"

namespace argand::nn {
namespace {

AdaptiveLogSoftmaxWithLossOptions options() { return AdaptiveLogSoftmaxWithLossOptions(8, 7, {2, 4}).div_value(2); }

TEST(AdaptiveLogSoftmaxWithLoss, AsPyTorch) {
  using M = AdaptiveLogSoftmaxWithLoss;
  expect_as_recorded(
      "adaptive", [] { return M(options().head_bias(true)); },
      [](M& m, Recorded& in) { return std::vector<Tensor>{m(in["x"], in["targets"]).output}; });
  expect_as_recorded(
      "adaptive_log_prob", [] { return M(options()); },
      [](M& m, Recorded& in) {
        return std::vector<Tensor>{m->log_prob(in["x"]), m->predict(in["x"])};
      });
}

TEST(AdaptiveLogSoftmaxWithLoss, TheLossIsTheMean) {
  AdaptiveLogSoftmaxWithLoss m(options());
  const Tensor x = pattern({3, 8}).to(kFloat), target = tensor({6, 0, 3}, kLong);
  const ASMoutput out = m(x, target);
  EXPECT_NEAR(out.loss, -out.output.mean().item<double>(), 1e-6);
  EXPECT_NEAR(m(x[0], target[0]).output.item<double>(), out.output[0].item<double>(), 1e-6);
}

TEST(AdaptiveLogSoftmaxWithLoss, BadArguments) {
  EXPECT_ERROR(ValueError, "cutoffs should be a sequence of unique, positive integers sorted in an increasing order",
               AdaptiveLogSoftmaxWithLoss(8, 7, std::vector<int64_t>{4, 2}));
  EXPECT_ERROR(ValueError, "cutoffs should be a sequence of length larger than 0",
               AdaptiveLogSoftmaxWithLoss(8, 7, std::vector<int64_t>{}));
  AdaptiveLogSoftmaxWithLoss m(options());
  EXPECT_ERROR(IndexError, "Target values should be in [0, 6], but values in range [7, 7] were found.",
               m(zeros({1, 8}), tensor({7}, kLong)));
  EXPECT_ERROR(ShapeError, "Input and target should have the same size in the batch dimension, got 2 and 1",
               m(zeros({2, 8}), tensor({1}, kLong)));
}

}  // namespace
}  // namespace argand::nn
