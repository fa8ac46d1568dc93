#include "argand/runtime/cuda/streams.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "argand/core/storage.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/fork.h"
#include "argand/runtime/process_end.h"

namespace argand::cuda {
namespace {
thread_local cudaStream_t current[kMaxDevices] = {};

constexpr size_t kPoolSize = 32;
struct Pool {
  std::vector<cudaStream_t> streams;
  size_t next = 0;
};
}  // namespace

int thread_device() {
  if (dry_run()) return pretended_device();
  int device = 0;
  // It runs several times per op and never waits, so it is not counted among the calls for which exit() waits.
  if (const cudaError_t error = cudaGetDevice(&device)) throw_cuda_error(error, "cudaGetDevice");
  return device;
}

cudaStream_t current_stream(int device) {
  refuse_in_forked_child();
  stop_if_process_ends();
  return current[device < 0 ? thread_device() : device];
}

void set_current_stream(const StreamRef& stream) noexcept {
  if (stream.handle) StorageImpl::side_streams.store(true, std::memory_order_relaxed);
  current[stream.device] = static_cast<cudaStream_t>(stream.handle);
}

StreamRef pooled_stream(DeviceIndex device, int priority) {
  static std::mutex& mutex = *new std::mutex;
  static auto& pools = *new std::map<std::pair<int, int>, Pool>;
  const DeviceScope on(Device(kCUDA, device));
  int least = 0, greatest = 0;
  if (!dry_run()) ARGAND_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  priority = std::clamp(priority, greatest, least);
  const std::lock_guard lock(mutex);
  Pool& pool = pools[{device, priority}];
  if (pool.streams.size() < kPoolSize) {
    cudaStream_t stream = nullptr;
    if (dry_run())
      stream =
          reinterpret_cast<cudaStream_t>(static_cast<size_t>(device) * kPoolSize + pool.streams.size() + 1);  // a name
    else
      ARGAND_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
    pool.streams.push_back(stream);
    return {device, stream};
  }
  return {device, pool.streams[pool.next++ % kPoolSize]};
}

}  // namespace argand::cuda
