// Chooses the kernels of a convolution: ours for few channels (docs/lab/convolutions.md), otherwise cuDNN's if it has
// an engine, otherwise ours.
#include <algorithm>
#include <optional>
#include <utility>

#include "argand/core/float32_precision.h"
#include "argand/kernels/api/conv_parameter_grads.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/conv.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/cudnn.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

// Whether the library did it.  Our kernels handle empty products, whose results are zeros or the bias: the library may
// accept empty tensors and then read from them.
bool by_library(ConvKind kind, const ConvShape& s, ScalarType dtype, const void* x, const void* w, const void* y,
                const void* bias = nullptr) {
  if (is_complex(dtype)) return false;
  if (s.n == 0 || s.c == 0 || s.o == 0) return false;
  for (const auto* sizes : {&s.in, &s.out, &s.kernel})
    if (std::find(sizes->begin(), sizes->end(), 0) != sizes->end()) return false;
  if (cudnn_convolution({kind, dtype, s.n, s.c, s.o, s.groups, s.in, s.out, s.kernel, s.stride, s.padding, s.dilation,
                         s.channels_last, x, w, y, bias}))
    return true;
  if (s.channels_last) throw NotOnDevice("channels-last tensors without cuDNN");
  return false;
}

// Where engines that add a bias are as fast as those that do not; elsewhere they take longer than a separate pass
// (docs/lab/convolutions.md).
bool adds_bias(const ConvShape& s, ScalarType dtype) {
  return s.channels_last || (s.groups == 1 && dtype == kFloat && !allow_tf32_cudnn());
}

// Kernels for few channels are compiled for each shape, which takes time, so the problem must be large enough.
bool is_much(const ConvShape& s) {
  constexpr double kMuch = 1 << 24;  // products
  return static_cast<double>(s.n * s.o * s.out_size()) * static_cast<double>(s.c * s.kernel_size()) >= kMuch;
}

bool forward_regrouped(const ConvShape& s, ScalarType dtype, const void* x, const void* w, const void* bias, void* y) {
  if (!is_much(s) || !own::gains_by_regrouping(s, dtype)) return false;
  const own::Regrouped r(s, dtype, x, w);
  return by_library(ConvKind::kForward, r.shape, dtype, r.x.data(), r.w, y, bias);
}

void conv_forward(const ConvShape& s, ScalarType dtype, const void* x, const void* w, const void* bias, void* y) {
  if (s.channels_last && own::is_depthwise(s, dtype)) return own::depthwise_forward(s, dtype, x, w, bias, y);
  if (forward_regrouped(s, dtype, x, w, bias, y)) return;
  if (is_much(s) && own::few_channels_forward(s, dtype, x, w, bias, y)) return;
  if (bias && adds_bias(s, dtype) && by_library(ConvKind::kForward, s, dtype, x, w, y, bias)) return;
  if (!by_library(ConvKind::kForward, s, dtype, x, w, y)) return own::conv_forward(s, dtype, x, w, bias, y);
  if (bias) own::add_channel_bias(s, dtype, bias, y);
}
// The convolution that is the gradient for the input of `s`, with the weight turned.
std::optional<ConvShape> turned(const ConvShape& s) {
  ConvShape t = s;
  std::swap(t.c, t.o);
  std::swap(t.in, t.out);
  for (size_t d = 0; d < 3; ++d) {
    t.padding[d] = s.dilation[d] * (s.kernel[d] - 1) - s.padding[d];
    if (s.stride[d] != 1 || t.padding[d] < 0) return std::nullopt;
  }
  return t;
}

// In float32's own precision the engines for convolutions are up to 1.7 times as fast as those for gradients, but of
// small planes (docs/lab/convolutions.md).
bool input_grad_as_convolution(const ConvShape& s, ScalarType dtype, const void* gy, const void* w, void* gx) {
  constexpr int64_t kLargePlane = 100;
  if (dtype != kFloat || allow_tf32_cudnn() || s.groups != 1 || s.kernel_size() == 1 || s.out_size() < kLargePlane ||
      !is_much(s) || !has_cudnn())
    return false;
  const auto t = turned(s);
  if (!t) return false;
  const Scratch weight(s.o * s.c * s.kernel_size() * element_size(dtype));
  own::turn_weight(s, dtype, w, weight.data());
  return by_library(ConvKind::kForward, *t, dtype, gy, weight.data(), gx);
}

void conv_input_grad(const ConvShape& s, ScalarType dtype, const void* gy, const void* w, void* gx) {
  if (s.channels_last && own::is_depthwise(s, dtype)) return own::depthwise_input_grad(s, dtype, gy, w, gx);
  if (is_much(s) && own::few_channels_input_grad(s, dtype, gy, w, gx)) return;
  if (input_grad_as_convolution(s, dtype, gy, w, gx)) return;
  if (!by_library(ConvKind::kInputGrad, s, dtype, gx, w, gy)) own::conv_input_grad(s, dtype, gy, w, gx);
}
void conv_weight_grad(const ConvShape& s, ScalarType dtype, const void* gy, const void* x, void* gw) {
  if (s.channels_last && own::is_depthwise(s, dtype)) return own::depthwise_weight_grad(s, dtype, gy, x, gw);
  if (is_much(s) && own::few_channels_weight_grad(s, dtype, gy, x, gw, nullptr)) return;
  if (!by_library(ConvKind::kWeightGrad, s, dtype, x, gw, gy)) own::conv_weight_grad(s, dtype, gy, x, gw);
}
bool conv_parameter_grads(const ConvShape& s, ScalarType dtype, const void* gy, const void* x, void* gw, void* gb) {
  return is_much(s) && own::few_channels_weight_grad(s, dtype, gy, x, gw, gb);
}

// The tensor cores' engines work with channels last, and bring operands to that layout more slowly than we do; but a
// product of a pixel's channels alone reads either layout.  Groups have faster engines with channels first, but for our
// own of one channel each, and so has float32 in its own precision (docs/lab/convolutions.md).
bool conv_takes_channels_last(const ConvShape& s, ScalarType dtype, bool given) {
  if (given && own::is_depthwise(s, dtype)) return true;
  const bool by_tensor_cores =
      dtype == kHalf || dtype == kBFloat16 ||
      (dtype == kFloat && allow_tf32_cudnn() && !(is_much(s) && own::has_few_channels(s, dtype)));
  return by_tensor_cores && s.groups == 1 && s.n > 0 && s.c > 0 && s.o > 0 && (given || s.kernel_size() > 1) &&
         has_cudnn();
}

const bool registered = [] {
  blocks::conv_forward.set(kCUDA, conv_forward);
  blocks::conv_input_grad.set(kCUDA, conv_input_grad);
  blocks::conv_weight_grad.set(kCUDA, conv_weight_grad);
  blocks::conv_parameter_grads.set(kCUDA, conv_parameter_grads);
  blocks::conv_takes_channels_last.set(kCUDA, conv_takes_channels_last);
  return true;
}();

}  // namespace
}  // namespace argand::cuda
