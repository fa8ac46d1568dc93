// torchvision's ops under autocast: they compute in float32 and return the dtype of their input.
#pragma once
#include "argand/exec/autocast.h"
#include "argand/exec/autocast_scope.h"
#include "argand/ops/functions.h"

namespace argand::ops {

// While this object exists, autocast casts nothing else.
class Float32Region {
 public:
  // `input`: the tensor whose device counts, and whose dtype results get; `on_cpu`: whether the op does so there, too.
  Float32Region(const Tensor& input, bool on_cpu) : dtype_(input.dtype()) {
    const DeviceType device = input.device().type();
    casts_ = (is_accelerator(device) || (device == kCPU && on_cpu)) && autocast::is_autocast_enabled(device);
    off_.emplace();
  }
  Tensor argument(const Tensor& t) const {
    return casts_ && t.defined() && is_floating_point(t.dtype()) && t.dtype() != kDouble ? t.to(kFloat) : t;
  }
  Tensor result(const Tensor& t) const { return casts_ ? t.to(dtype_) : t; }

 private:
  ScalarType dtype_;
  bool casts_;
  std::optional<exec::AutocastScope> off_;
};

}  // namespace argand::ops
