// Convolution for float and double without im2col: see Note [Unfolded rows] in conv_simd.h.
#pragma once
#include "argand/kernels/cpu/conv.h"

namespace argand::cpu {

// Whether the functions below support the shape and are the better choice for it.  With channels last they support
// one group.
bool direct_forward_suits(const ConvShape& s);
bool direct_input_grad_suits(const ConvShape& s);
bool direct_weight_grad_suits(const ConvShape& s);

template <class T>
void direct_forward(const ConvShape& s, const T* x, const T* w, const T* bias, T* y);
template <class T>
void direct_input_grad(const ConvShape& s, const T* gy, const T* w, T* gx);
template <class T>
void direct_weight_grad(const ConvShape& s, const T* gy, const T* x, T* gw);

}  // namespace argand::cpu
