#include "argand/runtime/cuda/copy.h"

#include <cstring>

#include "argand/runtime/cpu/thread_pool.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/error_slot.h"
#include "argand/runtime/cuda/graph.h"
#include "argand/runtime/cuda/memory.h"
#include "argand/runtime/cuda/peer.h"
#include "argand/runtime/cuda/staging.h"
#include "argand/runtime/cuda/stream_tapes.h"
#include "argand/runtime/cuda/streams.h"

namespace argand::cuda {
namespace {

// Whether the copy engine can access the memory directly: page-locked or managed memory.
bool is_reachable(const void* p) {
  if (dry_run()) return pinned_blocks().contains(p);
  cudaPointerAttributes a{};
  ARGAND_CUDA(cudaPointerGetAttributes(&a, p));
  return a.type != cudaMemoryTypeUnregistered;
}

void finish_waiting(int device) {
  throw_if_reported(device);
  check_guards(device);
}

// Whether the copy becomes part of a CUDA graph, which then keeps the host's memory; Error if it cannot.
bool is_recorded(const StreamRef& stream, const void* host, bool non_blocking) {
  if (!is_captured(stream)) return false;
  if (!non_blocking || !is_reachable(host)) refuse_while_capturing(stream, "a copy between host and device");
  keep_host_memory(stream, host);
  return true;
}

void copy_to_or_from_host(void* to, const void* from, const void* host, int device, size_t nbytes, bool non_blocking) {
  const DeviceScope on(Device(kCUDA, static_cast<DeviceIndex>(device)));
  const cudaStream_t stream = current_stream(device);
  if (is_recorded({static_cast<DeviceIndex>(device), stream}, host, non_blocking)) {
    ARGAND_CUDA(cudaMemcpyAsync(to, from, nbytes, cudaMemcpyDefault, stream));
    return;
  }
  issue_tape(device, stream, FlushCause::kHostCopy);
  const bool large = nbytes >= kMinStagedBytes && get_num_threads() > 1;
  const bool reachable = (large || non_blocking) && is_reachable(host);
  if (large && !reachable) {
    if (host == from && staged_to_device(to, from, nbytes, stream)) return;
    if (host == to && staged_to_host(to, from, nbytes, stream)) return finish_waiting(device);
  }
  ARGAND_CUDA(cudaMemcpyAsync(to, from, nbytes, cudaMemcpyDefault, stream));
  if (non_blocking && reachable) {
    pinned_allocator().used(const_cast<void*>(host));  // not to be given out again before the copy is done
    return;
  }
  ARGAND_CUDA(cudaStreamSynchronize(stream));
  finish_waiting(device);
}

void copy_of_dry_run(void* to, const Device& to_device, const void* from, const Device& from_device, size_t nbytes,
                     bool non_blocking) {
  if (to_device.is_cpu() || from_device.is_cpu())
    for (const Device& d : {to_device, from_device})
      if (d.is_cuda())
        is_recorded({d.index(), current_stream(d.index())}, to_device.is_cpu() ? to : from, non_blocking);
  std::memcpy(to, from, nbytes);
  for (const Device& d : {to_device, from_device})
    if (d.is_cuda()) check_guards(d.index());
}

// Issued on the current stream of the source, which waits for that of the target, which then waits for the copies.
void copy_between(int to_device, int from_device, const MemoryCopy* copies, size_t count) {
  const cudaStream_t source = current_stream(from_device), target = current_stream(to_device);
  issue_tape(from_device, source, FlushCause::kEvent);
  issue_tape(to_device, target, FlushCause::kEvent);
  const DeviceScope on(Device(kCUDA, static_cast<DeviceIndex>(from_device)));
  if (to_device == from_device) {
    for (const MemoryCopy* c = copies; c != copies + count; ++c)
      ARGAND_CUDA(cudaMemcpyAsync(c->to, c->from, c->nbytes, cudaMemcpyDeviceToDevice, source));
    return;
  }
  refuse_while_capturing({static_cast<DeviceIndex>(from_device), source}, "a copy between devices");
  refuse_while_capturing({static_cast<DeviceIndex>(to_device), target}, "a copy between devices");
  enable_peer_access(from_device, to_device);
  cudaEvent_t ready = nullptr, done = nullptr;
  {
    const DeviceScope on_target(Device(kCUDA, static_cast<DeviceIndex>(to_device)));
    ARGAND_CUDA(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    ARGAND_CUDA(cudaEventRecord(ready, target));
  }
  ARGAND_CUDA(cudaStreamWaitEvent(source, ready, 0));
  for (const MemoryCopy* c = copies; c != copies + count; ++c)
    ARGAND_CUDA(cudaMemcpyPeerAsync(c->to, to_device, c->from, from_device, c->nbytes, source));
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
  if (dry_run()) return copy_of_dry_run(to, to_device, from, from_device, nbytes, non_blocking);
  if (to_device.is_cpu()) return copy_to_or_from_host(to, from, to, from_device.index(), nbytes, non_blocking);
  if (from_device.is_cpu()) return copy_to_or_from_host(to, from, from, to_device.index(), nbytes, non_blocking);
  const MemoryCopy one{to, from, nbytes};
  copy_all(&one, 1, to_device, from_device);
}

void copy_all(const MemoryCopy* copies, size_t count, const Device& to_device, const Device& from_device) {
  if (!dry_run()) return copy_between(to_device.index(), from_device.index(), copies, count);
  for (const MemoryCopy* c = copies; c != copies + count; ++c)
    copy_of_dry_run(c->to, to_device, c->from, from_device, c->nbytes, true);
}

}  // namespace argand::cuda
