// The sizes before, at and after one dimension of a contiguous tensor.
#pragma once
#include "argand/base/array_ref.h"

namespace argand::ops {

struct DimSplit {
  int64_t outer = 1, size = 1, inner = 1;
  DimSplit(IntArrayRef sizes, int64_t dim) {
    for (size_t d = 0; d < sizes.size(); ++d)
      (static_cast<int64_t>(d) < dim ? outer : static_cast<int64_t>(d) > dim ? inner : size) *= sizes[d];
  }
};

}  // namespace argand::ops
