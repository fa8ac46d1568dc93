// Tests of the CUDA backend: skipped with the reason where there is no device.  With ARGAND_CUDA_DRY_RUN=1 there is one
// whose kernels do not run: what happens to memory is then as on a GPU, and values are not compared.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "argand/core/float32_precision.h"
#include "argand/exec/cuda.h"

namespace argand {

class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (!find_backend(kCUDA, &why)) GTEST_SKIP() << why;
    set_float32_precision("exact");  // values are compared with those of the CPU, and within bounds of float32
  }
  static bool kernels_run() { return cuda::get_device_name() != "dry run"; }
};

// For tests that look at values.
class ComputingCudaTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (!IsSkipped() && !kernels_run()) GTEST_SKIP() << "the dry run computes nothing";
  }
};

template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

}  // namespace argand
