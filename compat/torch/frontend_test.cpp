// What is LibTorch's and nothing else's: macros, and names that stand in c10, at or torch.
#include <gtest/gtest.h>
#include <torch/csrc/utils/tensor_flatten.h>
#include <torch/csrc/utils/variadic.h>
#include <torch/detail/static.h>
#include <torch/torch.h>

#include <thread>

#include "c10/cuda/CUDAGuard.h"
#include "c10/util/flat_hash_map.h"
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

}  // namespace

// A program that adds to LibTorch's namespaces finds its names there, and its own as LibTorch's.
namespace torch {
namespace nn {
struct DoublesImpl : Cloneable<DoublesImpl> {
  void reset() override {}
  Tensor forward(const Tensor& x) { return functional::relu(x) * 2; }
};
TORCH_MODULE(Doubles);
}  // namespace nn
namespace of_a_program {
inline nn::Doubles doubles() { return nn::Doubles(); }
}  // namespace of_a_program
}  // namespace torch

namespace {

TEST(Frontend, NamespacesMayBeReopened) {
  const torch::Tensor x = torch::tensor({-1.0, 2.0});
  EXPECT_TRUE(torch::of_a_program::doubles()->forward(x).equal(torch::tensor({0.0, 4.0})));
  using namespace torch;  // NOLINT: one nn, with the names of both
  EXPECT_EQ(nn::Doubles()->forward(x).sizes(), nn::Identity()->forward(x).sizes());
  EXPECT_EQ(message_of<c10::Error>([] {
              TORCH_CHECK(torch::kCPU == torch::kCUDA);
            }).find("Expected torch::kCPU == torch::kCUDA to be true"),
            0U);
}

TEST(Frontend, NumbersKeepTheirTypeInAt) {
  EXPECT_EQ(at::tensor(1.5).dtype(), at::kDouble);
  EXPECT_EQ(at::tensor({1, 2}).dtype(), at::kInt);
  EXPECT_EQ(at::tensor(std::vector<float>{1}, at::kHalf).dtype(), at::kHalf);
  EXPECT_EQ(torch::tensor(1.5).dtype(), at::kFloat);
  EXPECT_EQ(torch::tensor({1, 2}).dtype(), at::kLong);
  EXPECT_EQ(c10::str(torch::detail::TensorDataContainer({{1, 2}, {3, 4}})), "{{1, 2}, {3, 4}}");
}

TEST(Frontend, PiecesOfALoader) {
  torch::data::detail::DataShuttle<int, int> shuttle;
  EXPECT_FALSE(shuttle.pop_result().has_value());
  shuttle.push_job(1);
  shuttle.push_job(2);
  EXPECT_NE(message_of<c10::Error>([&] { shuttle.pop_result(std::chrono::milliseconds(1)); }).find("was 1 ms"),
            std::string::npos);
  std::thread worker([&] { shuttle.push_result(shuttle.pop_job() * 10); });
  EXPECT_EQ(shuttle.pop_result().value(), 10);
  worker.join();
  shuttle.drain();
  EXPECT_EQ(shuttle.in_flight_jobs(), 0U);

  struct Numbered {
    size_t sequence_number;
  };
  std::vector<size_t> come{2, 0, 1};
  size_t next = 0;
  const auto producer = [&]() -> std::optional<Numbered> {
    return next < come.size() ? std::optional(Numbered{come[next++]}) : std::nullopt;
  };
  torch::data::detail::sequencers::OrderedSequencer<Numbered> in_order(3);
  for (const size_t number : {0U, 1U, 2U}) EXPECT_EQ(in_order.next(producer)->sequence_number, number);
  EXPECT_FALSE(in_order.next(producer).has_value());
  torch::data::detail::sequencers::OrderedSequencer<Numbered> full(2);
  next = 0;
  EXPECT_THROW(full.next(producer), c10::Error);
}

TEST(Frontend, HowViewsWereMade) {
  using torch::autograd::CreationMeta;
  const auto creation = [](const torch::Tensor& t) {
    return static_cast<torch::autograd::DifferentiableViewMeta*>(t.unsafeGetTensorImpl()->autograd_meta())
        ->get_creation_meta();
  };
  const torch::Tensor x = torch::ones({2}, torch::requires_grad());
  EXPECT_EQ(creation(x.view({2})), CreationMeta::DEFAULT);
  {
    torch::NoGradGuard off;
    EXPECT_EQ(creation(x.view({2})), CreationMeta::NO_GRAD_MODE);
  }
  torch::Tensor inferred;
  {
    torch::InferenceMode on;
    EXPECT_TRUE(c10::impl::tls_is_dispatch_keyset_excluded(c10::autograd_dispatch_keyset));
    EXPECT_EQ(creation(x.view({2})), CreationMeta::INFERENCE_MODE);
    inferred = torch::ones({2});
  }
  EXPECT_THROW(inferred.unsafeGetTensorImpl()->bump_version(), c10::Error);
  EXPECT_THROW(inferred.unsafeGetTensorImpl()->version_counter().current_version(), c10::Error);
  const auto before = x._version();
  x.unsafeGetTensorImpl()->bump_version();
  EXPECT_EQ(x.unsafeGetTensorImpl()->version_counter().current_version(), before + 1);
}

TEST(Frontend, StatesByTextAndByAddress) {
  const torch::Tensor p = torch::ones({2}, torch::requires_grad());
  torch::optim::Adagrad optimizer({p}, torch::optim::AdagradOptions(0.1));
  const auto& states = optimizer.state();
  const ska::flat_hash_map<std::string, std::unique_ptr<torch::optim::OptimizerParamState>>& by_text = states;
  EXPECT_EQ(by_text.at(c10::guts::to_string(p.unsafeGetTensorImpl())).get(), states.at(p.unsafeGetTensorImpl()).get());
  EXPECT_TRUE(by_text.find("0x1") == by_text.end());
  EXPECT_THROW(states.at("none"), c10::Error);
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
  EXPECT_NEAR(torch::linalg::norm(a, "fro").item<double>(), std::sqrt(15.0), 1e-6);  // a name, not the number true
  EXPECT_NEAR(torch::linalg::norm(a, 1).item<double>(), 4, 1e-6);
  static_assert(!std::is_convertible_v<const char*, torch::Scalar> && std::is_convertible_v<bool, torch::Scalar>);
}

TEST(Frontend, Fourier) {
  const torch::Tensor x = torch::tensor({1.0, 2.0, 3.0, 5.0}, torch::kDouble);
  const torch::Tensor expected =
      torch::view_as_complex(torch::tensor({11., 0., -2., 3., -3., 0.}, torch::kDouble).view({3, 2}));
  EXPECT_TRUE(torch::allclose(torch::fft::rfft(x), expected));
  EXPECT_TRUE(torch::allclose(torch::fft::fft(x, {}, -1, "ortho").slice(0, 0, 3) * 2, expected));
  EXPECT_TRUE(
      torch::allclose(torch::fft::irfftn(torch::fft::rfftn(x.view({2, 2}), {}, {{0, 1}}), {{2, 2}}), x.view({2, 2})));
  EXPECT_TRUE(torch::fft::fftshift(torch::fft::fftfreq(4, 1.0)).equal(torch::tensor({-0.5, -0.25, 0.0, 0.25})));
  EXPECT_THROW(torch::fft::fft(x, 0), c10::Error);
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
