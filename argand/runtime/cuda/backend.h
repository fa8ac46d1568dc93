// Registration of the CUDA backend.
#pragma once
#include "argand/runtime/backend.h"

namespace argand::cuda {

// Returns null, or why there is no device and what to do about it.
const char* register_cuda_backend();

}  // namespace argand::cuda
