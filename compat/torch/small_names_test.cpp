// Small names of torch, at and c10 that programs use, and how undefined tensors answer.  Values are LibTorch 2.15's.
#include <ATen/DeviceAccelerator.h>
#include <ATen/Dispatch_v2.h>
#include <ATen/TensorIterator.h>
#include <ATen/core/Reduction.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/native/cpu/Loops.h>
#include <gtest/gtest.h>
#include <torch/optim/adamw.h>
#include <torch/torch.h>

struct DataImpl : torch::data::datasets::Dataset<DataImpl> {
  torch::data::Example<> get(size_t) override { return {torch::ones({1}), torch::ones({1})}; }
  std::optional<size_t> size() const override { return 1; }
};
TORCH_MODULE(Data);

TORCH_LIBRARY(small_names, m) {
  m.def("op(Tensor x, float alpha=1.0) -> Tensor", [](const torch::Tensor& x, double a) { return x * a; });
}

namespace {

TEST(SmallNames, Dtypes) {
  static_assert(torch::kU8 == torch::kByte && torch::kI8 == torch::kChar && torch::kI16 == torch::kShort &&
                torch::kI32 == torch::kInt && torch::kI64 == torch::kLong && torch::kF16 == torch::kHalf &&
                torch::kF32 == torch::kFloat && torch::kF64 == torch::kDouble);
  EXPECT_STREQ(c10::toString(at::kInt), "Int");
  static_assert(std::is_same_v<at::scalar_value_type<c10::complex<float>>::type, float>);
}

TEST(SmallNames, UndefinedTensors) {
  const torch::Tensor t;
  EXPECT_EQ(c10::str(t.numel(), t.dim(), t.sizes(), t.size(0), t.size(-1), t.scalar_type(), t.toString()),
            "01[0]00UNKNOWN_SCALARUndefinedType");
  EXPECT_FALSE(t.has_storage() || t.requires_grad() || t.is_cuda() || t.is_cpu() || t.is_meta() || t.is_inference());
  EXPECT_FALSE(t.is_floating_point() || t.is_complex() || t.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(t.is_contiguous() && t.is_non_overlapping_and_dense());
  EXPECT_EQ(t.storage_offset() + t._version() + t.use_count() + at::numel(t), 0);
  EXPECT_FALSE(t.expect_contiguous()->defined());
  EXPECT_THROW(t.size(1), c10::IndexError);
  EXPECT_THROW(t.strides(), c10::Error);
  EXPECT_THROW(t.device(), c10::Error);
  EXPECT_THROW(t.options(), c10::Error);
  EXPECT_THROW(t.itemsize(), c10::Error);
  EXPECT_THROW(t.is_signed(), c10::Error);
  EXPECT_THROW(t.data_ptr(), c10::Error);
  EXPECT_THROW(t.storage(), c10::Error);
  EXPECT_THROW(t.is_leaf(), c10::Error);
  EXPECT_THROW(t.grad(), c10::Error);
  EXPECT_THROW(t.is_alias_of(torch::ones(1)), c10::Error);
}

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const c10::Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(SmallNames, OpsRefuseUndefinedTensors) {
  const torch::Tensor none, x = torch::ones({2, 2});
  EXPECT_EQ(message_of([&] { torch::mm(x, none); }), "mm: expected a tensor, got an undefined one for argument 'mat2'");
  EXPECT_EQ(message_of([&] { none.clone(); }), "clone: expected a tensor, got an undefined one for argument 'self'");
  EXPECT_NE(message_of([&] { none.sum(); }).find("got an undefined one for argument 'self'"), std::string::npos);
  EXPECT_NE(message_of([&] { none + 1; }).find("got an undefined one for argument 'self'"), std::string::npos);
  EXPECT_NE(message_of([&] { x.mul(none); }).find("got an undefined one for argument 'other'"), std::string::npos);
  EXPECT_NE(message_of([&] { none.view({0}); }).find("got an undefined one for argument 'self'"), std::string::npos);
  EXPECT_TRUE(torch::layer_norm(x, {2}, none, none).defined());  // Tensor? may be left out
}

TEST(SmallNames, InPlaceForms) {
  EXPECT_TRUE(torch::ones({1, 2}).fill_(torch::tensor(5.0)).equal(torch::full({1, 2}, 5.0F)));
  EXPECT_TRUE(torch::ones({2}, torch::kLong).fill_(torch::tensor(5.5)).equal(torch::full({2}, 5)));
  EXPECT_THROW(torch::ones({2}).fill_(torch::ones({2})), c10::Error);
  const torch::Tensor value = torch::tensor(2.0, torch::requires_grad());
  torch::Tensor filled = torch::ones({3}) * 1;
  filled.fill_(value);
  filled.sum().backward();
  EXPECT_EQ(value.grad().item<float>(), 3);
  const torch::Tensor m = torch::ones({2, 3}), v = torch::ones({3});
  EXPECT_TRUE(torch::ones({2}).addmv_(m, v, 1, 2).equal(torch::full({2}, 7.0F)));
  EXPECT_THROW(torch::ones({1}).addmv_(m, v), c10::Error);
  EXPECT_TRUE(torch::ones({3, 3}).addr_(v, v).equal(torch::full({3, 3}, 2.0F)));
  EXPECT_TRUE(torch::full({2}, 3.0, torch::kDouble).float_power_(2).equal(torch::full({2}, 9.0, torch::kDouble)));
  EXPECT_THROW(torch::ones({2}).float_power_(2), c10::Error);
  EXPECT_TRUE(torch::allclose(torch::full({1}, 2.5).mvlgamma_(1), torch::full({1}, 2.5).lgamma()));
}

TEST(SmallNames, OfAtAndC10) {
  const torch::Tensor t = torch::ones({2});
  EXPECT_EQ(torch::numel(t), 2);
  EXPECT_TRUE(torch::is_floating_point(t) && torch::is_signed(t) && !at::is_complex(t));
  const at::TensorBase& base = t;
  EXPECT_EQ(base.numel(), 2);
  EXPECT_EQ(t.unsafeGetTensorImpl()->numel(), 2);
  EXPECT_EQ(torch::getNumGPUs(), static_cast<size_t>(torch::cuda::device_count()));
  EXPECT_EQ(torch::_cast_Float(torch::ones({1}, torch::kLong)).dtype(), torch::kFloat);
  EXPECT_EQ(at::detail::getDefaultCPUGenerator().get_state().sizes(), torch::IntArrayRef({5056}));
  at::Generator g = at::detail::createCPUGenerator(1);
  const torch::Tensor state = g.get_state(), drawn = torch::rand({3}, g);
  g.set_state(state);
  EXPECT_TRUE(torch::rand({3}, g).equal(drawn));
  EXPECT_THROW(g.set_state(torch::ones({3})), c10::Error);
  EXPECT_EQ(at::result_type(torch::ones({1}, torch::kInt), 1.5), torch::kFloat);
  EXPECT_EQ(c10::multiply_integers(std::vector<int64_t>{2, 3}), 6);
  EXPECT_EQ(c10::sum_integers(std::vector<int64_t>{2, 3}), 5);
  at::globalContext().setAllowFP16ReductionCuBLAS(false);
  EXPECT_FALSE(at::globalContext().allowFP16ReductionCuBLAS());
  at::globalContext().setAllowFP16ReductionCuBLAS(true);
  const c10::impl::GenericList list(c10::AnyType::get());
  EXPECT_EQ(list.size(), 0U);
  EXPECT_EQ(c10::IValue(std::vector<int64_t>{1, 2}).toSymIntVector().size(), 2U);
  EXPECT_TRUE(torch::_is_all_true(t > 0).item<bool>());
  static_assert(at::Reduction::Mean == 1 && std::is_class_v<at::cuda::CUDAGraph>);
  EXPECT_EQ(at::accelerator::getAccelerator().has_value(), torch::cuda::is_available());
  EXPECT_EQ(at::accelerator::deviceCount(), torch::cuda::device_count());
}

TEST(SmallNames, SchemasPrint) {
  const auto op = c10::Dispatcher::singleton().findSchema({"small_names::op", ""});
  ASSERT_TRUE(op.has_value());
  EXPECT_EQ(c10::str(op->schema()), "small_names::op(Tensor x, float alpha=1.) -> Tensor");
  EXPECT_EQ(c10::str(op->operator_name()), "small_names::op");
}

TEST(SmallNames, HoldersOfWhatIsNoModule) {
  Data d{std::make_shared<DataImpl>()};
  EXPECT_EQ(d->size().value(), 1U);
  EXPECT_EQ(Data()->size().value(), 1U);
  EXPECT_EQ(d.ptr().use_count(), 2);
  EXPECT_THROW(Data(nullptr)->size(), c10::Error);
}

TEST(TensorIterator, BroadcastsAndLoops) {
  const torch::Tensor x = torch::arange(6, torch::kFloat).view({2, 3}), y = torch::ones({3});
  torch::Tensor out;
  auto it = at::TensorIteratorConfig().add_output(out).add_const_input(x).add_const_input(y).build();
  EXPECT_EQ(c10::str(it.numel(), it.ndim(), it.shape(), it.ntensors(), it.ninputs(), it.noutputs(), it.common_dtype(),
                     it.strides(1), it.strides(2), it.is_contiguous()),
            "62[3, 2]321Float[4, 12][4, 0]0");
  at::native::cpu_kernel(it, [](float a, float b) { return a * 10 + b; });
  EXPECT_TRUE(it.output().equal(x * 10 + y));
  std::string seen;
  it.for_each([&](char**, const int64_t* s, int64_t n) { seen += c10::str(n, s[0], s[1], s[2], ' '); });
  EXPECT_EQ(seen, "3444 3444 ");
  EXPECT_THROW(at::native::cpu_kernel(it, [](double a, double b) { return a + b; }), c10::Error);
}

TEST(TensorIterator, Dtypes) {
  torch::Tensor ints = torch::zeros({3}, torch::kInt), none;
  const torch::Tensor floats = torch::full({3}, 2.5), a = torch::ones({2, 1}, torch::kInt),
                      b = torch::ones({3}, torch::kHalf);
  EXPECT_EQ(message_of([&] { at::TensorIteratorConfig().add_output(ints).add_input(floats).build(); }),
            "Found dtype Int but expected Float");
  const auto promoted = at::TensorIteratorConfig()
                            .add_output(none)
                            .add_input(a)
                            .add_input(b)
                            .promote_inputs_to_common_dtype(true)
                            .build();
  EXPECT_EQ(promoted.common_dtype(), torch::kHalf);
  EXPECT_EQ(promoted.output().dtype(), torch::kHalf);
  EXPECT_EQ(promoted.output().sizes(), torch::IntArrayRef({2, 3}));
  torch::Tensor doubles = torch::zeros({3}, torch::kDouble);
  auto cast = at::TensorIterator::unary_op(doubles, floats);
  at::native::cpu_kernel(cast, [](float v) { return v * 2; });
  EXPECT_TRUE(doubles.equal(torch::full({3}, 5.0, torch::kDouble)));
}

TEST(TensorIterator, StridedOperands) {
  const torch::Tensor x = torch::arange(12, torch::kLong).view({3, 4});
  torch::Tensor out = torch::zeros({4, 3}, torch::kLong);
  auto it = at::TensorIteratorConfig().add_output(out).add_input(x.t()).build();
  at::native::cpu_kernel(it, [](int64_t v) { return v + 1; });
  EXPECT_TRUE(out.equal(x.t() + 1));
  torch::Tensor wide = torch::zeros({1}).expand({3});
  const torch::Tensor y = torch::ones({3});
  EXPECT_THROW(at::TensorIteratorConfig().add_output(wide).add_input(y).build(), c10::Error);
}

TEST(Dispatch, ByListsPutTogether) {
  size_t size = 0;
  AT_DISPATCH_V2(torch::kFloat, "v2", AT_WRAP([&] { size = sizeof(scalar_t); }), AT_EXPAND(AT_FLOATING_TYPES));
  EXPECT_EQ(size, 4U);
}

}  // namespace
