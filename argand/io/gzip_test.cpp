#include "argand/io/gzip.h"

#include <gtest/gtest.h>

#include "argand/io/file.h"
#include "argand/io/folder_test.h"

namespace argand::io {
namespace {

ArrayRef<uint8_t> bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string inflate_exactly(const std::string& compressed, size_t count) {
  GzipReader reader(bytes(compressed), "x.gz");
  std::string out(count, '?');
  out.resize(reader.read(out.data(), count));
  reader.finish();
  return out;
}

std::string message(const std::string& compressed, size_t count) {
  try {
    inflate_exactly(compressed, count);
  } catch (const FileError& e) {
    return e.msg();
  }
  return "";
}

const std::string kText = "Something to compress, to compress and to compress again.";

TEST(Gzip, ReadsPieceByPiece) {
  const std::string compressed = testing::gzip(kText);
  EXPECT_TRUE(is_gzip(bytes(compressed)));
  GzipReader reader(bytes(compressed), "x.gz");
  std::string out(kText.size(), '?');
  EXPECT_EQ(reader.read(out.data(), 9), 9u);
  EXPECT_EQ(reader.read(out.data() + 9, out.size()), kText.size() - 9);
  EXPECT_EQ(out, kText);
  EXPECT_EQ(reader.read(out.data(), 1), 0u);
  reader.finish();
}

TEST(Gzip, NeverInflatesMoreThanAsked) {
  const std::string bomb = testing::gzip(std::string(5'000'000, '\0'), 9);
  EXPECT_EQ(message(bomb, 1000), "damaged gzip file 'x.gz': it holds more than the 1000 bytes expected");
}

TEST(Gzip, OneMemberOnly) {
  const std::string one = testing::gzip(kText);
  EXPECT_EQ(message(one + one, kText.size()), str("damaged gzip file 'x.gz': expected its end at byte ", one.size(),
                                                  ", got ", one.size(), " bytes of another member"));
  EXPECT_EQ(message(one + "x", kText.size()),
            str("damaged gzip file 'x.gz': expected its end at byte ", one.size(), ", got 1 more bytes"));
}

TEST(Gzip, CutAtEveryByte) {
  const std::string whole = testing::gzip(kText);
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_EQ(message(whole.substr(0, n), kText.size()),
              str("damaged gzip file 'x.gz': it ends at byte ", n, " in the middle of its data"));
}

TEST(Gzip, EveryFlippedBitIsSeenOrHarmless) {
  const std::string whole = testing::gzip(kText);
  int harmless = 0;
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string bad = whole;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    try {
      EXPECT_EQ(inflate_exactly(bad, kText.size()), kText) << "bit " << bit;
      ++harmless;
    } catch (const FileError&) {
    }
  }
  EXPECT_LE(harmless, 8 * 7);  // the time stamp, extra flags and system in the header, and the "is text" hint
}

}  // namespace
}  // namespace argand::io
