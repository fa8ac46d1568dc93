#include "argand/runtime/cuda/cusolver.h"

#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "argand/base/error.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/cuda/graph.h"
#include "argand/runtime/cuda/streams.h"
#include "argand/runtime/process_end.h"

namespace argand::cuda {
namespace {

const char* text_of(cusolverStatus_t status) {
  switch (status) {
    case CUSOLVER_STATUS_NOT_INITIALIZED:
      return "not initialized";
    case CUSOLVER_STATUS_INVALID_VALUE:
      return "invalid value";
    case CUSOLVER_STATUS_ARCH_MISMATCH:
      return "not for this architecture";
    case CUSOLVER_STATUS_EXECUTION_FAILED:
      return "execution failed";
    case CUSOLVER_STATUS_NOT_SUPPORTED:
      return "not supported";
    default:
      return "internal error";
  }
}

}  // namespace

void check_solver(cusolverStatus_t status, const char* call) {
  ARGAND_CHECK(OutOfMemoryError, status != CUSOLVER_STATUS_ALLOC_FAILED, "cuSOLVER: ", call,
               ": the device has no memory left for it");
  ARGAND_CHECK(DeviceError, status == CUSOLVER_STATUS_SUCCESS, "cuSOLVER: ", call, ": ", text_of(status), " (",
               static_cast<int>(status), ")");
}

void check_blas(cublasStatus_t status, const char* call) {
  ARGAND_CHECK(OutOfMemoryError, status != CUBLAS_STATUS_ALLOC_FAILED, "cuBLAS: ", call,
               ": the device has no memory left for it");
  ARGAND_CHECK(DeviceError, status == CUBLAS_STATUS_SUCCESS, "cuBLAS: ", call, ": ",
               find_cusolver()->get_blas_status_string(status));
}

bool has_cusolver() {
  if (dry_run()) return false;
  const DeviceCalls calls;
  return find_cusolver() != nullptr;
}

void SolverHandle::need_solver() {
  if (solver_) return;
  const CallsThatMakeGlobals calls;
  const SolverLibrary& api = *find_cusolver();
  cusolverDnHandle_t made = nullptr;
  ARGAND_CUSOLVER(api.create(&made));
  ARGAND_CUSOLVER(api.set_deterministic_mode(made, CUSOLVER_DETERMINISTIC_RESULTS));
  ARGAND_CUSOLVER(api.create_params(&params_));
  for (const bool in_double : {false, true}) {
    ARGAND_CUSOLVER(api.create_gesvdj_info(&jacobi_[in_double]));
    ARGAND_CUSOLVER(api.set_gesvdj_tolerance(jacobi_[in_double], in_double
                                                                     ? std::numeric_limits<double>::epsilon()
                                                                     : double{std::numeric_limits<float>::epsilon()}));
  }
  solver_ = made;
}

cusolverDnHandle_t SolverHandle::Lock::solver() const {
  // A window of a tape that another thread has put work on meanwhile is then issued without a graph.
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  // An error means that another stream is captured, which does not matter here.
  if (cudaStreamIsCapturing(stream_, &capture) != cudaSuccess) cudaGetLastError();
  ARGAND_CHECK(Error, capture == cudaStreamCaptureStatusNone, "cuSOLVER's calls cannot be captured");
  handle_.need_solver();
  ARGAND_CUSOLVER(api().set_stream(handle_.solver_, stream_));
  return handle_.solver_;
}

cusolverDnParams_t SolverHandle::Lock::params() const {
  handle_.need_solver();
  return handle_.params_;
}

gesvdjInfo_t SolverHandle::Lock::jacobi(bool in_double) const {
  handle_.need_solver();
  return handle_.jacobi_[in_double];
}

cublasHandle_t SolverHandle::Lock::blas(void* workspace) const {
  if (!handle_.blas_) {
    const CallsThatMakeGlobals calls;
    ARGAND_CUBLAS(api().create_blas(&handle_.blas_));
  }
  ARGAND_CUBLAS(api().set_blas_stream(handle_.blas_, stream_));  // which takes the workspace away
  ARGAND_CUBLAS(api().set_blas_workspace(handle_.blas_, workspace, kBlasWorkspaceBytes));
  return handle_.blas_;
}

SolverHandle& current_solver() {
  using Handles = std::map<std::pair<int, cudaStream_t>, std::unique_ptr<SolverHandle>>;
  static std::mutex& mutex = *new std::mutex;
  static Handles& handles = *new Handles;
  const DeviceCalls calls;
  const int device = thread_device();
  const cudaStream_t stream = current_stream();
  refuse_while_capturing({static_cast<DeviceIndex>(device), stream}, "linear algebra by cuSOLVER");
  const std::lock_guard lock(mutex);
  std::unique_ptr<SolverHandle>& handle = handles[{device, stream}];
  if (!handle) handle = std::make_unique<SolverHandle>();
  return *handle;
}

SolverHandle& current_blas() {
  static SolverHandle* const handles = new SolverHandle[kMaxDevices];
  return handles[thread_device()];
}

void detail::issue_what_waits() { issue_tape(thread_device(), current_stream(), FlushCause::kLongWork); }

}  // namespace argand::cuda
