#include "argand/io/text.h"

#include <gtest/gtest.h>

#include "argand/io/folder_test.h"
#include "argand/ops/functions.h"

namespace argand::io {
namespace {

using testing::TestFolder;
using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(const std::string& text, CsvOptions options = {.header = false}) {
  const MemorySource source("f", text);
  CsvReader reader(source, options);
  Rows out;
  for (std::vector<std::string> row; reader.next(row);) out.push_back(row);
  return out;
}
std::string error_of(const std::string& text, CsvOptions options = {.header = false}) {
  try {
    rows_of(text, options);
  } catch (const CsvError& e) {
    return e.msg();
  }
  return "";
}

TEST(Csv, FieldsOfRfc4180) {
  EXPECT_EQ(rows_of(""), Rows());
  EXPECT_EQ(rows_of("a,b\nc,d"), (Rows{{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(rows_of("a,b\r\nc,d\r\n"), (Rows{{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(rows_of("\"a,\"\"x\"\"\r\n\",\n,\"\"\n"), (Rows{{"a,\"x\"\r\n", ""}, {"", ""}}));
  EXPECT_EQ(rows_of("\xEF\xBB\xBF"
                    "a;b c\n",
                    {.delimiter = ';', .header = false}),
            (Rows{{"a", "b c"}}));
  EXPECT_EQ(rows_of("x\n\ny\n"), (Rows{{"x"}, {""}, {"y"}})) << "a line of nothing is a field of nothing";
  const MemorySource source("f", "n,m\n1,2\n");
  CsvReader reader(source);
  EXPECT_EQ(reader.names(), (std::vector<std::string>{"n", "m"}));
}

TEST(Csv, LongerThanOnePiece) {
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += str(i, ",\"", i, "\n\"\n");
  const Rows rows = rows_of(text);
  ASSERT_EQ(rows.size(), 40'000U);
  EXPECT_EQ(rows[39'999], (std::vector<std::string>{"39999", "39999\n"}));
}

TEST(Csv, ErrorsKnowLineAndColumn) {
  EXPECT_EQ(error_of("a,b\nc\n"), "'f', line 2, column 1: expected 2 fields, got 1");
  EXPECT_EQ(error_of("a,b\n\"\n\",d,e\n"), "'f', line 3, column 3: expected 2 fields, got more");
  EXPECT_EQ(error_of("a,b\nc,\"d\n\n"), "'f', line 2, column 2: a quote that does not end");
  EXPECT_EQ(error_of("a,b\"c\"\n"), "'f', line 1, column 2: a quote inside of a field that does not begin with one");
  EXPECT_EQ(error_of("\"a\"b\n"), "'f', line 1, column 1: text behind a quote that ended");
  EXPECT_EQ(error_of("a\rb\n"), "'f', line 1, column 1: a carriage return that no line feed follows");
  EXPECT_EQ(error_of("a,\xff\n"), "'f', line 1, column 2: bytes that are not UTF-8");
  EXPECT_EQ(error_of("", {}), "'f', line 1, column 1: expected the names of the columns");
  EXPECT_EQ(error_of("a,b,a\n", {}), "'f', line 1, column 3: two columns named 'a'");
  EXPECT_EQ(error_of("abcd\n", {.header = false, .field_bytes = 3}),
            "'f', line 1, column 1: a field of more than 3 bytes");
  EXPECT_EQ(error_of("1,2,3\n", {.header = false, .columns = 2}), "'f', line 1, column 3: more than 2 fields");
}

TEST(Csv, Numbers) {
  const TestFolder folder;
  const std::string path = folder.put("f", "x,name,y\n1,a,-2.5e3\n+3,\"b\",inf\n");
  const Tensor t = read_csv(path, kDouble, {"y", "x"});
  EXPECT_EQ(t.sizes(), IntArrayRef({2, 2}));
  EXPECT_EQ(t[0][0].item<double>(), -2500);
  EXPECT_EQ(t[1][1].item<double>(), 3);
  const auto error = [&](const std::string& text, const std::vector<std::string>& names = {}) {
    try {
      read_csv(folder.put("g", text), kFloat, names);
    } catch (const Error& e) {
      return e.msg().substr(e.msg().find("g'") + 2);
    }
    return std::string();
  };
  EXPECT_EQ(error("x,y\n1,2\n3,4x\n"), ", line 3, column 2: expected a number, got '4x'");
  EXPECT_EQ(error("x,y\n1,\n"), ", line 2, column 2: expected a number, got ''");
  EXPECT_EQ(error("x\n1e999\n"), ", line 2, column 1: a number beyond float64");
  EXPECT_EQ(error("x\n1\n", {"z"}), " has no column 'z'");
  EXPECT_EQ(error("x\n+-1\n"), ", line 2, column 1: expected a number, got '+-1'");
  EXPECT_EQ(read_csv(folder.put("h", "x,y\n")).sizes(), IntArrayRef({0, 2}));
}

TEST(Csv, CutAtEveryByteAndEveryFlippedBit) {
  const std::string whole = "a,\"b\"\"\n\"\r\n\xC3\xA9,2\n";
  const Rows expected = rows_of(whole);
  for (size_t n = 0; n < whole.size(); ++n) {
    try {
      EXPECT_LE(rows_of(whole.substr(0, n)).size(), expected.size());
    } catch (const CsvError& e) {
      EXPECT_GE(e.line(), 1);
    }
  }
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string bad = whole;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    try {
      EXPECT_NE(rows_of(bad), expected) << bit;
    } catch (const CsvError&) {
    }
  }
}

TEST(Text, IsUtf8OrAnError) {
  const TestFolder folder;
  EXPECT_EQ(read_text(folder.put("f", "a\xC3\xA9\n")), "a\xC3\xA9\n");
  EXPECT_EQ(read_text(folder.put("f", "")), "");
  for (const char* bad : {"ab\xff", "ab\xC3", "ab\xC0\x80", "ab\xED\xA0\x80", "ab\xF5\x80\x80\x80"}) {
    try {
      read_text(folder.put("f", bad));
      FAIL() << bad;
    } catch (const FileError& e) {
      EXPECT_NE(e.msg().find("byte 2 is not UTF-8"), std::string::npos);
    }
  }
  EXPECT_THROW(read_text(folder.put("f", "abc"), 2), FileError);
  EXPECT_THROW(read_text("/dev/zero"), FileError);
}

}  // namespace
}  // namespace argand::io
