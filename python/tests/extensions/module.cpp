// A Python module as programs write them: the casters, errors, an autograd function, loops over elements, and the cell
// of the published tutorial with its gradient by hand.
#include <torch/extension.h>

namespace {

torch::Tensor add_relu(torch::Tensor a, torch::Tensor b) { return torch::relu(a + b); }
torch::Tensor same(const torch::Tensor& t) { return t; }
torch::Tensor undefined() { return {}; }

py::tuple kinds(at::ScalarType dtype, at::Device device, at::IntArrayRef sizes, c10::optional<at::Tensor> tensor,
                const std::string& text) {
  return py::make_tuple(dtype, device, std::vector<int64_t>(sizes.begin(), sizes.end()), tensor.has_value(), text);
}
std::vector<at::Scalar> scalars(at::Scalar a, at::Scalar b) { return {a, b}; }
std::vector<at::Tensor> doubled(const std::vector<at::Tensor>& list) {
  torch::NoGradGuard no_grad;
  std::vector<at::Tensor> out;
  for (const auto& t : list) out.push_back(t * 2);
  return out;
}
c10::optional<int64_t> elements(const c10::optional<torch::Tensor>& t) {
  return t ? c10::optional<int64_t>(t->numel()) : c10::nullopt;
}

void fail(int64_t how) {
  TORCH_CHECK(how != 0, "a check failed: ", how);
  TORCH_CHECK_INDEX(how != 1, "an index");
  TORCH_CHECK_VALUE(how != 2, "a value");
  TORCH_CHECK_TYPE(how != 3, "a type");
  TORCH_CHECK_NOT_IMPLEMENTED(how != 4, "not implemented");
  if (how == 5) throw std::out_of_range("of the standard library");
  if (how == 6) throw py::key_error("of pybind11");
  torch::ones({2}) + torch::ones({3});
}

// Calls what Python gives it, whose errors pass through.
torch::Tensor apply(const py::function& f, const torch::Tensor& t) { return f(t).cast<torch::Tensor>(); }

// A loop over elements, for each dtype that there may be.
torch::Tensor leaky(const torch::Tensor& x, double slope) {
  TORCH_CHECK(x.dim() == 2, "leaky: expected 2 dimensions, got ", x.dim());
  auto out = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "leaky", [&] {
    const auto in = x.accessor<scalar_t, 2>();
    auto to = out.packed_accessor64<scalar_t, 2>();
    for (int64_t i = 0; i < in.size(0); ++i)
      for (int64_t j = 0; j < in.size(1); ++j)
        to[i][j] = in[i][j] > 0 ? in[i][j] : static_cast<scalar_t>(slope) * in[i][j];
  });
  return out;
}

struct Cube : torch::autograd::Function<Cube> {
  static torch::Tensor forward(torch::autograd::AutogradContext* ctx, torch::Tensor x) {
    ctx->save_for_backward({x});
    return x * x * x;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    const auto x = ctx->get_saved_variables()[0];
    return {3 * x * x * grads[0]};
  }
};

// ---- the cell

torch::Tensor d_sigmoid(const torch::Tensor& z) {
  const auto s = torch::sigmoid(z);
  return (1 - s) * s;
}
torch::Tensor d_tanh(const torch::Tensor& z) { return 1 - z.tanh().pow(2); }
torch::Tensor d_elu(const torch::Tensor& z) { return torch::where(z > 0, torch::ones_like(z), z.exp()); }

std::vector<torch::Tensor> cell_forward(torch::Tensor input, torch::Tensor weights, torch::Tensor bias,
                                        torch::Tensor old_h, torch::Tensor old_cell) {
  const auto both = torch::cat({old_h, input}, /*dim=*/1);
  const auto gate_weights = torch::addmm(bias, both, weights.transpose(0, 1));
  const auto gates = gate_weights.chunk(3, /*dim=*/1);
  const auto input_gate = torch::sigmoid(gates[0]);
  const auto output_gate = torch::sigmoid(gates[1]);
  const auto candidate = torch::elu(gates[2], /*alpha=*/1.0);
  const auto new_cell = old_cell + candidate * input_gate;
  const auto new_h = torch::tanh(new_cell) * output_gate;
  return {new_h, new_cell, input_gate, output_gate, candidate, both, gate_weights};
}

std::vector<torch::Tensor> cell_backward(torch::Tensor grad_h, torch::Tensor grad_cell, torch::Tensor new_cell,
                                         torch::Tensor input_gate, torch::Tensor output_gate, torch::Tensor candidate,
                                         torch::Tensor both, torch::Tensor gate_weights, torch::Tensor weights) {
  const auto gates = gate_weights.chunk(3, 1);
  const auto d_cell = d_tanh(new_cell) * (output_gate * grad_h) + grad_cell;
  auto d_output = torch::tanh(new_cell) * grad_h;
  auto d_candidate = input_gate * d_cell;
  auto d_input = candidate * d_cell;
  d_input *= d_sigmoid(gates[0]);
  d_output *= d_sigmoid(gates[1]);
  d_candidate *= d_elu(gates[2]);
  const auto d_gates = torch::cat({d_input, d_output, d_candidate}, 1);
  const auto d_both = d_gates.mm(weights);
  const auto state_size = grad_h.size(1);
  return {d_both.slice(1, state_size), d_gates.t().mm(both), d_gates.sum(0, /*keepdim=*/true),
          d_both.slice(1, 0, state_size), d_cell};
}

struct Counter {
  int64_t count = 0;
  void add(const torch::Tensor& t) { count += t.numel(); }
};

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("add_relu", &add_relu, "relu(a + b)", py::arg("a"), py::arg("b"));
  m.def("same", &same);
  m.def("undefined", &undefined);
  m.def("kinds", &kinds);
  m.def("scalars", &scalars);
  m.def("doubled", &doubled);
  m.def("elements", &elements, py::arg("t") = py::none());
  m.def("fail", &fail);
  m.def("apply", &apply);
  m.def("leaky", &leaky, py::call_guard<py::gil_scoped_release>());
  m.def("cube", [](const torch::Tensor& x) { return Cube::apply(x); });
  m.def("forward", &cell_forward, "The cell's state after one step");
  m.def("backward", &cell_backward, "The gradients of its arguments");
  py::class_<Counter>(m, "Counter").def(py::init<>()).def("add", &Counter::add).def_readonly("count", &Counter::count);
}
