#include "argand/io/idx.h"

#include <gtest/gtest.h>

#include <cstring>

#include "argand/io/file.h"
#include "argand/io/folder_test.h"

namespace argand::io {
namespace {

using testing::gzip;
using testing::TestFolder;

std::string big_endian(uint64_t value, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> 8 * i);
  return out;
}

std::string header(int type, std::initializer_list<uint32_t> sizes) {
  std::string out{'\0', '\0', static_cast<char>(type), static_cast<char>(sizes.size())};
  for (const uint32_t size : sizes) out += big_endian(size, 4);
  return out;
}

const std::string kSmall = header(0x08, {2, 1, 3}) + "abcdef";

class IdxTest : public ::testing::Test {
 protected:
  // The error that reading `content` gives, without the path; empty where it reads.
  std::string error(const std::string& content) {
    const std::string path = folder_.put("f", content);
    try {
      read_idx(path);
    } catch (const FileError& e) {
      std::string text = e.msg();
      EXPECT_NE(text.find(path), std::string::npos);
      return text.replace(text.find(path), path.size(), "f");
    }
    return "";
  }
  TestFolder folder_;
};

TEST_F(IdxTest, PlainAndCompressedByContentNotByName) {
  for (const std::string& content : {kSmall, gzip(kSmall)}) {
    for (const char* name : {"f", "f.gz", "f.png"}) {
      const IdxArray a = read_idx(folder_.put(name, content));
      EXPECT_EQ(a.type, IdxType::kUInt8);
      EXPECT_EQ(a.sizes, (std::vector<int64_t>{2, 1, 3}));
      EXPECT_EQ(a.numel(), 6);
      EXPECT_EQ(std::string(a.bytes.begin(), a.bytes.end()), "abcdef");
    }
  }
}

template <class T>
std::vector<T> values(const IdxArray& a) {
  std::vector<T> out(static_cast<size_t>(a.numel()));
  std::memcpy(out.data(), a.bytes.data(), a.bytes.size());
  return out;
}

TEST_F(IdxTest, EveryTypeInTheByteOrderOfThisMachine) {
  const auto read = [&](const std::string& content) { return read_idx(folder_.put("f", content)); };
  EXPECT_EQ(values<int8_t>(read(header(0x09, {2}) + "\xff\x7f")), (std::vector<int8_t>{-1, 127}));
  EXPECT_EQ(values<int16_t>(read(header(0x0b, {2}) + big_endian(0xfffe, 2) + big_endian(300, 2))),
            (std::vector<int16_t>{-2, 300}));
  EXPECT_EQ(values<int32_t>(read(header(0x0c, {1, 1}) + big_endian(70000, 4))), (std::vector<int32_t>{70000}));
  EXPECT_EQ(values<float>(read(header(0x0d, {1}) + big_endian(0x3fc00000, 4))), (std::vector<float>{1.5f}));
  EXPECT_EQ(values<double>(read(header(0x0e, {1}) + big_endian(0xc004000000000000, 8))), (std::vector<double>{-2.5}));
}

TEST_F(IdxTest, Empty) {
  const IdxArray a = read_idx(folder_.put("f", header(0x08, {0, 28, 28})));
  EXPECT_EQ(a.sizes, (std::vector<int64_t>{0, 28, 28}));
  EXPECT_EQ(a.numel(), 0);
}

TEST_F(IdxTest, BadMagic) {
  EXPECT_EQ(error(""), "'f' ends at byte 0: expected 4 bytes from byte 0, got 0");
  EXPECT_EQ(error(std::string(3, '\0')), "'f' ends at byte 3: expected 4 bytes from byte 0, got 3");
  const std::string expected =
      "'f': bad magic at byte 0: expected an IDX file (00 00, type 08 to 0e, dimensions), got ";
  EXPECT_EQ(error(std::string(8, '\0')), expected + "00 00 00 00");
  EXPECT_EQ(error(std::string("\1\0\x08\3", 4)), expected + "01 00 08 03");
  EXPECT_EQ(error(std::string("\3\x08\0\0", 4)), expected + "03 08 00 00");
  EXPECT_EQ(error(std::string("\0\0\x0a\3", 4)), expected + "00 00 0a 03");
  EXPECT_EQ(error("GIF89a"), expected + "47 49 46 38");
  EXPECT_EQ(error(header(0x08, {})), "'f': bad magic at byte 3: expected 1 to 64 dimensions, got 0");
  EXPECT_EQ(error(std::string("\0\0\x08\xff", 4) + std::string(1020, '\1')),
            "'f': bad magic at byte 3: expected 1 to 64 dimensions, got 255");
}

TEST_F(IdxTest, SizesThatLie) {
  EXPECT_EQ(error(header(0x08, {0x80000000, 1, 1}) + "1234"),
            "'f': elements at byte 16: expected 2147483648 bytes for sizes [2147483648, 1, 1], got 4");
  EXPECT_EQ(error(header(0x0e, {0xffffffff, 0xffffffff, 0xffffffff})),
            "'f': sizes at byte 4: expected fewer than 2^63 bytes of elements, got sizes "
            "[4294967295, 4294967295, 4294967295]");
  // 2^64 bytes would wrap to 0, and a zero in front must not hide it.
  EXPECT_NE(error(header(0x08, {0x80000000, 0x80000000, 4})), "");
  EXPECT_NE(error(header(0x08, {0, 0x80000000, 0x80000000, 4})), "");
  EXPECT_EQ(error(kSmall + "x"), "'f': elements at byte 16: expected 6 bytes for sizes [2, 1, 3], got 7");
}

TEST_F(IdxTest, CompressedSizesThatLie) {
  const std::string liar = gzip(header(0x08, {0x80000000, 1, 1}) + "1234");
  EXPECT_EQ(error(liar), str("'f': elements at byte 16: expected 2147483648 bytes for sizes [2147483648, 1, 1], but ",
                             liar.size(), " compressed bytes can hold at most ", liar.size() * 1032));
  EXPECT_EQ(error(gzip(kSmall + "x")), "damaged gzip file 'f': it holds more than the 22 bytes expected");
  EXPECT_EQ(error(gzip(kSmall.substr(0, 21))),
            "'f': ends at byte 21 of its content: expected 6 bytes from byte 16, got 5");
  EXPECT_EQ(error(gzip(gzip(kSmall)).substr(0, 3)),
            "damaged gzip file 'f': it ends at byte 3 in the middle of its data");
  EXPECT_NE(error(gzip(gzip(kSmall))), "");
  EXPECT_NE(error(gzip(kSmall) + gzip(kSmall)), "");
}

TEST_F(IdxTest, BombIsNotInflated) {
  const std::string bomb = gzip(kSmall.substr(0, 16) + std::string(30'000'000, '\0'), 9);
  EXPECT_EQ(error(bomb), "damaged gzip file 'f': it holds more than the 22 bytes expected");
}

TEST_F(IdxTest, LargerThanOnePiece) {
  std::string content(20'000'000, '\0');
  for (size_t i = 0; i < content.size(); i += 4096) content[i] = static_cast<char>(i / 4096);
  const IdxArray a = read_idx(folder_.put("f", gzip(header(0x08, {20000, 1000}) + content, 1)));
  EXPECT_TRUE(std::string(a.bytes.begin(), a.bytes.end()) == content);
}

TEST_F(IdxTest, CutAtEveryByte) {
  for (const std::string& whole : {kSmall, gzip(kSmall)})
    for (size_t n = 0; n < whole.size(); ++n) EXPECT_NE(error(whole.substr(0, n)), "") << n;
}

TEST_F(IdxTest, EveryFlippedBit) {
  int accepted_plain = 0, accepted_gzip = 0;
  const std::string compressed = gzip(kSmall);
  for (const std::string* whole : {&kSmall, &compressed}) {
    for (size_t bit = 0; bit < 8 * whole->size(); ++bit) {
      std::string bad = *whole;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
      const std::string path = folder_.put("f", bad);
      try {
        const IdxArray a = read_idx(path);
        EXPECT_EQ(a.sizes, (std::vector<int64_t>{2, 1, 3}));
        EXPECT_EQ(a.bytes.size(), 6u);
        if (whole == &compressed) {
          EXPECT_EQ(std::string(a.bytes.begin(), a.bytes.end()), "abcdef") << "bit " << bit;
        }
        ++(whole == &compressed ? accepted_gzip : accepted_plain);
      } catch (const FileError&) {
      }
    }
  }
  EXPECT_EQ(accepted_plain, 8 * 6 + 1);  // elements carry no checksum, and int8 instead of uint8 fits as well
  EXPECT_LE(accepted_gzip, 8 * 7);       // the gzip header's time stamp, extra flags, system and "is text"
}

}  // namespace
}  // namespace argand::io
