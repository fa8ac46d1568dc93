#include "argand/data/datasets/cifar.h"

#include <gtest/gtest.h>

#include "argand/io/folder_test.h"
#include "argand/ops/functions.h"

namespace argand::data::datasets {
namespace {

TEST(CifarDataset, ImagesAreColoursInTheUnitInterval) {
  const io::testing::TestFolder folder;
  std::string record(3073, '\0');
  record[0] = 7;
  record[1 + 2 * 1024 + 5 * 32 + 6] = '\xff';  // blue, row 5, column 6
  folder.put("test_batch.bin", record + record);
  CIFAR set(folder.path(), io::CifarKind::k10, CIFAR::Mode::kTest);
  EXPECT_EQ(*set.size(), 2U);
  const Example<> one = set.get(1);
  EXPECT_EQ(one.data.sizes(), IntArrayRef({3, 32, 32}));
  EXPECT_EQ(one.data[2][5][6].item<float>(), 1);
  EXPECT_EQ(one.data.sum().item<float>(), 1);
  EXPECT_EQ(one.target.item<int64_t>(), 7);
}

}  // namespace
}  // namespace argand::data::datasets
