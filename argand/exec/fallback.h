// Ops without a kernel for a device run on the CPU: the tensors go there and the results come back.
#pragma once
#include "argand/exec/op_info.h"

namespace argand::exec {

// Runs the op's CPU kernel on copies of the tensors among the arguments and of `outs`; what it wrote returns, results
// whose shape depends on values get theirs.  Warns once per op and reason: `missing` is what the device's kernel does
// not take ("complex numbers"), empty if it has none.
void run_on_cpu(const OpInfo& op, void* args, std::span<Tensor> outs, std::string_view missing);

// The device whose op the thread runs on the CPU at this moment, and whose random numbers it takes; else the CPU.
const Device& device_of_fallback();

}  // namespace argand::exec
