// Arguments of the kernels beside cuFFT, which the host fills in: read by both.
#pragma once
#if defined(__CUDACC_RTC__)
#include "argand/kernels/cuda/types.cuh"
#else
#include <cstdint>
#endif

namespace argand {

inline constexpr int kTransposeTile = 32, kTransposeThreads = 256;

// Dimensions along which a spectrum is mirrored: their sizes, and their strides in the tensor.  Those of one or two
// elements are their own mirror images and are left out, so more than there is room for do not fit any memory.
struct MirrorDims {
  static constexpr int kMost = 26;
  int64_t size[kMost], stride[kMost];
  int count;
};

}  // namespace argand
