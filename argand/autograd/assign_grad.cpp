#include "argand/autograd/assign_grad.h"

namespace argand::autograd {

void assign_grad(const Tensor& t, const Tensor& grad) {
  if (grad.defined()) {
    ARGAND_CHECK(ValueError, !grad.is_same(t), "can't assign Variable as its own grad");
    ARGAND_CHECK(DtypeError, grad.dtype() == t.dtype(), "assigned grad has data of a different type: expected ",
                 t.dtype(), ", got ", grad.dtype());
    ARGAND_CHECK(DeviceError, grad.device() == t.device(),
                 "assigned grad has data located on a different device: expected ", t.device(), ", got ",
                 grad.device());
    ARGAND_CHECK(ShapeError, grad.sizes() == t.sizes(), "assigned grad has data of a different size: expected ",
                 t.sizes(), ", got ", grad.sizes());
  }
  t.mutable_grad() = grad;
}

}  // namespace argand::autograd
