// torch::jit::load and the modules it returns (argand/jit).
#pragma once
#include "argand/jit/call.h"
#include "argand/jit/load.h"
#include "argand/jit/module.h"
#include "torch/types.h"

namespace torch::jit {
using JITException = argand::jit::Exception;
}  // namespace torch::jit
