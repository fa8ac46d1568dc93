// The arguments of depthwise convolution, which the host fills in: read by both.
#pragma once
#include "argand/kernels/cuda/index.cuh"

namespace argand {

inline constexpr int kDepthwiseThreads = 256, kDepthwiseVectors = 8;

// The shapes of the input, [n, in_h, in_w, c], and of the output, [n, out_h, out_w, c]; for the gradient of the
// weights, those of the convolution.
struct DepthwiseShape {
  long long strips;  // of all rows of all images
  FastDiv strips_of_row, out_h;
  int c, in_h, in_w, out_w, padding_h, padding_w;
  int turned;   // whether the taps are taken from the last to the first
  int vectors;  // of V channels, that a block works on: at most kDepthwiseVectors
};

}  // namespace argand
