// Functions shared by the forms of a call (invoke.cpp) and by calls that are offered first (offer.cpp).
#pragma once
#include "argand/exec/op_info.h"

namespace argand::exec {

// ValueError for an undefined tensor that no call may leave out.
void check_defined(const OpInfo& op, const void* args, TensorSlots& slots);
// Whether autograd records the call; GradError for a constant argument that requires grad.
bool any_requires_grad(const OpInfo& op, const void* args, TensorSlots& slots);
// Moves the arguments into a node, the history of `outs`; `in_place`: the tensor that was written, one of them.
void record(const OpInfo& op, void* args, std::span<Tensor> outs, const Tensor* in_place);
void check_writable(const OpInfo& op, const Tensor& self, bool records);
// GradError if a call with out= would be recorded.
void check_out_not_recorded(const OpInfo& op, bool records);
// Arguments that share memory with `self`, which is about to be written, and that a gradient reads become copies.
void keep_values_before_write(const OpInfo& op, TensorSlots& slots, const Tensor& self);

}  // namespace argand::exec
