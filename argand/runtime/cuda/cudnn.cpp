#include "argand/runtime/cuda/cudnn.h"

#if ARGAND_CUDNN

#include <algorithm>
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
#include "argand/runtime/cuda/cudnn_library.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/scratch.h"
#include "argand/runtime/cuda/stream_tapes.h"
#include "argand/runtime/cuda/streams.h"

namespace argand::cuda {
namespace {

constexpr int64_t kMostWorkspace = int64_t{1} << 30;  // bytes; engines that want more are passed over
constexpr size_t kMaxPlans = 4096;  // then all are forgotten: programs whose shapes never repeat stay small
constexpr int64_t kX = 'x', kW = 'w', kY = 'y';

// Only asked for where it is there.
const CudnnLibrary& api() { return *find_cudnn(); }

// A call of the library that it refused; plans are tried until one is not.
struct Refused {
  cudnnStatus_t status;
};
void check(cudnnStatus_t status) {
  if (status != CUDNN_STATUS_SUCCESS) throw Refused{status};
}

[[noreturn]] void throw_cudnn_error(cudnnStatus_t status, const char* what) {
  char message[512] = "";
  api().get_last_error_string(message, sizeof message);
  ARGAND_THROW(DeviceError, "cuDNN: ", what, ": ", api().get_error_string(status), " ", message);
}

class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) { check(api().create_descriptor(type, &handle_)); }
  ~Descriptor() {
    if (handle_) api().destroy_descriptor(handle_);
  }
  Descriptor(Descriptor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count, const void* values) {
    check(api().set_attribute(handle_, name, type, count, values));
  }
  template <class T>
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const T& value) {
    set(name, type, 1, &value);
  }
  void set(cudnnBackendAttributeName_t name, const Descriptor& value) {
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, value.handle_);
  }
  void set(cudnnBackendAttributeName_t name, const std::vector<int64_t>& values) {
    set(name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()), values.data());
  }
  // How many there are; at most `most` are written.
  int64_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t most, void* values) const {
    int64_t count = 0;
    check(api().get_attribute(handle_, name, type, most, &count, values));
    return count;
  }
  void finalize() { check(api().finalize(handle_)); }
  cudnnBackendDescriptor_t handle() const { return handle_; }

 private:
  cudnnBackendDescriptor_t handle_ = nullptr;
};

cudnnDataType_t type_of(ScalarType t) {
  switch (t) {
    case kHalf:
      return CUDNN_DATA_HALF;
    case kBFloat16:
      return CUDNN_DATA_BFLOAT16;
    case kFloat:
      return CUDNN_DATA_FLOAT;
    case kDouble:
      return CUDNN_DATA_DOUBLE;
    default:
      throw Refused{CUDNN_STATUS_NOT_SUPPORTED};
  }
}

int64_t alignment(const void* p) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  return static_cast<int64_t>(std::min<uintptr_t>(address & (~address + 1), 16));
}

// A leading spatial dimension that does nothing is left out: two dimensions have more engines than three.
size_t first_dimension(const ConvProblem& p) {
  return p.in[0] == 1 && p.kernel[0] == 1 && p.padding[0] == 0 && p.out[0] == 1 ? 1 : 0;
}
std::vector<int64_t> spatial(const ConvProblem& p, const std::array<int64_t, 3>& values) {
  return {values.begin() + static_cast<ptrdiff_t>(first_dimension(p)), values.end()};
}

Descriptor tensor(const ConvProblem& p, int64_t id, int64_t n, int64_t c, const std::array<int64_t, 3>& size,
                  const void* data) {
  std::vector<int64_t> dims{n, c}, strides;
  for (const int64_t s : spatial(p, size)) dims.push_back(s);
  strides.resize(dims.size(), 1);
  for (size_t i = dims.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * dims[i];
  Descriptor t(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  t.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type_of(p.dtype));
  t.set(CUDNN_ATTR_TENSOR_DIMENSIONS, dims);
  t.set(CUDNN_ATTR_TENSOR_STRIDES, strides);
  t.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, id);
  t.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment(data));
  t.finalize();
  return t;
}

// Numbers of the attributes of the three operations.
struct Names {
  cudnnBackendDescriptorType_t operation;
  cudnnBackendAttributeName_t x, w, y, conv, alpha, beta;
};
Names names_of(ConvKind kind) {
  switch (kind) {
    case ConvKind::kForward:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case ConvKind::kInputGrad:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    default:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  }
}

// What a plan refers to lives as long as it.
struct Plan {
  std::vector<Descriptor> parts;
  std::vector<Descriptor> plan;  // one or none
  int64_t workspace = 0;
};

// The graph of the one operation.
Descriptor operation_graph(cudnnHandle_t handle, const ConvProblem& p, std::vector<Descriptor>& parts) {
  const std::vector<int64_t> padding = spatial(p, p.padding);
  Descriptor conv(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const cudnnDataType_t compute = p.dtype == kDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  conv.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, compute);
  conv.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION);
  conv.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, static_cast<int64_t>(padding.size()));
  conv.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, spatial(p, p.dilation));
  conv.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, spatial(p, p.stride));
  conv.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, padding);
  conv.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, padding);
  conv.finalize();
  Descriptor x = tensor(p, kX, p.n, p.c, p.in, p.x), w = tensor(p, kW, p.o, p.c / p.groups, p.kernel, p.w),
             y = tensor(p, kY, p.n, p.o, p.out, p.y);
  const Names names = names_of(p.kind);
  Descriptor operation(names.operation);
  operation.set(names.x, x);
  operation.set(names.w, w);
  operation.set(names.y, y);
  operation.set(names.conv, conv);
  if (p.dtype == kDouble) {
    operation.set(names.alpha, CUDNN_TYPE_DOUBLE, 1.0);
    operation.set(names.beta, CUDNN_TYPE_DOUBLE, 0.0);
  } else {
    operation.set(names.alpha, CUDNN_TYPE_FLOAT, 1.0f);
    operation.set(names.beta, CUDNN_TYPE_FLOAT, 0.0f);
  }
  operation.finalize();
  Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle);
  graph.finalize();
  for (Descriptor* d : {&conv, &x, &w, &y, &operation}) parts.push_back(std::move(*d));
  return graph;
}

// Engine configurations, the ones expected to be fastest first.
std::vector<Descriptor> offered(const Descriptor& graph, cudnnBackendHeurMode_t mode) {
  Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
  heuristics.finalize();
  const int64_t count = heuristics.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, nullptr);
  std::vector<Descriptor> configs;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (int64_t i = 0; i < count; ++i)
    handles.push_back(configs.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).handle());
  const int64_t got =
      count == 0 ? 0
                 : heuristics.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, handles.data());
  while (static_cast<int64_t>(configs.size()) > got) configs.pop_back();
  return configs;
}

bool compiles_at_run_time(const Descriptor& engine) {
  cudnnBackendBehaviorNote_t notes[CUDNN_BEHAVIOR_NOTE_TYPE_COUNT];
  const int64_t n =
      engine.get(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT, notes);
  return std::find(notes, notes + n, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) != notes + n;
}

bool is_exact(const Descriptor& engine, ScalarType dtype) {
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
  const int64_t n =
      engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT, notes);
  const bool reduced = dtype == kHalf || dtype == kBFloat16;
  return std::none_of(notes, notes + n, [&](cudnnBackendNumericalNote_t note) {
    switch (note) {
      case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
      case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
      case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
      case CUDNN_NUMERICAL_NOTE_FFT:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
        return true;
      case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:  // of float32: TF32
        return dtype == kFloat && !allow_tf32_cudnn();
      case CUDNN_NUMERICAL_NOTE_WINOGRAD:
        return reduced;
      default:
        return false;
    }
  });
}

// Whether `config` makes a plan; it is then in `out`.
bool try_config(cudnnHandle_t handle, ScalarType dtype, Descriptor& config, bool may_compile, Plan& out) {
  try {
    Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    cudnnBackendDescriptor_t engine_handle = engine.handle();
    config.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine_handle);
    if (!is_exact(engine, dtype) || compiles_at_run_time(engine) != may_compile) return false;
    Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle);
    plan.finalize();
    plan.get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &out.workspace);
    if (out.workspace > kMostWorkspace) return false;
    out.parts.push_back(std::move(engine));
    out.parts.push_back(std::move(config));
    out.plan.push_back(std::move(plan));
    return true;
  } catch (const Refused&) {
    return false;
  }
}

// Engines that are compiled when first used cost a second: they come last.
Plan make_plan(cudnnHandle_t handle, const ConvProblem& p) {
  Plan out;
  try {
    Descriptor graph = operation_graph(handle, p, out.parts);
    for (const bool may_compile : {false, true})
      for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
        for (Descriptor& config : offered(graph, mode))
          if (try_config(handle, p.dtype, config, may_compile, out)) {
            out.parts.push_back(std::move(graph));
            return out;
          }
  } catch (const Refused&) {
  }
  return {};
}

using Key = std::array<int64_t, 28>;
struct KeyHash {
  size_t operator()(const Key& key) const { return hash_bytes(key.data(), sizeof key); }
};
Key key_of(const ConvProblem& p) {
  Key key{};
  size_t i = 0;
  for (const int64_t v : {static_cast<int64_t>(p.kind), static_cast<int64_t>(p.dtype), int64_t{allow_tf32_cudnn()}, p.n,
                          p.c, p.o, p.groups, alignment(p.x), alignment(p.w), alignment(p.y)})
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
    const Plan& plan = plan_of(p);
    if (plan.plan.empty()) return false;
    const Scratch workspace(static_cast<size_t>(plan.workspace));
    const auto multiplications = static_cast<double>(p.n) * static_cast<double>(p.o) *
                                 static_cast<double>(p.c / p.groups) * product(p.out) * product(p.kernel);
    put_call(issue, Call{this, &plan, {p.x, p.w, p.y}, workspace.data()}, multiplications > kLongConvolution);
    return true;
  }

 private:
  struct Call {
    Library* library;
    const Plan* plan;
    const void* data[3];
    void* workspace;
  };
  static constexpr double kLongConvolution = 1 << 28;  // multiplications: takes longer than a launch

  static double product(const std::array<int64_t, 3>& sizes) {
    return static_cast<double>(sizes[0]) * static_cast<double>(sizes[1]) * static_cast<double>(sizes[2]);
  }

  static void issue(const void* data, void* stream) {
    const Call c = *static_cast<const Call*>(data);
    const std::lock_guard lock(c.library->mutex_);
    try {
      check(api().set_stream(c.library->handle_, static_cast<cudaStream_t>(stream)));
      const int64_t ids[] = {kX, kW, kY};
      Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
      pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3, ids);
      pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, c.data);
      pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, c.workspace);
      pack.finalize();
      check(api().execute(c.library->handle_, c.plan->plan[0].handle(), pack.handle()));
    } catch (const Refused& refused) {
      throw_cudnn_error(refused.status, "convolution");
    }
  }

  // Never holds the lock while it issues: issuing takes that of a tape, under which this one is taken.
  const Plan& plan_of(const ConvProblem& p) {
    const Key key = key_of(p);
    {
      const std::lock_guard lock(mutex_);
      const auto known = plans_.find(key);
      if (known != plans_.end()) return known->second;
      if (plans_.size() < kMaxPlans) return plans_[key] = make_plan(handle_, p);
    }
    forget_graphs();  // they and what waits on tapes refer to plans
    const std::lock_guard lock(mutex_);
    retired_ = std::exchange(plans_, {});  // another thread may be about to issue one of these
    return plans_[key] = make_plan(handle_, p);
  }

  std::mutex mutex_;
  cudnnHandle_t handle_ = nullptr;
  std::unordered_map<Key, Plan, KeyHash> plans_, retired_;
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

bool cudnn_convolution(const ConvProblem& p) {
  if (dry_run()) return false;
  const DeviceCalls calls;
  if (find_cudnn()) return library().run(p);
  ARGAND_WARN_ONCE("libcudnn.so.", CUDNN_MAJOR, " was not found; convolutions run on kernels that are slower");
  return false;
}

}  // namespace argand::cuda

#else

namespace argand::cuda {

int loaded_cudnn_version() { return 0; }
bool cudnn_convolution(const ConvProblem&) { return false; }

}  // namespace argand::cuda

#endif
