// The current stream of each thread and device, and the pools that streams come from.
#pragma once
#include <cuda_runtime_api.h>

#include "argand/runtime/backend.h"

namespace argand::cuda {

inline constexpr int kMaxDevices = 64;

int thread_device();  // of the calling thread
// The calling thread's current stream on a device (-1: the current device).
cudaStream_t current_stream(int device = -1);
void set_current_stream(const StreamRef& stream) noexcept;
// The next stream of a pool of 32 per device and priority; the pool is made at first use.
StreamRef pooled_stream(DeviceIndex device, int priority);

}  // namespace argand::cuda
