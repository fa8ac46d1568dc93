#include "tools/argand/text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace argand::cli {
namespace {

TEST(Text, Numbers) {
  EXPECT_EQ(fixed(0.125, 4), "0.1250");
  EXPECT_EQ(fixed(-2.5, 1), "-2.5");
  EXPECT_EQ(fixed(NAN, 4), "nan");
  EXPECT_EQ(fixed(-INFINITY, 4), "-inf");
  EXPECT_EQ(fixed(1e300, 2).size(), 304u);
  EXPECT_EQ(thousands(0), "0");
  EXPECT_EQ(thousands(999), "999");
  EXPECT_EQ(thousands(1000), "1,000");
  EXPECT_EQ(thousands(1234567), "1,234,567");
  EXPECT_EQ(thousands(-123456), "-123,456");
  EXPECT_EQ(percent(0.9816), "98.2%");
  EXPECT_EQ(percent(1, 0), "100%");
}

TEST(Text, Durations) {
  EXPECT_EQ(duration(0.2), "0 s");
  EXPECT_EQ(duration(59.4), "59 s");
  EXPECT_EQ(duration(59.6), "1:00");
  EXPECT_EQ(duration(3599), "59:59");
  EXPECT_EQ(duration(3723), "1:02:03");
  EXPECT_EQ(duration(INFINITY), "?");
  EXPECT_EQ(duration(NAN), "?");
}

TEST(Text, Html) { EXPECT_EQ(html_escape("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;"); }

TEST(Text, Base64OfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

}  // namespace
}  // namespace argand::cli
