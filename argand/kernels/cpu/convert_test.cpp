#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "argand/kernels/cpu/tile.h"

namespace argand::cpu {
namespace {

template <class To, class From>
std::vector<int64_t> converted(const std::vector<double>& values) {
  std::vector<int64_t> result;
  for (const int repeats : {1, 40}) {  // less and more than a vector holds
    std::vector<From> from;
    for (int i = 0; i < repeats; ++i) from.insert(from.end(), values.begin(), values.end());
    std::vector<To> to(from.size());
    convert_elements(from.data(), scalar_type_v<From>, to.data(), scalar_type_v<To>, static_cast<int64_t>(from.size()));
    for (size_t i = 0; i < to.size(); ++i)
      EXPECT_EQ(to[i], to[i % values.size()]) << "element " << i << " of " << to.size();
    result.assign(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(values.size()));
  }
  return result;
}

// The results are those of PyTorch on x86: a number out of range never becomes a number that could be meant.
TEST(Convert, NumbersOutOfRange) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr int64_t k64 = std::numeric_limits<int64_t>::min(), k32 = std::numeric_limits<int32_t>::min();
  const std::vector<double> values{NAN, kInfinity, -kInfinity, 3e9, -3e9, 1e30, 70000, -1.5, 300, 0x1p31, 0x1p63};
  using Numbers = std::vector<int64_t>;
  const Numbers as64{k64, k64, k64, 3000000000, -3000000000, k64, 70000, -1, 300, int64_t{1} << 31, k64};
  const Numbers as32{k32, k32, k32, k32, k32, k32, 70000, -1, 300, k32, k32};
  const Numbers as16{0, 0, 0, 0, 0, 0, 4464, -1, 300, 0, 0}, as8{0, 0, 0, 0, 0, 0, 112, -1, 44, 0, 0};
  const Numbers as_bytes{0, 0, 0, 0, 0, 0, 112, 255, 44, 0, 0};
  EXPECT_EQ((converted<int64_t, double>(values)), as64);
  EXPECT_EQ((converted<int64_t, float>(values)), as64);
  EXPECT_EQ((converted<int32_t, double>(values)), as32);
  EXPECT_EQ((converted<int32_t, float>(values)), as32);
  EXPECT_EQ((converted<int16_t, float>(values)), as16);
  EXPECT_EQ((converted<int8_t, float>(values)), as8);
  EXPECT_EQ((converted<uint8_t, double>(values)), as_bytes);
}

TEST(Convert, TheEndsOfInt32) {
  EXPECT_EQ((converted<int32_t, double>({2147483647.5, -2147483648.5, -2147483649})),
            (std::vector<int64_t>{2147483647, -2147483648, -2147483648}));
}

}  // namespace
}  // namespace argand::cpu
