// One index per element along one dimension: gather, scatter and flip.  On the CPU these ops process runs of elements.
#pragma once
#include <cstdint>

namespace argand {

// Element i of a contiguous tensor of `sizes`, at place[d] in each dimension d, corresponds to the element of another
// tensor at the sum of place[d] * strides[d], plus index[i] * step if there is an index.
struct AlongDim {
  static constexpr int kMaxDims = 16;
  int64_t n, step;
  int ndim;
  int64_t sizes[kMaxDims], strides[kMaxDims];
};

// to[i] = from[offset of i], elements of `item_size` bytes.
using GatherAlong = void(const AlongDim& shape, int64_t item_size, const void* from, const int64_t* index, void* to);
// slots[i] = offset of i.
using SlotsAlong = void(const AlongDim& shape, const int64_t* index, int64_t* slots);

}  // namespace argand
