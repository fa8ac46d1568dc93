// The arguments of the kernel that regroups pixels, which the host fills in: read by both.
#pragma once
#include "argand/kernels/cuda/index.cuh"

namespace argand {

// The shapes of images [n, in_h, in_w, c] and results [n, out_h, out_w, channels].
struct RegroupShape {
  long long pixels;  // n * out_h * out_w
  FastDiv out_h, out_w;
  int in_h, in_w, c, channels;
  int step, side, offset_h, offset_w;
};

}  // namespace argand
