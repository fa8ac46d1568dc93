// Which dtype a tensor given as out= has, for ops that write no other than that of their results.
#pragma once
#include "argand/exec/op_info.h"

namespace argand::exec {

// An op that may be told the dtype of its result is told it by `out`, unless the call names one: then DtypeError if
// `out` has another.
void dtype_by_out(const char* op, std::optional<ScalarType>& dtype, const Tensor& out);

// As invoke_out, but DtypeError unless the tensors have the dtypes of the results; a kernel's bools may go to uint8.
void invoke_out_exactly(const OpInfo& op, void* args, std::span<Tensor> outs);

}  // namespace argand::exec
