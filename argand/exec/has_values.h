// Whether the elements of a tensor can be looked at, for checks of values that are no part of a result.
#pragma once
#include "argand/exec/dispatch_hooks.h"

namespace argand::exec {

// Not those of a meta tensor, nor those of a tensor that intercepts ops: what it stands for may be many values.
inline bool has_values(const Tensor& t) { return !t.is_meta() && !DispatchHooks::intercepts(t.impl()); }

}  // namespace argand::exec
