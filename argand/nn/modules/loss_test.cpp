// Every loss module against PyTorch 2.15 (float64): the loss, summed, and its gradient for the first argument, as a sum
// weighted by pattern({4, 5}, 3, 5, 1, 0.5).
#include "argand/nn/modules/loss.h"

#include <gtest/gtest.h>

#include <sstream>

#include "argand/autograd/engine.h"
#include "argand/nn/functional/loss.h"
#include "argand/nn/modules/values_test.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::nn {
namespace {

class LossModules : public testing::Test {
 protected:
  template <class Loss, class... Rest>
  void check(Loss loss, const Tensor& first, const Rest&... rest, double expected, double gradient) {
    const Tensor in = first.clone().requires_grad_();
    const Tensor value = loss(in, rest...).sum();
    EXPECT_NEAR(value.item<double>(), expected, 1e-12) << loss;
    const Tensor g = autograd::grad({value}, {in})[0];
    EXPECT_NEAR((g * pattern({4, 5}, 3, 5, 1, 0.5)).sum().item<double>(), gradient, 1e-11) << loss;
  }
  template <class Loss>
  void two(Loss loss, const Tensor& input, const Tensor& target, double expected, double gradient) {
    check<Loss, Tensor>(loss, input, target, expected, gradient);
  }
  template <class Loss>
  void three(Loss loss, const Tensor& a, const Tensor& b, const Tensor& c, double expected, double gradient) {
    check<Loss, Tensor, Tensor>(loss, a, b, c, expected, gradient);
  }

  const Tensor x = pattern({4, 5}, 7, 11, -1.5, 0.25), y = pattern({4, 5}, 5, 7, -1, 0.3), p = x.sigmoid(),
               q = pattern({4, 5}, 3, 5, 0.1, 0.2), s = pattern({4, 5}, 1, 2, -1, 2), w = pattern({5}, 3, 7, 0.5, 0.25),
               s4 = pattern({4}, 1, 2, -1, 2), z = pattern({4, 5}, 3, 11, -1, 0.2);
  const Tensor t = tensor({1, 4, 0, 2}, kLong);
};

TEST_F(LossModules, Differences) {
  two(L1Loss(), x, y, 0.98, -0.5);
  two(L1Loss(kSum), x, y, 19.6, -10);
  two(L1Loss(L1LossOptions(kNone)), x, y, 19.6, -10);
  two(MSELoss(), x, y, 1.34175, -0.9);
  two(SmoothL1Loss(SmoothL1LossOptions().beta(0.4)), x, y, 0.79171875, -0.525);
  two(HuberLoss(HuberLossOptions().delta(0.6)), x, y, 0.4246875, -0.27);
}

TEST_F(LossModules, Classes) {
  two(NLLLoss(NLLLossOptions().weight(w).ignore_index(4)), x, t, -0.4166666666666667, -1.7666666666666666);
  two(CrossEntropyLoss(CrossEntropyLossOptions().weight(w).ignore_index(4).label_smoothing(0.2)), x, t,
      1.336517387470972, 0.2122407170544423);
  two(MultiMarginLoss(MultiMarginLossOptions().p(2).margin(0.8).weight(w)), x, t, 0.465875, 0.35375);
}

TEST_F(LossModules, AnyNumberOfClasses) {
  const Tensor labels = tensor({1, 3, -1, 0, 2, -1, 0, 1, 2, 3, 4, 4, 0, -1, 4, 2, 0, 3, 1, 4}, kLong).reshape({4, 5});
  two(MultiLabelMarginLoss(), x, labels, 0.1875, 0.05);
  two(MultiLabelMarginLoss(kNone), x, labels, 0.75, 0.2);
  const Tensor bits = pattern({4, 5}, 1, 2, 0, 1);
  two(MultiLabelSoftMarginLoss(MultiLabelSoftMarginLossOptions().weight(w)), x, bits, 1.0049387668563805,
      -0.09459078833314877);
  two(MultiLabelSoftMarginLoss(MultiLabelSoftMarginLossOptions().weight(w).reduction(kSum)), x, bits, 4.019755067425522,
      -0.37836315333259507);
}

TEST_F(LossModules, AtTheMarginTheGradientIsZero) {
  const Tensor scores = tensor({0.5, -0.5, -0.5}).requires_grad_();
  MultiLabelMarginLoss()(scores, tensor({0, -1, 0}, kLong)).backward();
  MultiMarginLoss()(scores, tensor(0, kLong)).backward();
  EXPECT_TRUE(scores.grad().equal(zeros_like(scores)));
}

// More pairs of label and class than are taken at a time.
TEST_F(LossModules, ManyClasses) {
  const Tensor scores = pattern({50, 700}, 389, 1009, -1, 0.002).requires_grad_();
  const Tensor labels = (arange(50 * 700, kLong) * 211).remainder(701).reshape({50, 700}) - 1;
  const Tensor value = MultiLabelMarginLoss()(scores, labels);
  EXPECT_NEAR(value.item<double>(), 24.34715874285715, 1e-9);
  value.backward();
  EXPECT_NEAR((scores.grad() * pattern({50, 700}, 3, 5, 1, 0.5)).sum().item<double>(), -0.9126, 1e-9);
}

TEST_F(LossModules, Distributions) {
  two(BCELoss(BCELossOptions().weight(w)), p, q, 1.0171262668563803, -1.7429052101639815);
  two(BCEWithLogitsLoss(BCEWithLogitsLossOptions().weight(w).pos_weight(w + 0.3)), x, q, 1.4126004748946053,
      -0.8234475499158509);
  two(KLDivLoss(), x, q, -0.13900417314526287, -1.2);
  two(KLDivLoss(kBatchMean), x, q, -0.6950208657263144, -6);
  two(KLDivLoss(KLDivLossOptions(kSum).log_target(true)), x, y, 14.365495201179181, -46.40701905250111);
  two(PoissonNLLLoss(PoissonNLLLossOptions().full(true)), x, pattern({4, 5}, 3, 5, 0.6, 0.7), 2.4039630195396713,
      -2.538460266165691);
  two(PoissonNLLLoss(PoissonNLLLossOptions().log_input(false)), p, q, 0.891588776724159, -1.3466283893367792);
  three(GaussianNLLLoss(GaussianNLLLossOptions().full(true).eps(0.2)), x, y, q, 1.848900626084447, -0.6823809523809523);
  three(GaussianNLLLoss(), x, y, q.select(1, 0), 5.557457453502976, -4.5);
}

TEST_F(LossModules, Margins) {
  two(SoftMarginLoss(), x, s, 0.7547710751092109, -0.10748201867174711);
  two(HingeEmbeddingLoss(HingeEmbeddingLossOptions().margin(0.7)), x, s, 0.4175, 0.225);
  three(MarginRankingLoss(MarginRankingLossOptions().margin(0.3)), x, y, s, 0.6225, -0.25);
  three(CosineEmbeddingLoss(CosineEmbeddingLossOptions().margin(-0.2)), x, y, s4, 0.8378344719367112,
        0.039573007178747246);
  three(TripletMarginLoss(TripletMarginLossOptions().margin(0.5).p(3).swap(true)), x, y, z, 1.2830282567432434,
        1.0615400238119441);
  three(TripletMarginWithDistanceLoss(TripletMarginWithDistanceLossOptions().swap(true)), x, y, z, 1.8766970827652785,
        0.6148689152480183);
  const auto city_block = [](const Tensor& a, const Tensor& b) { return (a - b).abs().sum(-1); };
  three(TripletMarginWithDistanceLoss(TripletMarginWithDistanceLossOptions().distance_function(city_block).margin(2.0)),
        x, y, z, 3.425, -1.5);
}

TEST_F(LossModules, Print) {
  std::ostringstream out;
  out << TripletMarginLoss() << HingeEmbeddingLoss() << CrossEntropyLoss();
  EXPECT_EQ(out.str(),
            "torch::nn::TripletMarginLoss(margin=1, p=2, eps=1e-06, swap=false)torch::nn::HingeEmbeddingLoss(margin=1)"
            "torch::nn::CrossEntropyLoss()");
}

TEST_F(LossModules, WeightsAreBuffersOfTheirModule) {
  CrossEntropyLoss loss(CrossEntropyLossOptions().weight(w));
  ASSERT_EQ(loss->buffers().size(), 1u);
  loss->to(kFloat);
  EXPECT_EQ(loss(x.to(kFloat), t).dtype(), kFloat);
  const auto copy = std::dynamic_pointer_cast<CrossEntropyLossImpl>(loss->clone());
  copy->weight.fill_(0);
  EXPECT_NE(loss->weight.sum().item<double>(), 0);
  EXPECT_NE(w.sum().item<double>(), 0);
  EXPECT_TRUE(CrossEntropyLoss()->buffers().empty());
}

TEST_F(LossModules, ClassWeightsCannotRequireGrad) {
  const Tensor learned = w.clone().requires_grad_();
  EXPECT_THROW(functional::cross_entropy(x, t, functional::CrossEntropyFuncOptions().weight(learned)), GradError);
  EXPECT_THROW(functional::nll_loss(x, t, functional::NLLLossFuncOptions().weight(learned)), GradError);
  const NoGradGuard no_grad;
  EXPECT_NO_THROW(functional::nll_loss(x, t, functional::NLLLossFuncOptions().weight(learned)));
}

TEST_F(LossModules, BadArguments) {
  const auto message = [](auto call) -> std::string {
    try {
      call();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_NE(message([&] { GaussianNLLLoss()(x, y, q.narrow(1, 0, 2)); }).find("expected [4, 5] or [4, 1], got [4, 2]"),
            std::string::npos);
  EXPECT_NE(message([&] { GaussianNLLLoss()(x, y, q - 1); }).find("var has negative"), std::string::npos);
  EXPECT_NE(message([&] { BCELoss()(x, q); }).find("should be between 0 and 1, got"), std::string::npos);
}

}  // namespace
}  // namespace argand::nn
