#include "argand/runtime/cuda/error_slot.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "argand/base/error.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/streams.h"

namespace argand::cuda {
namespace {

struct StreamSlot {
  cudaStream_t stream;
  ErrorSlot* slot;
};
struct DeviceSlots {
  std::mutex mutex;
  std::vector<StreamSlot> all;
  std::atomic<bool> any{false};  // so that a device that never checked an index costs nothing
};
// Never freed, like the streams of the pool: kernels may write until the process ends.
DeviceSlots& slots_of(int device) {
  static auto* const devices = new DeviceSlots[kMaxDevices];
  return devices[device];
}

ErrorSlot* make_slot() {
  void* p = nullptr;
  ARGAND_CUDA(cudaHostAlloc(&p, sizeof(ErrorSlot), cudaHostAllocMapped | cudaHostAllocPortable));
  return new (p) ErrorSlot{};
}

}  // namespace

ErrorSlot* error_slot() {
  static ErrorSlot unused{};
  if (dry_run()) return &unused;
  const int device = thread_device();
  const cudaStream_t stream = current_stream(device);
  DeviceSlots& slots = slots_of(device);
  const std::lock_guard lock(slots.mutex);
  const auto found =
      std::find_if(slots.all.begin(), slots.all.end(), [&](const auto& s) { return s.stream == stream; });
  if (found != slots.all.end()) return found->slot;
  slots.all.push_back({stream, make_slot()});
  slots.any.store(true, std::memory_order_relaxed);
  return slots.all.back().slot;
}

void throw_if_reported(int device) {
  DeviceSlots& slots = slots_of(device);
  if (!slots.any.load(std::memory_order_relaxed)) return;
  ErrorSlot report{};
  {
    const std::lock_guard lock(slots.mutex);
    for (const StreamSlot& s : slots.all) {
      const std::atomic_ref<unsigned> state(s.slot->state);
      if (state.load(std::memory_order_acquire) != ErrorSlot::kFilled) continue;
      if (report.state == ErrorSlot::kFree) report = *s.slot;
      state.store(ErrorSlot::kFree, std::memory_order_release);
    }
  }
  ARGAND_CHECK(IndexError, report.state == ErrorSlot::kFree, report.op, ": index ", report.index,
               " is out of bounds for dimension ", report.dim, " with size ", report.bound);
}

}  // namespace argand::cuda
