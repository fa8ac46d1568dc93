#include "argand/autograd/grad_switch.h"

#include "argand/core/grad_mode.h"

namespace argand::autograd {

bool is_grad_enabled() { return GradMode::is_enabled(); }
void set_grad_enabled(bool on) { GradMode::set_enabled(on); }

}  // namespace argand::autograd
