// Note [Lost writes], for whoever writes a tensor as a whole.
#pragma once
#include "argand/core/tensor.h"

namespace argand::exec {

// All bytes of `out`'s storage are about to be written at once by what reads none of them: if they were lost, they no
// longer are.
void recover_overwritten(const Tensor& out);

}  // namespace argand::exec
