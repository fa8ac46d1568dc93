// Memory and events of devices for other processes.
#pragma once
#include "argand/base/env.h"

namespace argand::cuda {

// Whether memory is asked for that other processes can map.  ARGAND_CUDA_SHARING=0: no, as with a driver that has none.
inline bool sharing_allowed() {
  static const bool on = env_flag("ARGAND_CUDA_SHARING", true);
  return on;
}

void register_sharing();

}  // namespace argand::cuda
