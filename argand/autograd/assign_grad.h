// Sets the gradient of a tensor from outside of a backward pass.
#pragma once
#include "argand/core/tensor.h"

namespace argand::autograd {

// `t.grad` becomes `grad` (undefined: none).  ValueError if both are the same tensor, DtypeError, DeviceError or
// ShapeError if the gradient does not fit the tensor.
void assign_grad(const Tensor& t, const Tensor& grad);

}  // namespace argand::autograd
