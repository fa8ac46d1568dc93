#include "argand/base/small_vector.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace argand {
namespace {

using Small = SmallVector<int64_t, 3>;

TEST(SmallVector, GrowsFromInsideToTheHeap) {
  Small v;
  std::vector<int64_t> expected;
  for (int64_t i = 0; i < 20; ++i) {
    v.push_back(i * i);
    expected.push_back(i * i);
    ASSERT_EQ(v.vec(), expected);
  }
}

TEST(SmallVector, MoveLeavesTheSourceEmptyAndUsable) {
  for (int64_t n : {2, 9}) {  // inside, on the heap
    Small from(static_cast<size_t>(n), 7);
    Small to(std::move(from));
    EXPECT_EQ(to.vec(), std::vector<int64_t>(static_cast<size_t>(n), 7));
    from.clear();
    from.push_back(1);
    EXPECT_EQ(from.vec(), std::vector<int64_t>{1});
  }
}

TEST(SmallVector, AssignsBetweenInsideAndHeap) {
  Small small{1, 2};
  Small large{1, 2, 3, 4, 5};
  Small copy(small);
  copy = large;
  EXPECT_EQ(copy, large);
  copy = std::move(small);
  EXPECT_EQ(copy.vec(), (std::vector<int64_t>{1, 2}));
}

TEST(SmallVector, InsertsAndErases) {
  Small v{1, 3};
  v.insert(v.begin() + 1, 2);
  v.insert(v.end(), 4);
  EXPECT_EQ(v.vec(), (std::vector<int64_t>{1, 2, 3, 4}));
  v.erase(v.begin());
  EXPECT_EQ(v.vec(), (std::vector<int64_t>{2, 3, 4}));
}

TEST(SmallVector, PrintsAsAnArray) { EXPECT_EQ(str(Small{2, -3}, Small{}), "[2, -3][]"); }

}  // namespace
}  // namespace argand
