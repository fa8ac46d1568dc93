// Where the elements of an indexed expression lie: Note [Advanced indexing].
#pragma once
#include "argand/base/small_vector.h"
#include "argand/core/tensor.h"

namespace argand::ops {

// Note [Advanced indexing]
// self[i0, :, i2] with index tensors i0, i2 of common (broadcast) shape B picks, for each b in B, the slice at
// (i0[b], ., i2[b]).  The result has B in place of the indexed dimensions where these are neighbours, else in front. So
// its elements are visited as [before, B, after]: `before` the dimensions in front of neighbouring indexed ones,
// `after` the other ones that are not indexed; the address is before + pick[b] + after.

// Checks that can be made without reading the index tensors: how many there are, their dtypes, and that they broadcast.
// Gives B and the shape of the result.
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
  Dims inner_sizes, inner_strides;  // of `after`
  int64_t inner = 1;                // elements of `after`
  bool inner_is_block = false;      // they lie next to each other, in order
};

}  // namespace argand::ops
