// silu(gate) * up, the product in the middle of a gated feed-forward layer, and its gradient: one pass over the
// elements each, where the composition of ops takes several.
#include <torch/extension.h>

#include <cmath>
#include <tuple>

namespace {

void check(const at::Tensor& gate, const at::Tensor& up) {
  TORCH_CHECK(gate.sizes() == up.sizes(), "silu_mul: expected up of the shape ", gate.sizes(), ", got ", up.sizes());
  TORCH_CHECK(gate.scalar_type() == up.scalar_type(), "silu_mul: expected up of the dtype ", gate.scalar_type(),
              ", got ", up.scalar_type());
}

at::Tensor silu_mul(const at::Tensor& gate, const at::Tensor& up) {
  check(gate, up);
  const at::Tensor g = gate.contiguous(), u = up.contiguous();
  at::Tensor out = at::empty_like(g);
  AT_DISPATCH_FLOATING_TYPES(g.scalar_type(), "silu_mul", [&] {
    const scalar_t* pg = g.const_data_ptr<scalar_t>();
    const scalar_t* pu = u.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, g.numel(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = pg[i] / (1 + std::exp(-pg[i])) * pu[i];
    });
  });
  return out;
}

std::tuple<at::Tensor, at::Tensor> silu_mul_backward(const at::Tensor& grad, const at::Tensor& gate,
                                                     const at::Tensor& up) {
  check(gate, up);
  const at::Tensor d = grad.contiguous(), g = gate.contiguous(), u = up.contiguous();
  at::Tensor grad_gate = at::empty_like(g), grad_up = at::empty_like(u);
  AT_DISPATCH_FLOATING_TYPES(g.scalar_type(), "silu_mul_backward", [&] {
    const scalar_t* pd = d.const_data_ptr<scalar_t>();
    const scalar_t* pg = g.const_data_ptr<scalar_t>();
    const scalar_t* pu = u.const_data_ptr<scalar_t>();
    scalar_t* to_gate = grad_gate.mutable_data_ptr<scalar_t>();
    scalar_t* to_up = grad_up.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, g.numel(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const scalar_t s = 1 / (1 + std::exp(-pg[i]));
        to_gate[i] = pd[i] * pu[i] * s * (1 + pg[i] * (1 - s));
        to_up[i] = pd[i] * pg[i] * s;
      }
    });
  });
  return {grad_gate, grad_up};
}

}  // namespace

TORCH_LIBRARY(custom_op_example, m) {
  m.def("silu_mul(Tensor gate, Tensor up) -> Tensor");
  m.def("silu_mul_backward(Tensor grad, Tensor gate, Tensor up) -> (Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(custom_op_example, CPU, m) {
  m.impl("silu_mul", &silu_mul);
  m.impl("silu_mul_backward", &silu_mul_backward);
}
// So that Python can import the library; its ops are in torch.ops.
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.doc() = "The ops of custom_op_example"; }
