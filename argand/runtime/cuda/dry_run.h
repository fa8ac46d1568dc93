// With ARGAND_CUDA_DRY_RUN=N there are N pretended devices.  Their memory is zeroed host memory, managed by the same
// allocators; their streams are only names; kernels are compiled for sm_90 but not run.  So all kernels, the code that
// launches them and the use of memory are tested on machines without a GPU.  No device reaches the memory of another: a
// launch on one device with memory of another in its arguments is an error.
#pragma once

namespace argand {
class Backend;
}

namespace argand::cuda {

int pretended_devices();  // 0: this is no dry run
inline bool dry_run() { return pretended_devices() > 0; }
int pretended_device();  // of the calling thread
Backend& dry_run_backend();

}  // namespace argand::cuda
