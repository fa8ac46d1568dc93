// The memory positions of the elements of an indexed expression: Note [Advanced indexing].
#pragma once
#include "argand/base/small_vector.h"
#include "argand/core/tensor.h"

namespace argand::ops {

// Note [Advanced indexing]
// self[i0, :, i2] with index tensors i0, i2 of common (broadcast) shape B picks, for each b in B, the slice at (i0[b],
// ., i2[b]).  The result has B in place of the indexed dimensions if these are adjacent, else in front. So its elements
// are visited as [before, B, after]: `before` are the dimensions in front of adjacent indexed ones, `after` the other
// dimensions that are not indexed.  The address is before + pick[b] + after.

// The checks that need not read the index tensors: their number, dtypes, and that they broadcast. Gives B and the shape
// of the result.
struct IndexedShape {
  IndexedShape(const char* op, const Tensor& self, const std::vector<Tensor>& indices);
  std::vector<int64_t> indexed, before, after;  // dimensions of self
  Dims index_sizes, result;
};

// Also reads the indices; IndexError for one out of range.  Offsets count elements.
struct IndexedPlan : IndexedShape {
  IndexedPlan(const char* op, const Tensor& self, const std::vector<Tensor>& indices);
  std::vector<int64_t> pick;        // one offset per element of B
  std::vector<int64_t> outer;       // one per position in `before`
  Dims inner_sizes, inner_strides;  // sizes and strides of `after`
  int64_t inner = 1;                // elements of `after`
  bool inner_is_block = false;      // they are contiguous, in order
};

}  // namespace argand::ops
