// Ops without a kernel for a device run on the CPU: tensors are copied there, and results are copied back.
#pragma once
#include "argand/exec/op_info.h"

namespace argand::exec {

// Runs the op's CPU kernel on copies of the tensors among the arguments and of `outs`, and copies back what it wrote;
// results whose shape depends on values get their shape.  Warns once per op and reason: `missing` is what the device's
// kernel does not take ("complex numbers"), empty if the device has no kernel.
void run_on_cpu(const OpInfo& op, void* args, std::span<Tensor> outs, std::string_view missing);

// The device whose op the thread runs on the CPU at present, and whose random numbers it takes; otherwise the CPU.
const Device& device_of_fallback();

}  // namespace argand::exec
