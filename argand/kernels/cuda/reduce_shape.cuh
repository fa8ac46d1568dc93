// The arguments of reduction kernels that the host fills in: read by both.
#pragma once
#include "argand/kernels/cuda/index.cuh"
#if defined(__CUDACC_RTC__)
#include "argand/kernels/cuda/types.cuh"
#else
#include <cstdint>
#endif

namespace argand {

// The dimensions an index runs over, outermost first; at least one.
struct IndexWalk {
  static constexpr int kMaxDims = 10;
  struct Dim {
    FastDiv by_size;                   // of sizes below 2^31
    int64_t size, stride, out_stride;  // strides in elements
  };
  Dim dims[kMaxDims];
  int ndim;
};

// Rows: `lanes` neighbouring threads share one chunk of one result.
struct RowReduction {
  IndexWalk kept, reduced;
  int64_t results, n;    // n: vectors that make one result
  int64_t step, chunks;  // a result is made of `chunks` parts of `step` vectors
  int lanes;             // a power of two up to the warp, or the block
};

// Columns: a block is x (neighbouring vectors of results) by y (rows that are combined) by z (lines of results).
struct ColumnReduction {
  IndexWalk lines, reduced;                      // all kept dimensions but the last, which is the line
  int64_t num_lines, width, stride, out_stride;  // of a line
  int64_t results, n;                            // n: rows that make one result
  int64_t step, chunks;
  int64_t tiles, line_groups;  // blocks: tiles of a line, then groups of lines, then chunks
  int log_x, log_y, log_z;
};

// What is done with a result before it is stored; see ReduceFinish.
struct FinishArguments {
  static constexpr int kDivide = 1, kSqrt = 2, kLogPlusCenter = 4, kZeroIfInfinite = 8;
  const void* center;
  double number;
  int kind;  // bits of these
};

}  // namespace argand
