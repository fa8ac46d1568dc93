// Calls of the CUDA runtime and driver, checked.
#pragma once
#include <cuda_runtime_api.h>

#include "argand/runtime/process_end.h"

namespace argand::cuda {

// Throws DeviceError: what was called, CUDA's words, and the ops in flight, one of which caused an error that only
// shows now.  Clears the error unless it ended the context.
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
