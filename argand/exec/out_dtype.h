// What ops that may be told a dtype, and sequences of computed length, say of a tensor given as out=.
#pragma once
#include "argand/exec/op_info.h"

namespace argand::exec {

// An op that may be told the dtype of its result is told it by `out`, unless the call names one: then DtypeError if
// `out` has another.
void dtype_by_out(const char* op, std::optional<ScalarType>& dtype, const Tensor& out);

// The warning that an `out` which is not empty is resized to a sequence, whose length is computed.
void warn_of_count(const Tensor& out, IntArrayRef sizes);

}  // namespace argand::exec
