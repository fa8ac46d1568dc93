// Copies of many tensors in one launch: the bytes are those that the CPU copies.
#include "argand/base/str.h"
#include "argand/core/cpu_generator.h"
#include "argand/exec/copy_each.h"
#include "argand/exec/invoke.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

class CudaPieces : public ComputingCudaTest {
 protected:
  void SetUp() override {
    ComputingCudaTest::SetUp();
    manual_seed(7);
  }
};

// More parts than one launch takes, of odd sizes, so that all units from a byte to 16 bytes occur.
TEST_F(CudaPieces, JoinManyParts) {
  for (const ScalarType type : {kByte, kHalf, kFloat, kLong, kComplexDouble})
    for (const int64_t dim : {0, 1}) {
      std::vector<Tensor> here, there;
      for (int64_t i = 0; i < 150; ++i) {
        const int64_t n = i % 7 == 0 ? 0 : i % 5 == 0 ? 8 * i : i;
        here.push_back(randint(-100, 100, dim == 0 ? Dims{n, 37} : Dims{37, n}, kLong).to(type));
        there.push_back(here.back().cuda());
      }
      EXPECT_TRUE(equal(cat(there, dim).cpu(), cat(here, dim))) << str(type) << " " << dim;
    }
}

TEST_F(CudaPieces, JoinLargeParts) {
  std::vector<Tensor> here, there;
  for (int64_t i = 0; i < 5; ++i) {
    here.push_back(randn({3, 1000003 + i}));
    there.push_back(here.back().cuda());
  }
  EXPECT_TRUE(equal(cat(there, 1).cpu(), cat(here, 1)));
  EXPECT_TRUE(equal(stack({there[0], there[0], there[0], there[0], there[0]}, 1).cpu(),
                    stack({here[0], here[0], here[0], here[0], here[0]}, 1)));
}

// Contiguous pairs, pairs of channels last, and pairs that have to be copied one by one.
TEST_F(CudaPieces, CopyEach) {
  std::vector<Tensor> from, to;
  for (int64_t i = 1; i < 100; ++i) {
    from.push_back(randn({i % 4 + 1, 3, 5, i}).cuda());
    if (i % 3 == 0) from.back() = from.back().contiguous(MemoryFormat::ChannelsLast);
    to.push_back(i % 5 == 0 ? zeros(from.back().sizes(), from.back().options().dtype(kDouble))
                            : empty_like(from.back()));
    if (i % 11 == 0) to.back() = zeros({i, 5, 3, i % 4 + 1}, from.back().options()).permute({3, 2, 1, 0});
  }
  exec::copy_each(to, from);
  for (size_t i = 0; i < to.size(); ++i) EXPECT_TRUE(equal(to[i].to(kFloat), from[i])) << i;
}

TEST_F(CudaPieces, CopiesWaitForWhatComputesTheirSources) {
  const Tensor x = arange(64 * 100, kFloat).cuda().reshape({64, 100});
  std::vector<Tensor> from, to;
  for (int64_t i = 0; i < 64; ++i) from.push_back(x.select(0, i) * 2 + 1);
  for (int64_t i = 0; i < 64; ++i) to.push_back(empty_like(from[0]));
  exec::copy_each(to, from);
  from.clear();
  EXPECT_TRUE(equal(stack(to), x * 2 + 1));
}

}  // namespace
}  // namespace argand
