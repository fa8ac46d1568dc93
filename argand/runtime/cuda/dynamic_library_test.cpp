#include "argand/runtime/cuda/dynamic_library.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "argand/runtime/cuda/cublaslt_library.h"
#include "argand/runtime/cuda/cusolver_library.h"

namespace argand::cuda {
namespace {

TEST(DynamicLibrary, HasNothingIfItIsNotThere) {
  const DynamicLibrary none("libargand_has_no_such_library.so.0", "/nowhere/libargand_has_no_such_library.so");
  void (*function)() = nullptr;
  EXPECT_FALSE(none.find(function, "cublasLtCreate"));
}

TEST(DynamicLibrary, IsFoundWhereTheBuildFoundIt) {
  if (!std::filesystem::exists(cublaslt_path())) GTEST_SKIP() << "built elsewhere: no " << cublaslt_path();
  const DynamicLibrary library("libargand_has_no_such_library.so.0", cublaslt_path());
  size_t (*version)() = nullptr;
  ASSERT_TRUE(library.find(version, "cublasLtGetVersion"));
  EXPECT_GT(version(), 0u);
  EXPECT_FALSE(library.find(version, "argand_has_no_such_function"));
}

TEST(DynamicLibrary, CublasLtIsComplete) {
  ASSERT_NE(find_cublaslt(), nullptr);
  EXPECT_NE(find_cublaslt()->get_status_string(CUBLAS_STATUS_SUCCESS), nullptr);
}

TEST(DynamicLibrary, CusolverIsComplete) {
  ASSERT_NE(find_cusolver(), nullptr);
  EXPECT_NE(find_cusolver()->get_blas_status_string(CUBLAS_STATUS_SUCCESS), nullptr);
}

}  // namespace
}  // namespace argand::cuda
