#include "argand/base/env.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "argand/base/error.h"

namespace argand {
namespace {

constexpr const char* kName = "ARGAND_ENV_TEST";

class EnvTest : public testing::Test {
 protected:
  void SetUp() override { unsetenv(kName); }
  void TearDown() override { unsetenv(kName); }
  static void set(const char* value) { setenv(kName, value, 1); }
  template <class F>
  static std::string message_of(F f) {
    try {
      f();
    } catch (const ValueError& e) {
      return e.what();
    }
    return "nothing thrown";
  }
};

TEST_F(EnvTest, Text) {
  EXPECT_FALSE(env(kName).has_value());
  set("");
  EXPECT_EQ(env(kName), "");
  set("some text");
  EXPECT_EQ(env(kName), "some text");
}

TEST_F(EnvTest, Flags) {
  EXPECT_TRUE(env_flag(kName, true));
  EXPECT_FALSE(env_flag(kName, false));
  for (const char* yes : {"1", "true", "ON", "Yes"}) {
    set(yes);
    EXPECT_TRUE(env_flag(kName, false)) << yes;
  }
  for (const char* no : {"0", "False", "off", "NO"}) {
    set(no);
    EXPECT_FALSE(env_flag(kName, true)) << no;
  }
  set("");
  EXPECT_TRUE(env_flag(kName, true));
  set("maybe");
  EXPECT_EQ(message_of([] { env_flag(kName, true); }),
            "environment variable ARGAND_ENV_TEST: expected 1 or 0 (true/false, on/off, yes/no), got \"maybe\"");
}

TEST_F(EnvTest, Integers) {
  EXPECT_EQ(env_int(kName, 7), 7);
  set("");
  EXPECT_EQ(env_int(kName, 7), 7);
  set("-12");
  EXPECT_EQ(env_int(kName, 7), -12);
  set("9223372036854775807");
  EXPECT_EQ(env_int(kName, 7), 9223372036854775807);
  for (const char* bad : {"x", "12x", " 1", "1.5", "0x10"}) {
    set(bad);
    EXPECT_EQ(message_of([] { env_int(kName, 7); }),
              std::string("environment variable ARGAND_ENV_TEST: expected an integer, got \"") + bad + "\"");
  }
  set("65");
  EXPECT_EQ(message_of([] { env_int(kName, 1, 1, 64); }),
            "environment variable ARGAND_ENV_TEST: expected an integer from 1 to 64, got 65");
  set("99999999999999999999");
  EXPECT_EQ(message_of([] { env_int(kName, 1, 1, 64); }),
            "environment variable ARGAND_ENV_TEST: expected an integer from 1 to 64, got 99999999999999999999");
}

}  // namespace
}  // namespace argand
