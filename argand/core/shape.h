// Arithmetic on sizes and strides.  Strides count elements, not bytes.
#pragma once
#include <optional>

#include "argand/base/small_vector.h"

namespace argand {

enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

// Product of sizes; ValueError when it does not fit 64 bits or a size is negative.
int64_t numel_of(IntArrayRef sizes);
Dims contiguous_strides(IntArrayRef sizes);
// NHWC (4 dimensions) or NDHWC (5) strides; ShapeError for another rank.
Dims strides_of(IntArrayRef sizes, MemoryFormat format);

bool is_contiguous(IntArrayRef sizes, IntArrayRef strides, MemoryFormat format = MemoryFormat::Contiguous);
// Every element has its own address and together they fill one block (some permutation of a contiguous tensor).
bool is_non_overlapping_and_dense(IntArrayRef sizes, IntArrayRef strides);
// Whether two different indices may have the same address.  It may be true for unusual layouts that do not overlap.
bool may_overlap_itself(IntArrayRef sizes, IntArrayRef strides);

// Dense strides for a result shaped `sizes` in the dimension order of `strides`, as torch.empty_like(preserve_format).
Dims strides_like(IntArrayRef sizes, IntArrayRef strides);

// The common shape of broadcasting; ShapeError naming `op` when there is none.
Dims broadcast_shapes(IntArrayRef a, IntArrayRef b, const char* op);
// Strides of a tensor read as if expanded to `to` (0 in broadcast dimensions); `to` must be reachable.
Dims expanded_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef to);

// Strides that view a tensor of (sizes, strides) as `to`, or nothing when that needs a copy.
std::optional<Dims> view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef to);
// Replaces one -1 in `to` by what the number of elements asks for; ShapeError when it cannot.
Dims infer_size(IntArrayRef to, int64_t numel, const char* op);

// A dimension in [-ndim, ndim) as one in [0, ndim); IndexError naming `op` otherwise.  A 0-dim tensor has dimension 0.
int64_t wrap_dim(int64_t dim, int64_t ndim, const char* op);
// Wraps all dimensions; IndexError or ValueError for a repeated one.  Empty means all if `empty_is_all`.
Dims wrap_dims(IntArrayRef dims, int64_t ndim, const char* op, bool empty_is_all = true);
// The shape after reducing over `dims` (already wrapped).
Dims reduced_sizes(IntArrayRef sizes, IntArrayRef dims, bool keepdim);

}  // namespace argand
