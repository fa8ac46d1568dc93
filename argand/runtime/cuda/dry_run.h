// With ARGAND_CUDA_DRY_RUN=1 there is one pretended device: its memory is the host's and zero, given out by the same
// allocators; its streams are names; kernels are compiled for sm_90 but not run.  So every kernel, the code that
// launches it, and what happens to memory are tested on machines without a GPU.
#pragma once

namespace argand {
class Backend;
}

namespace argand::cuda {

bool dry_run();
Backend& dry_run_backend();

}  // namespace argand::cuda
