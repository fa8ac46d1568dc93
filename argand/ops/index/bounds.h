// Checks of index tensors before anything is written.
#pragma once
#include "argand/core/tensor.h"
#include "argand/ops/dim_split.h"

namespace argand::ops {

// `index` (int32 or int64) as a contiguous int64 tensor with elements in [0, bound); otherwise IndexError naming op,
// index and bound.  With `wrap`, negative ones count from the end.  On a GPU, the next synchronisation throws the
// error.
Tensor checked_index(const char* op, const Tensor& index, int64_t bound, int64_t dim, bool wrap = false);

// The same for an index on a GPU, of any integer dtype; `ignored` stays as it is.
Tensor checked_on_device(const char* op, const Tensor& index, int64_t bound, int64_t dim, bool wrap, int64_t ignored);

// DtypeError unless `index` is int32 or int64.
void check_index_dtype(const char* op, const Tensor& index);

// For results whose size depends on values: NotImplementedError for a meta tensor.
void check_has_data(const char* op, const Tensor& t);

// Size and stride of a dimension; a 0-dim tensor has one of size 1.
inline int64_t size_at(const Tensor& t, int64_t dim) { return t.dim() == 0 ? 1 : t.sizes()[dim]; }
inline int64_t stride_at(const Tensor& t, int64_t dim) { return t.dim() == 0 ? 1 : t.strides()[dim]; }

// The elements of a contiguous int64 tensor, in the memory of its device.
inline const int64_t* numbers_in(const Tensor& index) { return static_cast<const int64_t*>(index.impl().data()); }

}  // namespace argand::ops
