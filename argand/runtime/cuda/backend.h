// Registration of the CUDA backend.
#pragma once

namespace argand::cuda {

// Null, or why there is no device and what to do about it.
const char* register_cuda_backend();

}  // namespace argand::cuda
