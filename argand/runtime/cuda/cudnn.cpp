#include "argand/runtime/cuda/cudnn.h"

#if ARGAND_CUDNN

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "argand/base/error.h"
#include "argand/base/hash.h"
#include "argand/base/log.h"
#include "argand/core/float32_precision.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/cudnn_plan.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/scratch.h"
#include "argand/runtime/cuda/stream_tapes.h"
#include "argand/runtime/cuda/streams.h"

namespace argand::cuda {
namespace {

using cudnn::alignment;
using cudnn::api;
using cudnn::check;
using cudnn::Descriptor;
using cudnn::Plan;
using cudnn::Refused;

constexpr size_t kMaxPlans = 4096;  // then all are forgotten: programs whose shapes never repeat stay small

[[noreturn]] void throw_cudnn_error(cudnnStatus_t status, const char* what) {
  char message[512] = "";
  api().get_last_error_string(message, sizeof message);
  ARGAND_THROW(DeviceError, "cuDNN: ", what, ": ", api().get_error_string(status), " ", message);
}

using Key = std::array<int64_t, 30>;
struct KeyHash {
  size_t operator()(const Key& key) const { return hash_bytes(key.data(), sizeof key); }
};
Key key_of(const ConvProblem& p) {
  Key key{};
  size_t i = 0;
  for (const int64_t v : {static_cast<int64_t>(p.kind), static_cast<int64_t>(p.dtype), int64_t{allow_tf32_cudnn()}, p.n,
                          p.c, p.o, p.groups, alignment(p.x), alignment(p.w), alignment(p.y), int64_t{p.channels_last},
                          p.bias ? alignment(p.bias) : 0})
    key[i++] = v;
  for (const auto* sizes : {&p.in, &p.out, &p.kernel, &p.stride, &p.padding, &p.dilation})
    for (const int64_t v : *sizes) key[i++] = v;
  return key;
}

// Of one device; lives as long as the process, because nothing of CUDA may be called when static objects go.  A handle
// serves one thread at a time.
class Library {
 public:
  Library() {
    if (const cudnnStatus_t status = api().create(&handle_); status != CUDNN_STATUS_SUCCESS)
      throw_cudnn_error(status, "cudnnCreate");
  }

  bool run(const ConvProblem& p) {
    Entry& entry = entry_of(p);
    const Plan& plan = entry.plan;
    if (plan.plan.empty()) return false;
    const Scratch workspace(static_cast<size_t>(plan.workspace));
    const auto multiplications = static_cast<double>(p.n) * static_cast<double>(p.o) *
                                 static_cast<double>(p.c / p.groups) * product(p.out) * product(p.kernel);
    const EpilogueSlot slot = slot_of(p, {workspace.data(), static_cast<size_t>(plan.workspace)});
    put_call(issue, Call{this, &entry, &plan, {p.x, p.w, p.y, p.bias}, workspace.data()},
             multiplications > kLongConvolution, p.bias ? &slot : nullptr);
    return true;
  }

 private:
  struct Entry {
    ConvProblem problem;
    Plan plan, with_relu;
    bool relu_tried = false;
  };
  struct Call {
    Library* library;
    Entry* entry;
    const Plan* plan;
    const void* data[4];
    void* workspace;
  };
  static constexpr double kLongConvolution = 1 << 28;  // multiplications: takes longer than a launch

  static double product(const std::array<int64_t, 3>& sizes) {
    return static_cast<double>(sizes[0]) * static_cast<double>(sizes[1]) * static_cast<double>(sizes[2]);
  }

  static int64_t numel(int64_t n, int64_t c, const std::array<int64_t, 3>& size) {
    return n * c * size[0] * size[1] * size[2];
  }
  static EpilogueSlot slot_of(const ConvProblem& p, const MemoryRange& workspace) {
    const auto range = [&](const void* data, int64_t count) {
      return MemoryRange{data, static_cast<size_t>(count * element_size(p.dtype))};
    };
    return {p.y,
            numel(p.n, p.o, p.out),
            p.dtype,
            static_cast<size_t>(alignment(p.y)),
            {range(p.x, numel(p.n, p.c, p.in)), range(p.w, numel(p.o, p.c / p.groups, p.kernel)), range(p.bias, p.o),
             workspace},
            take_relu};
  }
  static bool take_relu(void* data, const Epilogue<void>& epilogue) {
    if (epilogue.mask || epilogue.keep) return false;
    Call& c = *static_cast<Call*>(data);
    Entry& e = *c.entry;
    const std::lock_guard lock(c.library->mutex_);
    if (!std::exchange(e.relu_tried, true)) e.with_relu = cudnn::add_relu(c.library->handle_, e.problem, e.plan);
    if (e.with_relu.plan.empty()) return false;
    c.plan = &e.with_relu;
    c.data[2] = epilogue.out;
    return true;
  }

  static void issue(const void* data, void* stream) {
    const Call c = *static_cast<const Call*>(data);
    const std::lock_guard lock(c.library->mutex_);
    try {
      check(api().set_stream(c.library->handle_, static_cast<cudaStream_t>(stream)));
      const int64_t ids[] = {cudnn::kX, cudnn::kW, cudnn::kY, cudnn::kBias}, count = c.data[3] ? 4 : 3;
      Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
      pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, ids);
      pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, c.data);
      pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, c.workspace);
      pack.finalize();
      check(api().execute(c.library->handle_, c.plan->plan[0].handle(), pack.handle()));
    } catch (const Refused& refused) {
      throw_cudnn_error(refused.status, "convolution");
    }
  }

  // Never holds the lock while it issues: issuing takes that of a tape, under which this one is taken.
  Entry& entry_of(const ConvProblem& p) {
    const Key key = key_of(p);
    {
      const std::lock_guard lock(mutex_);
      const auto known = plans_.find(key);
      if (known != plans_.end()) return known->second;
      if (plans_.size() < kMaxPlans) return add(key, p);
    }
    forget_graphs();  // they and what waits on tapes refer to plans
    const std::lock_guard lock(mutex_);
    retired_ = std::exchange(plans_, {});  // another thread may be about to issue one of these
    return add(key, p);
  }
  Entry& add(const Key& key, const ConvProblem& p) {
    return plans_.insert_or_assign(key, Entry{p, cudnn::make_plan(handle_, p), {}}).first->second;
  }

  std::mutex mutex_;
  cudnnHandle_t handle_ = nullptr;
  std::unordered_map<Key, Entry, KeyHash> plans_, retired_;
};

Library& library() {
  static constinit std::atomic<Library*> libraries[kMaxDevices] = {};
  static std::mutex& mutex = *new std::mutex;
  const int device = thread_device();
  if (Library* known = libraries[device].load(std::memory_order_acquire)) return *known;
  const std::lock_guard lock(mutex);
  if (!libraries[device].load()) libraries[device].store(new Library);
  return *libraries[device].load();
}

}  // namespace

int loaded_cudnn_version() {
  const DeviceCalls calls;
  return find_cudnn() ? static_cast<int>(api().get_version()) : 0;
}

bool has_cudnn() {
  if (dry_run()) return false;
  const DeviceCalls calls;
  if (find_cudnn()) return true;
  ARGAND_WARN_ONCE("libcudnn.so.", CUDNN_MAJOR, " was not found; convolutions run on kernels that are slower");
  return false;
}

bool cudnn_convolution(const ConvProblem& p) {
  if (!has_cudnn()) return false;
  const DeviceCalls calls;
  return library().run(p);
}

}  // namespace argand::cuda

#else

namespace argand::cuda {

int loaded_cudnn_version() { return 0; }
bool has_cudnn() { return false; }
bool cudnn_convolution(const ConvProblem&) { return false; }

}  // namespace argand::cuda

#endif
