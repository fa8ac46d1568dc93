#include "argand/kernels/cpu/transpose.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "argand/kernels/cpu/vector_unit.h"

namespace argand::cpu {
namespace {

// from[o][c][r] to to[o][r][c], whose rows lie `gap` elements apart, which stay as they are.
template <class T>
void expect_transposed(int64_t outer, int64_t rows, int64_t columns, int64_t gap) {
  const int64_t pitch = columns + gap;
  std::vector<T> from(static_cast<size_t>(outer * rows * columns)),
      to(static_cast<size_t>(outer * rows * pitch), T(-1));
  std::iota(from.begin(), from.end(), T(0));
  ASSERT_TRUE(copy_transposed({outer, rows, columns}, sizeof(T), from.data(), {rows * columns, 1, rows}, to.data(),
                              {rows * pitch, pitch, 1}));
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < pitch; ++c)
        ASSERT_EQ(to[static_cast<size_t>((o * rows + r) * pitch + c)],
                  c < columns ? from[static_cast<size_t>((o * columns + c) * rows + r)] : T(-1))
            << rows << " x " << columns << " at " << o << ", " << r << ", " << c;
}

TEST(CopyTransposed, EveryVectorUnitAndEdge) {
  const VectorUnit before = vector_unit();
  for (const VectorUnit unit : {VectorUnit::kBaseline, VectorUnit::kAvx2, VectorUnit::kAvx512}) {
    set_vector_unit(unit);
    for (const int64_t rows : {8, 9, 16, 31, 64, 130})
      for (const int64_t columns : {8, 15, 16, 17, 49, 64}) {
        expect_transposed<float>(3, rows, columns, 0);
        expect_transposed<int32_t>(1, rows, columns, 3);
        expect_transposed<double>(2, rows, columns, 1);
      }
  }
  set_vector_unit(before);
}

TEST(CopyTransposed, LeavesTheRestToOthers) {
  float from[64] = {}, to[64] = {};
  EXPECT_FALSE(copy_transposed({8, 8}, 4, from, {8, 1}, to, {8, 1}));    // one order
  EXPECT_FALSE(copy_transposed({2, 32}, 4, from, {1, 2}, to, {32, 1}));  // vectors would be mostly empty
  EXPECT_FALSE(copy_transposed({8, 8}, 2, from, {1, 8}, to, {8, 1}));
  EXPECT_FALSE(copy_transposed({8, 8}, 4, from, {0, 0}, to, {8, 1}));
}

}  // namespace
}  // namespace argand::cpu
