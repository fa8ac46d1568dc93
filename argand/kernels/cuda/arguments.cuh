// Arguments that host code passes to kernels by value: one definition for both compilers.  Kernels with larger argument
// structs have a header of their own.
#pragma once
#ifdef __CUDACC_RTC__
#include "argand/kernels/cuda/types.cuh"
#else
#include <cstdint>
#endif

namespace argand {

// ---- losses

struct CrossEntropyRows {
  const void* logits;
  const int64_t* targets;
  const void* weight;  // of the arithmetic type, or null
  int64_t rows, classes, ignore_index;
  double smoothing;
};

struct NllShape {
  int64_t outer, classes, inner, ignore_index;
};

struct CtcArrays {
  const void* log_probs;
  const int64_t *labels, *begins, *counts, *lengths;
  int64_t steps, batch, classes, blank;
  int most_labels, width, ahead;  // `ahead`: steps whose log-probabilities are read at a time
  void* slot;                     // an ErrorSlot
  const char* op;                 // of the host
};

// ---- numbers of the host

inline constexpr int kNumbersPerLaunch = 448;
struct NumberList {
  int64_t numbers[kNumbersPerLaunch];
};

// ---- many tensors in one launch, whose elements are cut into tiles of one block each

inline constexpr int kStepThreads = 256;
// A: the arithmetic type; kTensors is a power of two.  The fields that a block reads of its tensor are adjacent.
template <class A, int kTensors>
struct StepTable {
  struct Tensor {
    void* arrays[5];  // parameter, gradient, states
    int64_t numel;
  };
  A numbers[10];
  int count;
  unsigned scalar;                 // whether some address is not a multiple of 16
  unsigned first_block[kTensors];  // of tensor t; a block has a tile: 16 bytes of each array a thread, or one element
  Tensor tensors[kTensors];
};

inline constexpr int kGradientsPerLaunch = 64, kUnscaleTile = 4096;
struct UnscaleTable {
  void* data[kGradientsPerLaunch];
  float* found[kGradientsPerLaunch];
  int64_t numel[kGradientsPerLaunch];
  unsigned first_block[kGradientsPerLaunch];  // a block has a tile of kUnscaleTile elements
  int count;
  unsigned scalar;  // whether some address is not a multiple of 16
  const float* inv_scale;
};

// Arrays of the fields of Piece (kernels/api/pieces.h); `nbytes` counts all rows of a piece.
inline constexpr int kPiecesPerLaunch = 64, kPieceTile = 16384;
struct PieceTable {
  void* to[kPiecesPerLaunch];
  const void* from[kPiecesPerLaunch];
  int64_t nbytes[kPiecesPerLaunch], row_bytes[kPiecesPerLaunch];
  int64_t to_stride[kPiecesPerLaunch], from_stride[kPiecesPerLaunch];
  unsigned first_block[kPiecesPerLaunch];  // a block has a tile of kPieceTile bytes
  int count;
  uint64_t wide;  // bit i: piece i consists of units of 16 bytes
};

// ---- products, norms, random numbers

struct StridedProduct {
  int64_t m, n, k;
  int64_t a_row, a_column, a_batch, b_row, b_column, b_batch, c_row, c_batch;
};

inline constexpr int kSmallCrossEntropyRows = 1024;  // at most
inline constexpr int kSmallProductThreads = 512;     // of a block, at most
struct SmallProduct {
  int m, n, k;
  int a_row, a_column, a_batch, b_row, b_column, b_batch, c_row, c_batch;
};

template <class A>  // the arithmetic type; void for the host
struct RowWeights {
  const A *weight, *bias;  // [groups * channels], or null
  int64_t groups, channels, inner;
};

struct DrawNumbers {
  double a, b;
  int64_t from;
  uint64_t range;
};

// ---- order

struct RadixPass {
  int64_t n;  // elements of a row
  unsigned tiles;
  int shift;
  unsigned flip;  // of a digit's bits: all for descending order
};

struct ShortRows {
  int64_t rows, n;
  unsigned together, length;  // rows of a block; a power of two that n fits
  bool descending;
};

struct SelectShape {
  int64_t n, source_n;  // elements of a row of `in` and of `source`
  unsigned chunks, count, length;
  int position_bits;
  bool descending;
};

struct SearchShape {
  int64_t n, count, per_row;
};

}  // namespace argand
