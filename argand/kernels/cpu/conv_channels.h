// Depthwise convolution in two dimensions of channels-last tensors, float and double.  Nothing is copied, because
// vectors run along the channels.
#pragma once
#include "argand/kernels/cpu/conv.h"

namespace argand::cpu {

bool are_channel_planes(const ConvShape& s);

template <class T>
void channel_planes_forward(const ConvShape& s, const T* x, const T* w, const T* bias, T* y);
template <class T>
void channel_planes_input_grad(const ConvShape& s, const T* gy, const T* w, T* gx);
template <class T>
void channel_planes_weight_grad(const ConvShape& s, const T* gy, const T* x, T* gw);

}  // namespace argand::cpu
