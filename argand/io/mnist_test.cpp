#include "argand/io/mnist.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <numeric>

#include "argand/io/file.h"
#include "argand/io/folder_test.h"

namespace argand::io {
namespace {

using testing::gzip;
using testing::TestFolder;

std::string idx(std::initializer_list<int> sizes, const std::string& payload) {
  std::string out{'\0', '\0', '\x08', static_cast<char>(sizes.size())};
  for (const int size : sizes) out += std::string{'\0', '\0', '\0', static_cast<char>(size)};
  return out + payload;
}

class MnistTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.put("train-images-idx3-ubyte", idx({3, 2, 2}, "abcdefghijkl"));
    folder_.put("train-labels-idx1-ubyte.gz", gzip(idx({3}, std::string("\0\1\2", 3))));
    folder_.put("t10k-images.idx3-ubyte", idx({1, 2, 2}, "mnop"));
    folder_.put("t10k-labels-idx1-ubyte", idx({1}, "\3"));
    folder_.put("other", "");
  }
  std::string error() {
    try {
      load_mnist(folder_.path(), 4);
    } catch (const FileError& e) {
      return e.msg();
    }
    return "";
  }
  TestFolder folder_;
};

TEST_F(MnistTest, LoadsPlainCompressedAndDottedNames) {
  const Mnist m = load_mnist(folder_.path(), 4);
  EXPECT_EQ(m.train.count, 3);
  EXPECT_EQ(m.train.height, 2);
  EXPECT_EQ(m.train.width, 2);
  EXPECT_EQ(std::string(m.train.images.begin(), m.train.images.end()), "abcdefghijkl");
  EXPECT_EQ(m.train.labels, (std::vector<uint8_t>{0, 1, 2}));
  EXPECT_EQ(std::string(m.test.images.begin(), m.test.images.end()), "mnop");
  EXPECT_EQ(m.test.labels, (std::vector<uint8_t>{3}));
}

TEST_F(MnistTest, LabelOutOfRangeNamesItsIndex) {
  folder_.put("train-labels-idx1-ubyte", idx({3}, std::string("\0\1\4", 3)));
  EXPECT_EQ(error(), "'" + folder_.path() + "/train-labels-idx1-ubyte': expected labels from 0 to 3, got 4 at index 2");
}

TEST_F(MnistTest, CountsMustMatch) {
  folder_.put("t10k-labels-idx1-ubyte", idx({2}, "\3\3"));
  EXPECT_EQ(error(), "'" + folder_.path() + "/t10k-labels-idx1-ubyte': expected one label for each of 1 images, got 2");
}

TEST_F(MnistTest, ImagesMustBeImages) {
  folder_.put("t10k-images-idx3-ubyte", idx({4}, "mnop"));
  EXPECT_NE(error().find("expected images (bytes in 3 dimensions), got 1-byte elements of sizes [4]"),
            std::string::npos);
  folder_.put("t10k-images-idx3-ubyte", idx({1, 4, 1}, "mnop"));
  EXPECT_NE(error().find("training images of 2x2 and test images of 4x1"), std::string::npos);
}

TEST_F(MnistTest, MissingFileIsNamed) {
  std::filesystem::remove(folder_ / "t10k-labels-idx1-ubyte");
  EXPECT_EQ(error(), "the data set in '" + folder_.path() + "' lacks t10k-labels-idx1-ubyte[.gz]");
}

TEST_F(MnistTest, FindsByPathAndByName) {
  EXPECT_EQ(find_dataset(folder_.path()), folder_.path());
  std::filesystem::create_directory(folder_ / "mydata");
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    if (entry.is_regular_file()) std::filesystem::copy(entry, folder_ / "mydata");
  ::setenv("ARGAND_DATA_DIR", folder_.path().c_str(), 1);
  EXPECT_EQ(find_dataset("mydata"), folder_ / "mydata");
  try {
    find_dataset("nothing");
    FAIL();
  } catch (const FileError& e) {
    EXPECT_NE(e.msg().find("no data set 'nothing': '" + folder_.path() + "/nothing' does not exist; '"),
              std::string::npos)
        << e.msg();
    EXPECT_NE(e.msg().find("train-images-idx3-ubyte, train-labels-idx1-ubyte"), std::string::npos) << e.msg();
    EXPECT_NE(e.msg().find("apt install dataset-fashion-mnist"), std::string::npos) << e.msg();
  }
  ::unsetenv("ARGAND_DATA_DIR");
}

// Facts about the real data, from its publication: 60000 + 10000 images, each class equally often.
TEST(FashionMnist, Real) {
  std::string folder;
  try {
    folder = find_dataset("fashion-mnist");
  } catch (const FileError& e) {
    GTEST_SKIP() << e.msg();
  }
  const Mnist m = load_mnist(folder);
  for (const ImageSet* set : {&m.train, &m.test}) {
    EXPECT_EQ(set->count, set == &m.train ? 60000 : 10000);
    EXPECT_EQ(set->height, 28);
    EXPECT_EQ(set->width, 28);
    std::vector<int64_t> per_class(10);
    for (const uint8_t label : set->labels) ++per_class[label];
    EXPECT_EQ(per_class, std::vector<int64_t>(10, set->count / 10));
  }
  EXPECT_EQ(m.train.labels[0], 9);  // the first training image is an ankle boot
  const double sum = std::accumulate(m.train.images.begin(), m.train.images.end(), 0.0);
  EXPECT_NEAR(sum / 255 / 60000 / 784, 0.2860, 5e-5);  // the mean that everyone normalises with
}

}  // namespace
}  // namespace argand::io
