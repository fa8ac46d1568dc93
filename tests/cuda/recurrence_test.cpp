// Recurrent layers on a GPU in every form their kernels take (blocks that take sequences through all steps, a step as
// one kernel, a product and a kernel a step) against the CPU in float64, with gradients; and the same bits again.
#include <cmath>

#include "argand/base/str.h"
#include "argand/core/cpu_generator.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

class CudaRecurrence : public ComputingCudaTest {};

struct Case {
  int64_t hidden, batch, steps;
};

// Outputs and the gradients of all that has one; of packed rows if there are batch_sizes.
std::vector<Tensor> run(const std::string& kind, const std::vector<Tensor>& operands, bool bidirectional,
                        const Tensor& batch_sizes = {}) {
  std::vector<Tensor> leaves;
  for (const Tensor& t : operands) leaves.push_back(t.detach().requires_grad_());
  const Tensor &x = leaves[0], &h = leaves[1], &c = leaves[2];
  const std::vector<Tensor> weights(leaves.begin() + 3, leaves.end());
  std::vector<Tensor> out;
  if (kind == "lstm") {
    const auto [y, last_h, last_c] = batch_sizes.defined()
                                         ? lstm(x, batch_sizes, {h, c}, weights, true, 1, 0, true, bidirectional)
                                         : lstm(x, {h, c}, weights, true, 1, 0, true, bidirectional, false);
    out = {y, last_h, last_c};
  } else {
    const auto layer = [&](auto f) {
      return batch_sizes.defined() ? f(x, batch_sizes, h, weights, true, 1, 0, true, bidirectional)
                                   : f(x, h, weights, true, 1, 0, true, bidirectional, false);
    };
    const auto call = [&](auto... args) {
      return kind == "gru" ? gru(args...) : kind == "relu" ? rnn_relu(args...) : rnn_tanh(args...);
    };
    const auto [y, last_h] = layer(call);
    out = {y, last_h};
  }
  Tensor loss = (out[0] * out[0].detach().cos()).sum();
  for (size_t i = 1; i < out.size(); ++i) loss = loss + (out[i] * out[i].detach().sin()).sum();
  loss.backward();
  for (const Tensor& t : leaves)
    if (t.grad().defined()) out.push_back(t.grad());
  return out;
}

constexpr int64_t kInput = 24;

// The input, the states before, and the parameters of each direction.
std::vector<Tensor> operands_of(const std::string& kind, const Dims& input, int64_t batch, int64_t hidden,
                                int64_t directions) {
  const int64_t gates = kind == "lstm" ? 4 : kind == "gru" ? 3 : 1;
  std::vector<Tensor> out = {randn(input), randn({directions, batch, hidden}), randn({directions, batch, hidden})};
  for (int64_t d = 0; d < directions; ++d)
    for (const Dims& shape :
         {Dims{gates * hidden, kInput}, Dims{gates * hidden, hidden}, Dims{gates * hidden}, Dims{gates * hidden}})
      out.push_back(randn(shape) * (shape.size() == 2 ? 1.5 / std::sqrt(double(shape[1])) : 0.1));
  return out;
}

// f's results on the GPU, from operands rounded to `type`, are near those on the CPU in float64, and the same twice.
template <class F>
void compare(const std::string& what, const std::vector<Tensor>& operands, ScalarType type, F f) {
  std::vector<Tensor> exact, there;
  for (const Tensor& t : operands) {
    exact.push_back(t.to(type).to(kDouble));
    there.push_back(t.to(type).to(kCUDA));
  }
  const std::vector<Tensor> expected = f(exact), got = f(there), again = f(there);
  ASSERT_EQ(got.size(), expected.size()) << what;
  const double tolerance = type == kDouble ? 1e-12 : type == kFloat ? 4e-6 : 3e-2;
  for (size_t i = 0; i < got.size(); ++i) {
    const Tensor difference = (got[i].cpu().to(kDouble) - expected[i]).abs();
    EXPECT_LE(difference.max().item<double>(), tolerance * expected[i].abs().max().item<double>())
        << what << ", result " << i;
    EXPECT_TRUE(equal(got[i], again[i])) << what << ", result " << i;
  }
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
          manual_seed(7);
          const std::vector<Tensor> operands =
              operands_of(kind, {c.steps, c.batch, kInput}, c.batch, c.hidden, both ? 2 : 1);
          const std::string what =
              str(kind, " ", c.hidden, " x ", c.batch, " x ", c.steps, " ", type, both ? " both" : "");
          compare(what, operands, type, [&](const std::vector<Tensor>& given) { return run(kind, given, both); });
        }
}

// Sequences of several lengths: filled up, if that does not make them many times as long, or step by step.
TEST_F(CudaRecurrence, PackedLikeTheCpu) {
  const Dims all_sizes[] = {{5, 5, 3, 2, 2, 1}, {3, 1, 1, 1, 1}, {16, 1, 1, 1, 1, 1}};
  for (const char* kind : {"tanh", "relu", "gru", "lstm"})
    for (const Dims& sizes : all_sizes)
      for (const int64_t hidden : {48, 576})
        for (const ScalarType type : {kFloat, kDouble, kBFloat16})
          for (const bool both : {false, true}) {
            if (kind == std::string("relu") && type == kBFloat16) continue;  // rounding decides what is above 0
            manual_seed(7);
            int64_t rows = 0;
            for (const int64_t n : sizes) rows += n;
            const std::vector<Tensor> operands = operands_of(kind, {rows, kInput}, sizes[0], hidden, both ? 2 : 1);
            const std::string what = str("packed ", kind, " ", hidden, " x ", sizes, " ", type, both ? " both" : "");
            compare(what, operands, type, [&](const std::vector<Tensor>& given) {
              return run(kind, given, both, tensor(std::vector<int64_t>(sizes.begin(), sizes.end())));
            });
          }
}

}  // namespace
}  // namespace argand
