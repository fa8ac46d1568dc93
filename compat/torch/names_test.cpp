// Every header, macro, namespace and name that programs for LibTorch use, once each.
#include <ATen/ATen.h>
#include <ATen/AccumulateType.h>
#include <ATen/Context.h>
#include <ATen/Dispatch.h>
#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/ScalarOps.h>
#include <ATen/TensorIndexing.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/ops/zeros.h>
#include <ATen/record_function.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/ScalarType.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/macros/Macros.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <c10/util/Optional.h>
#include <c10/util/flat_hash_map.h>
#include <c10/util/irange.h>
#include <c10/util/tempfile.h>
#include <gtest/gtest.h>
#include <torch/csrc/api/include/torch/nn/modules/conv.h>
#include <torch/csrc/api/include/torch/optim/schedulers/reduce_on_plateau_scheduler.h>
#include <torch/csrc/api/include/torch/torch.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/cuda.h>
#include <torch/detail/static.h>
#include <torch/expanding_array.h>
#include <torch/extension.h>
#include <torch/nested.h>
#include <torch/nn/cloneable.h>
#include <torch/nn/functional/activation.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/options/activation.h>
#include <torch/nn/parallel/data_parallel.h>
#include <torch/nn/pimpl.h>
#include <torch/optim/sgd.h>
#include <torch/script.h>
#include <torch/special.h>
#include <torch/torch.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "argand/exec/profiler.h"

namespace {

namespace namespaces {
using namespace torch::nn;
using namespace torch::nn::functional;
using namespace torch::nn::init;
using namespace torch::nn::utils;
using namespace torch::nn::utils::rnn;
using namespace torch::nn::parallel;
using namespace torch::optim;
using namespace torch::data;
using namespace torch::data::datasets;
using namespace torch::data::samplers;
using namespace torch::data::transforms;
using namespace torch::autograd;
using namespace torch::serialize;
using namespace torch::indexing;
using namespace torch::cuda;
using namespace torch::fft;
using namespace torch::linalg;
using namespace torch::special;
using namespace torch::utils;
using namespace torch::detail;
using namespace torch::enumtype;
}  // namespace namespaces

struct Options {
  TORCH_ARG(int64_t, size) = 3;
};

struct PlusImpl : torch::nn::Cloneable<PlusImpl> {
  void reset() override {}
  torch::Tensor forward(torch::Tensor x, int64_t by = 1) { return x + by; }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, torch::nn::AnyValue(int64_t{1})})
};
TORCH_MODULE(Plus);
struct MinusImpl : PlusImpl {};
TORCH_MODULE_IMPL(Minus, MinusImpl);

TORCH_LIBRARY(names, m) {
  m.def("plus(Tensor self) -> Tensor", [](const at::Tensor& t) { return t + 1; });
}

TEST(Names, Macros) {
  TORCH_CHECK(true, "never");
  TORCH_INTERNAL_ASSERT(true);
  AT_ASSERT(true);
  const auto before = argand::set_warning_handler([](std::string_view) {});
  TORCH_WARN("w");
  TORCH_WARN_ONCE("w");
  argand::set_warning_handler(before);
  EXPECT_EQ(Options().size(5).size(), 5);
  EXPECT_EQ(torch::nn::Sequential(Plus())->forward(torch::zeros({1})).item<float>(), 1);
  const torch::Tensor t = torch::ones({2});
  bool is_float = false;
  AT_DISPATCH_ALL_TYPES(t.scalar_type(), "names", [&] { is_float = std::is_same_v<scalar_t, float>; });
  EXPECT_TRUE(is_float);
  AT_DISPATCH_ALL_TYPES_AND(at::kHalf, t.scalar_type(), "names", [&] { EXPECT_EQ(sizeof(scalar_t), 4U); });
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBool, t.scalar_type(), "names", [&] { EXPECT_EQ(sizeof(scalar_t), 4U); });
  const auto plus = c10::Dispatcher::singleton().findSchemaOrThrow("names::plus", "");
  EXPECT_EQ(plus.typed<at::Tensor(const at::Tensor&)>().call(t).sum().item<float>(), 4);
}

at::Tensor recorded(const at::Tensor& t) {
  RECORD_FUNCTION("names::recorded", std::vector<c10::IValue>({t}));
  return t + 1;
}

TEST(Names, RecordFunction) {
  recorded(torch::ones({2}));  // nobody listens
  argand::profiler::Session session({});
  {
    RECORD_USER_SCOPE("scope");
    recorded(torch::ones({2}));
  }
  at::RecordFunction guard;
  EXPECT_TRUE(guard.isActive());
  guard.before("guarded");
  guard.end();
  std::vector<std::pair<std::string, int64_t>> seen;
  for (const auto& e : session.stop().events)
    if (!e.name.starts_with("aten::") || e.name == "aten::add") seen.emplace_back(e.name, e.parent);
  // In `scope`, after the two events of ones().
  EXPECT_EQ(seen, (std::vector<std::pair<std::string, int64_t>>{
                      {"scope", -1}, {"names::recorded", 0}, {"aten::add", 3}, {"guarded", -1}}));
}

TEST(Names, OfC10) {
  EXPECT_EQ(c10::str("a", 1), "a1");
  int64_t sum = 0;
  for (const auto i : c10::irange(4)) sum += i;
  EXPECT_EQ(sum, 6);
  EXPECT_EQ(c10::complex<float>(1, 2).imag(), 2);
  EXPECT_THROW(throw c10::ValueError("v"), c10::Error);
  EXPECT_FALSE(c10::make_tempfile().name.empty());
  EXPECT_FALSE(c10::optional<int>(c10::nullopt).has_value());
  const c10::ScalarType dtype = at::kFloat;
  EXPECT_EQ(c10::typeMetaToScalarType(torch::ones({1}).dtype()), dtype);
  const c10::InferenceMode inference;
  const c10::intrusive_ptr<at::CPUGeneratorImpl> generator = c10::make_intrusive<at::CPUGeneratorImpl>();
  EXPECT_TRUE(generator);
  EXPECT_EQ(static_cast<float>(c10::Half(1.5F)) + static_cast<float>(c10::BFloat16(1.5F)), 3);
  EXPECT_EQ(c10::Scalar(2).toInt(), 2);
  const std::vector<int64_t> sizes{1, 2};
  EXPECT_EQ(c10::IntArrayRef(sizes).size() + c10::ArrayRef<int64_t>(sizes).size(), 4U);
  EXPECT_TRUE(c10::OptionalIntArrayRef(sizes).has_value());
  EXPECT_EQ(c10::Join(",", sizes), "1,2");
  EXPECT_NE(c10::Warning::get_warning_handler(), nullptr);
  EXPECT_TRUE(c10::Device("cpu").is_cpu());
  const c10::Storage storage = torch::ones({2}).storage();
  EXPECT_TRUE(storage);
}

}  // namespace
