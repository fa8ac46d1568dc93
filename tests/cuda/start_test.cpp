// What a program learns where no GPU can be used.
#include <gtest/gtest.h>

#include "argand/exec/cuda.h"
#include "argand/ops/functions.h"

namespace argand {

TEST(CudaStart, WithoutADeviceTheReasonIsASentence) {
  std::string why;
  if (find_backend(kCUDA, &why)) GTEST_SKIP() << "there is a GPU";
  EXPECT_FALSE(cuda::is_available());
  EXPECT_EQ(cuda::device_count(), 0);
  EXPECT_FALSE(why.empty());
  try {
    zeros({2}, TensorOptions(kCUDA));
    FAIL() << "no error";
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("no cuda device: "), std::string::npos) << e.what();
  }
}

}  // namespace argand
