#include "argand/nn/modules/loss.h"
#include "argand/nn/modules/recorded_test.h"
#include "argand/ops/create/literal.h"

namespace argand::nn {
namespace {

TEST(CTCLoss, AsPyTorch) {
  expect_as_recorded(
      "ctc_loss", [] { return CTCLoss(CTCLossOptions().blank(1)); },
      [](CTCLoss& m, Recorded& in) {
        return std::vector<Tensor>{
            m(in["x"].log_softmax(2), in["targets"], tensor({5, 4}, kLong), tensor({3, 1}, kLong))};
      });
  expect_as_recorded(
      "ctc_loss_zero_infinity", [] { return CTCLoss(CTCLossOptions().reduction(kNone).zero_infinity(true)); },
      [](CTCLoss& m, Recorded& in) {
        return std::vector<Tensor>{
            m(in["x"].log_softmax(2), in["targets"], tensor({2, 3}, kLong), tensor({2, 2}, kLong))};
      });
  EXPECT_EQ(printed(*CTCLoss()), "torch::nn::CTCLoss()");
}

}  // namespace
}  // namespace argand::nn
