// Checks of calls of the CUDA runtime and driver.
#pragma once
#include <cuda_runtime_api.h>

#include "argand/runtime/process_end.h"

namespace argand::cuda {

// Throws DeviceError with the failed call, CUDA's message, and the ops in flight, one of which may have caused the
// error. Clears the error unless it ended the context.
[[noreturn]] void throw_cuda_error(cudaError_t error, const char* call);

#define ARGAND_CUDA(call)                                                                   \
  do {                                                                                      \
    const ::argand::DeviceCalls argand_calls;                                               \
    const cudaError_t argand_error = (call);                                                \
    if (argand_error != cudaSuccess) ::argand::cuda::throw_cuda_error(argand_error, #call); \
  } while (false)

// Keeps the names of the last ops that were launched, for that message.
void note_launch(const char* op);

}  // namespace argand::cuda
