// A dimension that is resampled.  Compiled for the CPU and, by NVRTC, for GPUs.
#pragma once
#ifdef __CUDACC_RTC__
#include "argand/kernels/cuda/types.cuh"
#else
#include <cstdint>
#endif

namespace argand {

enum class Filter { kNearest, kNearestExact, kLinear, kCubic, kLinearAntialias, kCubicAntialias };

constexpr bool is_nearest(Filter f) { return f == Filter::kNearest || f == Filter::kNearestExact; }

struct ResampledDim {
  int64_t in, out;
  bool align_corners;  // the first and last elements of both lie on each other, instead of the edges
  double scale;        // out / in as the user gave it, which may differ from it by rounding; 0 if he did not
};

}  // namespace argand
