#include "argand/autograd/engine.h"

#include <exception>
#include <thread>
#include <utility>

#include "argand/autograd/accumulate.h"
#include "argand/autograd/device_threads.h"
#include "argand/autograd/pass.h"
#include "argand/base/log.h"
#include "argand/exec/autocast_scope.h"
#include "argand/exec/invoke.h"
#include "argand/exec/thread_state.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::autograd {
namespace {

void run_here(Pass& pass, Grads& captured) {
  Pass::Order order(pass);
  while (Pass::State* state = order.next()) {
    Node* node = state->node;
    std::optional<exec::PlaceScope> there;
    if (pass.moves()) there.emplace(pass.place_of(*node));
    Grads out = pass.step(node, std::move(state->grads), captured);
    for (size_t i = 0; i < node->next_edges().size(); ++i) {
      const Edge& edge = node->next_edges()[i];
      if (!edge.is_valid()) continue;
      Pass::State& next = pass.state_of(edge);
      if (out[i].defined()) {
        pass.hand_over(out[i], *next.node, edge.input_nr);
        pass.add(next.grads[edge.input_nr], std::move(out[i]), *next.node, edge.input_nr);
      }
      order.follow(next);
    }
  }
}

// Note [Backward within backward]
// A gradient may call backward, whose gradients may call it again, and each level uses stack.  After kMostNested levels
// the pass continues in a new thread with its own stack, while this one waits; so only memory limits the depth.
constexpr int kMostNested = 60;
thread_local int nested = 0;
thread_local bool multithreading = true;

class Nesting {
 public:
  Nesting() { ++nested; }
  ~Nesting() { --nested; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
};

void run_nodes(Pass& pass, Grads& captured) {
  const Nesting level;
  if (pass.gpus().size() > 1 && multithreading)
    run_on_device_threads(pass, captured);
  else
    run_here(pass, captured);
}

void run_in_new_thread(Pass& pass, Grads& captured) {
  const exec::ThreadState caller;
  Backend* gpu = loaded_accelerator();
  const Device device = gpu ? Device(accelerator_type(), gpu->current_device()) : Device(kCPU);
  std::exception_ptr error;
  std::thread([&] {
    try {
      const DeviceScope here(device);
      const exec::ThreadState::Scope as_caller(caller);
      run_nodes(pass, captured);
      exec::joint();
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  if (error) std::rethrow_exception(error);
}

// Everything runs in the grad mode of this backward: gradients, hooks and the sums between them.
void run_pass(Pass& pass, Grads& captured) {
  const AutoGradMode mode(pass.creates_graph());
  const exec::AutocastScope no_autocast;  // a gradient is computed in the dtypes of its forward op
  pass.prepare();
  if (nested < kMostNested)
    run_nodes(pass, captured);
  else
    run_in_new_thread(pass, captured);
  pass.join_streams();
  exec::joint();
}

// With what was asked for after it; `finish` is a part of the pass.
template <class F>
void run(Pass& pass, Grads& captured, F&& finish) {
  try {
    run_pass(pass, captured);
    finish();
  } catch (...) {
    pass.over(false);
    throw;
  }
  pass.over(true);
}

Tensor root_gradient(const Endpoint& root, const Tensor& given, size_t i) {
  const GradMeta meta =
      root.tensor.defined() ? GradMeta(root.tensor) : root.edge.function->input_meta(root.edge.input_nr);
  if (!given.defined()) {
    ARGAND_CHECK(GradError, numel_of(meta.sizes) == 1,
                 "grad can be implicitly created only for scalar outputs, got a tensor of shape ", meta.sizes);
    ARGAND_CHECK(GradError, !is_complex(meta.dtype),
                 "grad can be implicitly created only for real scalar outputs but got ", meta.dtype);
    return root.tensor.defined() ? ones_like(root.tensor)
                                 : ones(meta.sizes, TensorOptions(meta.dtype).device(meta.device));
  }
  ARGAND_CHECK(GradError, given.device() == meta.device || given.dim() == 0, "expected a gradient on ", meta.device,
               ", where the output is, got one on ", given.device());
  ARGAND_CHECK(GradError, given.impl().sizes == meta.sizes, "Mismatch in shape: grad_output[", i, "] has a shape of ",
               "torch.Size(", given.sizes(), ") and output[", i, "] has a shape of torch.Size(", meta.sizes, ").");
  ARGAND_CHECK(GradError, given.is_complex() == is_complex(meta.dtype),
               "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in "
               "dtype: grad_output[",
               i, "] has a dtype of ", given.dtype(), " and output[", i, "] has a dtype of ", meta.dtype, ".");
  return given.dtype() == meta.dtype ? given.to(meta.device) : given.to(TensorOptions(meta.dtype).device(meta.device));
}

void add_roots(Pass& pass, const Endpoints& roots, TensorList gradients) {
  ARGAND_CHECK(GradError, gradients.empty() || gradients.size() == roots.size(), "backward: got ", roots.size(),
               " tensors and ", gradients.size(), " gradients");
  for (size_t i = 0; i < roots.size(); ++i) {
    const Edge& edge = roots[i].edge;
    ARGAND_CHECK(GradError, edge.is_valid(), "element ", i,
                 " of tensors does not require grad and does not have a grad_fn");
    pass.add_root(edge, root_gradient(roots[i], gradients.empty() ? Tensor() : gradients[i], i));
  }
}

Endpoints endpoints(TensorList tensors) { return Endpoints(tensors.begin(), tensors.end()); }

}  // namespace

void backward_from(const Endpoints& roots, TensorList gradients, std::optional<bool> retain_graph, bool create_graph,
                   const Endpoints& inputs) {
  if (create_graph)
    ARGAND_WARN_ONCE(
        "Using backward() with create_graph=True makes a cycle of a parameter and its gradient, whose graph holds the "
        "parameter: neither is freed. Use autograd.grad, or set the .grad of the parameters to None after use.");
  exec::joint_if_idle();
  Pass pass(retain_graph.value_or(create_graph), create_graph);
  add_roots(pass, roots, gradients);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Endpoint& input = inputs[i];
    ARGAND_CHECK(GradError, input.edge.is_valid(), "One of the differentiated Tensors does not require grad: element ",
                 i, " of inputs");
    if (input.tensor.defined()) input.tensor.retain_grad();
    pass.run_up_to(input.edge.function);
  }
  Grads none;
  run(pass, none, [] {});
}

void backward(TensorList roots, TensorList gradients, std::optional<bool> retain_graph, bool create_graph,
              TensorList inputs) {
  backward_from(endpoints(roots), gradients, retain_graph, create_graph, endpoints(inputs));
}

bool is_multithreading_enabled() { return multithreading; }
void set_multithreading_enabled(bool on) { multithreading = on; }

void after_backward(std::function<void(bool well)> f) {
  ARGAND_CHECK(GradError, Pass::call_after(std::move(f)), "after_backward: no backward is under way on this thread");
}

Grads grad_of(const Endpoints& outputs, const Endpoints& inputs, TensorList grad_outputs,
              std::optional<bool> retain_graph, bool create_graph, bool allow_unused) {
  ARGAND_CHECK(ValueError, !inputs.empty(), "grad requires non-empty inputs.");
  exec::joint_if_idle();
  Pass pass(retain_graph.value_or(create_graph), create_graph);
  add_roots(pass, outputs, grad_outputs);
  Grads captured(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    ARGAND_CHECK(GradError, inputs[i].edge.is_valid(), "One of the differentiated Tensors does not require grad");
    pass.capture(inputs[i].edge, i);
  }
  run(pass, captured, [] {});
  for (const Tensor& g : captured)
    ARGAND_CHECK(
        GradError, g.defined() || allow_unused,
        "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this "
        "is the desired behavior.");
  return captured;
}

Grads grad(TensorList outputs, TensorList inputs, TensorList grad_outputs, std::optional<bool> retain_graph,
           bool create_graph, bool allow_unused) {
  return grad_of(endpoints(outputs), endpoints(inputs), grad_outputs, retain_graph, create_graph, allow_unused);
}

}  // namespace argand::autograd
