// Checks for handwritten gradients.
#pragma once
#include "torch/autograd.h"

namespace argand::autograd {

// Whether an op on these tensors, lists and options of tensors is recorded.
template <class... Arguments>
bool compute_requires_grad(const Arguments&... arguments) {
  const auto wants = [](const auto& argument) {
    if constexpr (std::is_convertible_v<decltype(argument), const Tensor&>)
      return any_variable_requires_grad({argument});
    else if constexpr (std::is_convertible_v<decltype(argument), std::optional<Tensor>>)
      return any_variable_requires_grad({std::optional<Tensor>(argument).value_or(Tensor())});
    else
      return any_variable_requires_grad(TensorList(argument).vec());
  };
  return GradMode::is_enabled() && (wants(arguments) || ...);
}

}  // namespace argand::autograd
