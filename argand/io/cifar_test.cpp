#include "argand/io/cifar.h"

#include <gtest/gtest.h>

#include "argand/io/file.h"
#include "argand/io/folder_test.h"

namespace argand::io {
namespace {

using testing::TestFolder;

std::string record(const std::string& labels, char first) {
  std::string pixels(3072, '\0');
  pixels[0] = first;
  pixels[3071] = 'z';
  return labels + pixels;
}
const std::string kTwo = record("\3", 'a') + record("\x09", 'b');

class Cifar : public ::testing::Test {
 protected:
  std::string error(const std::string& content, CifarKind kind = CifarKind::k10) {
    try {
      read_cifar(folder_.put("f", content), kind);
    } catch (const FileError& e) {
      return e.msg();
    }
    return "";
  }
  void expect(const std::string& content, const std::string& says, CifarKind kind = CifarKind::k10) {
    EXPECT_NE(error(content, kind).find(says), std::string::npos) << error(content, kind);
  }
  TestFolder folder_;
};

TEST_F(Cifar, Records) {
  const CifarSet ten = read_cifar(folder_.put("f", kTwo), CifarKind::k10);
  EXPECT_EQ(ten.count, 2);
  EXPECT_EQ(ten.labels, (std::vector<uint8_t>{3, 9}));
  EXPECT_EQ(ten.images.size(), 2 * 3072U);
  EXPECT_EQ(ten.images[3072], 'b');
  EXPECT_EQ(ten.images[3071], 'z');
  const CifarSet hundred = read_cifar(folder_.put("f", record("\x13\x63", 'c')), CifarKind::k100);
  EXPECT_EQ(hundred.labels, std::vector<uint8_t>{99});
  EXPECT_EQ(hundred.coarse_labels, std::vector<uint8_t>{19});
  EXPECT_EQ(hundred.images[0], 'c');
}

TEST_F(Cifar, Lies) {
  expect("", "expected records of 3073 bytes, got 0 bytes");
  expect(kTwo + "xy", "got 6148 bytes: 2 too many");
  expect(kTwo, "expected records of 3074 bytes, got 6146 bytes: 3072 too many", CifarKind::k100);
  expect(kTwo + record("\x0a", 'c'), "expected labels from 0 to 9, got 10 at index 2");
  expect(record(std::string("\x14\0", 2), 'c'), "expected coarse labels from 0 to 19, got 20", CifarKind::k100);
  expect(record(std::string("\0\x64", 2), 'c'), "expected labels from 0 to 99, got 100 at index 0", CifarKind::k100);
  expect("\x80\x02}q\x01.", "this is a pickle");
}

TEST_F(Cifar, CutAtEveryByteAndEveryFlippedBit) {
  for (size_t n = 0; n < kTwo.size(); n += n % 3073 < 20 || n % 3073 > 3060 ? 1 : 31) {
    EXPECT_EQ(error(kTwo.substr(0, n)).empty(), n == 3073) << n;
  }
  for (const size_t byte : {size_t{0}, size_t{1}, size_t{3073}, size_t{6145}})
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = kTwo;
      bad[byte] = static_cast<char>(bad[byte] ^ (1 << bit));
      const bool label = byte % 3073 == 0;
      EXPECT_EQ(error(bad).empty(), !label || (bad[byte] >= 0 && bad[byte] < 10)) << byte << " " << bit;
    }
}

TEST_F(Cifar, Folders) {
  for (int i = 1; i <= 5; ++i)
    folder_.put(str("data_batch_", i, ".bin"), record(std::string(1, static_cast<char>(i)), 'a'));
  folder_.put("test_batch.bin", kTwo);
  EXPECT_EQ(load_cifar(folder_.path(), CifarKind::k10, true).labels, (std::vector<uint8_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(load_cifar(folder_.path(), CifarKind::k10, false).count, 2);
  EXPECT_THROW(load_cifar(folder_.path(), CifarKind::k100, true), FileError);
  const TestFolder python;
  python.put("data_batch_1", "\x80\x02.");
  try {
    load_cifar(python.path(), CifarKind::k10, true);
    FAIL();
  } catch (const FileError& e) {
    EXPECT_NE(e.msg().find("a pickle of the version for Python"), std::string::npos) << e.msg();
  }
}

}  // namespace
}  // namespace argand::io
