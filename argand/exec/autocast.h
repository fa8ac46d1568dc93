// Mixed precision as in torch.autocast.  In a region, ops for which it is known to be safe (products, convolutions)
// cast their floating-point tensors to float16 or bfloat16; ops that need range or precision cast them to float32.
//
//   {
//     AutocastGuard autocast(kCUDA);
//     loss = cross_entropy(model->forward(x), y);
//   }
//   loss.backward();  // outside: a gradient is computed in the dtypes of its forward op
//
// An op's policy is in its definition (OpInfo::autocast), and follows PyTorch's lists for the device.  Only float32,
// float16 and bfloat16 tensors on a device of the region's type are cast; in-place and out= forms are not.  An explicit
// `dtype` argument wins.  Casts are recorded, so gradients arrive in the parameter's dtype.  The lower-precision copy
// of a float32 leaf that requires grad is made once and kept until the outermost guard ends, or the leaf is written.
// All state is that of the calling thread; backward runs without autocast.
#pragma once
#include "argand/core/device.h"
#include "argand/core/dtype.h"

namespace argand {

namespace autocast {

bool is_autocast_enabled(DeviceType device);
// ValueError for a device other than kCPU and the process's accelerator, here and in the functions below.
void set_autocast_enabled(DeviceType device, bool enabled);
// The dtype of ops of lower precision: bfloat16 on the CPU and float16 on accelerators, unless set.
ScalarType get_autocast_dtype(DeviceType device);
// DtypeError for a dtype other than float16 and bfloat16.
void set_autocast_dtype(DeviceType device, ScalarType dtype);
bool is_autocast_cache_enabled();
void set_autocast_cache_enabled(bool enabled);
// Drops the cached copies of leaves.
void clear_cache();
// Count the nested guards; each function returns the new number.  The caller that reaches 0 clears the cache.
int increment_nesting();
int decrement_nesting();

}  // namespace autocast

// Autocast for a scope, or none where `enabled` is false.  Guards may be nested; each puts back what it found.  With a
// dtype other than float16 and bfloat16 it warns and autocast is off, as in PyTorch.
class AutocastGuard {
 public:
  explicit AutocastGuard(DeviceType device) : AutocastGuard(device, autocast::get_autocast_dtype(device)) {}
  AutocastGuard(DeviceType device, ScalarType dtype, bool enabled = true, bool cache_enabled = true);
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  DeviceType device_;
  ScalarType dtype_before_;
  bool enabled_before_, cache_before_;
};

}  // namespace argand
