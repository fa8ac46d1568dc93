// Convolutions as functions: [N, C, spatial] or [C, spatial] with weights as in nn::Conv1d ... nn::ConvTranspose3d.
#pragma once
#include "argand/nn/options/conv.h"

namespace argand::nn::functional {

Tensor conv1d(const Tensor& input, const Tensor& weight, const Conv1dFuncOptions& options = {});
Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dFuncOptions& options = {});
Tensor conv3d(const Tensor& input, const Tensor& weight, const Conv3dFuncOptions& options = {});
Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const ConvTranspose1dFuncOptions& options = {});
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const ConvTranspose2dFuncOptions& options = {});
Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const ConvTranspose3dFuncOptions& options = {});

// The convolution of D dimensions, for code that is written for all three.
inline Tensor conv(const Tensor& x, const Tensor& w, const Conv1dFuncOptions& o) { return conv1d(x, w, o); }
inline Tensor conv(const Tensor& x, const Tensor& w, const Conv2dFuncOptions& o) { return conv2d(x, w, o); }
inline Tensor conv(const Tensor& x, const Tensor& w, const Conv3dFuncOptions& o) { return conv3d(x, w, o); }
inline Tensor conv_transpose(const Tensor& x, const Tensor& w, const ConvTranspose1dFuncOptions& o) {
  return conv_transpose1d(x, w, o);
}
inline Tensor conv_transpose(const Tensor& x, const Tensor& w, const ConvTranspose2dFuncOptions& o) {
  return conv_transpose2d(x, w, o);
}
inline Tensor conv_transpose(const Tensor& x, const Tensor& w, const ConvTranspose3dFuncOptions& o) {
  return conv_transpose3d(x, w, o);
}

}  // namespace argand::nn::functional
