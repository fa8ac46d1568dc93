#include "argand/core/mt19937.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace argand {
namespace {

// The standard library's engine is the oracle.
TEST(Mt19937, DrawsAsTheStandardEngine) {
  for (uint32_t seed : {0u, 1u, 42u, 5489u, 0xffffffffu}) {
    Mt19937 engine(seed);
    std::mt19937 standard(seed);
    for (int i = 0; i < 5000; ++i) ASSERT_EQ(engine(), standard()) << "seed " << seed << ", draw " << i;
  }
}

// C++ [rand.predef]: the 10000th draw of the default engine.
TEST(Mt19937, TenThousandthDraw) {
  Mt19937 engine(5489u);
  for (int i = 0; i < 9999; ++i) engine();
  EXPECT_EQ(engine(), 4123659995u);
}

TEST(Mt19937, FillIsTheSameAsSingleDraws) {
  Mt19937 filled(7), single(7);
  for (size_t n : {0, 1, 623, 624, 625, 3, 2048, 620, 1}) {
    std::vector<uint32_t> out(n);
    filled.fill(out.data(), n);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], single()) << "batch of " << n << ", draw " << i;
    ASSERT_EQ(filled(), single());
  }
}

TEST(Mt19937, DiscardsAsTheStandardEngine) {
  Mt19937 engine(9);
  std::mt19937 standard(9);
  for (uint64_t n : {0, 1, 622, 624, 625, 100000}) {
    engine.discard(n);
    standard.discard(n);
    ASSERT_EQ(engine(), standard()) << "after " << n;
  }
}

TEST(Mt19937, GoesOnFromASavedState) {
  for (int used : {0, 1, 300, 623, 624, 625}) {
    Mt19937 engine(3);
    for (int i = 0; i < used; ++i) engine();
    Mt19937 restored(engine.state());
    for (int i = 0; i < 1300; ++i) ASSERT_EQ(restored(), engine()) << "after " << used << " draws";
  }
}

}  // namespace
}  // namespace argand
