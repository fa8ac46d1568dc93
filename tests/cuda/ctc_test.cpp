// ctc_loss in every form its kernels take (more states than a block has threads, rows read ahead in several pieces,
// repeated labels, labels that are the blank, sequences without steps or labels) against the CPU in float64.
#include <limits>

#include "argand/base/str.h"
#include "argand/core/cpu_generator.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

class CudaCtc : public ComputingCudaTest {
 protected:
  void SetUp() override {
    ComputingCudaTest::SetUp();
    manual_seed(7);
  }
};

struct Case {
  int64_t steps, classes, most;  // most labels
  Dims lengths, counts;
  int64_t blank;
  bool zero_infinity;
};

// Losses and gradients of the scores.
std::vector<Tensor> run(const Case& c, const Tensor& scores, const Tensor& targets, const Tensor& weights) {
  const Tensor x = scores.detach().requires_grad_();
  const Tensor loss =
      ctc_loss(log_softmax(x, 2), targets, c.lengths, c.counts, c.blank, Reduction::None, c.zero_infinity);
  (loss * weights).sum().backward();
  return {loss.detach(), x.grad()};
}

void expect_near(const std::string& what, const Tensor& got, const Tensor& expected, double tolerance) {
  const Tensor a = got.cpu().to(kDouble), b = expected.to(kDouble);
  EXPECT_TRUE(equal(a.isinf(), b.isinf())) << what;
  EXPECT_TRUE(equal(a.isnan(), b.isnan())) << what;
  const Tensor finite = b.isfinite();
  const double scale = where(finite, b, 0).abs().max().item<double>(),
               error = where(finite, a - b, 0).abs().max().item<double>();
  EXPECT_LE(error, tolerance * (scale + 1)) << what;
}

TEST_F(CudaCtc, LikeTheCpu) {
  const Case cases[] = {
      {50, 20, 9, {50, 50, 31, 17, 1}, {9, 4, 9, 0, 1}, 0, false},
      {40, 3, 15, {40, 40, 39}, {15, 12, 1}, 2, false},     // labels repeat; some are the blank
      {12, 30, 14, {12, 3, 0, 0}, {5, 14, 0, 2}, 4, true},  // no path fits the second and the last
      {12, 30, 14, {12, 3, 0, 0}, {5, 14, 0, 2}, 4, false},
      {700, 40, 640, {700, 655}, {640, 600}, 0, false},  // more states than threads
      {2, 5000, 1, {2, 2}, {1, 1}, 0, false},
  };
  int number = 0;
  for (const Case& c : cases) {
    const auto batch = static_cast<int64_t>(c.lengths.size());
    const Tensor scores = randn({c.steps, batch, c.classes}, kDouble),
                 padded = randint(0, c.classes, {batch, c.most}, kLong), weights = rand({batch}, kDouble);
    std::vector<Tensor> parts;
    for (int64_t n = 0; n < batch; ++n)
      parts.push_back(padded.select(0, n).narrow(0, 0, c.counts[static_cast<size_t>(n)]));
    for (const Tensor& targets : {padded, cat(parts, 0)}) {
      const std::vector<Tensor> expected = run(c, scores, targets, weights);
      for (const ScalarType type : {kFloat, kDouble}) {
        // Rounding adds up over the steps.
        const double tolerance = type == kDouble ? 1e-10 : 1e-5 * static_cast<double>(c.steps + 2);
        const std::string what = str("case ", number, " ", type, " targets ", targets.sizes());
        const auto got = run(c, scores.to(type).cuda(), targets.cuda(), weights.to(type).cuda());
        expect_near(what + " losses", got[0], expected[0], tolerance);
        expect_near(what + " gradients", got[1], expected[1], tolerance);
        const auto again = run(c, scores.to(type).cuda(), targets.to(kInt), weights.to(type).cuda());
        const auto bits = [](const Tensor& t) { return t.cpu().view(t.dtype() == kDouble ? kLong : kInt); };
        EXPECT_TRUE(equal(bits(again[0]), bits(got[0]))) << what;
        EXPECT_TRUE(equal(bits(again[1]), bits(got[1]))) << what;
      }
    }
    ++number;
  }
}

TEST_F(CudaCtc, NamesALabelThatIsNoClass) {
  const Tensor probs = log_softmax(randn({4, 1, 3}), 2).cuda(), targets = full({1, 2}, 7, kLong).cuda();
  const std::string message =
      message_of<IndexError>([&] { ctc_loss(probs, targets, Dims{4}, Dims{2}).item<double>(); });
  EXPECT_EQ(message, "ctc_loss: index 7 is out of bounds for dimension 0 with size 3");
}

}  // namespace
}  // namespace argand
