// Shared parts of losses with class indices.
#pragma once
#include "argand/core/reduction.h"
#include "argand/core/tensor.h"

namespace argand::ops {

// ValueError unless reduction is None, Mean or Sum.
void check_reduction(const char* op, int64_t reduction);

// self is [C], [N, C] or [N, C, d1, ...], target its sizes without C, of int64 or uint8; weight undefined or [C].
void check_class_targets(const char* op, const Tensor& self, const Tensor& target, const Tensor& weight);

// The targets as contiguous int64; IndexError if one is neither a class nor `ignore_index`.
Tensor class_indices(const char* op, const Tensor& target, int64_t classes, int64_t ignore_index);

// The class dimension of such a `self`.
inline int64_t class_dim(const Tensor& self) { return self.dim() == 1 ? 0 : 1; }

// Reduces a tensor of losses as `reduction` says.
Tensor reduce_loss(const Tensor& losses, int64_t reduction);

}  // namespace argand::ops
