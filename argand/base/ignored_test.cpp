#include "argand/base/ignored.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "argand/base/error.h"
#include "argand/base/log.h"

namespace argand {
namespace {

struct Ignored : testing::Test {
  Ignored() {
    unsetenv("ARGAND_STRICT");
    before = set_warning_handler([this](std::string_view message) { messages.emplace_back(message); });
  }
  ~Ignored() override {
    unsetenv("ARGAND_STRICT");
    set_warning_handler(before);
  }
  WarningFunction before;
  std::vector<std::string> messages;
};

TEST_F(Ignored, WarnsOnceForEachArgument) {
  for (int i = 0; i < 3; ++i) {
    warn_ignored("op", "a", "it has no meaning");
    warn_ignored("op", "b", "nor has this");
  }
  EXPECT_EQ(messages,
            (std::vector<std::string>{"op: a is ignored: it has no meaning", "op: b is ignored: nor has this"}));
  const bool always = set_warns_always(true);
  warn_ignored("op", "a", "it has no meaning");
  set_warns_always(always);
  EXPECT_EQ(messages.size(), 3u);
}

TEST_F(Ignored, IsAnErrorWhereAskedFor) {
  setenv("ARGAND_STRICT", "1", 1);
  for (int i = 0; i < 2; ++i) EXPECT_THROW(warn_ignored("strict op", "a", "it has no meaning"), ValueError);
  EXPECT_TRUE(messages.empty());
  setenv("ARGAND_STRICT", "0", 1);
  warn_ignored("lax op", "a", "it has no meaning");
  EXPECT_EQ(messages.size(), 1u);
}

TEST_F(Ignored, AHandlerTakesItEachTime) {
  std::vector<std::string> seen;
  const auto handler =
      set_ignored_handler([&](std::string_view op, std::string_view argument, std::string_view reason) {
        seen.push_back(str(op, "|", argument, "|", reason));
      });
  for (int i = 0; i < 2; ++i) warn_ignored("op", "a", "why");
  set_ignored_handler(handler);
  EXPECT_EQ(seen, (std::vector<std::string>{"op|a|why", "op|a|why"}));
  EXPECT_TRUE(messages.empty());
}

}  // namespace
}  // namespace argand
