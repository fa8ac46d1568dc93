#include "argand/runtime/cuda/stream_tapes.h"

#include <atomic>
#include <map>

#include "argand/base/env.h"
#include "argand/core/storage.h"
#include "argand/runtime/backend.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/on_device.h"
#include "argand/runtime/cuda/streams.h"
#include "argand/runtime/cuda/touched_memory.h"
#include "argand/runtime/current_op.h"
#include "argand/runtime/process_end.h"

namespace argand::cuda {
namespace {

constexpr size_t kMostParameters = 64;

void point_at_arguments(const TapeRecord& r, const char* bytes, void** pointers) {
  for (size_t i = 0; i < r.parameters->offsets.size(); ++i)
    pointers[i] = const_cast<char*>(bytes) + r.parameters->offsets[i];
}

// `early`: Note [Kernels start early].
void issue_on(const TapeRecord& r, const char* bytes, cudaStream_t stream, bool early) {
  note_launch(r.op);
  if (!r.function) return r.call(bytes, stream);
  void* pointers[kMostParameters];
  point_at_arguments(r, bytes, pointers);
  const Grid& g = r.grid;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(g.blocks, g.blocks_y, g.blocks_z);
  config.blockDim = dim3(g.threads, g.threads_y);
  config.dynamicSmemBytes = g.shared_memory;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = early ? 1 : 0;
  ARGAND_CUDA(cudaLaunchKernelExC(&config, r.function, pointers));
}

class CapturedGraph final : public LaunchGraph {
 public:
  explicit CapturedGraph(cudaStream_t stream) : stream_(stream) {}
  ~CapturedGraph() override {
    if (exec_) cudaGraphExecDestroy(exec_);  // what runs of it ends first
    if (graph_) cudaGraphDestroy(graph_);
  }

  // `capture`: a stream that nothing else uses; `early`: whether kernels after kernels start early.
  bool capture(cudaStream_t capture, const std::vector<TapeRecord>& records, const char* bytes, bool early) {
    if (cudaStreamBeginCapture(capture, cudaStreamCaptureModeRelaxed) != cudaSuccess) return failed();
    bool complete = true;
    try {
      bool after_kernel = false;
      for (const TapeRecord& r : records) {
        issue_on(r, bytes + r.at, capture, early && after_kernel);
        nodes_.push_back(r.function ? last_node(capture) : nullptr);
        after_kernel = r.function != nullptr;
      }
    } catch (const Error&) {  // a call that cannot be captured
      complete = false;
    }
    if (cudaStreamEndCapture(capture, &graph_) != cudaSuccess || !graph_ || !complete) return failed();
    return cudaGraphInstantiate(&exec_, graph_, 0) == cudaSuccess || failed();
  }

  void set_arguments(size_t record, const TapeRecord& r, const char* bytes) override {
    void* pointers[kMostParameters];
    point_at_arguments(r, bytes, pointers);
    const Grid& g = r.grid;
    cudaKernelNodeParams parameters{};
    parameters.func = const_cast<void*>(r.function);
    parameters.gridDim = dim3(g.blocks, g.blocks_y, g.blocks_z);
    parameters.blockDim = dim3(g.threads, g.threads_y);
    parameters.sharedMemBytes = static_cast<unsigned>(g.shared_memory);
    parameters.kernelParams = pointers;
    ARGAND_CUDA(cudaGraphExecKernelNodeSetParams(exec_, nodes_[record], &parameters));
  }
  void launch() override { ARGAND_CUDA(cudaGraphLaunch(exec_, stream_)); }

 private:
  static bool failed() {
    cudaGetLastError();
    return false;
  }
  static cudaGraphNode_t last_node(cudaStream_t capture) {
    cudaStreamCaptureStatus status{};
    const cudaGraphNode_t* last = nullptr;
    const cudaGraphEdgeData* edge = nullptr;
    size_t count = 0;
    ARGAND_CUDA(cudaStreamGetCaptureInfo(capture, &status, nullptr, nullptr, &last, &edge, &count));
    ARGAND_CHECK(DeviceError, count == 1, "a captured kernel has ", count, " last nodes");
    return last[0];
  }

  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  std::vector<cudaGraphNode_t> nodes_;  // null: a call's
};

class StreamDevice final : public LaunchDevice {
 public:
  StreamDevice(int device, cudaStream_t stream) : stream_(stream) {
    int major = 0;
    if (!dry_run()) ARGAND_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    early_ = major >= 9;
  }
  void issue(const TapeRecord& record, const char* bytes) override { issue_on(record, bytes, stream_, early_); }
  std::unique_ptr<LaunchGraph> build(const std::vector<TapeRecord>& records, const char* bytes) override {
    if (!capture_) ARGAND_CUDA(cudaStreamCreateWithFlags(&capture_, cudaStreamNonBlocking));
    auto graph = std::make_unique<CapturedGraph>(stream_);
    if (!graph->capture(capture_, records, bytes, early_)) return nullptr;
    return graph;
  }
  bool touches_exposed(const char* bytes, size_t nbytes) override { return touches_exposed_memory(bytes, nbytes); }
  void lost(std::span<const TapeRecord> records, const char* bytes, std::exception_ptr why) override {
    for (const TapeRecord& r : records) lose_memory(bytes + r.at, r.nbytes, why);
  }

 private:
  cudaStream_t stream_, capture_ = nullptr;
  bool early_;  // Note [Kernels start early]
};

// Lives as long as the process, as the streams of the pool do.
struct StreamTape {
  StreamTape(int d, cudaStream_t stream) : device(d), issues(d, stream), tape(issues) {}
  int device;
  StreamDevice issues;
  LaunchTape tape;
  std::atomic<bool> captured{false}, shared{false};

  void flush(FlushCause cause) {
    const OnDevice on(device);
    tape.flush(cause);
  }
  void update(bool enabled) {
    const OnDevice on(device);
    tape.hold_back(enabled && !captured && !shared);
  }
};

bool wanted_by_environment() {
  const std::string blocking = env("CUDA_LAUNCH_BLOCKING").value_or("");
  return (blocking.empty() || blocking == "0") && env_flag("ARGAND_CUDA_REPLAY", true);
}

class Tapes {
 public:
  static Tapes& all() {
    static Tapes& tapes = *new Tapes;
    return tapes;
  }
  StreamTape& of(int device, cudaStream_t stream) {
    thread_local StreamTape* last = nullptr;
    thread_local cudaStream_t last_stream = nullptr;
    if (last && last->device == device && last_stream == stream) return *last;
    const std::lock_guard lock(mutex_);
    auto found = tapes_.find({device, stream});
    if (found == tapes_.end()) {
      auto tape = std::make_unique<StreamTape>(device, stream);
      if (!enabled_) tape->tape.hold_back(false);
      found = tapes_.emplace(std::pair(device, stream), std::move(tape)).first;
    }
    last = found->second.get();
    last_stream = stream;
    return *last;
  }
  StreamTape* find(int device, cudaStream_t stream) {
    const std::lock_guard lock(mutex_);
    const auto found = tapes_.find({device, stream});
    return found == tapes_.end() ? nullptr : found->second.get();
  }
  template <class F>
  void each(F f) {
    std::vector<StreamTape*> all;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [key, tape] : tapes_) all.push_back(tape.get());
    }
    for (StreamTape* t : all) f(*t);
  }
  void enable(bool on) {
    {
      const std::lock_guard lock(mutex_);
      enabled_ = on;
    }
    each([&](StreamTape& t) { t.update(on); });
  }
  bool enabled() const { return enabled_; }

 private:
  // Code that has an address may launch its own kernels at any time: Note [Launch tape].
  Tapes() {
    static constexpr ExposureHooks hooks{
        [](const Device& device, const void* data, size_t nbytes) {
          expose_memory(data, nbytes);
          issue_tapes_quietly(device.index(), FlushCause::kForeign);
        },
        [](const Device&, const void* data, size_t nbytes) { unexpose_memory(data, nbytes); }};
    StorageImpl::exposure_hooks.store(&hooks);
  }
  std::mutex mutex_;
  std::atomic<bool> enabled_ = wanted_by_environment();
  std::map<std::pair<int, cudaStream_t>, std::unique_ptr<StreamTape>> tapes_;
};

LaunchTape& current_tape() {
  const int device = thread_device();
  return Tapes::all().of(device, current_stream(device)).tape;
}

}  // namespace

void put_kernel(const Kernel& kernel, const Grid& grid, void* const* arguments, const EpilogueSlot* slot) {
  const DeviceCalls calls;
  current_tape().add_kernel(current_op(), kernel.function(), kernel.parameters(), grid, arguments, slot);
}
bool put_epilogue(const EpilogueOp& op) {
  const DeviceCalls calls;
  return current_tape().add_epilogue(op);
}
void put_call(IssueCall call, const void* data, size_t nbytes, bool long_work, const EpilogueSlot* slot) {
  const DeviceCalls calls;
  current_tape().add_call(current_op(), call, data, nbytes, long_work, slot);
}

void watch_exposure() { Tapes::all(); }

void issue_tape(int device, cudaStream_t stream, FlushCause cause) {
  if (StreamTape* t = Tapes::all().find(device, stream)) t->flush(cause);
}
void issue_tapes(int device, FlushCause cause) {
  Tapes::all().each([&](StreamTape& t) {
    if (t.device == device) t.flush(cause);
  });
}
void issue_tape_quietly(int device, cudaStream_t stream, FlushCause cause) noexcept {
  try {
    issue_tape(device, stream, cause);
  } catch (...) {
  }
}
void issue_tapes_quietly(int device, FlushCause cause) noexcept {
  try {
    issue_tapes(device, cause);
  } catch (...) {
  }
}

void hold_back_launches(bool on) { Tapes::all().enable(on && wanted_by_environment()); }
void set_captured(int device, cudaStream_t stream, bool on) {
  StreamTape& t = Tapes::all().of(device, stream);
  t.captured = on;
  t.update(Tapes::all().enabled());
}
void share_stream(int device, cudaStream_t stream) {
  StreamTape& t = Tapes::all().of(device, stream);
  t.shared = true;
  t.update(Tapes::all().enabled());
}

void forget_graphs() {
  Tapes::all().each([](StreamTape& t) {
    const OnDevice on(t.device);
    t.tape.forget_graphs();
  });
}

IssueStats issue_stats() {
  IssueStats sum;
  Tapes::all().each([&](StreamTape& t) {
    const IssueStats s = t.tape.stats();
    sum.launches += s.launches;
    sum.replayed += s.replayed;
    sum.windows += s.windows;
    sum.graph_launches += s.graph_launches;
    sum.graphs_built += s.graphs_built;
    sum.arguments_set += s.arguments_set;
    for (size_t i = 0; i < sum.flushes.size(); ++i) sum.flushes[i] += s.flushes[i];
  });
  return sum;
}

}  // namespace argand::cuda
