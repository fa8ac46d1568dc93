#include "argand/base/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <unordered_set>
#include <vector>

namespace argand {
namespace {

TEST(Hash, OrderLengthAndZerosMatter) {
  EXPECT_NE(hash_combine(hash_combine(0, 1), 2), hash_combine(hash_combine(0, 2), 1));
  EXPECT_NE(hash_combine(0, 0), 0u);
  EXPECT_NE(hash_combine(hash_combine(0, 0), 0), hash_combine(0, 0));
  std::unordered_set<uint64_t> seen;
  for (size_t n = 0; n < 100; ++n) seen.insert(hash_of(std::string(n, '\0')));
  EXPECT_EQ(seen.size(), 100u);
}

TEST(Hash, StableAcrossRuns) {  // values of this very function: a change invalidates caches on disk and must be meant
  EXPECT_EQ(hash_mix(1), 0x5692161d100b05e5u);
  EXPECT_EQ(hash_of("argand"), hash_of(std::string("arg") + "and"));
  EXPECT_EQ(hash_of("argand"), 0x697a3305bf8cf18du);
}

TEST(Hash, ArraysAndSeeds) {
  const std::vector<int64_t> a = {1, 2, 3}, b = {1, 2, 4};
  EXPECT_EQ(hash_of(IntArrayRef(a)), hash_of(IntArrayRef(a)));
  EXPECT_NE(hash_of(IntArrayRef(a)), hash_of(IntArrayRef(b)));
  EXPECT_NE(hash_of(IntArrayRef(a), 1), hash_of(IntArrayRef(a), 2));
}

// Structured keys (small integers, as sizes and ids are) neither collide nor crowd the low bits a table uses.
TEST(Hash, SmallKeysSpread) {
  std::unordered_set<uint64_t> seen;
  std::vector<int> buckets(1024);
  for (uint64_t i = 0; i < 256; ++i)
    for (uint64_t j = 0; j < 256; ++j) {
      const uint64_t h = hash_combine(hash_combine(0, i), j);
      seen.insert(h);
      ++buckets[h % 1024];
    }
  EXPECT_EQ(seen.size(), 65536u);
  for (int count : buckets) {  // mean 64, standard deviation 8
    EXPECT_GT(count, 16);
    EXPECT_LT(count, 112);
  }
}

TEST(Hash, EveryInputBitMovesManyOutputBits) {
  for (int byte = 0; byte < 24; ++byte) {
    std::string text(24, 'x');
    const uint64_t before = hash_of(text);
    text[static_cast<size_t>(byte)] ^= 1;
    EXPECT_GT(std::popcount(before ^ hash_of(text)), 12) << byte;
  }
}

}  // namespace
}  // namespace argand
