#include "argand/runtime/cuda/dry_run.h"

#include <vector>

#include "argand/base/env.h"
#include "argand/core/cpu_generator.h"
#include "argand/core/cuda_generator.h"
#include "argand/runtime/cuda/cudnn.h"
#include "argand/runtime/cuda/fork.h"
#include "argand/runtime/cuda/graph.h"
#include "argand/runtime/cuda/kernel_pack.h"
#include "argand/runtime/cuda/memory.h"
#include "argand/runtime/cuda/runtime_backend.h"

namespace argand::cuda {
namespace {

thread_local DeviceIndex current = 0;

class DryRunBackend final : public RuntimeBackend {
 public:
  DryRunBackend() {
    for (int i = 0; i < device_count(); ++i) {
      generators_.push_back(make_cuda_generator(Device(kCUDA, static_cast<DeviceIndex>(i))));
      add_default_generator(generators_.back());
    }
  }
  int device_count() override { return pretended_devices(); }
  DeviceIndex current_device() override {
    refuse_in_forked_child();
    return static_cast<DeviceIndex>(pretended_device());
  }
  void set_device(DeviceIndex index) override {
    refuse_in_forked_child();
    check_index(index);
    current = index;
  }
  void restore_device(DeviceIndex index) noexcept override { current = index; }
  DeviceProperties properties(DeviceIndex) override { return {.name = "dry run", .major = 9, .minor = 0}; }
  bool can_access_peer(DeviceIndex, DeviceIndex) override { return false; }
  void synchronize(DeviceIndex index) override {
    refuse_in_forked_child();
    refuse_while_capturing_on(index, "cuda::synchronize");
    check_guards(index);
  }
  Generator& default_generator(DeviceIndex index) override {
    check_index(index);
    return generators_[static_cast<size_t>(index)];
  }
  std::string versions() override { return "dry run: kernels are compiled, not run\n" + pack_text(); }
  BackendVersions version_numbers() override { return {.runtime = CUDART_VERSION, .cudnn = loaded_cudnn_version()}; }

  bool query(const StreamRef& stream) override {
    refuse_while_capturing(stream, "Stream.query");
    return true;
  }
  void synchronize(const StreamRef& stream) override {
    refuse_in_forked_child();
    refuse_while_capturing(stream, "Stream.synchronize");
    check_guards(stream.device);
  }
  EventHandle make_event(DeviceIndex, bool) override { return new char; }  // a name
  void destroy_event(EventHandle event) noexcept override {
    note_destroyed(event);
    delete static_cast<char*>(event);
  }
  void record(EventHandle event, const StreamRef& stream) override { note_recorded(event, stream); }
  void wait(const StreamRef& stream, EventHandle event) override { join_capture(stream, event); }
  bool query(EventHandle event) override {
    refuse_captured(event, "Event.query");
    return true;
  }
  void synchronize(EventHandle event) override { refuse_captured(event, "Event.synchronize"); }
  float elapsed_time(EventHandle, EventHandle) override { return 0; }
  void joint() override {}
  void give_handle(const StreamRef&) override {}
  void set_replay_enabled(bool) override {}
  IssueStats issue_stats() override { return {}; }

 private:
  std::vector<Generator> generators_;
};

}  // namespace

int pretended_devices() {
  static const int count = static_cast<int>(env_int("ARGAND_CUDA_DRY_RUN", 0, 0, kMaxDevices));
  return count;
}

int pretended_device() { return current; }

Backend& dry_run_backend() {
  static DryRunBackend& b = *new DryRunBackend;
  return b;
}

}  // namespace argand::cuda
