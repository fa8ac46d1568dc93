#include "argand/runtime/cuda/sharing.h"

#include <gtest/gtest.h>

#include "argand/core/storage.h"
#include "argand/runtime/cuda/backend.h"
#include "argand/runtime/cuda/touched_memory.h"

namespace argand::cuda {
namespace {

// A process may receive memory, or borrow it, before it launches anything: later work on it is not delayed.
TEST(Sharing, MemoryOfOthersIsKnownBeforeTheFirstLaunch) {
  register_cuda_backend();  // whether or not there is a device
  alignas(16) static char others[64];
  const char* const words[] = {others + 8};
  const auto touches = [&] { return touches_exposed_memory(reinterpret_cast<const char*>(words), sizeof words); };
  EXPECT_FALSE(touches());
  {
    const auto storage = make_intrusive<StorageImpl>(others, sizeof others, Device(kCUDA, 0), [](void*) {});
    EXPECT_TRUE(touches());
  }
  EXPECT_FALSE(touches());
}

}  // namespace
}  // namespace argand::cuda
