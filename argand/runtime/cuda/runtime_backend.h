// The common part of the CUDA backend and the dry run's backend: memory, current streams, graphs.
#pragma once
#include "argand/base/error.h"
#include "argand/runtime/backend.h"
#include "argand/runtime/cuda/copy.h"
#include "argand/runtime/cuda/graph.h"
#include "argand/runtime/cuda/memory.h"
#include "argand/runtime/cuda/memory_report.h"
#include "argand/runtime/cuda/streams.h"

namespace argand::cuda {

class RuntimeBackend : public Backend {
 public:
  Allocator& allocator(DeviceIndex index) final {
    check_index(index);
    return device_allocator(index);
  }
  Allocator& pinned_allocator() final { return cuda::pinned_allocator(); }
  void empty_cache() final { empty_caches(); }
  MemoryMonitor& memory(DeviceIndex index) final {
    check_index(index);
    return memory_monitor(index);
  }
  MemoryStatsMap pinned_stats() final { return stats_map(pinned_blocks().stats()); }
  void copy(void* to, const Device& to_device, const void* from, const Device& from_device, size_t nbytes,
            bool non_blocking) final {
    cuda::copy(to, to_device, from, from_device, nbytes, non_blocking);
  }
  void copy_all(const MemoryCopy* copies, size_t count, const Device& to_device, const Device& from_device) final {
    cuda::copy_all(copies, count, to_device, from_device);
  }

  StreamRef current_stream(DeviceIndex device) final { return {device, cuda::current_stream(device)}; }
  void set_current_stream(const StreamRef& stream) noexcept final { cuda::set_current_stream(stream); }
  StreamRef stream_from_pool(DeviceIndex device, int priority) final { return pooled_stream(device, priority); }

  std::unique_ptr<DeviceGraph> make_graph() final { return cuda::make_graph(); }
  bool is_capturing() final { return cuda::is_capturing(); }

 protected:
  void check_index(DeviceIndex index) {
    ARGAND_CHECK(DeviceError, index >= 0 && index < device_count(), "there is no device cuda:", static_cast<int>(index),
                 ": this machine has ", device_count());
  }
};

}  // namespace argand::cuda
