// libargand calls this after it has loaded this library.
#include "argand/base/error.h"
#include "argand/exec/cuda/run_program.h"
#include "argand/exec/program_runner.h"
#include "argand/exec/window.h"
#include "argand/runtime/cuda/backend.h"
#include "argand/runtime/cuda/memory.h"

namespace {

// Work in the window may hold the last references to large tensors.  Work that finds no memory itself stays there.
void issue_what_waits() {
  try {
    argand::exec::flush();
  } catch (const argand::OutOfMemoryError&) {
  }
}

}  // namespace

// Returns null, or why no GPU can be used.
extern "C" const char* argand_cuda_start() {
  if (const char* reason = argand::cuda::register_cuda_backend()) return reason;
  argand::cuda::set_pressure_callback(issue_what_waits);
  argand::exec::register_program_runner(argand::kCUDA, argand::exec::run_on_gpu);
  return nullptr;
}
