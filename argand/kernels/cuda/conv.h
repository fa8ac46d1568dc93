// Own kernels for convolution: for every shape and every real floating-point type, where cuDNN has none or is not
// there. Arguments as in kernels/cpu/conv.h.
#pragma once
#include "argand/kernels/cpu/conv.h"

namespace argand::cuda::own {

void conv_forward(const cpu::ConvShape& s, ScalarType dtype, const void* x, const void* w, const void* bias, void* y);
void conv_input_grad(const cpu::ConvShape& s, ScalarType dtype, const void* gy, const void* w, void* gx);
void conv_weight_grad(const cpu::ConvShape& s, ScalarType dtype, const void* gy, const void* x, void* gw);
// y[n, o, out] += bias[o]
void add_channel_bias(const cpu::ConvShape& s, ScalarType dtype, const void* bias, void* y);

}  // namespace argand::cuda::own
