// DeviceScope for functions that must not throw, with DeviceCalls.
#pragma once
#include <cuda_runtime_api.h>

#include "argand/runtime/process_end.h"

namespace argand::cuda {

class OnDevice {
 public:
  explicit OnDevice(int device) {
    cudaGetDevice(&before_);
    if (before_ != device) cudaSetDevice(device);
    changed_ = before_ != device;
  }
  ~OnDevice() {
    if (changed_) cudaSetDevice(before_);
  }

 private:
  const DeviceCalls calls_{std::nothrow};
  int before_ = 0;
  bool changed_ = false;
};

}  // namespace argand::cuda
