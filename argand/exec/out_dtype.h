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

// Does what invoke_out does; its errors call the results by `names`, "solution, residuals", as PyTorch's errors of the
// op do.  With `exactly`, as invoke_out_exactly.
void invoke_out_named(const OpInfo& op, void* args, std::span<Tensor> outs, const char* names, bool exactly = false);

// Does what invoke_out does, for a sequence whose length is computed: a resize is told in terms of its length.
void invoke_out_counted(const OpInfo& op, void* args, std::span<Tensor> outs);
// The warning of that resize, of an `out` that is not empty.
void warn_of_count(const Tensor& out, IntArrayRef sizes);

}  // namespace argand::exec
