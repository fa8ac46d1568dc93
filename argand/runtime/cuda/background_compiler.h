// Note [Compiling meanwhile]
// A group of pointwise ops that was never compiled on this machine takes some 0.1 s.  Meanwhile its ops run one by one,
// with the same results, if each of them is ready; one thread compiles the group, which is used from then on.  The
// thread makes no call of CUDA but NVRTC's, so it needs no context, and the first to use the code loads it.
//   At the end of the process the kernel in work is waited for, and the others are not compiled, because NVRTC must not
// lose its globals while it runs (Note [The end of a process]).  In a child made by fork() there is no such thread, and
// nothing of CUDA either (Note [fork() waits for NVRTC]).
#pragma once
#include <optional>
#include <string>

#include "argand/runtime/cuda/kernel_cache.h"
#include "argand/runtime/cuda/nvrtc.h"

namespace argand::cuda {

// Whether kernels may be compiled meanwhile: ARGAND_CUDA_COMPILE_MEANWHILE, on unless it is 0; off in the dry run
// unless it is 1.  Off, every kernel is waited for: launches are then the same in every run.
bool compiles_meanwhile();

// `key` is its content_key().  Does nothing the second time.
void compile_later(const std::string& key, const KernelRequest& request, const std::string& arch);
// Whether take_compiled() would not wait.
bool has_compiled(const std::string& key);
// Waits if it is being compiled.  Nothing if it was not asked for, is not begun yet (and will not be), or does not
// compile.
std::optional<CompiledKernel> take_compiled(const std::string& key);

}  // namespace argand::cuda
