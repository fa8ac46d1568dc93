// Positions grouped by the row to which their index points.
#pragma once
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {

// The numbers index[k], in order, and their positions k, equal numbers in the order of k; in device memory.
class GroupedRows {
 public:
  // 0 < n < 2^31 and 0 < rows < 2^32; index[k] < rows.
  GroupedRows(const int64_t* index, int64_t n, int64_t rows);
  const unsigned* keys() const { return memory_.as<unsigned>(); }
  const unsigned* order() const { return keys() + n_; }

 private:
  int64_t n_;
  Scratch memory_;
};

}  // namespace argand::cuda
