// The threads of a kernel's launch.
#pragma once
#include <cstddef>

namespace argand::cuda {

struct Grid {
  unsigned blocks = 1, threads = 256;
  unsigned blocks_y = 1, blocks_z = 1;
  size_t shared_memory = 0;  // dynamic, bytes
  unsigned threads_y = 1;
};

}  // namespace argand::cuda
