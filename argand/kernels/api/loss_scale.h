// The device work of loss scaling (optim/grad_scaler.h): all values stay on the device, and nothing waits for it.
// On the CPU the ops (ops/optim/loss_scale.cpp) do the same tensor by tensor.
#pragma once
#include "argand/core/dtype.h"

namespace argand {

// `numel` contiguous elements; `found` is set to 1 where one of them is not finite.
struct ScaledGradient {
  void* data;
  int64_t numel;
  float* found;
};
// All gradients have one dtype.  Each element is multiplied by *inv_scale.
using UnscaleGradients = void(ScalarType type, const ScaledGradient* gradients, int64_t count, const float* inv_scale);

struct ScaleRule {
  double growth_factor, backoff_factor;
  int growth_interval;
};
// If *found_inf is not 0, the scale is reduced; otherwise it grows every growth_interval calls, as long as it is
// finite.
using UpdateScale = void(float* scale, int* growth_tracker, const float* found_inf, const ScaleRule& rule);

}  // namespace argand
