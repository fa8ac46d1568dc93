// Ops that a library defines by schemas, with kernels for the CPU, for meta tensors and for autograd.
#include <torch/library.h>
#include <torch/torch.h>

namespace {

at::Tensor square_cpu(const at::Tensor& x) {
  auto out = at::empty_like(x);
  const auto in = x.contiguous();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "square", [&] {
    const scalar_t* from = in.data_ptr<scalar_t>();
    scalar_t* to = out.data_ptr<scalar_t>();
    for (int64_t i = 0; i < in.numel(); ++i) to[i] = from[i] * from[i];
  });
  return out;
}
at::Tensor square_meta(const at::Tensor& x) { return at::empty_like(x); }

at::Tensor dispatched(const at::Tensor& x) {
  static auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("argand_ext::square", "").typed<at::Tensor(const at::Tensor&)>();
  return op.call(x);
}

struct Square : torch::autograd::Function<Square> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x) {
    at::AutoDispatchBelowADInplaceOrView guard;
    ctx->save_for_backward({x});
    return dispatched(x);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    return {2 * ctx->get_saved_variables()[0] * grads[0]};
  }
};
at::Tensor square_autograd(const at::Tensor& x) { return Square::apply(x); }

at::Tensor scale(const at::Tensor& x, double factor, bool negate) { return x * (negate ? -factor : factor); }
at::Tensor scale_by(const at::Tensor& x, const at::Tensor& by) { return x * by; }
at::Tensor& shift_(at::Tensor& self, const at::Scalar& by) {
  float* data = self.data_ptr<float>();
  for (int64_t i = 0; i < self.numel(); ++i) data[i] += by.to<float>();
  return self;
}
std::vector<at::Tensor> pieces(const at::Tensor& x, at::IntArrayRef sizes, const std::optional<at::Tensor>& bias,
                               std::string mode) {
  std::vector<at::Tensor> out;
  for (const at::Tensor& part : x.split_with_sizes(sizes))
    out.push_back((bias ? part + *bias : part) * (mode == "plain" ? 1 : -1));
  return out;
}
std::tuple<at::Tensor, int64_t> counted(at::TensorList list) {
  at::Tensor sum = list[0].clone();
  for (size_t i = 1; i < list.size(); ++i) sum = sum + list[i];
  return {sum, static_cast<int64_t>(list.size())};
}
at::Tensor cast(const at::Tensor& x, at::ScalarType dtype, std::optional<at::Device> device) {
  return x.to(device.value_or(x.device()), dtype);
}
at::Tensor triple(const at::Tensor& x) {
  TORCH_CHECK_VALUE(x.dim() == 1, "triple: expected one dimension, got ", x.dim());
  return x * 3;
}

}  // namespace

TORCH_LIBRARY(argand_ext, m) {
  m.def("square(Tensor x) -> Tensor");
  m.def("scale(Tensor x, float factor=2.0, *, bool negate=False) -> Tensor", &scale);
  m.def("scale.by(Tensor x, Tensor by) -> Tensor", &scale_by);
  m.def("shift_(Tensor(a!) self, Scalar by) -> Tensor(a!)");
  m.def("pieces(Tensor x, int[] sizes, Tensor? bias=None, str mode=\"plain\") -> Tensor[]", &pieces);
  m.def("counted(Tensor[] list) -> (Tensor, int)", &counted);
  m.def("cast(Tensor x, ScalarType dtype, Device? device=None) -> Tensor", &cast);
  m.def("triple(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(argand_ext, CPU, m) {
  m.impl("square", &square_cpu);
  m.impl("shift_", &shift_);
  m.impl("triple", &triple);
}
TORCH_LIBRARY_IMPL(argand_ext, Meta, m) { m.impl("square", &square_meta); }
TORCH_LIBRARY_IMPL(argand_ext, Autograd, m) { m.impl("square", &square_autograd); }
