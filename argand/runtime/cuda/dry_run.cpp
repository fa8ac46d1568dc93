#include "argand/runtime/cuda/dry_run.h"

#include <cstdlib>
#include <cstring>

#include "argand/core/cuda_generator.h"
#include "argand/runtime/backend.h"
#include "argand/runtime/cpu/aligned_allocator.h"

namespace argand::cuda {
namespace {

class ZeroedMemory final : public Allocator {
 public:
  explicit ZeroedMemory(const Device& device) : device_(device) {}
  void* allocate(size_t nbytes) override {
    void* p = allocate_aligned(nbytes);
    if (p) std::memset(p, 0, nbytes);
    return p;
  }
  void deallocate(void* data, size_t nbytes) noexcept override { deallocate_aligned(data, nbytes); }
  Device device() const override { return device_; }

 private:
  Device device_;
};

class DryRunBackend final : public Backend {
 public:
  int device_count() override { return 1; }
  DeviceIndex current_device() override { return 0; }
  void set_device(DeviceIndex) override {}
  DeviceProperties properties(DeviceIndex) override { return {.name = "dry run", .major = 9, .minor = 0}; }
  bool can_access_peer(DeviceIndex, DeviceIndex) override { return false; }
  void synchronize(DeviceIndex) override {}
  Generator& default_generator(DeviceIndex) override { return generator_; }
  std::string versions() override { return "dry run: kernels are compiled, not run\n"; }

  Allocator& allocator(DeviceIndex) override { return device_memory_; }
  Allocator& pinned_allocator() override { return host_memory_; }
  void empty_cache() override {}
  void copy(void* to, const Device&, const void* from, const Device&, size_t nbytes, bool) override {
    std::memcpy(to, from, nbytes);
  }

  StreamRef current_stream(DeviceIndex device) override { return {device, nullptr}; }
  void set_current_stream(const StreamRef&) override {}
  StreamRef stream_from_pool(DeviceIndex device, int) override { return {device, nullptr}; }
  bool query(const StreamRef&) override { return true; }
  void synchronize(const StreamRef&) override {}
  EventHandle make_event(DeviceIndex, bool) override { return this; }
  void destroy_event(EventHandle) noexcept override {}
  void record(EventHandle, const StreamRef&) override {}
  void wait(const StreamRef&, EventHandle) override {}
  bool query(EventHandle) override { return true; }
  void synchronize(EventHandle) override {}
  float elapsed_time(EventHandle, EventHandle) override { return 0; }
  void joint() override {}
  void give_handle(const StreamRef&) override {}
  void set_replay_enabled(bool) override {}
  IssueStats issue_stats() override { return {}; }

 private:
  ZeroedMemory device_memory_{Device(kCUDA, 0)};
  ZeroedMemory host_memory_{Device(kCPU)};
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
