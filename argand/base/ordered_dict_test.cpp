#include "argand/base/ordered_dict.h"

#include <gtest/gtest.h>

namespace argand {
namespace {

TEST(OrderedDict, KeepsTheOrderAndFindsByKey) {
  OrderedDict<std::string, int> d{{"b", 1}, {"a", 2}};
  d.insert("c", 3);
  EXPECT_EQ(d.keys(), (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(d.front().key(), "b");
  EXPECT_EQ(d.back().value(), 3);
  d.erase("b");
  EXPECT_EQ(d["c"], 3);
  EXPECT_EQ(d[0].key(), "a");
}

TEST(OrderedDict, TakesAValueInBraces) {
  OrderedDict<std::string, std::pair<int, int>> d;
  EXPECT_EQ(d.insert("a", {1, 2}).second, 2);
}

TEST(OrderedDict, NamesItsKeysInMessages) {
  OrderedDict<std::string, int> d("Penguin");
  EXPECT_EQ(d.key_description(), "Penguin");
  const auto message = [&](auto action) {
    try {
      action();
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(message([&] { d["b"]; }), "Penguin 'b' is not defined");
  EXPECT_EQ(message([&] { d.front(); }), "Called front() on an empty OrderedDict");
  EXPECT_EQ(message([&] { d.back(); }), "Called back() on an empty OrderedDict");
  d.insert("a", 1);
  EXPECT_EQ(message([&] { d.insert("a", 1); }), "Penguin 'a' already defined");
}

}  // namespace
}  // namespace argand
