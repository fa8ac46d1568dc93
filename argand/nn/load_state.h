// Copies a state into the tensors of a module, of whatever kind.
#pragma once
#include <string>

#include "argand/core/state_dict.h"

namespace argand::nn {

// Copies the tensors of `state` into those of `own` that have the same names.  ValueError, with all names that are
// missing, unexpected (both only if `strict`) or of another shape; `module` is what the message calls it.  After an
// error nothing has changed.
void load_state(const StateDict& own, const StateDict& state, bool strict, const std::string& module);

}  // namespace argand::nn
