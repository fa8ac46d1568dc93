// Guards, seeds and warnings.
#pragma once
#include <memory>

#include "ATen/record_function.h"
#include "torch/types.h"

namespace torch {
namespace utils {}  // namespace utils
using std::make_unique;

// Whether both are undefined, or equal tensors.
inline bool equal_if_defined(const Tensor& a, const Tensor& b) {
  return a.defined() == b.defined() && (!a.defined() || equal(a, b));
}
}  // namespace torch
