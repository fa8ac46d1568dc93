// The arguments of attention kernels: one definition for both compilers.
#pragma once
#ifdef __CUDACC_RTC__
#include "argand/kernels/cuda/philox.cuh"
#include "argand/kernels/cuda/types.cuh"
#else
#include "argand/runtime/cuda/graph.h"
#endif

namespace argand {
#ifndef __CUDACC_RTC__
using cuda::PhiloxNumbers;
#endif

// [batch, heads, rows, columns], with contiguous columns.
struct AttentionRows {
  void* data;
  int64_t batch, head, row;  // strides in elements
};

struct AttentionMask {
  const void* data;
  int64_t batch, head, row, column;
};

inline constexpr int kNumberLanes = 8;  // of attention_numbers, for a row

struct AttentionShape {
  int heads, kv_heads, queries, keys, width, value_width;
  float scale;
  bool causal;
  bool vectors;  // whether all rows but the mask's are multiples of 16 bytes
  AttentionMask mask;
  unsigned drop_below;  // a weight whose random number of 16 bits is smaller becomes 0,
  float kept;           // and the others times this
  PhiloxNumbers random;
};

}  // namespace argand
