// Which dtype a tensor given as out= has, for ops that write no other than that of their results.
#pragma once
#include "argand/exec/op_info.h"

namespace argand::exec {

// An op that may be told the dtype of its result is told it by `out`, unless the call names one: then DtypeError if
// `out` has another.
void dtype_by_out(const char* op, std::optional<ScalarType>& dtype, const Tensor& out);

// Does what invoke_out does, but throws DtypeError unless each tensor has the dtype of its result.  One exception is
// PyTorch's: kernels whose result is bool, all() and any(), may write uint8, too.
void invoke_out_exactly(const OpInfo& op, void* args, std::span<Tensor> outs);

}  // namespace argand::exec
