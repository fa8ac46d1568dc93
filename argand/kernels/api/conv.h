// Convolution on raw memory, contiguous [N, C, spatial...] with one to three spatial dimensions (leading ones have size
// 1), or [N, spatial..., C] where conv_takes_channels_last(); a GPU's has its own (kernels/blocks.h).
//
// "Convolution" means cross-correlation: y[n,o,p] = sum over c, k of x[n,c,p * stride - padding + k * dilation] *
// w[o,c,k]. Determinism: results depend on the shape only, never on the number of threads.
#pragma once
#include <array>
#include <cstdint>

#include "argand/core/dtype.h"

namespace argand {

struct ConvShape {
  int64_t n = 0, c = 0, o = 0, groups = 1;  // batch, input channels, output channels
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, padding{0, 0, 0},
      dilation{1, 1, 1};
  bool channels_last = false;  // x, w and y: [N, spatial..., C]
  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
  int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
};

// Whether the convolution, or a gradient of it, runs on channels-last operands; the caller then converts them.
// `given`: they have that layout already.  It depends on nothing else.
using ConvTakesChannelsLast = bool(const ConvShape& s, ScalarType dtype, bool given);
// y [n, o, out] = x [n, c, in] * w [o, c / groups, kernel] (+ bias [o], may be null)
using RunConvForward = void(const ConvShape& s, ScalarType dtype, const void* x, const void* w, const void* bias,
                            void* y);
// gx [n, c, in]: the gradient with respect to x.  Also a transposed convolution of gy.
using RunConvInputGrad = void(const ConvShape& s, ScalarType dtype, const void* gy, const void* w, void* gx);
// gw [o, c / groups, kernel]: the gradient with respect to w.
using RunConvWeightGrad = void(const ConvShape& s, ScalarType dtype, const void* gy, const void* x, void* gw);

}  // namespace argand
