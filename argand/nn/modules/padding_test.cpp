#include "argand/nn/modules/padding.h"

#include "argand/nn/functional/padding.h"
#include "argand/nn/modules/values_test.h"

namespace argand::nn {
namespace {

// x = pattern([1, 1, 3, 3])
const Tensor& input() {
  static const Tensor& x = *new Tensor(pattern({1, 1, 3, 3}));
  return x;
}

// nn.ReflectionPad2d((1, 2, 0, 1))(x)
TEST(Padding, Reflection) {
  expect_values("y", ReflectionPad2d(ReflectionPad2dOptions({1, 2, 0, 1}))(input()),
                {0.25,  -1.5, 0.25,  -0.75, 0.25,  -1.5, 0, 1, 0, -1, 0, 1,
                 -0.25, 0.75, -0.25, -1.25, -0.25, 0.75, 0, 1, 0, -1, 0, 1});
  EXPECT_ERROR(Error, "pad", ReflectionPad2d(3)(input()));
}

// nn.ReplicationPad2d((1, 0, 2, 0))(x)
TEST(Padding, Replication) {
  expect_values("y", ReplicationPad2d(ReplicationPad2dOptions({1, 0, 2, 0}))(input()),
                {-1.5, -1.5,  0.25, -0.75, -1.5, -1.5, 0.25, -0.75, -1.5,  -1.5,
                 0.25, -0.75, 1,    1,     0,    -1,   0.75, 0.75,  -0.25, -1.25});
}

// nn.ConstantPad2d((1, -1, 0, 1), 3.5)(x)
TEST(Padding, ConstantAndCropping) {
  expect_values("y", ConstantPad2d(ConstantPad2dOptions({1, -1, 0, 1}, 3.5))(input()),
                {3.5, -1.5, 0.25, 3.5, 1, 0, 3.5, 0.75, -0.25, 3.5, 3.5, 3.5});
}

// F.pad(x, (1, 1, 0, 2), mode="circular")
TEST(Padding, Circular) {
  expect_values("y", functional::pad(input(), functional::PadFuncOptions({1, 1, 0, 2}).mode(kCircular)),
                {-0.75, -1.5, 0.25,  -0.75, -1.5, -1,    1,    0,  -1, 1, -1.25, 0.75, -0.25,
                 -1.25, 0.75, -0.75, -1.5,  0.25, -0.75, -1.5, -1, 1,  0, -1,    1});
}

}  // namespace
}  // namespace argand::nn
