// Two rules about a tensor given as out=: which dtype it chooses for an op that takes a dtype, and the warning that a
// sequence of computed length resizes it.
#pragma once
#include "argand/exec/op_info.h"

namespace argand::exec {

// If an op takes the dtype of its result, `out` chooses it, unless the call names one: then DtypeError if `out` has
// another.
void dtype_by_out(const char* op, std::optional<ScalarType>& dtype, const Tensor& out);

// Warns that an `out` that is not empty is resized to a sequence whose length is computed.
void warn_of_count(const Tensor& out, IntArrayRef sizes);

}  // namespace argand::exec
