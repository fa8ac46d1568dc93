#include "argand/runtime/cuda/dry_run.h"

#include <cstdlib>
#include <cstring>

#include "argand/base/error.h"
#include "argand/core/cuda_generator.h"
#include "argand/runtime/backend.h"
#include "argand/runtime/cuda/copy.h"
#include "argand/runtime/cuda/cudnn.h"
#include "argand/runtime/cuda/graph.h"
#include "argand/runtime/cuda/memory.h"
#include "argand/runtime/cuda/memory_report.h"
#include "argand/runtime/cuda/streams.h"

namespace argand::cuda {
namespace {

class DryRunBackend final : public Backend {
 public:
  int device_count() override { return 1; }
  DeviceIndex current_device() override { return 0; }
  void set_device(DeviceIndex) override {}
  DeviceProperties properties(DeviceIndex) override { return {.name = "dry run", .major = 9, .minor = 0}; }
  bool can_access_peer(DeviceIndex, DeviceIndex) override { return false; }
  void synchronize(DeviceIndex index) override {
    refuse_while_capturing_on(index, "cuda::synchronize");
    check_guards(index);
  }
  Generator& default_generator(DeviceIndex) override { return generator_; }
  std::string versions() override { return "dry run: kernels are compiled, not run\n"; }
  BackendVersions version_numbers() override { return {.runtime = CUDART_VERSION, .cudnn = loaded_cudnn_version()}; }

  Allocator& allocator(DeviceIndex) override { return device_allocator(0); }
  Allocator& pinned_allocator() override { return cuda::pinned_allocator(); }
  void empty_cache() override { empty_caches(); }
  MemoryMonitor& memory(DeviceIndex) override { return memory_monitor(0); }
  MemoryStatsMap pinned_stats() override { return stats_map(pinned_blocks().stats()); }
  void copy(void* to, const Device& to_device, const void* from, const Device& from_device, size_t nbytes,
            bool non_blocking) override {
    cuda::copy(to, to_device, from, from_device, nbytes, non_blocking);
  }

  StreamRef current_stream(DeviceIndex device) override { return {device, cuda::current_stream(device)}; }
  void set_current_stream(const StreamRef& stream) override { cuda::set_current_stream(stream); }
  StreamRef stream_from_pool(DeviceIndex device, int priority) override { return pooled_stream(device, priority); }
  bool query(const StreamRef& stream) override {
    refuse_while_capturing(stream, "Stream.query");
    return true;
  }
  void synchronize(const StreamRef& stream) override {
    refuse_while_capturing(stream, "Stream.synchronize");
    check_guards(stream.device);
  }
  EventHandle make_event(DeviceIndex, bool) override { return this; }
  void destroy_event(EventHandle) noexcept override {}
  void record(EventHandle, const StreamRef& stream) override { refuse_while_capturing(stream, "Event.record"); }
  void wait(const StreamRef& stream, EventHandle) override { refuse_while_capturing(stream, "Event.wait"); }
  bool query(EventHandle) override { return true; }
  void synchronize(EventHandle) override {}
  float elapsed_time(EventHandle, EventHandle) override { return 0; }
  void joint() override {}
  void give_handle(const StreamRef&) override {}
  void set_replay_enabled(bool) override {}
  IssueStats issue_stats() override { return {}; }

  std::unique_ptr<DeviceGraph> make_graph() override { return cuda::make_graph(); }
  bool is_capturing() override { return cuda::is_capturing(); }

 private:
  Generator generator_ = make_cuda_generator(Device(kCUDA, 0));
};

}  // namespace

bool dry_run() {
  static const bool on = [] {
    const char* text = std::getenv("ARGAND_CUDA_DRY_RUN");
    return text && std::strcmp(text, "1") == 0;
  }();
  return on;
}

Backend& dry_run_backend() {
  static DryRunBackend& b = *new DryRunBackend;
  return b;
}

}  // namespace argand::cuda
