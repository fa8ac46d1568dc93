#include "argand/nn/modules/conv.h"

#include "argand/autograd/engine.h"
#include "argand/core/cpu_generator.h"
#include "argand/nn/modules/linear.h"
#include "argand/nn/modules/values_test.h"

namespace argand::nn {
namespace {

// run(nn.Conv2d(2, 2, 2, stride=2, padding=1, padding_mode="reflect").double(), pattern([1, 2, 3, 3]))
TEST(Conv, ReflectedPadding) {
  Conv2d m(Conv2dOptions(2, 2, 2).stride(2).padding(1).padding_mode(kReflect));
  const RunResult r = run(m, pattern({1, 2, 3, 3}));
  expect_values("y", r.y, {-0.1875, -0.5, -0.625, -1.625, -0.3125, -1.5625, 1.9375, 0});
  expect_values(
      "dx", r.dx,
      {1.75, 0.125, 0.375, 3, 1.25, 4.75, 2.125, 0.125, 0.75, 1, -1.5, -0.5, 1.25, 11.5, 2.75, 1.125, -2, -0.375});
  expect_values("dweight", m->weight.grad(),
                {0, -3, -0.25, -6, -6, 6.125, -6.25, -1, 0, 2, -0.25, -3.75, -5.25, 3.625, -5.5, 0.625});
  expect_values("dbias", m->bias.grad(), {8, 7});
}

// run(nn.Conv1d(2, 4, 3, padding="same", groups=2, dilation=2).double(), pattern([1, 2, 4]))
TEST(Conv, SamePaddingGroupsAndDilation) {
  Conv1d m(Conv1dOptions(2, 4, 3).padding(kSame).groups(2).dilation(2));
  const RunResult r = run(m, pattern({1, 2, 4}));
  expect_values("y", r.y,
                {-1.8125, -0.0625, -0.3125, 0.125, -1.125, 1.5, 0.375, 1.6875, 0.8125, 0.5625, -0.125, 0.375, 0.5,
                 -0.25, -0.4375, -0.4375});
  expect_values("dx", r.dx, {1.375, 1, 4.875, 4.875, -1.375, -1.5, 2.75, 3});
  expect_values("dweight", m->weight.grad(),
                {-1.5, 1, 1.75, -3.375, -3.125, -0.5, -2.5, -1.875, 1.75, -1, -1.75, 0.375});
}

// run(nn.ConvTranspose2d(2, 1, 2, stride=2, output_padding=1).double(), pattern([1, 2, 2, 2]))
TEST(ConvTranspose, OutputPaddingAndSize) {
  ConvTranspose2d m(ConvTranspose2dOptions(2, 1, 2).stride(2).output_padding(1));
  const RunResult r = run(m, pattern({1, 2, 2, 2}));
  expect_values("y", r.y,
                {0.25,  -1.625, -1.625,  -0.8125, -0.5,  -0.875, -0.125, -0.4375, -0.0625, -0.5, 0.625, -0.6875, -1.25,
                 0.125, -0.5,   -0.6875, -0.6875, -0.25, -0.625, -0.5,   -0.5,    -0.5,    -0.5, -0.5,  -0.5});
  expect_values("dx", r.dx, {1, 1.125, 1, 1.125, 1, 1.5, 1, 1.5});
  expect_values("dweight", m->weight.grad(), {-0.375, -1.875, -0.375, -1.875, -1.125, -1.875, -1.125, -1.875});
  ConvTranspose1d one(ConvTranspose1dOptions(1, 1, 3).stride(2));
  const Tensor x = zeros({1, 1, 3});
  EXPECT_EQ(one->forward(x, IntArrayRef({8})).size(2), 8);
  EXPECT_ERROR(ValueError, "valid sizes range from 7 to 8", one->forward(x, IntArrayRef({9})));
}

// torch.manual_seed(0); l = nn.Linear(3, 2); c = nn.Conv2d(1, 2, 2)
TEST(Conv, InitialWeightsAreThoseOfPyTorch) {
  manual_seed(0);
  const Linear l(3, 2);
  const Conv2d c(1, 2, 2);
  expect_values("linear weight", l->weight,
                {-0.00432251766324043, 0.309715837240219, -0.475185334682465, -0.424894601106644, -0.222368970513344,
                 0.15482072532177},
                1e-8);
  expect_values("linear bias", l->bias, {-0.0114391446113586, 0.457774937152863}, 1e-8);
  expect_values("conv weight", c->weight,
                {-0.044372022151947, 0.132306277751923, -0.151106536388397, -0.0982826948165894, -0.477674245834351,
                 -0.33114105463028, -0.206111550331116, 0.018521785736084},
                1e-8);
  expect_values("conv bias", c->bias, {0.197667598724365, 0.300011396408081}, 1e-8);
}

TEST(Conv, ChannelsAreLastWhereThoseOfAnOperandAre) {
  const auto last = [](const Tensor& t) { return t.contiguous(MemoryFormat::ChannelsLast); };
  const auto is_last = [](const Tensor& t) { return t.is_contiguous(MemoryFormat::ChannelsLast); };
  const Tensor x = pattern({2, 3, 5, 4}).requires_grad_(), w = pattern({4, 3, 3, 2}).requires_grad_(),
               expected = conv2d(x, w);
  EXPECT_TRUE(expected.is_contiguous());
  for (const bool input_last : {false, true})
    for (const bool weight_last : {false, true}) {
      const Tensor y = conv2d(input_last ? last(x) : x, weight_last ? last(w) : w);
      EXPECT_EQ(is_last(y), input_last || weight_last);
      EXPECT_TRUE(equal(y, expected));
    }
  const Tensor g = last(pattern({2, 4, 3, 3})), y = conv2d(x, w), dx = autograd::grad({y}, {x}, {g})[0];
  EXPECT_TRUE(is_last(dx));
  EXPECT_TRUE(is_last(conv_transpose2d(g, w)));
  EXPECT_TRUE(conv1d(pattern({2, 3, 5}), pattern({4, 3, 2})).is_contiguous());
}

TEST(Conv, OptionsAreCheckedAndPrinted) {
  EXPECT_ERROR(ValueError, "in_channels (3) must be divisible by groups (2)", Conv2d(Conv2dOptions(3, 4, 1).groups(2)));
  EXPECT_ERROR(ValueError, "padding='same' is not supported for strided convolutions, got stride [1, 2]",
               Conv2d(Conv2dOptions(3, 4, 1).padding(kSame).stride({1, 2})));
  ConvTranspose2d reflecting(ConvTranspose2dOptions(3, 4, 1).padding_mode(kReflect));
  EXPECT_EQ(printed(*reflecting),
            "torch::nn::ConvTranspose2d(3, 4, kernel_size=[1, 1], stride=[1, 1], padding_mode=kReflect)");
  EXPECT_ERROR(ValueError, "only kZeros padding mode is supported", reflecting(zeros({1, 3, 2, 2})));
  EXPECT_EQ(printed(*Conv2d(Conv2dOptions(3, 4, {2, 3}).stride({1, 2}).bias(false))),
            "torch::nn::Conv2d(3, 4, kernel_size=[2, 3], stride=[1, 2], bias=false)");
}

}  // namespace
}  // namespace argand::nn
