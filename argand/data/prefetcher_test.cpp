// Every batch, in order, on the device; on a pretended one too (ARGAND_CUDA_DRY_RUN=1), whose copies are real (of more
// than one element, which would be a kernel's argument).
#include "argand/data/prefetcher.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "argand/base/log.h"
#include "argand/core/cpu_generator.h"
#include "argand/data/data_loader.h"
#include "argand/ops/functions.h"

namespace argand::data {
namespace {

class PrefetcherTest : public testing::TestWithParam<DeviceType> {
 protected:
  void SetUp() override {
    std::string why;
    if (GetParam() == kCUDA && !find_backend(kCUDA, &why)) GTEST_SKIP() << why;
  }
  Device device() const { return Device(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Devices, PrefetcherTest, testing::Values(kCPU, kCUDA),
                         [](const auto& info) { return std::string(device_type_name(info.param)); });

std::shared_ptr<TensorDataset> rows(int64_t n) {
  return std::make_shared<TensorDataset>(arange(2 * n, kFloat).view({n, 2}), arange(n, kLong));
}

std::vector<int64_t> values(const Tensor& t) {
  const Tensor host = t.cpu();
  const auto* p = host.const_data_ptr<int64_t>();
  return {p, p + host.numel()};
}

TEST_P(PrefetcherTest, GivesEveryBatchOfALoader) {
  for (const int64_t workers : {0, 2})
    for (const bool pin : {false, GetParam() == kCUDA}) {
      DataLoader loader(rows(8), DataLoaderOptions(3).workers(workers).pin_memory(pin));
      std::vector<std::vector<int64_t>> seen;
      for (const Example<>& batch : Prefetcher(loader, device())) {
        EXPECT_EQ(batch.data.device(), with_index(device()));
        EXPECT_EQ(batch.target.device(), with_index(device()));
        seen.push_back(values(batch.target));
        EXPECT_EQ(batch.data.cpu()[0][1].item<int64_t>(), 2 * seen.back()[0] + 1);
      }
      EXPECT_EQ(seen, (std::vector<std::vector<int64_t>>{{0, 1, 2}, {3, 4, 5}, {6, 7}}));
    }
}

TEST_P(PrefetcherTest, TheSecondHalfOfAPass) {
  DataLoader loader(rows(8), DataLoaderOptions(2));
  std::vector<int64_t> first;
  for (const Example<>& batch : Prefetcher(loader.begin_at(2), loader.end(), device()))
    first.push_back(values(batch.target)[0]);
  EXPECT_EQ(first, (std::vector<int64_t>{4, 6}));
}

TEST_P(PrefetcherTest, BatchesStayWhatTheyAreWhenMoreAreTaken) {
  DataLoader loader(rows(12), DataLoaderOptions(2).pin_memory(GetParam() == kCUDA));
  std::vector<Example<>> kept;
  Prefetcher prefetcher(loader, device());
  for (Example<> batch; prefetcher.next(batch);) kept.push_back(batch);
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(values(kept[static_cast<size_t>(i)].target)[0], 2 * i);
}

TEST_P(PrefetcherTest, AnErrorComesWhereItsBatchWouldHave) {
  int made = 0;
  Prefetcher prefetcher(
      [&](Example<>& out) {
        if (made == 2) throw std::runtime_error("batch 2");
        out = {full({2}, made++, kLong), {}};
        return true;
      },
      device());
  Example<> batch;
  ASSERT_TRUE(prefetcher.next(batch));
  ASSERT_TRUE(prefetcher.next(batch));
  EXPECT_EQ(values(batch.data)[0], 1);
  EXPECT_FALSE(batch.target.defined());
  EXPECT_THROW(prefetcher.next(batch), std::runtime_error);
  EXPECT_FALSE(prefetcher.next(batch)) << "the pass ends there";
}

TEST_P(PrefetcherTest, NothingIsTakenAfterTheEnd) {
  int calls = 0;
  Prefetcher none([&](Example<>&) { return ++calls, false; }, device());
  Example<> batch;
  EXPECT_FALSE(none.next(batch));
  EXPECT_FALSE(none.next(batch));
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(none.begin() == none.end());
}

TEST_P(PrefetcherTest, OneBatchIsTakenAheadOnADeviceAndNoneOnTheCpu) {
  int made = 0;
  Prefetcher prefetcher([&](Example<>& out) { return out = {full({2}, made++, kLong), {}}, true; }, device());
  Example<> batch;
  prefetcher.next(batch);
  EXPECT_EQ(made, GetParam() == kCPU ? 1 : 2);
}

TEST_P(PrefetcherTest, LeavingEarlyIsNoError) {
  DataLoader loader(rows(100), DataLoaderOptions(2).workers(2).pin_memory(GetParam() == kCUDA));
  for (const Example<>& batch : Prefetcher(loader, device())) {
    EXPECT_EQ(batch.data.size(0), 2);
    break;
  }
}

TEST(PinMemory, WithoutADeviceItWarnsAndHasNoEffect) {
  if (find_backend(kCUDA)) GTEST_SKIP() << "there is a device";
  std::string warning;
  const auto before = set_warning_handler([&](std::string_view text) { warning = text; });
  DataLoader loader(rows(3), DataLoaderOptions(3).pin_memory(true));
  set_warning_handler(before);
  EXPECT_EQ(warning.find("DataLoader: pin_memory has no effect: "), 0U) << warning;
  EXPECT_FALSE(loader.begin()->data.is_pinned());
}

}  // namespace
}  // namespace argand::data
