// The generated part of ops/boxed.h: the functions of each family of ops.
#pragma once
#include "argand/ops/boxed.h"

namespace argand::boxed {

std::vector<std::span<const Function>> families();

}  // namespace argand::boxed
