// C10_CUDA_CHECK(call) throws an Error for a call of CUDA's runtime that failed, C10_CUDA_KERNEL_LAUNCH_CHECK() for a
// launch, and AT_CUDA_CHECK is the first by its older name.  Where the compiler finds no header of CUDA's runtime, as
// in a program without CUDA, the macros are not defined.
#pragma once
#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>

#include <cassert>

#include "argand/base/error.h"
#include "argand/base/log.h"
#include "c10/namespaces.h"

namespace c10::cuda {
// Takes the error from the runtime, so that the next call does not report it again.
[[noreturn]] inline void throw_error(cudaError_t error, const char* call, const char* file, int line) {
  static_cast<void>(cudaGetLastError());
  ARGAND_THROW(Error, "CUDA error: ", cudaGetErrorString(error), " (", cudaGetErrorName(error), ") of ", call, " at ",
               file, ":", line);
}
}  // namespace c10::cuda

#define C10_CUDA_CHECK(EXPR)                                                                            \
  do {                                                                                                  \
    const cudaError_t argand_error = EXPR;                                                              \
    if (argand_error != cudaSuccess) ::c10::cuda::throw_error(argand_error, #EXPR, __FILE__, __LINE__); \
  } while (0)
#define C10_CUDA_CHECK_WARN(EXPR)                                                                        \
  do {                                                                                                   \
    const cudaError_t argand_error = EXPR;                                                               \
    if (argand_error != cudaSuccess) ::argand::warn("CUDA warning: ", cudaGetErrorString(argand_error)); \
  } while (0)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define AT_CUDA_CHECK(EXPR) C10_CUDA_CHECK(EXPR)
#define CUDA_KERNEL_ASSERT(condition) assert(condition)
#endif
