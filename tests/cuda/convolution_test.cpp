// Convolutions and their gradients through the ops, by own kernels for few channels, where one pass makes those of
// weight and bias, and by libraries in every layout.  Integers, whose sums are exact in any order, so the CPU's results
// are the same bits.
#include "argand/autograd/engine.h"
#include "argand/base/str.h"
#include "argand/core/cpu_generator.h"
#include "argand/core/float32_precision.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

class CudaConvolution : public ComputingCudaTest {
 protected:
  static Tensor integers(IntArrayRef sizes) { return (randint(7, sizes) - 3).to(kFloat); }

  // Without zeros: a kernel that leaves elements out shows.
  static Tensor signs(IntArrayRef sizes, ScalarType dtype) { return (randint(2, sizes) * 2 - 1).to(dtype); }

  struct Network {
    Tensor input, weight, bias, output_grad;
    int64_t groups = 1;

    Network on(const Device& device) const {
      const auto there = [&](const Tensor& t) {
        return t.requires_grad() ? t.detach().to(device).requires_grad_() : t.to(device);
      };
      return {there(input), there(weight), there(bias), output_grad.to(device), groups};
    }
    Tensor output() const {
      const Dims one(weight.sizes().size() - 2, 1);
      return _convolution_nd(input, weight, bias, one, one, one, groups);
    }
    // The gradients of those of input, weight and bias that require them.
    std::vector<Tensor> gradients() const {
      std::vector<Tensor> wanted;
      for (const Tensor& t : {input, weight, bias})
        if (t.requires_grad()) wanted.push_back(t);
      return autograd::grad({output()}, wanted, {output_grad});
    }
  };

  static void expect_same(const Network& n, const std::string& what) {
    const Network there = n.on(Device(kCUDA));
    const Tensor output = n.output(), output_there = there.output();
    EXPECT_TRUE(equal(output, output_there.cpu())) << what;
    EXPECT_EQ(output.strides(), output_there.strides()) << what;
    const std::vector<Tensor> expected = n.gradients(), got = there.gradients();
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(equal(expected[i], got[i].cpu())) << what << ", " << i;
      EXPECT_EQ(expected[i].strides(), got[i].strides()) << what << ", " << i;
    }
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

TEST_F(CudaConvolution, InEveryLayout) {
  manual_seed(6);
  struct Shape {
    int64_t c, o, groups;
    Dims kernel;
  };
  const auto last = [](const Tensor& t) {
    return t.contiguous(t.dim() == 5 ? MemoryFormat::ChannelsLast3d : MemoryFormat::ChannelsLast);
  };
  for (const ScalarType dtype : {kHalf, kBFloat16, kFloat, kDouble})
    for (const Shape& s : {Shape{16, 24, 1, {3, 3}},
                           {5, 7, 1, {3, 2}},
                           {24, 16, 1, {1, 1}},
                           {16, 8, 2, {3, 3}},
                           {8, 8, 8, {3, 3}},
                           {4, 6, 1, {2, 2, 3}}})
      for (int layouts = 0; layouts < 8; ++layouts) {
        Dims in{3, s.c}, weight{s.o, s.c / s.groups}, out{3, s.o};
        for (size_t d = 0; d < s.kernel.size(); ++d) {
          in.push_back(6 + static_cast<int64_t>(d));
          weight.push_back(s.kernel[d]);
          out.push_back(in.back() + 3 - s.kernel[d]);
        }
        Network n{signs(in, dtype), signs(weight, dtype), signs({s.o}, dtype), signs(out, dtype), s.groups};
        if (layouts & 1) n.input = last(n.input);
        if (layouts & 2) n.weight = last(n.weight);
        if (layouts & 4) n.output_grad = last(n.output_grad);
        for (Tensor* t : {&n.input, &n.weight, &n.bias}) t->requires_grad_();
        expect_same(n, str(dtype, " ", s.c, " to ", s.o, " in ", s.groups, " groups, kernel ", s.kernel, ", layouts ",
                           layouts));
      }
}

// Planes so large that the input's gradient in float is a convolution with the weight turned, and others.
TEST_F(CudaConvolution, OfLargePlanes) {
  manual_seed(9);
  struct Shape {
    int64_t c, o, kernel, side, stride, padding, dilation;
  };
  for (const Shape& s : {Shape{80, 72, 3, 14, 1, 1, 1},
                         {72, 80, 3, 15, 1, 0, 1},
                         {66, 70, 5, 13, 1, 2, 1},
                         {68, 66, 3, 16, 1, 2, 2},
                         {66, 66, 3, 14, 1, 3, 1},
                         {70, 72, 3, 24, 2, 1, 1}}) {
    const int64_t out = (s.side + 2 * s.padding - s.dilation * (s.kernel - 1) - 1) / s.stride + 1;
    const Tensor x = integers({4, s.c, s.side, s.side - 1}), w = integers({s.o, s.c, s.kernel, s.kernel});
    const int64_t out_x = (s.side - 1 + 2 * s.padding - s.dilation * (s.kernel - 1) - 1) / s.stride + 1;
    const Tensor g = integers({4, s.o, out, out_x});
    const auto gradient = [&](const Device& device) {
      return _conv_input_grad(g.to(device), w.to(device), x.sizes(), Dims(2, s.stride), Dims(2, s.padding),
                              Dims(2, s.dilation), 1)
          .cpu();
    };
    EXPECT_TRUE(equal(gradient(Device(kCPU)), gradient(Device(kCUDA))))
        << s.c << " to " << s.o << ", kernel " << s.kernel << ", padding " << s.padding;
  }
}

// TF32 holds these integers, too.
TEST_F(CudaConvolution, InEveryLayoutWithTf32) {
  manual_seed(8);
  const bool before = allow_tf32_cudnn();
  set_allow_tf32_cudnn(true);
  for (const MemoryFormat format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast})
    for (const Dims& kernel : {Dims{3, 3}, Dims{1, 1}}) {
      Network n{signs({4, 80, 9, 8}, kFloat).contiguous(format), signs({72, 80, kernel[0], kernel[1]}, kFloat),
                signs({72}, kFloat), signs({4, 72, 12 - kernel[0], 11 - kernel[1]}, kFloat).contiguous(format)};
      for (Tensor* t : {&n.input, &n.weight, &n.bias}) t->requires_grad_();
      expect_same(n, str("kernel ", kernel, format == MemoryFormat::ChannelsLast ? ", channels last" : ""));
    }
  set_allow_tf32_cudnn(before);
}

// Addresses that no engine for channels last takes: their elements are copied first.
TEST_F(CudaConvolution, OfMisalignedMemory) {
  manual_seed(7);
  const Tensor whole = signs({3, 16 * 36 + 1}, kHalf), weight = signs({8, 16, 3, 3}, kHalf);
  const auto output = [&](const Device& device) {
    const Tensor x = whole.to(device).as_strided({3, 16, 6, 6}, {16 * 36, 1, 16 * 6, 16}, 1);
    return conv2d(x, weight.to(device));
  };
  EXPECT_TRUE(equal(output(Device(kCPU)), output(Device(kCUDA)).cpu()));
}

}  // namespace
}  // namespace argand
