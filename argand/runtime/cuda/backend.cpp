// The CUDA implementation of Backend, and its registration.
#include "argand/runtime/cuda/backend.h"

#include <nvrtc.h>

#include <cstdlib>

#include "argand/base/error.h"
#include "argand/core/cpu_generator.h"
#include "argand/core/cuda_generator.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/cudnn.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/error_slot.h"
#include "argand/runtime/cuda/fork.h"
#include "argand/runtime/cuda/graph.h"
#include "argand/runtime/cuda/kernel_pack.h"
#include "argand/runtime/cuda/memory.h"
#include "argand/runtime/cuda/nccl_library.h"
#include "argand/runtime/cuda/peer.h"
#include "argand/runtime/cuda/runtime_backend.h"
#include "argand/runtime/cuda/sharing.h"
#include "argand/runtime/cuda/stream_tapes.h"
#include "argand/runtime/cuda/streams.h"
#include "argand/runtime/process_end.h"

namespace argand::cuda {
namespace {

std::string version_text(int v) { return str(v / 1000, ".", v % 1000 / 10); }

cudaEvent_t as_event(EventHandle e) { return static_cast<cudaEvent_t>(e); }
cudaStream_t as_stream(const StreamRef& s) { return static_cast<cudaStream_t>(s.handle); }

class CudaBackend final : public RuntimeBackend {
 public:
  explicit CudaBackend(int count) : count_(count) {
    for (int i = 0; i < count; ++i) {
      generators_.push_back(make_cuda_generator(Device(kCUDA, static_cast<DeviceIndex>(i))));
      add_default_generator(generators_.back());
    }
  }

  // ---- devices
  int device_count() override { return count_; }
  DeviceIndex current_device() override {
    refuse_in_forked_child();
    stop_if_process_ends();
    return static_cast<DeviceIndex>(thread_device());
  }
  void set_device(DeviceIndex index) override {
    refuse_in_forked_child();
    ARGAND_CUDA(cudaSetDevice(index));
  }
  void restore_device(DeviceIndex index) noexcept override {
    int device = 0;
    if (in_forked_child() || cudaGetDevice(&device) != cudaSuccess || device == index) return;
    const DeviceCalls calls(std::nothrow);
    cudaSetDevice(index);
  }
  DeviceProperties properties(DeviceIndex index) override {
    cudaDeviceProp p{};
    ARGAND_CUDA(cudaGetDeviceProperties(&p, index));
    DeviceProperties out;
    out.name = p.name;
    out.major = p.major;
    out.minor = p.minor;
    out.total_memory = p.totalGlobalMem;
    out.multi_processor_count = p.multiProcessorCount;
    out.max_threads_per_multi_processor = p.maxThreadsPerMultiProcessor;
    out.warp_size = p.warpSize;
    out.shared_memory_per_multiprocessor = p.sharedMemPerMultiprocessor;
    out.shared_memory_per_block_optin = p.sharedMemPerBlockOptin;
    out.L2_cache_size = static_cast<size_t>(p.l2CacheSize);
    out.is_integrated = p.integrated != 0;
    return out;
  }
  bool can_access_peer(DeviceIndex from, DeviceIndex to) override { return cuda::can_access_peer(from, to); }
  void synchronize(DeviceIndex index) override {
    refuse_while_capturing_on(index, "cuda::synchronize");
    const DeviceScope on(Device(kCUDA, index));
    issue_tapes(index, FlushCause::kWait);
    ARGAND_CUDA(cudaDeviceSynchronize());
    throw_if_reported(index);
    check_guards(index);
  }
  Generator& default_generator(DeviceIndex index) override {
    check_index(index);
    return generators_[static_cast<size_t>(index)];
  }
  std::string versions() override {
    int driver = 0, runtime = 0, major = 0, minor = 0;
    ARGAND_CUDA(cudaDriverGetVersion(&driver));
    ARGAND_CUDA(cudaRuntimeGetVersion(&runtime));
    nvrtcVersion(&major, &minor);
    return str("CUDA: ", version_text(runtime), "\ndriver supports CUDA: ", version_text(driver), "\nNVRTC: ", major,
               ".", minor, "\n", pack_text());
  }
  BackendVersions version_numbers() override {
    BackendVersions v;
    ARGAND_CUDA(cudaRuntimeGetVersion(&v.runtime));
    ARGAND_CUDA(cudaDriverGetVersion(&v.driver));
    v.cudnn = loaded_cudnn_version();
    return v;
  }

  // ---- streams and events
  bool query(const StreamRef& stream) override {
    refuse_while_capturing(stream, "Stream.query");
    const DeviceScope on(Device(kCUDA, stream.device));
    issue_tape(stream.device, as_stream(stream), FlushCause::kWait);
    return done(cudaStreamQuery(as_stream(stream)), "cudaStreamQuery");
  }
  void synchronize(const StreamRef& stream) override {
    refuse_while_capturing(stream, "Stream.synchronize");
    const DeviceScope on(Device(kCUDA, stream.device));
    issue_tape(stream.device, as_stream(stream), FlushCause::kWait);
    ARGAND_CUDA(cudaStreamSynchronize(as_stream(stream)));
    throw_if_reported(stream.device);
    check_guards(stream.device);
  }
  EventHandle make_event(DeviceIndex device, bool timing) override {
    const DeviceScope on(Device(kCUDA, device));
    cudaEvent_t event = nullptr;
    ARGAND_CUDA(cudaEventCreateWithFlags(&event, timing ? cudaEventDefault : cudaEventDisableTiming));
    return event;
  }
  void destroy_event(EventHandle event) noexcept override {
    const DeviceCalls calls(std::nothrow);
    note_destroyed(event);
    cudaEventDestroy(as_event(event));
  }
  void record(EventHandle event, const StreamRef& stream) override {
    const DeviceScope on(Device(kCUDA, stream.device));
    issue_tape(stream.device, as_stream(stream), FlushCause::kEvent);
    ARGAND_CUDA(cudaEventRecord(as_event(event), as_stream(stream)));
    note_recorded(event, stream);
  }
  void record_late(EventHandle event, const StreamRef& stream) override {
    const DeviceScope on(Device(kCUDA, stream.device));
    struct Call {
      cudaEvent_t event;
    };
    const auto issue = [](const void* data, void* on_stream) {
      ARGAND_CUDA(cudaEventRecord(static_cast<const Call*>(data)->event, static_cast<cudaStream_t>(on_stream)));
    };
    put_call(issue, Call{as_event(event)}, false);
    note_recorded(event, stream);
  }
  void wait(const StreamRef& stream, EventHandle event) override {
    const DeviceScope on(Device(kCUDA, stream.device));
    issue_tape(stream.device, as_stream(stream), FlushCause::kEvent);
    join_capture(stream, event);
    ARGAND_CUDA(cudaStreamWaitEvent(as_stream(stream), as_event(event), 0));
  }
  void joint() override {
    const DeviceIndex device = current_device();
    issue_tape(device, cuda::current_stream(device), FlushCause::kJoint);
  }
  void give_handle(const StreamRef& stream) override { share_stream(stream.device, as_stream(stream)); }
  void set_replay_enabled(bool on) override { hold_back_launches(on); }
  IssueStats issue_stats() override { return cuda::issue_stats(); }
  bool query(EventHandle event) override {
    refuse_captured(event, "Event.query");
    return done(cudaEventQuery(as_event(event)), "cudaEventQuery");
  }
  void synchronize(EventHandle event) override {
    refuse_captured(event, "Event.synchronize");
    ARGAND_CUDA(cudaEventSynchronize(as_event(event)));
    // An event does not tell its device.
    for (int device = 0; device < count_; ++device) throw_if_reported(device);
  }
  float elapsed_time(EventHandle start, EventHandle end) override {
    refuse_captured(start, "Event.elapsed_time");
    refuse_captured(end, "Event.elapsed_time");
    float ms = 0;
    ARGAND_CUDA(cudaEventElapsedTime(&ms, as_event(start), as_event(end)));
    return ms;
  }

 private:
  static bool done(cudaError_t e, const char* call) {
    if (e == cudaErrorNotReady) return false;
    if (e != cudaSuccess) throw_cuda_error(e, call);
    return true;
  }
  int count_;
  std::vector<Generator> generators_;
};

// Why there is no device, and what to do about it; null if there is one.
const char* reason_for(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return nullptr;
    case cudaErrorInsufficientDriver:
      return "the NVIDIA driver is missing or older than this build needs (CUDA 13: driver 580 or newer); install or "
             "update it";
    case cudaErrorNoDevice:
      return "no GPU is visible; check `nvidia-smi` and CUDA_VISIBLE_DEVICES";
    default: {
      static const std::string& text = *new std::string(str("the NVIDIA driver reports: ", cudaGetErrorString(error)));
      return text.c_str();
    }
  }
}

}  // namespace

const char* register_cuda_backend() {
  watch_forks();
  watch_exposure();
  register_stream_uses();
  register_sharing();  // who finds the backend finds this, too
  if (dry_run()) {
    register_backend(kCUDA, dry_run_backend());
    register_nccl();
    return nullptr;
  }
  // An empty list hides all devices.  The driver is not even initialized then, as it does not survive a fork():
  // children of this process may use it.
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"); visible && *visible == 0)
    return reason_for(cudaErrorNoDevice);
  int count = 0;
  if (const char* reason = reason_for(cudaGetDeviceCount(&count))) return reason;
  register_backend(kCUDA, *new CudaBackend(count));
  register_nccl();
  return nullptr;
}

}  // namespace argand::cuda
