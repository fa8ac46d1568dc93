// Tensors that may be missing: undefined in an argument struct or among gradients, nothing in a call.
#pragma once
#include <optional>

#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand::ops {

inline std::optional<Tensor> optional(const Tensor& t) { return t.defined() ? std::optional<Tensor>(t) : std::nullopt; }

// a + b, where either may be undefined.
inline Tensor add_defined(const Tensor& a, const Tensor& b) { return !a.defined() ? b : !b.defined() ? a : a + b; }

}  // namespace argand::ops
