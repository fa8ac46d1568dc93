// Guard mode; the environment decides on it for a whole process, so these have an entry of their own in ctest.
#include <cstdlib>

#include "argand/base/error.h"
#include "argand/ops/functions.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

class CudaGuard : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    const char* on = std::getenv("ARGAND_CUDA_GUARD");
    if (!IsSkipped() && !(on && *on == '1')) GTEST_SKIP() << "ARGAND_CUDA_GUARD=1 is not set";
  }
  // As a kernel that is wrong would.
  static void write(const Tensor& t, int64_t offset) {
    char junk[4] = {1, 2, 3, 4};
    backend_of(kCUDA).copy(static_cast<char*>(t.data_ptr()) + offset, t.device(), junk, kCPU, sizeof junk, true);
  }
};

TEST_F(CudaGuard, AWriteBehindABlockNamesItsOp) {
  const Tensor x = ones({5, 5}).cuda().softmax(1);
  cuda::synchronize();
  const std::string said = message_of<Error>([&] {
    write(x, 100);
    cuda::synchronize();
  });
  EXPECT_EQ(said, "a write out of bounds: 1 bytes after the end of the memory of _softmax [5, 5] float32 (100 bytes)");
  cuda::synchronize();
}

TEST_F(CudaGuard, AWriteBeforeABlockThatWasFreedSince) {
  const std::string said = message_of<Error>([] {
    {
      const Tensor x = ones({25}).cuda();
      write(x, -8);
    }
    cuda::synchronize();
  });
  EXPECT_NE(said.find("a write out of bounds: 5 bytes before the start of the memory of"), std::string::npos) << said;
}

}  // namespace
}  // namespace argand
