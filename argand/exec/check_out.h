// Checks of the tensors that are given as out=: whether one can take a result, and how it is resized to the result.
#pragma once
#include "argand/exec/op_info.h"

namespace argand::exec {

// DeviceError or DtypeError unless `out` takes `result`, the i-th of the op.
void check_out(const OpInfo& op, TensorSlots& slots, const Tensor& result, const Tensor& out, size_t i);
// Writes the results of an op, whose tensor arguments are `slots`, to the tensors that were given as out=.  All are
// checked and resized before the first is written, so no out has new elements after a call that fails.
void write_outs(const OpInfo& op, TensorSlots& slots, std::span<const Tensor> results, std::span<Tensor> outs);
// A caller that passes an output with elements has mostly mistaken its shape.
void warn_of_resize(const Tensor& out, IntArrayRef sizes);
// An output that gets other sizes takes the layout of the result.
void resize_like(const Tensor& out, const Tensor& result);

}  // namespace argand::exec
