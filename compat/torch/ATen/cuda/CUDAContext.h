// The current device and stream of CUDA for kernels of a program: at::cuda::getCurrentCUDAStream(), the guards of
// c10::cuda, C10_CUDA_CHECK, and what the runtime says of a device.
#pragma once
#include "c10/cuda/CUDAException.h"
#include "c10/cuda/CUDAGuard.h"

#if __has_include(<cuda_runtime_api.h>)
#include <map>
#include <mutex>

namespace at::cuda {

// Asked of the runtime once for each device (-1: the current one).
inline cudaDeviceProp* getDeviceProperties(c10::DeviceIndex device = -1) {
  static std::mutex mutex;
  static std::map<int, cudaDeviceProp> known;
  int index = device;
  if (index < 0) index = c10::cuda::current_device();
  const std::lock_guard lock(mutex);
  const auto [at, added] = known.try_emplace(index);
  if (added) {
    const cudaError_t error = cudaGetDeviceProperties(&at->second, index);
    if (error != cudaSuccess) {
      known.erase(at);
      c10::cuda::throw_error(error, "cudaGetDeviceProperties", __FILE__, __LINE__);
    }
  }
  return &at->second;
}
inline cudaDeviceProp* getCurrentDeviceProperties() { return getDeviceProperties(); }
inline int warp_size() { return getCurrentDeviceProperties()->warpSize; }

}  // namespace at::cuda
#endif
