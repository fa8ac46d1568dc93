// Note [Compiling meanwhile]
// Compiling a group of pointwise ops for the first time on a machine takes about 0.1 s.  A background thread compiles
// it. Meanwhile its ops run one by one, with the same results, if the kernel of each of them is ready.  The thread
// makes no CUDA calls except NVRTC's, so it needs no context; the first user of the code loads it.
//   At the end of the process the current compilation is waited for, and no other one begins, because NVRTC's globals
// must not be destroyed while it runs (Note [The end of a process]).  A child made by fork() has no such thread, and
// cannot use CUDA (Note [fork() waits for NVRTC]).
#pragma once
#include <optional>
#include <string>

#include "argand/runtime/cuda/kernel_cache.h"
#include "argand/runtime/cuda/nvrtc.h"

namespace argand::cuda {

// Whether kernels are compiled in the background: ARGAND_CUDA_COMPILE_MEANWHILE, on unless it is 0; off in the dry run
// unless it is 1.  If off, every kernel is waited for, and launches are the same in every run.
bool compiles_meanwhile();

// Queues a kernel; `key` is its content_key().  Does nothing the second time.
void compile_later(const std::string& key, const KernelRequest& request, const std::string& arch);
// Whether take_compiled() would not wait.
bool has_compiled(const std::string& key);
// Waits if it is being compiled.  Returns nothing if it was not requested, has not begun (it is then dropped), or did
// not compile.
std::optional<CompiledKernel> take_compiled(const std::string& key);

}  // namespace argand::cuda
