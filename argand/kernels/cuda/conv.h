// Our kernels for convolution: for every shape and every floating-point and complex type, if cuDNN has no kernel or is
// missing. Arguments as in kernels/cpu/conv.h.
#pragma once
#include <optional>

#include "argand/kernels/api/conv.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda::own {

void conv_forward(const ConvShape& s, ScalarType dtype, const void* x, const void* w, const void* bias, void* y);
void conv_input_grad(const ConvShape& s, ScalarType dtype, const void* gy, const void* w, void* gx);
void conv_weight_grad(const ConvShape& s, ScalarType dtype, const void* gy, const void* x, void* gw);
// The same in float for few channels and 3 x 3 taps, several times faster than both; a kernel is compiled for each
// shape.  False if the shape is not supported.
bool has_few_channels(const ConvShape& s, ScalarType dtype);
bool few_channels_forward(const ConvShape& s, ScalarType dtype, const void* x, const void* w, const void* bias,
                          void* y);
bool few_channels_input_grad(const ConvShape& s, ScalarType dtype, const void* gy, const void* w, void* gx);
// `gb`, if not null, becomes the gradient of the bias.
bool few_channels_weight_grad(const ConvShape& s, ScalarType dtype, const void* gy, const void* x, void* gw, void* gb);
// Whether groups have one channel, windows are 3, 5 or 7 in both dimensions, and channels can be last.
bool is_depthwise(const ConvShape& s, ScalarType dtype);
// For such shapes, with channels last.
void depthwise_forward(const ConvShape& s, ScalarType dtype, const void* x, const void* w, const void* bias, void* y);
void depthwise_input_grad(const ConvShape& s, ScalarType dtype, const void* gy, const void* w, void* gx);
void depthwise_weight_grad(const ConvShape& s, ScalarType dtype, const void* gy, const void* x, void* gw);
// Whether cuDNN's engines are several times faster for the problem (two dimensions, channels last, two-byte types) if
// its operands are regrouped: few channels are joined with those of neighbouring pixels, which removes a stride, and
// the inputs of single taps with a stride become contiguous.
bool gains_by_regrouping(const ConvShape& s, ScalarType dtype);
// The regrouped problem, which has no stride, with its operands.
struct Regrouped {
  Regrouped(const ConvShape& s, ScalarType dtype, const void* x, const void* w);
  ConvShape shape;
  Scratch x;
  std::optional<Scratch> own_w;
  const void* w;
};
// The contents of each part: `size` elements of `out`, then `more_size` of `more`.
struct SummedParts {
  void* out;
  int64_t size;
  void* more = nullptr;
  int64_t more_size = 0;
};
// The sums of `count` parts of type op_math_type(dtype), in an order that follows from `count`.
void add_parts(ScalarType dtype, const void* parts, int64_t count, const SummedParts& to);
// The weight [c, o, kernel] of the convolution that computes conv_input_grad, if strides and groups are 1.
void turn_weight(const ConvShape& s, ScalarType dtype, const void* w, void* turned);
// y[n, o, out] += bias[o]
void add_channel_bias(const ConvShape& s, ScalarType dtype, const void* bias, void* y);

}  // namespace argand::cuda::own
