#include "argand/autograd/assign_grad.h"
#include "argand/autograd/engine.h"
#include "argand/autograd/grad_switch.h"
#include "argand/c/handles.h"

using namespace argand;
using namespace argand::c;

namespace {

// Gradients to begin with; none of them need be there.
std::vector<Tensor> optional_tensors(argand_tensor* const* handles, size_t count) {
  std::vector<Tensor> out;
  for (size_t i = 0; handles && i < count; ++i) out.push_back(optional_tensor(handles[i]));
  return out;
}

}  // namespace

bool argand_get_grad_enabled(void) { return autograd::is_grad_enabled(); }
void argand_set_grad_enabled(bool enabled) { autograd::set_grad_enabled(enabled); }

argand_error* argand_tensor_requires_grad(argand_tensor* tensor, bool* result) {
  return guarded([&] {
    const char* const function = "argand_tensor_requires_grad";
    needed(result, function, "result") = tensor_of(tensor, function).requires_grad();
  });
}

argand_error* argand_tensor_set_requires_grad(argand_tensor* tensor, bool requires_grad) {
  return guarded([&] { tensor_of(tensor, "argand_tensor_set_requires_grad").set_requires_grad(requires_grad); });
}

argand_error* argand_tensor_is_leaf(argand_tensor* tensor, bool* result) {
  return guarded([&] {
    needed(result, "argand_tensor_is_leaf", "result") = tensor_of(tensor, "argand_tensor_is_leaf").is_leaf();
  });
}

argand_error* argand_tensor_grad(argand_tensor* tensor, argand_tensor** grad) {
  return guarded([&] { give_tensor(grad, "argand_tensor_grad", tensor_of(tensor, "argand_tensor_grad").grad()); });
}

argand_error* argand_tensor_set_grad(argand_tensor* tensor, argand_tensor* grad) {
  return guarded([&] { autograd::assign_grad(tensor_of(tensor, "argand_tensor_set_grad"), optional_tensor(grad)); });
}

argand_error* argand_tensor_backward(argand_tensor* tensor, argand_tensor* gradient, bool retain_graph,
                                     bool create_graph) {
  return guarded([&] {
    tensor_of(tensor, "argand_tensor_backward").backward(optional_tensor(gradient), retain_graph, create_graph);
  });
}

argand_error* argand_backward(argand_tensor* const* roots, argand_tensor* const* gradients, size_t num_roots,
                              argand_tensor* const* inputs, size_t num_inputs, bool retain_graph, bool create_graph) {
  return guarded([&] {
    autograd::backward(tensors_of(roots, num_roots, "argand_backward", "roots"), optional_tensors(gradients, num_roots),
                       retain_graph, create_graph, tensors_of(inputs, num_inputs, "argand_backward", "inputs"));
  });
}

argand_error* argand_grad(argand_tensor* const* outputs, argand_tensor* const* grad_outputs, size_t num_outputs,
                          argand_tensor* const* inputs, size_t num_inputs, bool retain_graph, bool create_graph,
                          bool allow_unused, argand_tensor** grads) {
  return guarded([&] {
    needed(grads, num_inputs, "argand_grad", "grads");
    Grads found = autograd::grad(tensors_of(outputs, num_outputs, "argand_grad", "outputs"),
                                 tensors_of(inputs, num_inputs, "argand_grad", "inputs"),
                                 optional_tensors(grad_outputs, num_outputs), retain_graph, create_graph, allow_unused);
    std::vector<std::unique_ptr<argand_tensor>> handles;
    for (Tensor& g : found) handles.emplace_back(new_handle(std::move(g)));
    for (size_t i = 0; i < handles.size(); ++i) grads[i] = handles[i].release();
  });
}
