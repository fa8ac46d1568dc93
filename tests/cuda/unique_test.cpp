// Distinct elements on a GPU against the CPU, with many elements of small and of large ranges.
#include <limits>

#include "argand/base/str.h"
#include "argand/core/cpu_generator.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

class CudaUnique : public ComputingCudaTest {};

void expect_as_on_the_cpu(const std::string& what, const Tensor& x) {
  const auto [values, inverse, counts] = _unique2(x, true, true, true);
  const auto [found, found_inverse, found_counts] = _unique2(x.cuda(), true, true, true);
  EXPECT_TRUE(found.cpu().equal(values)) << what;
  EXPECT_TRUE(found_inverse.cpu().equal(inverse)) << what;
  EXPECT_TRUE(found_counts.cpu().equal(counts)) << what;
  const auto [alone, nothing, only_counts] = _unique2(x.cuda(), true, false, true);
  EXPECT_TRUE(alone.cpu().equal(values)) << what;
  EXPECT_EQ(nothing.numel(), 0) << what;
  EXPECT_TRUE(only_counts.cpu().equal(counts)) << what;
}

TEST_F(CudaUnique, OfAnyRange) {
  manual_seed(2);
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
  for (const int64_t n : {1000, 600001}) {
    for (const int64_t range : {int64_t{1}, int64_t{2}, int64_t{300}, int64_t{100000}, int64_t{1} << 32,
                                (int64_t{1} << 32) + 1, int64_t{1} << 40})
      for (const int64_t least : {int64_t{0}, int64_t{-70000}, kLeast, kMost - range + 1}) {
        const Tensor x = randint(range, {n}, TensorOptions(kLong)) + least;
        x[0] = least;
        x[n - 1] = least + (range - 1);
        expect_as_on_the_cpu(str(n, " of ", range, " from ", least), x);
      }
    expect_as_on_the_cpu("all numbers",
                         cat({randint(1000, {n}, TensorOptions(kLong)), full({2}, kLeast, TensorOptions(kLong)),
                              full({3}, kMost, TensorOptions(kLong))}));
    expect_as_on_the_cpu("int32", randint(5000, {n}, TensorOptions(kInt)) - 2500);
    expect_as_on_the_cpu("float32", randint(5000, {n}).sub(2500).to(kFloat).div(8));
  }
}

}  // namespace
}  // namespace argand
