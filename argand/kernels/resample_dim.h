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
  bool align_corners;  // aligns the centres of the corner elements, not the edges
  double scale;        // the user's scale, which may differ from out / in by rounding; 0: none given
};

}  // namespace argand
