// Helpers of the blocks of linear algebra (kernels/api/linear_algebra.h) that call cuSOLVER and cuBLAS.
#pragma once
#include <vector>

#include "argand/kernels/blocks.h"
#include "argand/runtime/cuda/cusolver.h"
#include "argand/runtime/cuda/launch.h"
#include "argand/runtime/cuda/scratch.h"
#include "argand/runtime/cuda/streams.h"

namespace argand::cuda {

// Whether the libraries are to be called: a dry run computes nothing.  NotOnDevice unless they are there.
bool calls_libraries();

// A size as the libraries take it; NotOnDevice if it does not fit.
int size_for_library(int64_t n);

// Whether matrices of about n rows take the routine for batches, whose time grows with the whole work, or one call
// each, which keeps the device busy only if a matrix is large.
bool in_one_batch(int64_t n, int64_t batch);

// f(an element of the libraries' type).
template <class F>
void with_element(ScalarType type, F f) {
  switch (type) {
    case kFloat:
      return f(float{});
    case kDouble:
      return f(double{});
    case kComplexFloat:
      return f(cuComplex{});
    default:
      return f(cuDoubleComplex{});
  }
}

inline cudaDataType_t cuda_type(ScalarType type) {
  switch (type) {
    case kFloat:
      return CUDA_R_32F;
    case kDouble:
      return CUDA_R_64F;
    case kComplexFloat:
      return CUDA_C_32F;
    default:
      return CUDA_C_64F;
  }
}

// The addresses of the matrices of a batch, in an array on the device.
class Addresses {
 public:
  Addresses(const void* first, int64_t bytes_apart, int64_t count);
  template <class T>
  T* as() const {
    return memory_.as<T>();
  }

 private:
  Scratch memory_;
};

// A member of a batch.
template <class T>
T* at(T* first, int64_t elements, int64_t b) {
  return first + elements * b;
}
inline void* at(void* first, int64_t bytes, int64_t b) { return static_cast<char*>(first) + bytes * b; }

// Working memory of cuSOLVER's calls that take bytes, on the device and on the host.
struct SolverSpace {
  size_t device = 0, host = 0;
};
template <class Call>
SolverSpace space_of(const Call& call) {
  return call.space(SolverHandle::Lock(*call.handle, current_stream()));
}
// Puts a call that has members `work`, `work_bytes` and `host_bytes` for that memory.
template <class Call>
void put_with_space(Call call, const SolverSpace& space) {
  const Scratch work(space.device);
  call.work = work.data();
  call.work_bytes = space.device;
  call.host_bytes = space.host;
  put_solver_call(call);
}

}  // namespace argand::cuda
