// Parts that only LibTorch has: macros, and names in c10, at or torch.
#include <ATen/Dispatch_v2.h>
#include <ATen/OpMathType.h>
#include <ATen/TensorUtils.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/functions/comm.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/utils/tensor_flatten.h>
#include <torch/csrc/utils/variadic.h>
#include <torch/detail/static.h>
#include <torch/torch.h>

#include <fstream>
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

// LibTorch 2.15 printed the expected texts below.

TEST(Frontend, ChecksAreBlocks) {
  // clang-format off
  TORCH_CHECK(true, "never")
  TORCH_CHECK_EQ(1, 1)
  TORCH_INTERNAL_ASSERT(true)
  TORCH_INTERNAL_ASSERT_DEBUG_ONLY(true, "never")
  // clang-format on
  EXPECT_EQ(message_of<c10::Error>([] { TORCH_CHECK_LT(2, 1); }), "Check failed: 2 < 1 (2 vs. 1). ");
  EXPECT_EQ(message_of<c10::Error>([] { TORCH_CHECK_ARG(1 > 2, 3, "why"); }), "invalid argument 3: why");
  EXPECT_EQ(message_of<c10::LinAlgError>([] { TORCH_CHECK_LINALG(false, "why"); }), "why");
  int* const none = nullptr;
  EXPECT_THROW(TORCH_CHECK_NOTNULL(none), c10::Error);
}

TEST(Frontend, DispatchOverManyLists) {
  const auto size_of = [](at::ScalarType t) {
    return AT_DISPATCH_V2(t, "size_of", AT_WRAP([&] { return sizeof(scalar_t); }), AT_EXPAND(AT_ALL_TYPES_AND_COMPLEX),
                          at::kHalf, at::kBFloat16);
  };
  EXPECT_EQ(size_of(at::kByte), 1U);
  EXPECT_EQ(size_of(at::kComplexDouble), 16U);
  EXPECT_EQ(size_of(at::kBFloat16), 2U);
  EXPECT_THROW(size_of(at::kBool), c10::Error);
  const auto index_size = [](at::ScalarType t) {
    return AT_DISPATCH_INDEX_TYPES(t, "x", [&] { return sizeof(index_t); });
  };
  EXPECT_EQ(index_size(at::kInt) + index_size(at::kLong), 12U);
  EXPECT_NE(message_of<c10::Error>([&] { index_size(at::kFloat); }).find("\"x\" not implemented for 'Float'"),
            std::string::npos);
  const torch::Tensor t = torch::ones({1}, at::kHalf);
  EXPECT_EQ(AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(at::kBool, at::kBFloat16, at::kHalf, t.type(), "x",
                                                   [&] { return sizeof(scalar_t); }),
            2U);
  static_assert(std::is_same_v<at::opmath_type<at::Half>, float> && std::is_same_v<at::opmath_type<double>, double>);
}

TEST(Frontend, Options) {
  EXPECT_EQ(c10::str(torch::TensorOptions()),
            "TensorOptions(dtype=float (default), device=cpu (default), layout=Strided (default), requires_grad=false "
            "(default), pinned_memory=false (default), memory_format=(nullopt))");
  EXPECT_EQ(c10::str(torch::arange(2).options()),
            "TensorOptions(dtype=long int, device=cpu, layout=Strided, requires_grad=false (default), "
            "pinned_memory=false (default), memory_format=(nullopt))");
  EXPECT_EQ(c10::str(torch::TensorOptions()
                         .dtype(torch::kHalf)
                         .device(torch::kCUDA, 1)
                         .requires_grad(true)
                         .pinned_memory(true)
                         .memory_format(at::MemoryFormat::ChannelsLast)),
            "TensorOptions(dtype=c10::Half, device=cuda:1, layout=Strided (default), requires_grad=true, "
            "pinned_memory=true, memory_format=ChannelsLast)");
  EXPECT_EQ(torch::TensorOptions().dtype<double>().dtype(), torch::kDouble);
}

TEST(Frontend, WhatTensorsSayOfThemselves) {
  const torch::Tensor t = torch::arange(12).view({3, 4});
  EXPECT_EQ(c10::str(t.type()), "CPULongType");
  EXPECT_EQ(c10::str(t.key_set()), "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)");
  EXPECT_EQ(t.data<int64_t>()[3], 3);
  EXPECT_EQ(t.sym_sizes(), torch::IntArrayRef({3, 4}));
  EXPECT_EQ(at::size(t, 0), 3);
  EXPECT_EQ(at::_unsafe_view(t, {12}).sizes(), torch::IntArrayRef({12}));
  EXPECT_EQ(t.index({torch::indexing::Slice(), torch::indexing::Slice({torch::indexing::None, 2})}).size(1), 2);
  EXPECT_EQ(t.new_empty_strided({2, 2}, {1, 2}).strides(), torch::IntArrayRef({1, 2}));
  testing::internal::CaptureStderr();
  t.print();
  torch::Tensor().print();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "[CPULongType [3, 4]]\n[UndefinedTensor]\n");
  EXPECT_EQ(c10::DeviceTypeName(at::kCUDA) + at::DeviceTypeName(at::kCPU, true), "CUDAcpu");
  EXPECT_EQ(c10::str(torch::ones({1}, torch::requires_grad()).sum().grad_fn()).substr(0, 2), "0x");
}

TEST(Frontend, TensorsOverOtherMemory) {
  torch::Tensor t = torch::arange(6);
  t.as_strided_({2, 2}, {1, 2}, 1);
  EXPECT_TRUE(t.equal(torch::tensor({1, 3, 2, 4}).view({2, 2})));
  const torch::Tensor other = torch::arange(12);
  t.set_(other.storage(), 2, {3}, {2});
  EXPECT_TRUE(t.equal(torch::tensor({2, 4, 6})));
  EXPECT_TRUE(t.is_alias_of(other) && !t.is_set_to(other));
  t.set_(other);
  EXPECT_TRUE(t.is_set_to(other));
  EXPECT_EQ(t.set_().numel(), 0);
  EXPECT_THROW(t.set_(torch::ones({1})), c10::Error);
  EXPECT_THROW(t.set_(other.storage(), 0, {13}), c10::Error);
  EXPECT_THROW(torch::ones({1}, torch::requires_grad()).as_strided_({1}, {1}), c10::Error);
  float values[] = {1, 2, 3, 4};
  int deleted = 0;
  {
    const torch::Tensor x = at::for_blob(values, {2}).strides({2}).deleter([&](void*) { ++deleted; }).make_tensor();
    EXPECT_TRUE(x.equal(torch::tensor({1.0F, 3.0F})));
    EXPECT_TRUE(at::for_blob(values, {2}).storage_offset(1).make_tensor().equal(torch::tensor({2.0F, 3.0F})));
    EXPECT_EQ(at::for_blob(values, {0}).strides({8}).storage_offset(2).make_tensor().numel(), 0);
  }
  EXPECT_EQ(deleted, 1);
}

TEST(Frontend, DtypesByTheirNamesInC10) {
  EXPECT_TRUE(c10::isFloatingType(at::kHalf) && c10::isIntegralType(at::kBool, true));
  EXPECT_FALSE(c10::isIntegralType(at::kBool, false) || c10::isSignedType(at::kByte) || c10::isComplexType(at::kInt));
  EXPECT_EQ(c10::elementSize(at::kDouble), 8U);
  EXPECT_EQ(c10::promoteTypes(at::kInt, at::kHalf), at::kHalf);
  EXPECT_FALSE(c10::canCast(at::kFloat, at::kInt));
  EXPECT_EQ(c10::CppTypeToScalarType<int64_t>::value, at::kLong);
}

TEST(Frontend, Shapes) {
  EXPECT_EQ(at::maybe_wrap_dim(-1, 2), 1);
  EXPECT_EQ(at::maybe_wrap_dim(0, 0), 0);
  EXPECT_EQ(message_of<c10::IndexError>([] { at::maybe_wrap_dim(2, 2); }),
            "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  EXPECT_EQ(message_of<c10::IndexError>([] { at::maybe_wrap_dim(0, 0, false); }),
            "Dimension specified as 0 but tensor has no dimensions");
  EXPECT_EQ(at::infer_size({2, 1}, {1, 3}), (std::vector<int64_t>{2, 3}));
  const auto expanded = at::expand_outplace({torch::ones({3, 1}), torch::ones({2})});
  EXPECT_EQ(expanded[0].sizes(), torch::IntArrayRef({3, 2}));
  const auto [a, b] = at::expand_outplace(torch::ones({3, 1}), torch::ones({2}));
  EXPECT_EQ(a->sizes(), b->sizes());
  EXPECT_NE(message_of<c10::Error>([] {
              at::checkDim("f", at::TensorArg(torch::ones({2}), "x", 1), 3);
            }).find("Expected 3-dimensional tensor, but got 1-dimensional tensor for argument #1 'x'"),
            std::string::npos);
}

TEST(Frontend, ThreadsHaveNumbers) {
  const int before = at::get_num_threads();
  at::set_num_threads(4);
  EXPECT_EQ(at::get_thread_num(), 0);
  std::vector<std::atomic<int>> used(4);
  std::atomic<bool> fits = true;
  at::parallel_for(0, 1000, 1, [&](int64_t, int64_t) {
    const auto n = static_cast<size_t>(at::get_thread_num());
    if (n >= used.size() || used[n].fetch_add(1) != 0) fits = false;  // nobody else has the number now
    std::this_thread::yield();
    if (n < used.size()) used[n].fetch_sub(1);
  });
  EXPECT_TRUE(fits);
  EXPECT_EQ(at::parallel_reduce(
                0, 100, 7, int64_t{0}, [](int64_t b, int64_t e, int64_t x) { return x + (b + e - 1) * (e - b) / 2; },
                std::plus<int64_t>()),
            4950);
  at::set_num_threads(before);
  EXPECT_EQ(at::internal::GRAIN_SIZE, 32768);
}

TEST(Frontend, Process) {
  at::globalContext().setDeterministicAlgorithms(true, false);
  EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
  at::globalContext().setDeterministicAlgorithms(false, false);
  torch::cuda::manual_seed_all(1);
  EXPECT_FALSE(at::show_config().empty() || at::get_parallel_info().empty());
  at::Generator g = at::detail::createCPUGenerator(3);
  EXPECT_NEAR(torch::empty({3}).normal_(0, 1, g)[0].item<double>(), 0.8033, 5e-5);
  c10::OptionalDeviceGuard none;
  EXPECT_FALSE(none.current_device().has_value());
  EXPECT_EQ(c10::DeviceGuard(at::kCPU).original_device(), at::Device("cpu"));
}

struct Warm : torch::optim::LRScheduler {
  using LRScheduler::LRScheduler;
  std::vector<double> get_lrs() override {
    auto rates = get_current_lrs();
    for (double& rate : rates) rate = 0.1 * (step_count_ + 1);
    return rates;
  }
};

TEST(Frontend, SchedulersOfOnesOwn) {
  torch::optim::SGD optimizer({torch::ones({1}, torch::requires_grad())}, 0.5);
  Warm warm(optimizer);
  for (const double rate : {0.1, 0.2, 0.1 * 3}) {
    warm.step();
    EXPECT_EQ(optimizer.param_groups()[0].options().get_lr(), rate);
  }
  EXPECT_EQ(warm.last_epoch(), 3);
  EXPECT_THROW(warm.set_last_epoch(1), c10::NotImplementedError);
  EXPECT_EQ(warm.last_epoch(), 3);
  // A failed load changes nothing: a second step starts from the old base rate.
  argand::StateDict state = warm.state_dict();
  *state.find("base_lrs.0") = torch::full({}, 7, torch::kDouble);
  EXPECT_THROW(warm.load_state_dict(state), c10::NotImplementedError);
  EXPECT_EQ(warm.state_dict()["base_lrs.0"].item<double>(), 0.5);
}

TEST(Frontend, PlateauScheduler) {
  using Scheduler = torch::optim::ReduceLROnPlateauScheduler;
  using Group = torch::optim::OptimizerParamGroup;
  const auto p = [] { return torch::ones({1}, torch::requires_grad()); };
  torch::optim::SGD optimizer({Group({p()}), Group({p()})}, torch::optim::SGDOptions(0.5));
  Scheduler scheduler(optimizer, Scheduler::min, 0.5, 1, 0.1, Scheduler::rel, 1, {0.1F, 0.3F}, 1e-8, true);
  std::string rates;
  testing::internal::CaptureStdout();
  for (const float m : {1.0F, 0.95F, 0.8F, 0.85F, 0.9F, 1.2F, 1.25F, 1.3F, 2.0F, 2.0F, 2.0F}) {
    scheduler.step(m);
    rates += c10::str(optimizer.param_groups()[0].options().get_lr(), "/",
                      optimizer.param_groups()[1].options().get_lr(), " ");
  }
  EXPECT_EQ(
      testing::internal::GetCapturedStdout(),
      "Epoch 5: reducing learning rate of group 0 to 0.25\nEpoch 5: reducing learning rate of group 1 to 0.3\n"
      "Epoch 8: reducing learning rate of group 0 to 0.125\nEpoch 11: reducing learning rate of group 0 to 0.1\n");
  EXPECT_EQ(rates, "0.5/0.5 0.5/0.5 0.5/0.5 0.5/0.5 0.25/0.3 0.25/0.3 0.25/0.3 0.125/0.3 0.125/0.3 0.125/0.3 0.1/0.3 ");
  EXPECT_THROW(Scheduler(optimizer, Scheduler::min, 1.0), c10::Error);
  EXPECT_THROW(Scheduler(optimizer, Scheduler::min, 0.5, 1, 0.1, Scheduler::rel, 0, {0.1F}), c10::Error);
}

TEST(Frontend, ListsShareTheirElements) {
  const c10::List<int64_t> list({1, 2});
  const c10::IValue v(list), w = v;
  v.toIntList().push_back(3);
  w.toIntList().push_back(4);
  EXPECT_EQ(list.vec(), (std::vector<int64_t>{1, 2, 3, 4}));
  list.set(0, 9);
  EXPECT_EQ(c10::str(v), "[9, 2, 3, 4]");
  EXPECT_TRUE(v.isList() && v.isIntList() && v.tagKind() == "GenericList" && v.toList().size() == 4);
  EXPECT_EQ(list.extract(0), 9);
  EXPECT_FALSE(c10::IValue(list.copy()).toIntList().is(list));
  EXPECT_THROW(v.toDoubleList(), c10::Error);
  EXPECT_THROW(list.get(4), c10::Error);
  EXPECT_EQ(c10::IValue(std::vector<bool>{true, false}).toBoolList().size(), 2U);
}

TEST(Frontend, DictsKeepTheirOrder) {
  c10::Dict<std::string, at::Tensor> dict;
  const torch::Tensor t = torch::ones({3, 4});
  EXPECT_TRUE(dict.insert("b", t).second);
  EXPECT_TRUE(dict.insert("a", t.relu()).second);
  EXPECT_FALSE(dict.insert("a", t).second);
  const c10::impl::GenericDict same = c10::IValue(dict).toGenericDict();
  same.insert("z", t);
  std::string keys;
  for (const auto& entry : dict) keys += entry.key();
  EXPECT_EQ(keys, "baz");
  EXPECT_EQ(dict.erase("b"), 1U);
  EXPECT_EQ(dict.begin()->key(), "a");
  EXPECT_TRUE(dict.find("b") == dict.end() && dict.contains("z"));
  EXPECT_EQ(message_of<c10::Error>([&] { dict.at("b"); }), "Argument passed to at() was not in the map.");
  c10::Dict<int64_t, double> numbers;
  numbers.insert(3, 1.5);
  numbers.insert(1, 2.5);
  EXPECT_EQ(c10::str(c10::IValue(numbers)), "{3: 1.5, 1: 2.5}");
  numbers.find(3)->setValue(7.5);
  EXPECT_EQ(numbers.at(3), 7.5);
  EXPECT_THROW(same.insert(c10::IValue(std::vector<int64_t>{1}), t), c10::Error);
}

TEST(Frontend, TuplesAndTexts) {
  const c10::IValue v(std::make_tuple(torch::ones({1}), 1, 2.5));
  EXPECT_TRUE(v.isTuple() && v.tagKind() == "Tuple");
  EXPECT_EQ(v.toTuple()->elements()[1].toInt(), 1);
  EXPECT_EQ(v.toTupleRef().elements()[2].toDouble(), 2.5);
  const c10::IValue pair(c10::ivalue::Tuple::create({1, 2}));
  EXPECT_EQ(c10::str(pair, c10::IValue(), c10::IValue(1.0), c10::IValue(true), c10::IValue(std::vector<double>{1, 2})),
            "(1, 2)None1.True[1., 2.]");
  EXPECT_EQ((pair.to<std::tuple<int64_t, int64_t>>()), std::make_tuple(int64_t{1}, int64_t{2}));
  EXPECT_TRUE(c10::IValue(1) == c10::IValue(1) && !(c10::IValue(1) == c10::IValue(1.0)));
  EXPECT_EQ(c10::IValue(std::optional<int64_t>(3)).toOptional<int64_t>(), 3);
  EXPECT_THROW(c10::IValue(2).toDouble(), c10::Error);
}

TEST(Frontend, Pickles) {
  c10::Dict<std::string, at::Tensor> dict;
  dict.insert("w", torch::arange(3));
  const auto back = torch::pickle_load(torch::pickle_save(dict)).toGenericDict();
  EXPECT_TRUE(back.at("w").toTensor().equal(torch::arange(3)));
  const auto tuple = torch::pickle_load(
      torch::pickle_save(std::make_tuple(1, 2.5, std::string("s"), true, std::vector<int64_t>{1, 2}, c10::IValue())));
  EXPECT_EQ(c10::str(tuple), "(1, 2.5, s, True, [1, 2], None)");
  std::ifstream file("tests/data/checkpoints/libtorch_pickle.bin", std::ios::binary);
  const auto theirs = torch::pickle_load({std::istreambuf_iterator<char>(file), {}}).toGenericDict();
  EXPECT_TRUE(theirs.at("tensor").toTensor().equal(torch::arange(3)));
  EXPECT_EQ(theirs.at("ints").toIntVector(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(theirs.at("doubles").toDoubleVector(), std::vector<double>{1.5});
  EXPECT_EQ(c10::str(theirs.at("bools")), "[True, False]");
  EXPECT_TRUE(theirs.at("tensors").toTensorVector()[0].equal(torch::ones({1})));
  EXPECT_EQ(c10::str(theirs.at("tuple")), "(1, x, None)");
  EXPECT_EQ(theirs.at("inner").toGenericDict().at(3).toDouble(), 0.5);
  EXPECT_THROW(torch::pickle_load({'x'}), c10::Error);
  EXPECT_THROW(torch::pickle_save(at::detail::createCPUGenerator(1)), c10::Error);
}

TEST(Frontend, WhetherGradientsAreWanted) {
  const torch::Tensor t = torch::ones({1}), r = torch::ones({1}, torch::requires_grad());
  using torch::autograd::any_variable_requires_grad;
  using torch::autograd::compute_requires_grad;
  EXPECT_TRUE(any_variable_requires_grad({t, r}) && compute_requires_grad(t, r));
  EXPECT_FALSE(any_variable_requires_grad({t, torch::Tensor()}) || compute_requires_grad(t));
  const torch::NoGradGuard off;
  EXPECT_TRUE(any_variable_requires_grad({r}));
  EXPECT_FALSE(compute_requires_grad(t, r));
}

TEST(Frontend, PiecesOnDevices) {
  const torch::Tensor x = torch::arange(10, torch::kFloat).set_requires_grad(true);
  const std::vector<torch::Device> two{torch::kCPU, torch::kCPU};
  const auto halves = torch::autograd::Scatter(two).apply({x});
  ASSERT_EQ(halves.size(), 2U);
  EXPECT_TRUE(halves[1].equal(torch::arange(5, 10, torch::kFloat)));
  const auto uneven = torch::autograd::Scatter(two, std::vector<int64_t>{3, 7}).apply({x});
  EXPECT_EQ(uneven[0].numel(), 3);
  EXPECT_THROW(torch::autograd::Scatter(two, std::vector<int64_t>{10}).apply({x}), c10::ValueError);
  const auto whole = torch::autograd::Gather(torch::kCPU).apply({halves[0], uneven[1], x.sum()});
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_EQ(whole[0].numel(), 5 + 7 + 1);
  whole[0].sum().backward();
  EXPECT_TRUE(x.grad().equal(torch::tensor({2, 2, 2, 3, 3, 2, 2, 2, 2, 2}, torch::kFloat)));
}

TEST(Frontend, FunctionsAndModules) {
  const torch::Tensor x = torch::ones({16});
  EXPECT_EQ(torch::stft(x, 8, 4, 8, torch::hann_window(8), false, true, true).sizes(), torch::IntArrayRef({5, 3}));
  EXPECT_EQ(torch::stft(x, 8, 4, 8, torch::hann_window(8), true, "reflect", false, true, true).size(1), 5);
  torch::nn::ModuleDict dict;
  dict->update({{"a", torch::nn::Linear(1, 1).ptr()}});
  EXPECT_EQ(dict->size(), 1U);
  EXPECT_TRUE(torch::equal_if_defined(x, x) && !torch::equal_if_defined(x, torch::Tensor()));
}

}  // namespace
