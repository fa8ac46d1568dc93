// What is LibTorch's and nothing else's: macros, and names that stand in c10, at or torch.
#include <gtest/gtest.h>
#include <torch/csrc/utils/tensor_flatten.h>
#include <torch/csrc/utils/variadic.h>
#include <torch/detail/static.h>
#include <torch/torch.h>

#include <thread>

#include "c10/cuda/CUDAGuard.h"
#include "c10/util/tempfile.h"

namespace {

template <class E, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing of that type was thrown";
}

TEST(Frontend, NamespacesAreOne) {
  static_assert(std::is_same_v<torch::Tensor, at::Tensor> && std::is_same_v<at::Tensor, c10::Tensor>);
  static_assert(std::is_same_v<c10::optional<int>, std::optional<int>>);
  static_assert(std::is_same_v<c10::complex<float>, std::complex<float>>);
  static_assert(std::is_same_v<torch::nn::Linear, argand::nn::Linear>);
  using namespace torch;  // NOLINT: all of it, and no name is there twice
  using namespace at;     // NOLINT
  EXPECT_EQ(nn::Linear(2, 3)->forward(ones({1, 2})).sizes(), IntArrayRef({1, 3}));
  EXPECT_EQ(data::datasets::TensorDataset(ones({4, 1})).size(), 4U);
}

TEST(Frontend, ChecksThrowTheirTypes) {
  EXPECT_EQ(message_of<c10::Error>([] { TORCH_CHECK(1 > 2, "one is ", 1, ", not ", at::kFloat); }),
            "one is 1, not Float");
  EXPECT_EQ(message_of<c10::Error>([] { TORCH_CHECK(1 > 2); }).find("Expected 1 > 2 to be true, but got false."), 0U);
  EXPECT_EQ(message_of<c10::IndexError>([] { TORCH_CHECK_INDEX(false, "i"); }), "i");
  EXPECT_EQ(message_of<c10::ValueError>([] { TORCH_CHECK_VALUE(false, "v"); }), "v");
  EXPECT_EQ(message_of<c10::NotImplementedError>([] { TORCH_CHECK_NOT_IMPLEMENTED(false, "n"); }), "n");
  EXPECT_EQ(message_of<c10::Error>([] { AT_ERROR("at ", 5); }), "at 5");
  EXPECT_NE(message_of<c10::Error>([] { TORCH_INTERNAL_ASSERT(false, "why"); }).find("false INTERNAL ASSERT FAILED at"),
            std::string::npos);
  EXPECT_NO_THROW(TORCH_CHECK(true, "never"));
}

struct Collected : c10::WarningHandler {
  void process(const c10::SourceLocation&, const std::string& msg, const bool) override { text += msg + ";"; }
  std::string text;
};

TEST(Frontend, WarningsGoToTheHandler) {
  Collected collected;
  auto* const before = c10::Warning::get_warning_handler();
  c10::Warning::set_warning_handler(&collected);
  for (int i = 0; i < 2; ++i) {
    TORCH_WARN("w", i);
    TORCH_WARN_ONCE("once");
  }
  c10::Warning::set_warning_handler(before);
  EXPECT_EQ(collected.text, "w0;once;w1;");
}

TEST(Frontend, DispatchGivesTheElementType) {
  const auto size_of = [](at::ScalarType t) {
    return AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBool, t, "size_of", [&] { return sizeof(scalar_t); });
  };
  EXPECT_EQ(size_of(torch::kDouble), 8U);
  EXPECT_EQ(size_of(torch::kHalf), 2U);
  EXPECT_EQ(size_of(torch::kByte), 1U);
  EXPECT_NE(message_of<c10::Error>([&] { size_of(torch::kComplexFloat); }).find("size_of"), std::string::npos);
}

TEST(Frontend, Irange) {
  std::vector<int64_t> seen;
  for (const auto i : c10::irange(3)) seen.push_back(i);
  for (const auto i : c10::irange(int64_t{5}, int64_t{7})) seen.push_back(i);
  for (const auto i : c10::irange(4, 2)) seen.push_back(i);
  EXPECT_EQ(seen, (std::vector<int64_t>{0, 1, 2, 5, 6}));
  static_assert(std::is_same_v<decltype(*c10::irange(size_t{1}).begin()), const size_t&>);
}

TEST(Frontend, Text) {
  EXPECT_EQ(c10::str("a", 1, 2.5, torch::kCPU == at::kCPU), "a12.51");
  EXPECT_EQ(c10::str(), "");
  EXPECT_EQ(c10::Join(", ", std::vector<int>{1, 2, 3}), "1, 2, 3");
  EXPECT_STREQ(at::toString(torch::kLong), "Long");
}

// A user's module and options, with the macros that they are written with.
struct ScaleOptions {
  TORCH_ARG(double, by) = 2;
};
struct ScaleImpl : torch::nn::Cloneable<ScaleImpl> {
  ScaleImpl() = default;
  explicit ScaleImpl(ScaleOptions options) : options(options) {}
  void reset() override {}
  torch::Tensor forward(torch::Tensor x, double more) { return x * options.by() * more; }
  ScaleOptions options;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, torch::nn::AnyValue(1.0)})
};
TORCH_MODULE(Scale);

TEST(Frontend, ModulesOfOnesOwn) {
  torch::nn::Sequential net(Scale(ScaleOptions().by(3)), torch::nn::Identity());
  EXPECT_EQ(net->forward(torch::ones({1})).item<float>(), 3);
  EXPECT_NE(net->clone()->children()[0]->as<Scale>(), nullptr);
  EXPECT_EQ(net->ptr(1)->as<Scale>(), nullptr);
}

TEST(Frontend, TemporaryFiles) {
  std::string name;
  {
    const auto file = c10::make_tempfile();
    name = file.name;
    torch::save(torch::ones({2}), name);
    torch::Tensor back;
    torch::load(back, name);
    EXPECT_EQ(back.numel(), 2);
  }
  EXPECT_THROW(
      {
        torch::Tensor back;
        torch::load(back, name);
      },
      c10::Error);
}

TEST(Frontend, CudaNamesAreThereWithoutAGpu) {
  c10::cuda::OptionalCUDAGuard guard;
  EXPECT_EQ(torch::cuda::device_count() > 0, torch::cuda::is_available());
  if (!torch::cuda::is_available()) {
    EXPECT_THROW(c10::cuda::getCurrentCUDAStream(), c10::Error);
    EXPECT_THROW(guard.set_index(0), c10::Error);
  }
}

TEST(Frontend, NamesOfOlderPrograms) {
  c10::variant<torch::enumtype::kSum, torch::enumtype::kMean> reduction = torch::kMean;
  EXPECT_EQ(torch::enumtype::get_enum_name(reduction), "kMean");
  EXPECT_TRUE(c10::get_if<torch::enumtype::kMean>(&reduction));
  EXPECT_EQ(caffe2::TypeMeta::Make<int>(), torch::kInt);
  torch::init_num_threads();
  torch::set_num_interop_threads(4);
  EXPECT_EQ(torch::get_num_interop_threads(), 1);
  torch::autograd::AutoGradMode off(false);
  EXPECT_FALSE(torch::autograd::GradMode::is_enabled());
  EXPECT_EQ(c10::str(torch::kCUDA, ' ', torch::indexing::Slice(1, 3)), "cuda 1:3:1");
}

TEST(Frontend, SpecialAndLinalg) {
  const torch::Tensor x = torch::tensor({0.5, 2.0});
  EXPECT_TRUE(torch::special::gammaln(x).equal(x.lgamma()));
  EXPECT_TRUE(torch::special::expit(x).equal(x.sigmoid()));
  EXPECT_TRUE(torch::special::polygamma(1, x).equal(torch::polygamma(1, x)));
  EXPECT_EQ(torch::linalg::vector_norm(torch::tensor({3.0, 4.0})).item<double>(), 5);
  EXPECT_TRUE(torch::linalg::cross(torch::tensor({1., 0., 0.}), torch::tensor({0., 1., 0.}))
                  .equal(torch::tensor({0., 0., 1.})));
  const torch::Tensor a = torch::tensor({2.0, 1.0, 1.0, 3.0}).view({2, 2});
  EXPECT_TRUE(torch::allclose(a.matmul(torch::linalg::solve(a, x)), x));
  EXPECT_TRUE(torch::allclose(torch::linalg::det(a), torch::det(a)));
  EXPECT_NEAR(torch::linalg::norm(a).item<double>(), std::sqrt(15.0), 1e-6);
}

TEST(Frontend, FlatTensors) {
  const std::vector<torch::Tensor> tensors{torch::ones({2, 2}), torch::zeros({0}), torch::full({3}, 2.0)};
  const torch::Tensor flat = torch::utils::flatten_dense_tensors(tensors);
  EXPECT_EQ(flat.numel(), 7);
  const auto back = torch::utils::unflatten_dense_tensors(flat * 2, tensors);
  EXPECT_TRUE(back[0].equal(tensors[0] * 2));
  EXPECT_EQ(back[1].numel(), 0);
  EXPECT_TRUE(back[2].equal(tensors[2] * 2));
}

struct ForwardsText : torch::nn::Module {
  std::string forward(const torch::Tensor&) { return ""; }
};

TEST(Frontend, QuestionsAtCompileTime) {
  namespace detail = torch::detail;
  static_assert(detail::is_module<ForwardsText&>::value && !detail::is_module<int>::value);
  static_assert(std::is_same_v<detail::return_type_of_forward_t<ForwardsText, torch::Tensor>, std::string>);
  static_assert(std::is_void_v<detail::return_type_of_forward_t<torch::nn::Module>>);
  static_assert(detail::check_not_lvalue_references<int, const float&>());
  static_assert(!detail::check_not_lvalue_references<int, float&>());
  static_assert(torch::all_of<true, true>::value && !torch::all_of<true, false>::value && torch::all_of<>::value);
  static_assert(torch::any_of<true, false>::value && !torch::any_of<>::value);
  int sum = 0;
  torch::apply([&](int i) { sum = sum * 10 + i; }, 1, 2, 3);
  EXPECT_EQ(sum, 123);
}

}  // namespace
