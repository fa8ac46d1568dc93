// Shared parts of normalisations over the last dimensions (layer norm, RMS norm).
#pragma once
#include "argand/kernels/api/row_norm.h"
#include "argand/ops/norm/gradient.h"

namespace argand::ops {

// The input as `rows` rows of n elements.
struct RowSplit {
  int64_t rows = 1, n = 1;
  RowSplit(IntArrayRef sizes, IntArrayRef normalized_shape);
};

// ShapeError or DtypeError in PyTorch's words.
void check_normalized_shape(const char* op, const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight,
                            const Tensor& bias);
// The input's sizes with 1 for the normalised ones.
Dims statistics_sizes(IntArrayRef sizes, IntArrayRef normalized_shape);
// The call that normalises such rows; `centered`: layer norm, else RMS norm.
RowNormCall row_call(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, bool centered);
NormShape layer_norm_shape(IntArrayRef sizes, IntArrayRef normalized_shape);

}  // namespace argand::ops
