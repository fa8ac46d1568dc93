// Memory and events of devices for other processes.
#pragma once
#include "argand/base/env.h"

namespace argand::cuda {

// Whether to allocate memory that other processes can map.  With ARGAND_CUDA_SHARING=0 it behaves like a driver without
// such memory.
inline bool sharing_allowed() {
  static const bool on = env_flag("ARGAND_CUDA_SHARING", true);
  return on;
}

void register_sharing();

}  // namespace argand::cuda
