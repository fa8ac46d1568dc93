// Assignment to what stands between brackets, and accessors.
#include <gtest/gtest.h>

#include <sstream>

#include "argand/base/log.h"
#include "argand/core/accessor.h"
#include "argand/ops/create/blob.h"
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

TEST(TensorOptions, FromAListIsADevice) {
  const TensorOptions options({kMeta, 1});
  EXPECT_EQ(options.device(), Device(kMeta, 1));
  EXPECT_EQ(device_index(3).device(), Device(kCUDA, 3));
  EXPECT_EQ(dtype(kByte).device(kCUDA, 2).device_index(1).device(), Device(kCUDA, 1));
}

TEST(Resize, KeepsTheElementsThatStay) {
  const Tensor x = arange(6).to(kFloat);
  EXPECT_TRUE(x.resize_({2, 2}).is_same(x));
  EXPECT_TRUE(x.equal(tensor({{0.F, 1.F}, {2.F, 3.F}})));
  x.resize_({3, 4});
  EXPECT_EQ(x.sizes(), IntArrayRef({3, 4}));
  EXPECT_TRUE(x.view({12}).slice(0, 0, 6).equal(arange(6).to(kFloat))) << "the storage had them all the time";
  EXPECT_TRUE(x.resize_({1, 2, 3, 2}, MemoryFormat::ChannelsLast).is_contiguous(MemoryFormat::ChannelsLast));
  EXPECT_EQ(x.resize_as_(zeros({2, 5})).sizes(), IntArrayRef({2, 5}));
}

TEST(Resize, SaysWhatCannotBe) {
  EXPECT_THROW(zeros({2}).requires_grad_().resize_({3}), GradError);
  EXPECT_THROW(zeros({2}).resize_({-1}), ShapeError);
  EXPECT_THROW(zeros({2}).resize_({3}, MemoryFormat::Preserve), ValueError);
  float borrowed[2] = {1, 2};
  EXPECT_THROW(from_blob(borrowed, {2}).resize_({3}), ValueError);
}

TEST(Storage, GivesTheAddressOfItsFirstByte) {
  const Tensor x = arange(4).to(kFloat);
  static_cast<float*>(x.storage().data())[3] = 9;
  EXPECT_EQ(x.slice(0, 2).storage().data(), x.data_ptr());
  EXPECT_EQ(x[3].item<float>(), 9);
  EXPECT_EQ(x.storage().nbytes(), 16u);
}

TEST(TensorIndex, Prints) {
  const auto text = [](const auto& value) {
    std::ostringstream out;
    indexing::operator<<(out, value);
    return out.str();
  };
  EXPECT_EQ(text(Slice(1, 5, 2)), "1:5:2");
  EXPECT_EQ(text(std::vector<indexing::TensorIndex>{indexing::None, "...", 3, false, Slice(0, 2)}),
            "(None, ..., 3, false, 0:2:1)");
  EXPECT_EQ(text(std::vector<indexing::TensorIndex>()), "()");
}

template <class E, class Action>
std::string message(Action action) {
  try {
    action();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing of that type was thrown";
}

TEST(TensorIndex, SaysWhichDimensionOfTheTensorIsMeant) {
  const Tensor x = zeros({2, 5, 10});
  EXPECT_EQ(message<IndexError>([&] { x.index({0, 5}); }), "index 5 is out of bounds for dimension 1 with size 5");
  EXPECT_EQ(message<IndexError>([&] {
              x.index({0, 1, 15});
            }),
            "index 15 is out of bounds for dimension 2 with size 10");
  EXPECT_NE(message<IndexError>([&] { zeros({}).index({0}); }).find("invalid index of a 0-dim tensor"),
            std::string::npos);
  EXPECT_EQ(message<ValueError>([&] { x.index({}); }),
            "Passing an empty index list to Tensor::index() is not valid syntax");
}

TEST(TensorIndex, AValueMayHaveLeadingOnesThatTheTargetHasNot) {
  const Tensor x = zeros({2, 3});
  x.index({true}) = 1;
  Tensor target = x;
  target.index_put_({true}, full({1, 1, 2, 3}, 4));
  EXPECT_TRUE(x.equal(full({2, 3}, 4.F)));
  target.index_put_({tensor({1, 0})}, full({1, 1, 3}, 5));
  EXPECT_TRUE(x.equal(full({2, 3}, 5.F)));
}

TEST(TensorIndex, BytesAsAMaskAreWarnedOf) {
  std::string warned;
  const auto before = set_warning_handler([&](std::string_view m) { warned += m; });
  const Tensor x = arange(3).index({tensor({1, 0, 1}).to(kByte)});
  set_warning_handler(before);
  EXPECT_TRUE(x.equal(tensor({0, 2}).to(kLong)));
  EXPECT_EQ(warned, "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.");
}

TEST(TensorMethods, AnIntegerIsADimensionNotAFlag) {
  const Tensor x = randn({4, 3});
  EXPECT_EQ(x.std(0).numel(), 3);
  EXPECT_EQ(x.var(int64_t{1}).numel(), 4);
  EXPECT_EQ(x.var(true).numel(), 1);
  EXPECT_EQ(std::get<1>(var_mean(x, 0)).numel(), 3);
  EXPECT_EQ(std(x, 1).numel(), 4);
  Tensor y = x;
  y.reset();
  EXPECT_FALSE(y.defined());
}

}  // namespace
}  // namespace argand
