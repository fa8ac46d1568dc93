// Assignment to what stands between brackets, and accessors.
#include <gtest/gtest.h>

#include "argand/core/accessor.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/ops/index/tensor_index.h"
#include "argand/ops/operators.h"

namespace argand {
namespace {

using indexing::Slice;

TEST(Assign, ANamelessTensorTakesElements) {
  const Tensor x = zeros({3, 2});
  x[0] = 5;
  x[1][1] = 1.5;
  x[2] = tensor({7.F, 8.F});
  x.index({Slice(), 0}) = ones({1});
  EXPECT_TRUE(equal(x, tensor({{1.F, 5.F}, {1.F, 1.5F}, {1.F, 8.F}})));
  EXPECT_THROW(x[0] = ones({3}), ShapeError);
}

TEST(Assign, ANamedTensorTakesTheHandle) {
  Tensor x = zeros({2}), y = ones({2});
  const Tensor before = x;
  x = y;
  EXPECT_TRUE(x.is_same(y));
  EXPECT_EQ(before[0].item<float>(), 0);
  x = std::move(y);
  EXPECT_TRUE(x.defined());
  x = {};
  EXPECT_FALSE(x.defined());
}

TEST(Assign, RecordsAGradient) {
  const Tensor value = full({2}, 3, kFloat).set_requires_grad(true);
  const Tensor x = zeros({2, 2});
  x[1] = value;
  x.sum().backward();
  EXPECT_TRUE(equal(value.grad(), ones({2})));
}

TEST(PackedAccessor, ReadsAndWritesThroughStrides) {
  const Tensor x = arange(12).to(kFloat).view({3, 4}).t();
  auto wide = x.packed_accessor64<float, 2>();
  auto narrow = x.packed_accessor32<float, 2, RestrictPtrTraits>();
  static_assert(std::is_same_v<decltype(narrow.size(0)), int32_t>);
  EXPECT_EQ(wide.size(0), 4);
  EXPECT_EQ(narrow.stride(1), 4);
  EXPECT_EQ(wide[3][2], 11);
  narrow[3][2] = -1;
  EXPECT_EQ(x[3][2].item<float>(), -1);
  EXPECT_THROW((x.packed_accessor64<float, 3>()), ShapeError);
  EXPECT_THROW((x.packed_accessor32<double, 2>()), DtypeError);
}

TEST(TensorText, ToString) {
  EXPECT_EQ(zeros({2}).toString(), "CPUFloatType");
  EXPECT_EQ(zeros({2}, kLong).toString(), "CPULongType");
}

TEST(TensorOptions, OfADeviceAndItsNumber) {
  const TensorOptions options(kMeta, 0);
  EXPECT_EQ(options.device(), Device(kMeta, 0));
  Device device(kCUDA);
  device.set_index(2);
  EXPECT_EQ(device, Device(kCUDA, 2));
}

}  // namespace
}  // namespace argand
