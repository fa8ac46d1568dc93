// Registration of the CUDA backend.
#pragma once
#include "argand/runtime/backend.h"

namespace argand::cuda {

// Null, or why there is no device and what to do about it.
const char* register_cuda_backend();

// Records the event on the calling thread's current stream of its device, with the next work that it is given.
void record_late(EventHandle event, const StreamRef& stream);

}  // namespace argand::cuda
