// GradMode for libraries that hide the symbols of C++, as libargand_c does: the inline functions of grad_mode.h would
// give such a library flags of its own.
#pragma once

namespace argand::autograd {

bool is_grad_enabled();
void set_grad_enabled(bool on);

}  // namespace argand::autograd
