// Differentiation: backward, grad, Function.
#pragma once
#include "ATen/record_function.h"
#include "argand/autograd/anomaly_mode.h"
#include "argand/autograd/engine.h"
#include "argand/autograd/function.h"
#include "torch/types.h"

// The switches stand in torch::autograd, too.
namespace argand::autograd {
using DifferentiableViewMeta = AutogradMeta;
using argand::AutoGradMode;
using argand::GradMode;
using argand::InferenceMode;
using argand::NoGradGuard;

// Whether a gradient is wanted of any of them; compute_requires_grad() asks whether one is recorded, too.
inline bool any_variable_requires_grad(const variable_list& variables) {
  for (const Tensor& t : variables)
    if (t.defined() && t.requires_grad()) return true;
  return false;
}

// A leaf over the elements of `data`.
inline Variable make_variable(const Tensor& data, bool requires_grad = false) {
  return data.defined() ? data.detach().set_requires_grad(requires_grad) : Tensor();
}
}  // namespace argand::autograd
