// The table of builtins_attention.cpp.
#pragma once
#include "argand/jit/builtins.h"

namespace argand::jit {

std::span<const NamedBuiltin> attention_builtins();

}  // namespace argand::jit
