#include "argand/runtime/cuda/cublaslt.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <complex>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "argand/base/error.h"
#include "argand/base/hash.h"
#include "argand/core/float32_precision.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/cublaslt_library.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/graph.h"
#include "argand/runtime/cuda/memory.h"
#include "argand/runtime/cuda/scratch.h"
#include "argand/runtime/cuda/stream_tapes.h"
#include "argand/runtime/cuda/streams.h"
#include "argand/runtime/process_end.h"

namespace argand::cuda {
namespace {

// The size that NVIDIA recommends for Hopper.
constexpr size_t kWorkspaceBytes = size_t{32} << 20;
constexpr size_t kMaxPlans = 4096;  // then all are forgotten: programs whose shapes never repeat stay small

const CublasLtLibrary& api() { return *find_cublaslt(); }

void check(cublasStatus_t status, const char* call) {
  ARGAND_CHECK(DeviceError, status == CUBLAS_STATUS_SUCCESS, "cuBLASLt: ", call, ": ", api().get_status_string(status));
}
#define ARGAND_CUBLASLT(call) check(call, #call)

struct Types {
  cudaDataType_t element, scale;
  cublasComputeType_t compute;
};
Types types_of(ScalarType t) {
  const cublasComputeType_t single = allow_tf32_matmul() ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  switch (t) {
    case kHalf:
      return {CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case kBFloat16:
      return {CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case kFloat:
      return {CUDA_R_32F, CUDA_R_32F, single};
    case kDouble:
      return {CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case kComplexFloat:
      return {CUDA_C_32F, CUDA_C_32F, single};
    case kComplexDouble:
      return {CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F};
    default:
      ARGAND_THROW(DtypeError, "cuBLASLt: no matrix product of ", t);
  }
}

// A number in the form that a product of `type` reads it in.
struct ScaleFactor {
  ScaleFactor(const Scalar& s, ScalarType type) {
    switch (type) {
      case kDouble:
        value.d = s.to<double>();
        break;
      case kComplexFloat:
        value.cf = s.to<std::complex<float>>();
        break;
      case kComplexDouble:
        value.cd = s.to<std::complex<double>>();
        break;
      default:
        value.f = s.to<float>();
    }
  }
  union Value {
    Value() : cd() {}
    float f;
    double d;
    std::complex<float> cf;
    std::complex<double> cd;
  } value;
};

// Capped at what matters to kernels.
uint32_t alignment(const void* p) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  return static_cast<uint32_t>(std::min<uintptr_t>(address & (~address + 1), 16));
}

using Key = std::array<int64_t, 21>;
struct KeyHash {
  size_t operator()(const Key& key) const { return hash_bytes(key.data(), sizeof key); }
};
Key key_of(const LtProduct& p) {
  return {static_cast<int64_t>(p.dtype),
          allow_tf32_matmul(),
          p.m,
          p.n,
          p.k,
          p.batch,
          p.a.transposed,
          p.a.leading,
          p.a.batch_stride,
          p.b.transposed,
          p.b.leading,
          p.b.batch_stride,
          p.c_leading,
          p.c_batch_stride,
          p.bias != nullptr,
          alignment(p.a.data),
          alignment(p.b.data),
          alignment(p.c),
          p.bias ? alignment(p.bias) : 0,
          p.a_sums != nullptr,
          p.a_sums ? alignment(p.a_sums) : 0};
}

// The library is column-major: C^T = B^T A^T, so its A is our B.  These structs hold no addresses of their own and may
// be copied.
enum class Relu : char { kNotAsked, kNo, kYes };
struct Plan {
  bool exists = false;
  Relu relu = Relu::kNotAsked;  // whether it may be an epilogue
  cublasLtMatmulDescOpaque_t product;
  cublasLtMatrixLayoutOpaque_t a, b, c;
  cublasLtMatmulAlgo_t algorithm;
};

template <class T>
void set(cublasLtMatmulDescOpaque_t& d, cublasLtMatmulDescAttributes_t what, const T& value) {
  ARGAND_CUBLASLT(api().desc_set(&d, what, &value, sizeof value));
}
// A bias and sums are given in the same place.
void set_vector(cublasLtMatmulDescOpaque_t& d, const LtProduct& p) {
  if (const void* vector = p.bias ? p.bias : p.a_sums) set(d, CUBLASLT_MATMUL_DESC_BIAS_POINTER, vector);
}
template <class T>
void set(cublasLtMatmulPreferenceOpaque_t& d, cublasLtMatmulPreferenceAttributes_t what, const T& value) {
  ARGAND_CUBLASLT(api().preference_set(&d, what, &value, sizeof value));
}

// `rows` x `columns` in our order; stored the other way round if transposed.
cublasLtMatrixLayoutOpaque_t layout(cudaDataType_t type, int64_t rows, int64_t columns, const LtMatrix& m, int batch) {
  if (m.transposed) std::swap(rows, columns);
  cublasLtMatrixLayoutOpaque_t out;
  ARGAND_CUBLASLT(api().layout_init(&out, sizeof out, type, static_cast<uint64_t>(columns), static_cast<uint64_t>(rows),
                                    m.leading));
  if (batch > 1) {
    const int32_t count = batch;
    ARGAND_CUBLASLT(api().layout_set(&out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count));
    ARGAND_CUBLASLT(
        api().layout_set(&out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &m.batch_stride, sizeof m.batch_stride));
  }
  return out;
}

Plan make_plan(cublasLtHandle_t handle, const LtProduct& p) {
  const Types types = types_of(p.dtype);
  Plan plan;
  ARGAND_CUBLASLT(api().desc_init(&plan.product, sizeof plan.product, types.compute, types.scale));
  set(plan.product, CUBLASLT_MATMUL_DESC_TRANSA, p.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(plan.product, CUBLASLT_MATMUL_DESC_TRANSB, p.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  if (p.bias) set(plan.product, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
  if (p.a_sums) set(plan.product, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BGRADB);  // its B is our A
  set_vector(plan.product, p);
  plan.a = layout(types.element, p.k, p.n, p.b, p.batch);
  plan.b = layout(types.element, p.m, p.k, p.a, p.batch);
  plan.c = layout(types.element, p.m, p.n, {p.c, false, p.c_leading, p.c_batch_stride}, p.batch);

  cublasLtMatmulPreferenceOpaque_t preference;
  ARGAND_CUBLASLT(api().preference_init(&preference, sizeof preference));
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{kWorkspaceBytes});
  // Parts of a sum, if it is split, are added in order and in the type it is computed in.
  set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(p.b.data));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(p.a.data));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(p.c));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(p.c));
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  const cublasStatus_t status =
      api().get_heuristic(handle, &plan.product, &plan.a, &plan.b, &plan.c, &plan.c, &preference, 1, &result, &found);
  // With both the library says that it has no kernel.
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE) return plan;
  check(status, "cublasLtMatmulAlgoGetHeuristic");
  plan.exists = found > 0 && result.state == CUBLAS_STATUS_SUCCESS;
  plan.algorithm = result.algo;
  return plan;
}

// A product, in the library's order of operands.
struct Call {
  cublasLtHandle_t handle;
  Plan plan;
  ScaleFactor::Value alpha, beta;
  const void *a, *b;
  void *c, *workspace;
};
constexpr double kLongProduct = 1 << 28;  // multiplications: takes longer than a launch

Call make_call(cublasLtHandle_t handle, const Plan& plan, const LtProduct& p, const Scalar& alpha, const Scalar& beta,
               void* workspace) {
  Call call;
  std::memset(static_cast<void*>(&call), 0, sizeof call);  // padding too: calls are compared byte by byte
  call.handle = handle;
  call.plan = plan;
  set_vector(call.plan.product, p);
  call.alpha = ScaleFactor(alpha, p.dtype).value;
  call.beta = ScaleFactor(beta, p.dtype).value;
  call.a = p.b.data;
  call.b = p.a.data;
  call.c = p.c;
  call.workspace = workspace;
  return call;
}

void issue(const void* data, void* stream) {
  Call c = *static_cast<const Call*>(data);  // the library wants them mutable
  ARGAND_CUBLASLT(api().matmul(c.handle, &c.plan.product, &c.alpha, c.a, &c.plan.a, c.b, &c.plan.b, &c.beta, c.c,
                               &c.plan.c, c.c, &c.plan.c, &c.plan.algorithm, c.workspace, kWorkspaceBytes,
                               static_cast<cudaStream_t>(stream)));
}

void add_relu(Plan& plan) { set(plan.product, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_RELU_BIAS); }

bool take_relu(void* data, const Epilogue<void>& epilogue) {
  if (epilogue.mask || epilogue.keep) return false;
  Call& call = *static_cast<Call*>(data);
  add_relu(call.plan);
  call.c = epilogue.out;
  return true;
}

// Whether relu may become an epilogue of the product.
bool relu_may_follow(const LtProduct& p, const Scalar& beta) {
  return p.bias && beta.equal(0) && p.batch == 1 && p.c_leading == p.n && !is_complex(p.dtype) && !is_capturing();
}

EpilogueSlot slot_of(const LtProduct& p) {
  const auto range = [&](const LtMatrix& m, int64_t rows, int64_t columns) {
    if (m.transposed) std::swap(rows, columns);
    return MemoryRange{m.data, static_cast<size_t>(((rows - 1) * m.leading + columns) * element_size(p.dtype))};
  };
  return {p.c,
          p.m * p.n,
          p.dtype,
          alignment(p.c),
          {range(p.a, p.m, p.k), range(p.b, p.k, p.n), {p.bias, static_cast<size_t>(p.n * element_size(p.dtype))}},
          take_relu};
}

// The library for one device.  It is never destroyed, because no CUDA call may be made while static objects are
// destroyed.
class Library {
 public:
  explicit Library(int device) : device_(device) {
    const CallsThatMakeGlobals calls;
    ARGAND_CUBLASLT(api().create(&handle_));
  }

  cublasLtHandle_t handle() const { return handle_; }

  Plan plan(const LtProduct& p) {
    const Key key = key_of(p);
    const std::lock_guard lock(mutex_);
    const auto known = plans_.find(key);
    if (known != plans_.end()) return known->second;
    if (plans_.size() == kMaxPlans) plans_.clear();
    return plans_[key] = make_plan(handle_, p);
  }

  // Whether relu may be the epilogue of the plan's product.
  bool takes_relu(const Plan& plan, const LtProduct& p) {
    if (plan.relu != Relu::kNotAsked) return plan.relu == Relu::kYes;
    const bool exact = relu_is_exact(plan, p);
    const std::lock_guard lock(mutex_);
    const auto known = plans_.find(key_of(p));
    if (known != plans_.end()) known->second.relu = exact ? Relu::kYes : Relu::kNo;
    return exact;
  }

  // Products of one stream run in order and share the workspace.
  void* workspace(cudaStream_t stream) {
    const std::lock_guard lock(mutex_);
    void*& workspace = workspaces_[stream];
    if (!workspace) workspace = caching_allocator(device_).allocate(kWorkspaceBytes, stream);
    return workspace;
  }

 private:
  // A kernel, by its configuration, and the type of its elements.
  using KernelName = std::array<uint64_t, 1 + sizeof(cublasLtMatmulAlgo_t) / sizeof(uint64_t)>;

  bool relu_is_exact(const Plan& plan, const LtProduct& p) {
    Plan with = plan;
    add_relu(with);
    cublasLtMatmulHeuristicResult_t result{};
    if (api().check_algorithm(handle_, &with.product, &with.a, &with.b, &with.c, &with.c, &with.algorithm, &result) !=
            CUBLAS_STATUS_SUCCESS ||
        result.workspaceSize > kWorkspaceBytes)
      return false;
    KernelName name{static_cast<uint64_t>(p.dtype)};
    std::memcpy(&name[1], &plan.algorithm, sizeof plan.algorithm);
    {
      const std::lock_guard lock(mutex_);
      const auto known = relu_keeps_nan_.find(name);
      if (known != relu_keeps_nan_.end()) return known->second;
    }
    const bool keeps = relu_keeps_nan(with, p);
    const std::lock_guard lock(mutex_);
    return relu_keeps_nan_[name] = keeps;
  }

  // Call it before the product itself, which overwrites the result.
  bool relu_keeps_nan(const Plan& with_relu, LtProduct p) {
    const cudaStream_t stream = current_stream();
    const auto element = static_cast<size_t>(element_size(p.dtype));
    const size_t numel = static_cast<size_t>(p.m * p.n);
    const size_t bytes = static_cast<size_t>(p.n) * element + alignof(std::max_align_t);
    const Scratch nan(bytes);
    p.bias = nan.as<char>() + reinterpret_cast<uintptr_t>(p.bias) % alignof(std::max_align_t);
    const Call call = make_call(handle_, with_relu, p, 1, 0, workspace(stream));
    issue_tape(device_, stream, FlushCause::kWait);
    // All ones are a NaN of every type.
    ARGAND_CUDA(cudaMemsetAsync(nan.data(), 0xff, bytes, stream));
    issue(&call, stream);
    char ends[2][sizeof(double)] = {};
    for (const size_t i : {size_t{0}, numel - 1})
      ARGAND_CUDA(cudaMemcpyAsync(ends[i != 0], static_cast<char*>(p.c) + i * element, element, cudaMemcpyDeviceToHost,
                                  stream));
    ARGAND_CUDA(cudaStreamSynchronize(stream));
    constexpr char kZero[sizeof(double)] = {};
    return std::memcmp(ends[0], kZero, element) != 0 && (numel == 1 || std::memcmp(ends[1], kZero, element) != 0);
  }

  const int device_;
  cublasLtHandle_t handle_ = nullptr;
  std::mutex mutex_;
  std::unordered_map<Key, Plan, KeyHash> plans_;
  std::map<KernelName, bool> relu_keeps_nan_;
  std::map<cudaStream_t, void*> workspaces_;
};

Library& library() {
  static constinit std::atomic<Library*> libraries[kMaxDevices] = {};
  static std::mutex& mutex = *new std::mutex;
  const int device = thread_device();
  if (Library* known = libraries[device].load(std::memory_order_acquire)) return *known;
  const std::lock_guard lock(mutex);
  if (!libraries[device].load()) libraries[device].store(new Library(device));
  return *libraries[device].load();
}

}  // namespace

bool cublaslt_product(const LtProduct& p, const Scalar& alpha, const Scalar& beta) {
  if (dry_run()) return false;
  const DeviceCalls calls;
  if (!find_cublaslt()) return false;
  Library& lib = library();
  const Plan plan = lib.plan(p);
  if (!plan.exists) return false;
  // A graph may be replayed concurrently with work of this stream, so it has its own workspace.
  const Scratch of_graph(is_capturing() ? kWorkspaceBytes : 0);
  void* const workspace = of_graph.data() ? of_graph.data() : lib.workspace(current_stream());
  std::optional<EpilogueSlot> slot;
  if (relu_may_follow(p, beta) && lib.takes_relu(plan, p)) slot = slot_of(p);
  put_call(issue, make_call(lib.handle(), plan, p, alpha, beta, workspace),
           static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) * p.batch > kLongProduct,
           slot ? &*slot : nullptr);
  return true;
}

}  // namespace argand::cuda
