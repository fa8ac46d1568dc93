#include "argand/runtime/cuda/copy.h"

#include "argand/runtime/backend.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/error_slot.h"
#include "argand/runtime/cuda/peer.h"
#include "argand/runtime/cuda/stream_tapes.h"
#include "argand/runtime/cuda/streams.h"

namespace argand::cuda {
namespace {

bool is_pinned(const void* p) {
  cudaPointerAttributes a{};
  ARGAND_CUDA(cudaPointerGetAttributes(&a, p));
  return a.type == cudaMemoryTypeHost;
}

void copy_to_or_from_host(void* to, const void* from, const void* host, int device, size_t nbytes, bool non_blocking) {
  const DeviceScope on(Device(kCUDA, static_cast<DeviceIndex>(device)));
  const cudaStream_t stream = current_stream(device);
  issue_tape(device, stream, FlushCause::kHostCopy);
  ARGAND_CUDA(cudaMemcpyAsync(to, from, nbytes, cudaMemcpyDefault, stream));
  if (non_blocking && is_pinned(host)) return;
  ARGAND_CUDA(cudaStreamSynchronize(stream));
  throw_if_reported(device);
}

// Issued on the current stream of the source, which waits for that of the target, which then waits for the copy.
void copy_between(void* to, int to_device, const void* from, int from_device, size_t nbytes) {
  const cudaStream_t source = current_stream(from_device), target = current_stream(to_device);
  issue_tape(from_device, source, FlushCause::kEvent);
  issue_tape(to_device, target, FlushCause::kEvent);
  const DeviceScope on(Device(kCUDA, static_cast<DeviceIndex>(from_device)));
  if (to_device == from_device) {
    ARGAND_CUDA(cudaMemcpyAsync(to, from, nbytes, cudaMemcpyDeviceToDevice, source));
    return;
  }
  enable_peer_access(from_device, to_device);
  cudaEvent_t ready = nullptr, done = nullptr;
  {
    const DeviceScope on_target(Device(kCUDA, static_cast<DeviceIndex>(to_device)));
    ARGAND_CUDA(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    ARGAND_CUDA(cudaEventRecord(ready, target));
  }
  ARGAND_CUDA(cudaStreamWaitEvent(source, ready, 0));
  ARGAND_CUDA(cudaMemcpyPeerAsync(to, to_device, from, from_device, nbytes, source));
  ARGAND_CUDA(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  ARGAND_CUDA(cudaEventRecord(done, source));
  {
    const DeviceScope on_target(Device(kCUDA, static_cast<DeviceIndex>(to_device)));
    ARGAND_CUDA(cudaStreamWaitEvent(target, done, 0));
  }
  ARGAND_CUDA(cudaEventDestroy(ready));
  ARGAND_CUDA(cudaEventDestroy(done));
}

}  // namespace

void copy(void* to, const Device& to_device, const void* from, const Device& from_device, size_t nbytes,
          bool non_blocking) {
  if (nbytes == 0) return;
  if (to_device.is_cpu())
    copy_to_or_from_host(to, from, to, from_device.index(), nbytes, non_blocking);
  else if (from_device.is_cpu())
    copy_to_or_from_host(to, from, from, to_device.index(), nbytes, non_blocking);
  else
    copy_between(to, to_device.index(), from, from_device.index(), nbytes);
}

}  // namespace argand::cuda
