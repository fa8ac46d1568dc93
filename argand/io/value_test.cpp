#include "argand/io/value.h"

#include <gtest/gtest.h>

#include <cmath>

#include "argand/io/decimal.h"

namespace argand::io {
namespace {

TEST(Value, KeysAreEqualAsInPython) {
  Value d = Value::dict();
  d.set(1, "one");
  d.set(true, "true");
  d.set(1.0, "1.0");
  EXPECT_EQ(d.size(), 1U);
  EXPECT_EQ(d.value(0).text(), "1.0");
  d.set("1", "text");
  d.set(1.5, "half");
  d.set(Value::tuple({1, "a"}), "tuple");
  d.set(kFloat, "dtype");
  d.set(Value(), "none");
  d.set(std::complex<double>(0, 1), "i");
  EXPECT_EQ(d.find(Value::tuple({1.0, "a"}))->text(), "tuple");
  EXPECT_EQ(d.find(kFloat)->text(), "dtype");
  EXPECT_EQ(d.find(kDouble), nullptr);
  EXPECT_EQ(d.find(Value())->text(), "none");
  EXPECT_EQ(d.find(2), nullptr);
  EXPECT_THROW(d.set(Value::list(), 1), ValueError);
  EXPECT_THROW(d.set(Value::tuple({Value::list()}), 1), ValueError);
}

TEST(Value, LargeDictsAndSets) {
  Value d = Value::dict(), s = Value::with_items(Value::Kind::kSet);
  for (int i = 0; i < 20000; ++i) {
    d.set(str("key ", i), i);
    s.push_back(i % 100);
  }
  EXPECT_EQ(d.size(), 20000U);
  EXPECT_EQ(s.size(), 100U);
  for (int i = 0; i < 20000; ++i) ASSERT_EQ(d[str("key ", i)].to_int(), i);
  EXPECT_EQ(d.key(7).text(), "key 7");
}

TEST(Value, DeepTreesAreFreedAndShared) {
  Value deep = Value::tuple();
  for (int i = 0; i < 1'000'000; ++i) deep = Value::tuple({deep});
  EXPECT_THROW(check_nesting(deep, 128), ValueError);
  deep = Value();
  Value laughs = Value::list({1});
  for (int i = 0; i < 100; ++i) laughs = Value::list({laughs, laughs});
  check_nesting(laughs, 128);
}

TEST(Value, IntegersOfManyBytes) {
  const auto back = [](const std::string& digits) {
    const Value v = integer_of_bytes(bytes_of_decimal(digits));
    return v.is_int() ? std::to_string(v.to_int()) : v.text();
  };
  for (const char* digits :
       {"0", "-1", "127", "128", "-128", "-129", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
        "-9223372036854775809", "18446744073709551615", "-18446744073709551616", "1180591620717411303424",
        "340282366920938463463374607431768211456"})
    EXPECT_EQ(back(digits), digits);
  EXPECT_EQ(bytes_of_decimal("255"), std::string("\xff\0", 2));
  EXPECT_EQ(bytes_of_decimal("-128"), "\x80");
  EXPECT_EQ(integer_of_bytes("").to_int(), 0);
}

TEST(Value, WhatItIsNotIsAnError) {
  const Value v(5);
  EXPECT_THROW(v.text(), ValueError);
  EXPECT_THROW(v.tensor(), ValueError);
  EXPECT_THROW(v[0], ValueError);
  EXPECT_THROW(v.key(0), ValueError);
  EXPECT_THROW(v.to_bool(), ValueError);
  EXPECT_THROW(Value::list()[0], IndexError);
  EXPECT_EQ(v.size(), 0U);
  EXPECT_EQ(v.to_double(), 5);
}

}  // namespace
}  // namespace argand::io
