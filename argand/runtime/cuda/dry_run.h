// With ARGAND_CUDA_DRY_RUN=1 there is one pretended device: its memory is the host's and zero, kernels are compiled for
// sm_90 but not run.  So every kernel, and the code that launches it, is tested on machines without a GPU.
#pragma once

namespace argand {
class Backend;
}

namespace argand::cuda {

bool dry_run();
Backend& dry_run_backend();

}  // namespace argand::cuda
