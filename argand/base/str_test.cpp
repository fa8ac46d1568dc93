#include "argand/base/str.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace argand {
namespace {

TEST(Str, JoinsPartsOfEveryKind) {
  EXPECT_EQ(str("conv2d: expected ", 3, " channels, got ", std::string("none"), '.'),
            "conv2d: expected 3 channels, got none.");
  EXPECT_EQ(str(), "");
  EXPECT_EQ(str(true, ' ', false), "true false");
}

TEST(Str, PrintsTheEndsOfTheIntegers) {
  EXPECT_EQ(str(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(str(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
}

TEST(Str, PrintsTheShortestTextOfADouble) {
  EXPECT_EQ(str(0.1), "0.1");
  EXPECT_EQ(str(std::stod(str(1.0 / 3.0)) == 1.0 / 3.0), "true");
  EXPECT_EQ(str(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(str(-std::numeric_limits<double>::quiet_NaN()), "nan");
}

}  // namespace
}  // namespace argand
