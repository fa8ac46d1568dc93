// Recurrent layers on a GPU in every form their kernels take (blocks that take sequences through all steps, a step as
// one kernel, a product and a kernel a step) against the CPU in float64, with gradients; and the same bits again.
#include <cmath>

#include "argand/base/str.h"
#include "argand/core/cpu_generator.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

class CudaRecurrence : public ComputingCudaTest {};

struct Case {
  int64_t hidden, batch, steps;
};

// Outputs and the gradients of all that has one.
std::vector<Tensor> run(const std::string& kind, const std::vector<Tensor>& operands, bool bidirectional) {
  std::vector<Tensor> leaves;
  for (const Tensor& t : operands) leaves.push_back(t.detach().requires_grad_());
  const Tensor &x = leaves[0], &h = leaves[1], &c = leaves[2];
  const std::vector<Tensor> weights(leaves.begin() + 3, leaves.end());
  std::vector<Tensor> out;
  if (kind == "lstm") {
    const auto [y, last_h, last_c] = lstm(x, {h, c}, weights, true, 1, 0, true, bidirectional, false);
    out = {y, last_h, last_c};
  } else {
    const auto [y, last_h] = kind == "gru" ? gru(x, h, weights, true, 1, 0, true, bidirectional, false)
                                           : rnn_tanh(x, h, weights, true, 1, 0, true, bidirectional, false);
    out = {y, last_h};
  }
  Tensor loss = (out[0] * out[0].detach().cos()).sum();
  for (size_t i = 1; i < out.size(); ++i) loss = loss + (out[i] * out[i].detach().sin()).sum();
  loss.backward();
  for (const Tensor& t : leaves)
    if (t.grad().defined()) out.push_back(t.grad());
  return out;
}

TEST_F(CudaRecurrence, LikeTheCpu) {
  const Case cases[] = {
      {48, 3, 5},     // blocks
      {576, 40, 4},   // a step is one kernel
      {576, 16, 1},   // the only step
      {1024, 7, 3},   // rows that are not there
      {576, 300, 3},  // too many blocks: products
      {520, 5, 3},    // no multiple of 16
  };
  for (const char* kind : {"tanh", "gru", "lstm"})
    for (const Case& c : cases)
      for (const ScalarType type : {kFloat, kDouble, kBFloat16})
        for (const bool both : {false, true}) {
          if (both && c.hidden > 576) continue;
          const int64_t gates = kind == std::string("lstm")  ? 4
                                : kind == std::string("gru") ? 3
                                                             : 1,
                        input = 24, directions = both ? 2 : 1;
          manual_seed(7);
          std::vector<Tensor> operands = {randn({c.steps, c.batch, input}), randn({directions, c.batch, c.hidden}),
                                          randn({directions, c.batch, c.hidden})};
          for (int64_t d = 0; d < directions; ++d)
            for (const Dims& shape : {Dims{gates * c.hidden, input}, Dims{gates * c.hidden, c.hidden},
                                      Dims{gates * c.hidden}, Dims{gates * c.hidden}})
              operands.push_back(randn(shape) * (shape.size() == 2 ? 1.5 / std::sqrt(double(shape[1])) : 0.1));
          std::vector<Tensor> exact, there;
          for (const Tensor& t : operands) {
            exact.push_back(t.to(type).to(kDouble));
            there.push_back(t.to(type).to(kCUDA));
          }
          const std::vector<Tensor> expected = run(kind, exact, both), got = run(kind, there, both),
                                    again = run(kind, there, both);
          const std::string what =
              str(kind, " ", c.hidden, " x ", c.batch, " x ", c.steps, " ", type, both ? " both" : "");
          ASSERT_EQ(got.size(), expected.size()) << what;
          const double tolerance = type == kDouble ? 1e-12 : type == kFloat ? 4e-6 : 3e-2;
          for (size_t i = 0; i < got.size(); ++i) {
            const Tensor difference = (got[i].cpu().to(kDouble) - expected[i]).abs();
            EXPECT_LE(difference.max().item<double>(), tolerance * expected[i].abs().max().item<double>())
                << what << ", result " << i;
            EXPECT_TRUE(equal(got[i], again[i])) << what << ", result " << i;
          }
        }
}

}  // namespace
}  // namespace argand
