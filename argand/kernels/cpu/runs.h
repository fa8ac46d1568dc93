// Iterates over strided memory, and moves elements of unknown type.
#pragma once
#include <algorithm>
#include <complex>
#include <cstdint>

#include "argand/base/small_vector.h"

namespace argand::cpu {

// Visits elements [first, first + n), counted in row-major order over `sizes`, run by run along the innermost
// dimension: run(offset of its first element, stride, length).
template <class Run>
void for_each_run(IntArrayRef sizes, IntArrayRef strides, int64_t first, int64_t n, Run run) {
  const size_t ndim = sizes.size();
  if (ndim == 0) return run(int64_t{0}, int64_t{0}, n);
  Dims index(ndim, 0);
  int64_t offset = 0;
  for (size_t d = ndim; d-- > 0;) {
    index[d] = first % sizes[d];
    first /= sizes[d];
    offset += index[d] * strides[d];
  }
  const size_t inner = ndim - 1;
  while (n > 0) {
    const int64_t length = std::min(n, sizes[inner] - index[inner]);
    run(offset, strides[inner], length);
    n -= length;
    index[inner] += length;
    offset += length * strides[inner];
    for (size_t d = inner; d > 0 && index[d] == sizes[d]; --d) {
      offset += strides[d - 1] - sizes[d] * strides[d];
      index[d] = 0;
      ++index[d - 1];
    }
  }
}

// Calls `f` with a value of a type of the elements' size: elements are moved as opaque blocks.
template <class F>
void with_block_type(int64_t item_size, F f) {
  switch (item_size) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return f(std::complex<double>{});
  }
}

}  // namespace argand::cpu
