#include "argand/core/cuda_generator.h"

#include <gtest/gtest.h>

#include "argand/core/cpu_generator.h"

namespace argand {
namespace {

const Device kDevice(kCUDA, 0);

TEST(CudaGenerator, OffsetsAreWholeRounds) {
  CudaGeneratorImpl g(kDevice, 7);
  EXPECT_EQ(g.advance(4), 0u);
  EXPECT_EQ(g.advance(5), 4u);
  EXPECT_EQ(g.offset(), 12u);
  g.set_current_seed(8);
  EXPECT_EQ(g.offset(), 0u);
  EXPECT_EQ(g.current_seed(), 8u);
}

TEST(CudaGenerator, StateComesBack) {
  CudaGeneratorImpl g(kDevice, 7), other(kDevice);
  g.advance(8);
  other.set_state(g.state());
  EXPECT_EQ(other.current_seed(), 7u);
  EXPECT_EQ(other.offset(), 8u);
  std::vector<uint8_t> damaged = g.state();
  damaged[8] = 3;
  EXPECT_THROW(other.set_state(damaged), ValueError);
  EXPECT_THROW(other.set_state({1, 2}), ValueError);
  EXPECT_EQ(other.offset(), 8u);
}

TEST(CudaGenerator, ManualSeedReachesDefaultGenerators) {
  manual_seed(5);
  const Generator g = make_cuda_generator(kDevice);
  add_default_generator(g);
  EXPECT_EQ(g.current_seed(), 5u);
  g.get<CudaGeneratorImpl>()->advance(4);
  manual_seed(6);
  EXPECT_EQ(g.current_seed(), 6u);
  EXPECT_EQ(g.get<CudaGeneratorImpl>()->offset(), 0u);
  manual_seed(kDefaultSeed);
}

}  // namespace
}  // namespace argand
