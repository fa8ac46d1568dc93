// Convolutions of few channels and their gradients through the ops: one pass makes those of weight and bias.  Integers,
// whose sums are exact in any order, so the CPU's results are the same bits.
#include "argand/autograd/engine.h"
#include "argand/base/str.h"
#include "argand/core/cpu_generator.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

class CudaConvolution : public ComputingCudaTest {
 protected:
  static Tensor integers(IntArrayRef sizes) { return (randint(7, sizes) - 3).to(kFloat); }

  struct Network {
    Tensor input, weight, bias, output_grad;

    Network on(const Device& device) const {
      const auto there = [&](const Tensor& t) {
        return t.requires_grad() ? t.detach().to(device).requires_grad_() : t.to(device);
      };
      return {there(input), there(weight), there(bias), output_grad.to(device)};
    }
    Tensor output() const { return conv2d(input, weight, bias, {1, 1}, {1, 1}); }
    // Of those of input, weight and bias that require them.
    std::vector<Tensor> gradients() const {
      std::vector<Tensor> wanted;
      for (const Tensor& t : {input, weight, bias})
        if (t.requires_grad()) wanted.push_back(t);
      return autograd::grad({output()}, wanted, {output_grad});
    }
  };

  static void expect_same(const Network& n, const std::string& what) {
    const Network there = n.on(Device(kCUDA));
    EXPECT_TRUE(equal(n.output(), there.output().cpu())) << what;
    const std::vector<Tensor> expected = n.gradients(), got = there.gradients();
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(equal(expected[i], got[i].cpu())) << what << ", " << i;
  }
};

TEST_F(CudaConvolution, OfFewChannelsAndItsGradientsAreTheCpus) {
  manual_seed(5);
  struct Shape {
    int64_t n, c, o, side;
  };
  // The small and the large batch of two layers, and one whose channels fill no group.
  for (const Shape s : {Shape{64, 3, 16, 28}, {300, 3, 16, 28}, {64, 16, 32, 14}, {300, 16, 32, 14}, {100, 9, 13, 15}})
    for (int wanted = 1; wanted < 8; ++wanted) {
      Network n{integers({s.n, s.c, s.side, s.side}), integers({s.o, s.c, 3, 3}), integers({s.o}),
                integers({s.n, s.o, s.side, s.side})};
      Tensor* const leaves[] = {&n.input, &n.weight, &n.bias};
      for (int i = 0; i < 3; ++i) leaves[i]->requires_grad_((wanted >> i & 1) != 0);
      expect_same(n, str(s.n, " x ", s.c, " to ", s.o, " of ", s.side, ", gradients ", wanted));
    }
}

}  // namespace
}  // namespace argand
