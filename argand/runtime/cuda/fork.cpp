#include "argand/runtime/cuda/fork.h"

#include <pthread.h>

#include "argand/base/error.h"

namespace argand::cuda {
namespace {
bool forked = false;  // written before the child has a second thread
}

void watch_forks() {
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
}

bool in_forked_child() { return forked; }

void refuse_in_forked_child() {
  ARGAND_CHECK(DeviceError, !forked,
               "CUDA cannot be used in a process made by fork() after its parent used CUDA; start workers anew (spawn: "
               "fork() and exec(), or posix_spawn()), or fork before the first use of CUDA");
}

}  // namespace argand::cuda
