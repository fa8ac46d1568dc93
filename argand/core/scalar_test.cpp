#include "argand/core/scalar.h"

#include <gtest/gtest.h>

#include <limits>

#include "argand/base/error.h"

namespace argand {
namespace {

TEST(Scalar, HoldsNoIntegerBeyondInt64) {
  constexpr uint64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(Scalar(most).toLong(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Scalar(static_cast<unsigned long long>(most)).toLong(), std::numeric_limits<int64_t>::max());
  for (const uint64_t beyond : {most + 1, std::numeric_limits<uint64_t>::max()}) {
    try {
      const Scalar s(beyond);
      ADD_FAILURE() << "no error for " << beyond << ", which became " << s.toLong();
    } catch (const ValueError& e) {
      EXPECT_NE(std::string(e.what()).find(std::to_string(beyond)), std::string::npos) << e.what();
    }
    EXPECT_EQ(Scalar(static_cast<double>(beyond)).toDouble(), static_cast<double>(beyond));
  }
}

}  // namespace
}  // namespace argand
