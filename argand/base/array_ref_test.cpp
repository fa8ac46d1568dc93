#include "argand/base/array_ref.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "argand/base/small_vector.h"

namespace argand {
namespace {

std::vector<int64_t> taken(IntArrayRef r) { return r.vec(); }

TEST(ArrayRef, IsMadeFromEveryRunOfElements) {
  const std::vector<int64_t> expected{4, 5};
  const int64_t raw[] = {4, 5};
  EXPECT_EQ(taken({4, 5}), expected);
  EXPECT_EQ(taken(expected), expected);
  EXPECT_EQ(taken(std::array<int64_t, 2>{4, 5}), expected);
  EXPECT_EQ(taken(raw), expected);
  EXPECT_EQ(taken(Dims{4, 5}), expected);
  EXPECT_EQ(taken(4), std::vector<int64_t>{4});
  EXPECT_TRUE(taken({}).empty());
}

TEST(ArrayRef, SlicesAndCompares) {
  const std::vector<int64_t> v{1, 2, 3, 4};
  const IntArrayRef r(v);
  EXPECT_TRUE(r.slice(1, 2) == IntArrayRef({2, 3}));
  EXPECT_TRUE(r.slice(3) == IntArrayRef({4}));
  EXPECT_FALSE(r.slice(1, 2) == r.slice(1, 3));
}

TEST(ArrayRef, AtNamesTheIndexThatIsOutOfRange) {
  const std::vector<int64_t> v{1, 2};
  EXPECT_EQ(IntArrayRef(v).at(1), 2);
  try {
    IntArrayRef(v).at(2);
    FAIL() << "no error";
  } catch (const IndexError& e) {
    EXPECT_STREQ(e.what(), "ArrayRef: index 2 is out of range for 2 elements");
  }
}

}  // namespace
}  // namespace argand
