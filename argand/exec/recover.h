// Note [Lost writes], for code that writes a tensor as a whole.
#pragma once
#include "argand/core/tensor.h"

namespace argand::exec {

// Call this when all bytes of `out`'s storage are about to be written by work that reads none of them: if the storage
// was lost, it no longer is.
void recover_overwritten(const Tensor& out);

}  // namespace argand::exec
