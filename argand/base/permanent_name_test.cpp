#include "argand/base/permanent_name.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace argand {
namespace {

TEST(PermanentName, OutlivesTheText) {
  std::vector<const char*> kept;
  for (int i = 0; i < 1000; ++i) {
    std::string name = "NameOfAFunction" + std::to_string(i);
    kept.push_back(permanent_name(name));
    name.assign(name.size(), '#');
  }
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(std::string(kept[static_cast<size_t>(i)]), "NameOfAFunction" + std::to_string(i));
  EXPECT_EQ(kept[7], permanent_name("NameOfAFunction7"));
}

}  // namespace
}  // namespace argand
