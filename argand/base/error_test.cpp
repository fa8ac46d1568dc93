#include "argand/base/error.h"

#include <gtest/gtest.h>

#include <string>

namespace argand {
namespace {

template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(Error, CheckThrowsTheTypeAndTheWholeMessage) {
  const auto failing = [] { ARGAND_CHECK(ShapeError, 1 > 2, "add: expected ", 3, " sizes, got ", 4); };
  EXPECT_EQ(message_of<ShapeError>(failing), "add: expected 3 sizes, got 4");
  EXPECT_EQ(message_of<Error>(failing), "add: expected 3 sizes, got 4");
}

TEST(Error, CheckDoesNotBuildItsMessageWhenAllIsWell) {
  int built = 0;
  ARGAND_CHECK(ValueError, true, ++built);
  EXPECT_EQ(built, 0);
}

TEST(Error, CheckIsOneStatement) {
  bool reached_else = false;
  if (false)
    ARGAND_CHECK(ValueError, false, "never");
  else
    reached_else = true;
  EXPECT_TRUE(reached_else);
}

TEST(Error, AssertNamesTheConditionAndThePlace) {
  const std::string message = message_of<InternalError>([] { ARGAND_ASSERT(2 + 2 == 5, "sum was ", 4); });
  EXPECT_NE(message.find("2 + 2 == 5"), std::string::npos) << message;
  EXPECT_NE(message.find("error_test.cpp"), std::string::npos) << message;
  EXPECT_NE(message.find("sum was 4"), std::string::npos) << message;
}

}  // namespace
}  // namespace argand
