// Differentiation: backward, grad, Function.
#pragma once
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

// A leaf over the elements of `data`.
inline Variable make_variable(const Tensor& data, bool requires_grad = false) {
  return data.defined() ? data.detach().set_requires_grad(requires_grad) : Tensor();
}
}  // namespace argand::autograd
