// Shapes, dtypes and execution of pointwise calls.
#pragma once
#include "argand/exec/op_info.h"

namespace argand::exec {

inline constexpr int kMaxInputs = kMaxStepInputs;
inline constexpr int kMaxScalars = kMaxStepScalars;

// The dtype of a result of these operands.  Tensors with dimensions decide, then 0-dim tensors, then wrapped numbers;
// each of the latter two only if its kind (bool < integer < float < complex) is higher than the one so far.  As
// torch.result_type.
ScalarType result_type(std::span<const Tensor* const> operands);

struct PointwiseTypes {
  ScalarType compute;  // the dtype in which the body computes
  ScalarType result;
};
PointwiseTypes pointwise_types(Promote rule, std::span<const Tensor* const> operands);

// Shape and strides of the result: broadcast sizes in the memory order of the operands.
TensorMeta pointwise_meta(const OpInfo& op, std::span<const Tensor* const> operands, ScalarType dtype);

// One pointwise instruction, borrowing its tensors.
struct PointwiseCall {
  const PointwiseInfo* info;
  ScalarType compute;
  int num_inputs = 0;
  const Tensor* inputs[kMaxInputs];
  Scalar scalars[kMaxScalars];
  const Tensor* out;
};

// Runs now, or lets it wait in the issue window (Note [Issue window] in window.h).  An output that partly overlaps an
// input behaves as if the input were copied first.
void submit_pointwise(const PointwiseCall& call);

}  // namespace argand::exec
