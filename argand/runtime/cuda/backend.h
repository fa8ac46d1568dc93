// Registration of the CUDA backend.
#pragma once
#include "argand/runtime/backend.h"

namespace argand::cuda {

// Returns null, or why there is no device and what to do about it.
const char* register_cuda_backend();

// Records the event, together with the next work, on the calling thread's current stream of its device.
void record_late(EventHandle event, const StreamRef& stream);

}  // namespace argand::cuda
