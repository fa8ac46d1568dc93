// Rows of the table in docs/libtorch.md, each held by a test that quotes its beginning: the page and the test change
// together.  Rows about archives, loaders, schedulers and warnings have longer tests beside this one.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <fstream>
#include <sstream>

namespace {

// Whether the page has the row, or the sentence.
testing::AssertionResult page_says(const std::string& sentence) {
  std::stringstream text;
  text << std::ifstream("docs/libtorch.md").rdbuf();
  if (text.str().find(sentence) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "docs/libtorch.md does not say any more: " << sentence;
}

std::string printed(const auto& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

TEST(Statements, TheCheckBites) { EXPECT_FALSE(page_says("| `t.dtype()` | a lamp")); }

TEST(Statements, Dtype) {
  EXPECT_TRUE(
      page_says("| `t.dtype()` | a `caffe2::TypeMeta`, printed as `float` | a `ScalarType`, printed as `Float`"));
  const torch::Tensor t = torch::ones({2});
  EXPECT_EQ(printed(t.dtype()), "Float");
  EXPECT_TRUE(t.dtype() == torch::kFloat && c10::typeMetaToScalarType(t.dtype()) == t.scalar_type());
}

TEST(Statements, UndefinedTensors) {
  EXPECT_TRUE(
      page_says("| an undefined tensor | answers `numel()`, `dim()`, `sizes()`, `scalar_type()` and the like | the "
                "same answers;"));
  const torch::Tensor t;
  EXPECT_EQ(t.numel() + t.dim(), 1);
  try {
    torch::add(torch::ones({2}), t);
    ADD_FAILURE() << "no error";
  } catch (const c10::Error& e) {
    EXPECT_NE(std::string(e.what()).find("undefined"), std::string::npos) << e.what();
  }
}

TEST(Statements, TypesOfTheStandardLibrary) {
  EXPECT_TRUE(page_says(
      "| `c10::optional`, `c10::complex` | `c10::complex` is a type of its own | the standard library's types |"));
  static_assert(std::is_same_v<c10::optional<int>, std::optional<int>>);
  static_assert(std::is_same_v<c10::complex<float>, std::complex<float>>);
}

TEST(Statements, ErrorsAreOfC10) {
  EXPECT_TRUE(page_says("`catch (const c10::Error&)` catches all"));
  EXPECT_THROW(torch::ones({2}) + torch::ones({3}), c10::Error);
  EXPECT_THROW(torch::ones({2}).sum(5), c10::Error);
  EXPECT_THROW(torch::ones({2}).set_requires_grad(true).add_(1), c10::Error);
}

TEST(Statements, AModuleOfAnotherShape) {
  EXPECT_TRUE(
      page_says("| loading a module | takes over any shape, and the device of the file | another shape is an error;"));
  std::stringstream file;
  torch::save(torch::nn::Linear(2, 3), file);
  torch::nn::Linear other(4, 3);
  EXPECT_THROW(torch::load(other, file), c10::Error);
}

TEST(Statements, HandlesOfModules) {
  EXPECT_TRUE(page_says("| `ModuleHolder::ptr()` | a reference | a `shared_ptr` by value |"));
  torch::nn::Linear module(2, 3);
  static_assert(std::is_same_v<decltype(module.ptr()), std::shared_ptr<torch::nn::LinearImpl>>);
  EXPECT_EQ(module.ptr().get(), module.get());
}

TEST(Statements, ListsInValues) {
  EXPECT_TRUE(
      page_says("| lists in an `IValue` | `toList()` of an `int[]` shares its elements | a copy; `toIntList()`,"));
  const torch::IValue value(std::vector<int64_t>{1, 2});
  value.toIntList().push_back(3);
  EXPECT_EQ(value.toIntList().size(), 3U);
  value.toList().push_back(4);
  EXPECT_EQ(value.toIntList().size(), 3U);
}

TEST(Statements, BytesOfAnotherDtype) {
  EXPECT_TRUE(
      page_says("| `t.set_(source)` | reinterprets the bytes if the dtypes differ | an error if the dtypes differ |"));
  torch::Tensor t = torch::ones({2});
  EXPECT_THROW(t.set_(torch::ones({2}, torch::kLong)), c10::Error);
}

TEST(Statements, NodesPrintAsAddresses) {
  EXPECT_TRUE(page_says("| `std::cout << t.grad_fn()` | an address, 1 in 2.15 | an address | |"));
  EXPECT_EQ(printed((torch::ones({2}, torch::requires_grad()) * 2).grad_fn()).substr(0, 2), "0x");
}

TEST(Statements, OptionsOfGroups) {
  EXPECT_TRUE(
      page_says("a value that was set is used; in both libraries a value that was not set is the optimizer's default"));
  using Options = torch::optim::SGDOptions;
  torch::optim::OptimizerParamGroup group({torch::ones({1}, torch::requires_grad())}, std::make_unique<Options>(0.5));
  torch::optim::SGD optimizer(std::vector{group}, Options(0.1).momentum(0.9));
  const auto& options = static_cast<const Options&>(optimizer.param_groups()[0].options());
  EXPECT_EQ(options.lr(), 0.5);
  EXPECT_EQ(options.momentum(), 0.9);
}

TEST(Statements, NoTensorHasNames) {
  EXPECT_TRUE(page_says("`refine_names` and functions that compute with names raise a `NotImplementedError`"));
  const torch::nn::Unflatten module(torch::nn::UnflattenOptions("a", {{"b", 2}, {"c", 3}}));
  EXPECT_NE(printed(module).find("b"), std::string::npos) << printed(module);
}

TEST(Statements, WhatComesWithNamespaces) {
  EXPECT_TRUE(page_says("everything that Argand's headers declare is also visible under `torch::`"));
  static_assert(std::is_same_v<torch::ShapeError, argand::ShapeError>);
}

TEST(Statements, AQueryWithNothingToAttendTo) {
  EXPECT_TRUE(page_says(
      "| a query that may attend to no key | NaN in `TransformerEncoderLayer` and similar modules | 0, as in Python"));
  torch::nn::TransformerEncoderLayer layer(torch::nn::TransformerEncoderLayerOptions(4, 2).dropout(0));
  const torch::Tensor nothing = torch::full({3, 3}, -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(layer->forward(torch::randn({3, 1, 4}), nothing).isfinite().all().item<bool>());
}

}  // namespace
