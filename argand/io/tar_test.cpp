#include "argand/io/tar.h"

#include <gtest/gtest.h>

#include <vector>

#include "argand/io/tar_test.h"

namespace argand::io {
namespace {

using testing::tar_of;
using testing::TarEntry;

struct Read {
  std::vector<std::string> names, contents;
};
Read read(const std::string& bytes) {
  const MemorySource source("x.tar", bytes);
  TarReader reader(source);
  Read out;
  while (const auto member = reader.next()) {
    std::string content(static_cast<size_t>(member->size), '\0');
    source.read(member->offset, content.data(), content.size());
    out.names.push_back(member->name);
    out.contents.push_back(std::move(content));
  }
  return out;
}
std::string error(const std::string& bytes) {
  try {
    read(bytes);
  } catch (const FileError& e) {
    return e.msg();
  }
  return "";
}
std::string pax(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return std::to_string(length) + rest;
}

TEST(Tar, FilesInOrder) {
  const std::string long_name = std::string(90, 'd') + "/" + std::string(200, 'n');
  const Read r = read(tar_of(TarEntry{"folder/", "", '5'}, TarEntry{"./folder/a.txt", "first"},
                             TarEntry{"b", std::string(1000, 'b'), '\0'}, TarEntry{"name", "p", '0', "", "some/prefix"},
                             TarEntry{"pax", pax("mtime", "1.5") + pax("path", long_name), 'x'}, TarEntry{"short", "s"},
                             TarEntry{"././@LongLink", long_name + std::string(1, '\0'), 'L'}, TarEntry{"cut", "gnu"},
                             TarEntry{"all", pax("comment", "hello"), 'g'}, TarEntry{"empty"}));
  EXPECT_EQ(r.names,
            (std::vector<std::string>{"folder/a.txt", "b", "some/prefix/name", long_name, long_name, "empty"}));
  EXPECT_EQ(r.contents, (std::vector<std::string>{"first", std::string(1000, 'b'), "p", "s", "gnu", ""}));
  EXPECT_TRUE(read(std::string(10240, '\0')).names.empty());
}

TEST(Tar, SizesInEveryForm) {
  std::string binary(12, '\0');
  binary[0] = '\x80';
  binary[11] = 5;
  EXPECT_EQ(read(tar_of(TarEntry{"a", "12345", '0', binary})).contents[0], "12345");
  EXPECT_EQ(read(tar_of(TarEntry{"a", "12345", '0', "          5 "})).contents[0], "12345");
  // The pax header overrides the field.
  EXPECT_EQ(read(tar_of(TarEntry{"x", pax("size", "5"), 'x'}, TarEntry{"a", "12345", '0', "00000000000 "})).contents[0],
            "12345");
}

TEST(Tar, WhatCouldLeaveTheArchiveIsRefused) {
  for (const char* name : {"../a", "a/../../b", "/etc/passwd", "a\\b", ".."})
    EXPECT_NE(error(tar_of(TarEntry{name, "x"})), "") << name;
  EXPECT_NE(error(tar_of(TarEntry{"x", pax("path", "../../a"), 'x'}, TarEntry{"good", "x"})), "");
  EXPECT_NE(error(tar_of(TarEntry{"x", pax("path", std::string("a\0b", 3)), 'x'}, TarEntry{"good", "x"})), "");
  EXPECT_NE(error(tar_of(TarEntry{"x", pax("path", std::string(70000, 'a')), 'x'}, TarEntry{"good", "x"})), "");
  const auto refused = [&](char type) { return error(tar_of(TarEntry{"link", "", type})); };
  EXPECT_NE(refused('1').find("a hard link"), std::string::npos);
  EXPECT_NE(refused('2').find("a symbolic link"), std::string::npos);
  EXPECT_NE(refused('3').find("a device"), std::string::npos);
  EXPECT_NE(refused('6').find("a FIFO"), std::string::npos);
  EXPECT_NE(refused('S').find("a sparse file"), std::string::npos);
  EXPECT_NE(refused('V').find("unknown type"), std::string::npos);
  EXPECT_NE(error(tar_of(TarEntry{"x", pax("GNU.sparse.realsize", "10737418240"), 'x'}, TarEntry{"a", "x"})), "");
}

TEST(Tar, LiesAreErrors) {
  const auto sized = [](const std::string& size) { return error(tar_of(TarEntry{"a", "x", '0', size})); };
  std::string huge(12, '\xff'), wide(12, '\0');
  huge[0] = '\x80';
  wide[0] = '\x80';
  wide[3] = 1;
  EXPECT_NE(sized("77777777777 ").find("does not fit"), std::string::npos);
  EXPECT_NE(sized(huge).find("no number"), std::string::npos);
  EXPECT_NE(sized(wide), "");
  EXPECT_NE(sized("-0000000001 ").find("no number"), std::string::npos);
  EXPECT_NE(sized("00000000009 ").find("no number"), std::string::npos);
  EXPECT_NE(sized("            ").find("no number"), std::string::npos);
  const auto with_pax = [](const std::string& text) {
    return error(tar_of(TarEntry{"p", text, 'x'}, TarEntry{"a", "x"}));
  };
  for (const char* text : {"5 a=b", "99 path=a\n", "7 patha\n", "x path=a\n", "3 \n", "18446744073709551615 path=a\n"})
    EXPECT_NE(with_pax(text).find("not well-formed"), std::string::npos) << text;
  EXPECT_NE(with_pax(pax("size", "18446744073709551617")), "");
  EXPECT_NE(with_pax(pax("size", "-1")), "");
  EXPECT_NE(with_pax(pax("path", "a") + pax("path", "b")), "");
  EXPECT_NE(error(tar_of(TarEntry{"g", pax("path", "a"), 'g'}, TarEntry{"a", "x"})), "");
  EXPECT_NE(error(tar_of(TarEntry{"p", pax("path", "a"), 'x'})), "");  // of no member
  EXPECT_NE(error(tar_of(TarEntry{"a", "x", '0', "", "", "v7tar  "})), "");
  EXPECT_NE(error(tar_of(TarEntry{"a", "x"}) + "more").find("more follows"), std::string::npos);
  EXPECT_NE(error("\x1f\x8b" + std::string(1000, 'x')).find("gzip"), std::string::npos);
}

// Cut anywhere it is an error, but within the zeros after the two empty blocks.
TEST(Tar, CutAtEveryByte) {
  const std::string whole =
      tar_of(TarEntry{"p", pax("path", "a/longer"), 'x'}, TarEntry{"a", "content"}, TarEntry{"b", "more"});
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_NE(error(whole.substr(0, n)), "") << n;
  EXPECT_EQ(error(whole + std::string(5000, '\0')), "");
}

// Every flip of a header's bit is an error: of the others the contents alone may differ, and what fills blocks up.
TEST(Tar, EveryBitFlipped) {
  const std::string whole = tar_of(TarEntry{"a.txt", "content"});
  for (size_t byte = 0; byte < whole.size(); ++byte)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = whole;
      flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << bit));
      const bool in_data = byte >= 512 && byte < 1024;
      if (error(flipped).empty()) {
        // The sum's own blanks and the byte after it do not count.
        EXPECT_TRUE(in_data || (byte >= 148 && byte < 156)) << byte << " " << bit;
        EXPECT_EQ(read(flipped).names, std::vector<std::string>{"a.txt"});
      }
    }
}

}  // namespace
}  // namespace argand::io
