// cuSOLVER and cuBLAS for linear algebra on the current stream of the current device.
//
// Note [Solver handles]
// A handle of cuSOLVER has working memory of its own, which two streams must not use at the same time, so each stream
// of a device has one. cuBLAS works in the caller's memory, so a device has one handle of it. Results are
// deterministic: cuSOLVER is asked for that, and cuBLAS gives the same bits for the same call in a working memory of
// the same size.
//   cuBLAS's calls may become part of a CUDA graph. Many of cuSOLVER's calls wait for the device, and its documentation
// allows none of them in a capture, so they are issued at once and on their own, and in a capture of the user they are
// an error that says so.
#pragma once
#include <cuda_runtime_api.h>

#include <cstring>
#include <mutex>

#include "argand/runtime/cuda/cusolver_library.h"
#include "argand/runtime/cuda/stream_tapes.h"
#include "argand/runtime/process_end.h"

namespace argand::cuda {

// Whether both libraries are there; false in a dry run.
bool has_cusolver();

// The handles of both libraries, each made when it is first used.  It is never destroyed, because no CUDA call may be
// made while static objects are destroyed.  Serves one thread at a time.
class SolverHandle {
 public:
  // Issues on `stream`; the device of the handle must be the current one.
  class Lock {
   public:
    Lock(SolverHandle& handle, cudaStream_t stream) : handle_(handle), lock_(handle.mutex_), stream_(stream) {}
    const SolverLibrary& api() const { return *find_cusolver(); }
    cusolverDnHandle_t solver() const;
    cusolverDnParams_t params() const;
    // How exact the rotations of gesvdj are: as far as the type of the elements goes.
    gesvdjInfo_t jacobi(bool in_double) const;
    cublasHandle_t blas(void* workspace) const;

   private:
    const DeviceCalls calls_;
    SolverHandle& handle_;
    std::lock_guard<std::mutex> lock_;
    const cudaStream_t stream_;
  };

 private:
  void need_solver();

  std::mutex mutex_;
  cusolverDnHandle_t solver_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  cusolverDnParams_t params_ = nullptr;
  gesvdjInfo_t jacobi_[2] = {};
};
// For cuSOLVER, of the current stream of the current device.  Error in a capture.
SolverHandle& current_solver();
// For cuBLAS, of the current device.
SolverHandle& current_blas();

// Of the working memory for blas(): the size that NVIDIA recommends on Hopper.
inline constexpr size_t kBlasWorkspaceBytes = size_t{32} << 20;

// Throw OutOfMemoryError or DeviceError that names the call.
void check_solver(cusolverStatus_t status, const char* call);
void check_blas(cublasStatus_t status, const char* call);
#define ARGAND_CUSOLVER(call) ::argand::cuda::check_solver(call, #call)
#define ARGAND_CUBLAS(call) ::argand::cuda::check_blas(call, #call)

// ---- calls as records of a tape: structs with a member `handle`, and run(lock), which issues them

namespace detail {
void issue_what_waits();

template <class Call>
void issue_solver_call(const void* data, void* stream) {
  Call call;
  std::memcpy(&call, data, sizeof call);
  call.run(SolverHandle::Lock(*call.handle, static_cast<cudaStream_t>(stream)));
}
}  // namespace detail

// A call of cuBLAS.
template <class Call>
void put_blas_call(const Call& call, bool long_work) {
  static_assert(std::has_unique_object_representations_v<Call>);
  put_call(detail::issue_solver_call<Call>, call, long_work);
}
// A call of cuSOLVER, issued at once, after all earlier work of the stream.
template <class Call>
void put_solver_call(const Call& call) {
  static_assert(std::has_unique_object_representations_v<Call>);
  detail::issue_what_waits();
  put_call(detail::issue_solver_call<Call>, call, true);
}

}  // namespace argand::cuda
