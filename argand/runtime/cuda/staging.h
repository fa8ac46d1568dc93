// Copies between a device and host memory that is not page-locked: the copy engine reads and writes page-locked chunks,
// which the threads of the CPU pool fill and empty, each its own ones.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>

namespace argand::cuda {

// For fewer bytes, and with one thread, the driver's own staging is as fast.
inline constexpr size_t kMinStagedBytes = size_t{1} << 20;

// In order on `stream` of the current device.  to_device() returns when the host memory is read, to_host() when it is
// written, after all earlier work of the stream.  Both return false, and do nothing, if there is no page-locked memory.
bool staged_to_device(void* to, const void* from, size_t nbytes, cudaStream_t stream);
bool staged_to_host(void* to, const void* from, size_t nbytes, cudaStream_t stream);

}  // namespace argand::cuda
