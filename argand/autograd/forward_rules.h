// Tangents of ops that do not follow from the gradient, or only slowly: Note [Tangents of an op].
#pragma once
#include <span>

#include "argand/exec/op_info.h"

namespace argand::autograd {

// The tangent of the result for tangents of the tensor arguments, undefined where there is none; `args` are those of
// the call.
using ForwardRule = Tensor (*)(const void* args, std::span<const Tensor> tangents, const Tensor& result);

// Null for an op without a rule.
ForwardRule forward_rule(const OpInfo& op);

}  // namespace argand::autograd
