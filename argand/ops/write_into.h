// In-place forms of composite ops.
#pragma once
#include "argand/core/grad_mode.h"
#include "argand/exec/autocast_scope.h"
#include "argand/ops/functions.h"

namespace argand::ops {

// Writes what `compute(self)` returns into `self`, which has its sizes and a dtype that it can be cast to; returns
// `self`. What is recorded reads a copy: it must find what was there before.
template <class F>
Tensor write_into(const char* op, const Tensor& self, F compute) {
  const exec::AutocastScope plain;  // the written values have self's dtype
  const Tensor result = compute(GradMode::is_enabled() && self.requires_grad() ? self.clone() : self);
  ARGAND_CHECK(ShapeError, result.sizes() == self.sizes(), op, ": expected self of shape ", result.sizes(), ", got ",
               self.sizes());
  ARGAND_CHECK(DtypeError, can_cast(result.dtype(), self.dtype()), op, ": result type ", dtype_cpp_name(result.dtype()),
               " can't be cast to the desired output type ", dtype_cpp_name(self.dtype()));
  return self.copy_(result);
}

}  // namespace argand::ops
