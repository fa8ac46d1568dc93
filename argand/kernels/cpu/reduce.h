// kernels/api/reduce.h on the CPU.
//
// Note [Order of a reduction]
// The order of additions depends on sizes and strides only, never on the number of threads or the vector unit.  A run
// of contiguous elements is added in a fixed number of lanes, in blocks of kReduceBlock elements; the partial results
// of blocks are combined as a binary tree.  So the error of a sum of n numbers grows with log n: at most about (16 + 2
// log2 n) eps.  A long reduction with few results is cut into chunks that run in parallel, whose results are combined
// as a tree again.
#pragma once
#include "argand/kernels/api/reduce.h"

namespace argand::cpu {

inline constexpr int64_t kReduceBlock = 1024;

RunReduce reduce;

}  // namespace argand::cpu
