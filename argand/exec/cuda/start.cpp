// What libargand calls once it has loaded this library.
#include "argand/exec/cuda/run_program.h"
#include "argand/exec/program_runner.h"
#include "argand/runtime/cuda/backend.h"

// Null, or why there is no GPU to work with.
extern "C" const char* argand_cuda_start() {
  if (const char* reason = argand::cuda::register_cuda_backend()) return reason;
  argand::exec::register_program_runner(argand::kCUDA, argand::exec::run_on_gpu);
  return nullptr;
}
