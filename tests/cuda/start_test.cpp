// What a program learns where no GPU can be used.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

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

TEST(CudaStart, AForkedChildIsToldToBeSpawned) {
  if (!find_backend(kCUDA)) GTEST_SKIP() << "there is no GPU";
  ones({2}).cuda();
  const pid_t child = fork();
  if (child == 0) {
    try {
      ones({2}).cuda();
      _exit(1);
    } catch (const DeviceError& e) {
      _exit(std::string(e.what()).find("spawn") == std::string::npos ? 2 : 0);
    } catch (...) {
      _exit(3);
    }
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "1: no error, 2: another message, 3: another error";
  ones({2}).cuda();
}

TEST(CudaStart, VersionsAreNumbers) {
  if (!find_backend(kCUDA)) GTEST_SKIP() << "there is no GPU";
  EXPECT_GE(cuda::runtime_version(), 12000);
  EXPECT_TRUE(cuda::driver_version() == 0 || cuda::driver_version() >= 12000) << "none for the dry run";
  EXPECT_TRUE(cuda::cudnn_version() == 0 || cuda::cudnn_version() >= 90000);
}

}  // namespace argand
