// The tensors of a kernel call: checked, and converted to the dtype in which the kernel computes.
#pragma once
#include "argand/exec/copy.h"
#include "argand/exec/invoke.h"

namespace argand::ops {

inline void* data_or_null(const Tensor& t) { return t.defined() ? t.impl().data() : nullptr; }

// ShapeError and DtypeError that name the argument.
void check_operand(const char* op, const char* name, const Tensor& t, const Dims& expected, ScalarType dtype);

// A contiguous result that a kernel computes in `type`; undefined if not wanted.  finish() converts it to its own dtype
// and layout.
class StagedResult {
 public:
  StagedResult(const Tensor& out, bool wanted, ScalarType type);
  void* data() const { return data_or_null(staged_); }
  void finish() const;

 private:
  Tensor out_, staged_;
};

}  // namespace argand::ops
