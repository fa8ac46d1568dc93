#include "argand/runtime/cuda/cufft.h"

#if ARGAND_CUFFT

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "argand/base/error.h"
#include "argand/base/hash.h"
#include "argand/runtime/backend.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/cufft_library.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/graph.h"
#include "argand/runtime/cuda/host_memory.h"
#include "argand/runtime/cuda/on_device.h"
#include "argand/runtime/cuda/plan_lru.h"
#include "argand/runtime/cuda/scratch.h"
#include "argand/runtime/cuda/stream_tapes.h"
#include "argand/runtime/cuda/streams.h"
#include "argand/runtime/current_op.h"

namespace argand::cuda {
namespace {

constexpr size_t kMaxPlans = 4096;      // as in PyTorch
constexpr int64_t kLongWork = 1 << 20;  // numbers; transforming so many takes longer than a launch

const CufftLibrary& api() { return *find_cufft(); }

const char* name_of(cufftResult result) {
#define ARGAND_RESULT(name) \
  case name:                \
    return #name
  switch (result) {
    ARGAND_RESULT(CUFFT_INVALID_PLAN);
    ARGAND_RESULT(CUFFT_ALLOC_FAILED);
    ARGAND_RESULT(CUFFT_INVALID_TYPE);
    ARGAND_RESULT(CUFFT_INVALID_VALUE);
    ARGAND_RESULT(CUFFT_INTERNAL_ERROR);
    ARGAND_RESULT(CUFFT_EXEC_FAILED);
    ARGAND_RESULT(CUFFT_SETUP_FAILED);
    ARGAND_RESULT(CUFFT_INVALID_SIZE);
    ARGAND_RESULT(CUFFT_INVALID_DEVICE);
    ARGAND_RESULT(CUFFT_NO_WORKSPACE);
    ARGAND_RESULT(CUFFT_NOT_IMPLEMENTED);
    ARGAND_RESULT(CUFFT_NOT_SUPPORTED);
    default:
      return "an unknown error";
  }
#undef ARGAND_RESULT
}

void check(cufftResult result, const char* call) {
  if (result == CUFFT_SUCCESS) return;
  ARGAND_CHECK(OutOfMemoryError, result != CUFFT_ALLOC_FAILED, current_op(), ": cuFFT: ", call,
               ": the device has no memory left for a plan");
  ARGAND_THROW(DeviceError, current_op(), ": cuFFT: ", call, ": ", name_of(result));
}

using Key = std::array<int64_t, 18>;
struct KeyHash {
  size_t operator()(const Key& key) const { return hash_bytes(key.data(), sizeof key); }
};
// Numbers that mean nothing for the problem must be the same in equal problems: the rest of arrays.
Key key_of(const CufftProblem& p) {
  Key key{static_cast<int64_t>(p.kind),
          int64_t{p.in_double},
          p.rank,
          p.batch,
          p.from.stride,
          p.from.distance,
          p.to.stride,
          p.to.distance};
  for (size_t i = 0; i < static_cast<size_t>(p.rank); ++i) {
    key[8 + i] = p.n[i];
    key[11 + i] = p.from.embed[i];
    key[14 + i] = p.to.embed[i];
  }
  return key;
}

// Sizes as the library takes them.
struct Sizes {
  explicit Sizes(const std::array<int64_t, 3>& given) { std::copy(given.begin(), given.end(), of.begin()); }
  std::array<long long, 3> of;
};

// Whether the items are contiguous and lie one behind another: the library then need not know the layout, and may have
// better kernels.
bool is_simple(const CufftProblem& p, const CufftLayout& layout, bool half) {
  int64_t distance = 1;
  for (size_t i = 0; i < static_cast<size_t>(p.rank); ++i) {
    const bool last = i + 1 == static_cast<size_t>(p.rank);
    const int64_t points = half && last ? p.n[i] / 2 + 1 : p.n[i];
    if (layout.embed[i] != points) return false;
    distance *= points;
  }
  return layout.stride == 1 && layout.distance == distance;
}

}  // namespace

// Destroyed by Plans::destroy_unused() only.
class CufftPlan {
 public:
  explicit CufftPlan(int device) : device_(device) {}
  ~CufftPlan() {
    if (!made_) return;
    const OnDevice on(device_);
    api().destroy(handle_);  // frees its tables, for which CUDA waits until the device is idle
  }
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;

  cufftResult make(const CufftProblem& p) {
    check(api().create(&handle_), "cufftCreate");
    made_ = true;
    check(api().set_auto_allocation(handle_, 0), "cufftSetAutoAllocation");
    Sizes n(p.n), from(p.from.embed), to(p.to.embed);
    const bool simple = is_simple(p, p.from, p.kind == CufftKind::kComplexToReal) &&
                        is_simple(p, p.to, p.kind == CufftKind::kRealToComplex);
    const cudaDataType real = p.in_double ? CUDA_R_64F : CUDA_R_32F, complex = p.in_double ? CUDA_C_64F : CUDA_C_32F;
    numbers_ = p.batch;
    for (size_t i = 0; i < static_cast<size_t>(p.rank); ++i) numbers_ *= p.n[i];
    return api().make_plan(handle_, p.rank, n.of.data(), simple ? nullptr : from.of.data(), p.from.stride,
                           p.from.distance, p.kind == CufftKind::kRealToComplex ? real : complex,
                           simple ? nullptr : to.of.data(), p.to.stride, p.to.distance,
                           p.kind == CufftKind::kComplexToReal ? real : complex, p.batch, &workspace_, complex);
  }

  size_t workspace() const { return workspace_; }
  bool is_long() const { return numbers_ >= kLongWork; }

  void execute(const void* from, void* to, int direction, void* workspace, cudaStream_t stream) {
    const std::lock_guard lock(mutex_);
    if (stream != stream_) {
      check(api().set_stream(handle_, stream), "cufftSetStream");
      stream_ = stream;
    }
    if (workspace != work_area_) {
      check(api().set_work_area(handle_, workspace), "cufftSetWorkArea");
      work_area_ = workspace;
    }
    check(api().execute(handle_, const_cast<void*>(from), to, direction), "cufftXtExec");
  }

 private:
  const int device_;
  bool made_ = false;
  cufftHandle handle_ = 0;
  size_t workspace_ = 0;
  int64_t numbers_ = 0;
  std::mutex mutex_;  // from setting the stream to its use; taken under the lock of a tape
  // The stream and the work area that were set last.
  cudaStream_t stream_ = nullptr;
  void* work_area_ = nullptr;
};

namespace {

// The plans of one device.  Never destroyed, because no CUDA call may be made while static objects are destroyed.
class Plans {
 public:
  explicit Plans(int device) : device_(device), plans_(kMaxPlans) {}

  std::shared_ptr<CufftPlan> get(const CufftProblem& problem) {
    const Key key = key_of(problem);
    if (auto known = plans_.find(key)) return known;
    auto made = make(problem);
    if (!made) return nullptr;
    made = plans_.add(key, std::move(made));
    destroy_unused();
    return made;
  }

  int64_t size() const { return static_cast<int64_t>(plans_.size()); }
  int64_t max_size() const { return static_cast<int64_t>(plans_.max_size()); }
  void set_max_size(int64_t n) {
    plans_.set_max_size(static_cast<size_t>(n));
    destroy_unused();
  }
  void clear() {
    plans_.clear();
    destroy_unused();
  }

 private:
  std::shared_ptr<CufftPlan> make(const CufftProblem& problem) {
    const CallsThatMakeGlobals calls;
    auto plan = std::make_shared<CufftPlan>(device_);
    cufftResult result = plan->make(problem);
    if ((result == CUFFT_ALLOC_FAILED || result == CUFFT_INTERNAL_ERROR) && !is_capturing()) {
      // The memory may be in our cache.
      backend_of(kCUDA).empty_cache();
      plan = std::make_shared<CufftPlan>(device_);
      result = plan->make(problem);
    }
    switch (result) {
      case CUFFT_SUCCESS:
        return plan;
      case CUFFT_INVALID_SIZE:
      case CUFFT_INVALID_VALUE:
      case CUFFT_NOT_IMPLEMENTED:
      case CUFFT_NOT_SUPPORTED:
        return nullptr;
      default:
        ARGAND_CHECK(DeviceError, !is_capturing(), current_op(), ": cuFFT: cufftXtMakePlanMany: ", name_of(result),
                     "; a plan may be impossible to make while a CUDA graph is being captured: call the op with these "
                     "sizes once before the capture");
        check(result, "cufftXtMakePlanMany");
        return nullptr;
    }
  }

  // Graphs and work on tapes refer to plans by their addresses.  Nobody can put more there that refers to one of these.
  // In a capture, where this could wait for the device, they go on waiting.
  void destroy_unused() {
    if (is_capturing()) return;
    auto unused = plans_.take_unused();
    if (unused.empty()) return;
    forget_graphs();
    unused.clear();
  }

  const int device_;
  PlanLru<Key, CufftPlan, KeyHash> plans_;
};

Plans& current_plans() {
  static constinit std::atomic<Plans*> all[kMaxDevices] = {};
  static std::mutex& mutex = *new std::mutex;
  const int device = thread_device();
  if (Plans* known = all[device].load(std::memory_order_acquire)) return *known;
  const std::lock_guard lock(mutex);
  if (!all[device].load()) all[device].store(new Plans(device));
  return *all[device].load();
}

struct Call {
  CufftPlan* plan;
  const void* from;
  void *to, *workspace;
  int64_t direction;
};

void issue(const void* data, void* stream) {
  const Call& c = *static_cast<const Call*>(data);
  c.plan->execute(c.from, c.to, static_cast<int>(c.direction), c.workspace, static_cast<cudaStream_t>(stream));
}

}  // namespace

bool has_cufft() {
  if (dry_run()) return true;
  const DeviceCalls calls;
  return find_cufft() != nullptr;
}

std::shared_ptr<CufftPlan> cufft_plan(const CufftProblem& problem) {
  if (dry_run()) return std::make_shared<CufftPlan>(thread_device());
  const DeviceCalls calls;
  return current_plans().get(problem);
}

void cufft_transform(const std::shared_ptr<CufftPlan>& plan, bool forward, const void* from, void* to) {
  if (dry_run()) {
    const void* addresses[] = {from, to};
    for (const void* const& at : addresses) HostMemory::check_reach(thread_device(), &at, sizeof at);
    return;
  }
  const DeviceCalls calls;
  if (is_capturing()) keep_for_graph(plan);
  const Scratch workspace(plan->workspace());
  put_call(issue, Call{plan.get(), from, to, workspace.data(), forward ? CUFFT_FORWARD : CUFFT_INVERSE},
           plan->is_long());
}

int64_t cufft_plans() { return current_plans().size(); }
int64_t most_cufft_plans() { return current_plans().max_size(); }
void set_most_cufft_plans(int64_t n) {
  const DeviceCalls calls;
  current_plans().set_max_size(n);
}
void clear_cufft_plans() {
  const DeviceCalls calls;
  current_plans().clear();
}

}  // namespace argand::cuda

#else

namespace argand::cuda {

class CufftPlan {};

bool has_cufft() { return false; }
std::shared_ptr<CufftPlan> cufft_plan(const CufftProblem&) { return nullptr; }
void cufft_transform(const std::shared_ptr<CufftPlan>&, bool, const void*, void*) {}
int64_t cufft_plans() { return 0; }
int64_t most_cufft_plans() { return 0; }
void set_most_cufft_plans(int64_t) {}
void clear_cufft_plans() {}

}  // namespace argand::cuda

#endif
