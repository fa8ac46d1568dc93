// Resampling the last dimensions of contiguous planes: blocks::resample and its gradient.
#pragma once
#include "argand/core/dtype.h"
#include "argand/kernels/resample_dim.h"

namespace argand {

struct Resampling {
  ScalarType type;  // of both tensors.  Forward with nearest elements: any; otherwise the CPU has only float and double
  Filter filter;
  int64_t planes;
  int spatial;           // 1 to 3
  ResampledDim dims[3];  // the last `spatial` ones count

  int64_t in_size() const { return size(&ResampledDim::in); }
  int64_t out_size() const { return size(&ResampledDim::out); }
  int64_t size(int64_t ResampledDim::*which) const {
    int64_t n = 1;
    for (int d = 3 - spatial; d < 3; ++d) n *= dims[d].*which;
    return n;
  }
};

// out[planes, out...] = in[planes, in...] resampled.
using RunResample = void(const Resampling& call, const void* in, void* out);
// grad_in[planes, in...] = the sum of the gradients to which each input element contributes, with the same weights.
using RunResampleBackward = void(const Resampling& call, const void* grad_out, void* grad_in);

}  // namespace argand
