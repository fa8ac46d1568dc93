// The dry run has a device of compute capability 9.0; this compiles the kernels of older devices.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "argand/runtime/cuda/nvrtc.h"

namespace argand::cuda {
namespace {

TEST(CudaAttention, CompilesForDevicesWithoutWarpgroupProducts) {
  std::vector<std::string> names;
  for (const char* kernel : {"attention", "attention_key_gradients", "attention_query_gradients"})
    for (const char* form : {"argand::BFloat16, argand::WarpProducts, 64, 4, 1, 64, 2, true",
                             "float, argand::WarpProducts, 64, 4, 1, 16, 0, false",
                             "argand::Half, argand::WarpProducts, 64, 4, 1, 64, 4, false",
                             "float, argand::WarpProducts, 64, 4, 1, 32, 4, false"})
      names.push_back(std::string("argand::") + kernel + "<" + form + ">");
  const MachineCode code = compile_text("#include \"argand/kernels/cuda/attention.cuh\"\n", names, "sm_80", nullptr);
  EXPECT_EQ(code.names.size(), names.size());
  EXPECT_FALSE(code.code.empty());
}

}  // namespace
}  // namespace argand::cuda
