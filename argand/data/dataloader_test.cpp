#include "argand/data/dataloader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <numeric>
#include <set>
#include <sstream>
#include <thread>

#include "argand/core/cpu_generator.h"
#include "argand/data/datasets.h"
#include "argand/data/samplers.h"
#include "argand/data/transforms.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/serialize/serialize.h"

namespace argand::data {
namespace {

constexpr int64_t kWorkerCounts[] = {0, 1, 3};

// Example i is the number i; `at` is called before it is made.
struct Numbers : datasets::Dataset<Numbers, int> {
  explicit Numbers(size_t size, std::function<void(size_t)> at = nullptr) : count(size), at(std::move(at)) {}
  int get(size_t i) override {
    if (at) at(i);
    return static_cast<int>(i);
  }
  std::optional<size_t> size() const override { return count; }
  size_t count;
  std::function<void(size_t)> at;
};

template <class Loader>
auto batches(Loader& loader) {
  std::vector<typename Loader::BatchType> out;
  for (auto& batch : loader) out.push_back(batch);
  return out;
}
using Batches = std::vector<std::vector<int>>;

TEST(MakeDataLoader, SequentialForAnyNumberOfWorkers) {
  for (const int64_t workers : kWorkerCounts) {
    auto loader = make_data_loader<samplers::SequentialSampler>(Numbers(7), DataLoaderOptions(3).workers(workers));
    for (int pass = 0; pass < 2; ++pass) EXPECT_EQ(batches(*loader), (Batches{{0, 1, 2}, {3, 4, 5}, {6}}));
    auto dropping = make_data_loader<samplers::SequentialSampler>(
        Numbers(7), DataLoaderOptions(3).workers(workers).drop_last(true));
    EXPECT_EQ(batches(*dropping), (Batches{{0, 1, 2}, {3, 4, 5}}));
  }
}

// LibTorch's sampler draws a permutation when it is made and one for each pass.
TEST(MakeDataLoader, ShuffleIsLibTorchs) {
  for (const int64_t workers : kWorkerCounts) {
    manual_seed(3);
    randperm(5);
    const Tensor order = randperm(5);
    manual_seed(3);
    auto loader = make_data_loader(Numbers(5), DataLoaderOptions(5).workers(workers));
    const auto got = batches(*loader);
    ASSERT_EQ(got.size(), 1U);
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(got[0][i], order[static_cast<int64_t>(i)].item<int>());
  }
}

TEST(MakeDataLoader, TransformsAreApplied) {
  struct Rows : datasets::Dataset<Rows> {
    Example<> get(size_t i) override {
      const auto x = static_cast<double>(i);
      return {full({2, 1, 1}, x), full({}, x)};
    }
    std::optional<size_t> size() const override { return 4; }
  };
  auto set = Rows()
                 .map(transforms::Normalize<>({1.0, 0.0}, {2.0, 1.0}))
                 .map(transforms::TensorLambda<>([](const Tensor& t) { return t.add(10); }))
                 .map(transforms::Stack<>());
  auto loader = make_data_loader<samplers::SequentialSampler>(std::move(set), 2);
  const auto got = batches(*loader);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_TRUE(equal(got[1].data.view({2, 2}), tensor({{10.5F, 12.F}, {11.F, 13.F}})));
  EXPECT_TRUE(equal(got[1].target, tensor({2.F, 3.F})));
}

TEST(MakeDataLoader, LambdasAndCollationOfOtherTypes) {
  auto set = Numbers(4)
                 .map(transforms::Lambda<int, std::string>([](int i) { return std::to_string(i); }))
                 .map(transforms::BatchLambda<std::vector<std::string>, std::string>([](std::vector<std::string> all) {
                   return std::accumulate(all.begin(), all.end(), std::string());
                 }));
  auto loader = make_data_loader(std::move(set), samplers::SequentialSampler(4), 3);
  EXPECT_EQ(batches(*loader), (std::vector<std::string>{"012", "3"}));
}

TEST(MakeDataLoader, ExceptionsOfWorkersAreWrapped) {
  const auto fail = [](size_t i) {
    if (i == 1) throw std::out_of_range("one is broken");
  };
  auto loader = make_data_loader<samplers::SequentialSampler>(Numbers(2, fail), DataLoaderOptions(1).workers(2));
  auto it = loader->begin();
  EXPECT_EQ(*it, std::vector<int>{0});
  ++it;
  try {
    *it;
    FAIL() << "batch 1 cannot be made";
  } catch (const WorkerException& e) {
    EXPECT_EQ(e.msg(), "Caught exception in DataLoader worker thread. Original message: one is broken");
    EXPECT_THROW(std::rethrow_exception(e.original_exception), std::out_of_range);
  }
  EXPECT_EQ(it, loader->end());
  auto alone = make_data_loader<samplers::SequentialSampler>(Numbers(2, fail), DataLoaderOptions(2));
  EXPECT_THROW(*alone->begin(), std::out_of_range) << "no worker, no wrapping";
}

TEST(MakeDataLoader, OnePassAtATime) {
  auto loader = make_data_loader(Numbers(50), DataLoaderOptions(1).workers(2));
  auto first = loader->begin();
  try {
    loader->begin();
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_EQ(e.msg(), "Attempted to get a new DataLoader iterator while another iterator is not yet exhausted");
  }
  loader->join();
  EXPECT_EQ(first, loader->end());
  EXPECT_EQ(batches(*loader).size(), 50U);
  EXPECT_THROW(*loader->end(), ValueError);
}

TEST(MakeDataLoader, EachWorkerHasItsCopyAndSharedSetsHaveOne) {
  std::mutex mutex;
  std::set<const void*> seen;
  struct Watched : Numbers {
    using Numbers::Numbers;
    std::function<void(const void*)> note;
    std::vector<int> get_batch(ArrayRef<size_t> i) override {
      note(this);
      return Numbers::get_batch(i);
    }
  };
  const auto note = [&](const void* set) {
    const std::lock_guard lock(mutex);
    seen.insert(set);
  };
  Watched set(40);
  set.note = note;
  auto loader = make_data_loader(set, DataLoaderOptions(1).workers(3));
  batches(*loader);
  EXPECT_LE(seen.size(), 3U);
  EXPECT_EQ(seen.count(&set), 0U);
  auto shared = datasets::make_shared_dataset<Watched>(40);
  shared->note = note;
  seen.clear();
  auto shared_loader = make_data_loader(shared, DataLoaderOptions(1).workers(3));
  batches(*shared_loader);
  EXPECT_EQ(seen, std::set<const void*>{&*shared});
}

// Counts down from 10 each pass; workers share it.
struct Countdown : datasets::StatefulDataset<Countdown, int> {
  std::optional<int> get_batch(size_t size) override {
    const std::lock_guard lock(*mutex);
    if (left <= 0) return std::nullopt;
    left -= static_cast<int>(size);
    return left;
  }
  void reset() override { left = 10; }
  std::optional<size_t> size() const override { return std::nullopt; }
  void save(serialize::OutputArchive&) const override {}
  void load(serialize::InputArchive&) override {}
  int left = 0;
  std::shared_ptr<std::mutex> mutex = std::make_shared<std::mutex>();
};

TEST(MakeDataLoader, StatefulSetsEndThemselves) {
  for (const int64_t workers : kWorkerCounts) {
    for (const bool ordered : {true, false}) {
      auto loader = make_data_loader(Countdown().map(transforms::BatchLambda<int>([](int i) { return i; })),
                                     DataLoaderOptions(2).workers(workers).enforce_ordering(ordered));
      for (int pass = 0; pass < 2; ++pass) {
        auto got = batches(*loader);
        std::sort(got.begin(), got.end());
        EXPECT_EQ(got, (std::vector<int>{0, 2, 4, 6, 8}));
      }
    }
  }
}

// The worker with the earlier number finds that there is no more, after the other took what was last.
TEST(Pipeline, TheLastBatchIsNotLostToAnEarlierEnd) {
  std::atomic<int> given = 0;
  std::promise<void> made;
  const std::shared_future<void> last = made.get_future();
  detail::Pipeline pipeline(
      [&]() -> detail::Pipeline::Work {
        const int number = given++;
        return {[&, number](size_t) -> detail::Pipeline::Batch {
          if (number == 0) return last.wait(), nullptr;
          if (number > 1) return nullptr;
          made.set_value();
          return std::make_shared<int>(7);
        }};
      },
      {2, 2});
  const auto batch = std::static_pointer_cast<int>(pipeline.next());
  ASSERT_TRUE(batch);
  EXPECT_EQ(*batch, 7);
  EXPECT_FALSE(pipeline.next());
}

TEST(MakeDataLoader, ShowsItsOptionsAsPlainMembers) {
  const FullDataLoaderOptions plain(DataLoaderOptions(3).workers(2).drop_last(true));
  EXPECT_EQ(plain.batch_size, 3u);
  EXPECT_EQ(plain.max_jobs, 4u);
  EXPECT_TRUE(plain.drop_last && plain.enforce_ordering && !plain.timeout);
  EXPECT_EQ(FullDataLoaderOptions(DataLoaderOptions().timeout(std::chrono::milliseconds(5))).timeout->count(), 5);
  EXPECT_EQ(FullDataLoaderOptions(DataLoaderOptions().workers(2).max_jobs(7)).max_jobs, 7u);
}

TEST(MakeDataLoader, WithoutOrderABatchDoesNotWaitForASlowOne) {
  std::atomic<bool> others_taken = false;
  auto loader = make_data_loader<samplers::SequentialSampler>(
      Numbers(4,
              [&](size_t i) {
                while (i == 0 && !others_taken) std::this_thread::yield();
              }),
      DataLoaderOptions(1).workers(2).max_jobs(4).enforce_ordering(false));
  Batches got;
  for (auto& batch : *loader) {
    got.push_back(batch);
    others_taken = got.size() == 3;
  }
  EXPECT_EQ(got.back(), std::vector<int>{0});
  EXPECT_EQ(got.size(), 4U);
}

TEST(MakeDataLoader, OptionsAreChecked) {
  EXPECT_THROW(make_data_loader(Numbers(1), DataLoaderOptions(0)), ValueError);
  EXPECT_THROW(make_data_loader(Numbers(1), DataLoaderOptions(1).shuffle(true)), ValueError);
  struct Unsized : Numbers {
    using Numbers::Numbers;
    std::optional<size_t> size() const override { return std::nullopt; }
  };
  EXPECT_THROW(make_data_loader(Unsized(1)), ValueError);
}

template <class Sampler>
void goes_on_from_an_archive(Sampler make) {
  auto sampler = make();
  sampler.next(3);
  std::stringstream stream;
  save(sampler, stream);
  auto other = make();
  load(other, stream);
  for (int i = 0; i < 3; ++i) {
    const auto mine = sampler.next(3), theirs = other.next(3);
    ASSERT_EQ(mine.has_value(), theirs.has_value());
    if (mine) {
      EXPECT_EQ(*mine, *theirs);
    }
  }
}

TEST(Samplers, GoOnFromAnArchive) {
  goes_on_from_an_archive([] { return samplers::SequentialSampler(8); });
  goes_on_from_an_archive([] { return samplers::RandomSampler(8); });
  goes_on_from_an_archive([] { return samplers::DistributedRandomSampler(16, 2, 1); });
  goes_on_from_an_archive([] { return samplers::DistributedSequentialSampler(16, 2, 1); });
  goes_on_from_an_archive([] { return samplers::StreamSampler(8); });
}

TEST(Samplers, DistributedPartsCoverTheSet) {
  for (const bool duplicates : {true, false}) {
    std::multiset<size_t> random, sequential;
    for (size_t rank = 0; rank < 3; ++rank) {
      samplers::DistributedRandomSampler a(10, 3, rank, duplicates);
      samplers::DistributedSequentialSampler b(10, 3, rank, duplicates);
      const auto x = a.next(100), y = b.next(100);
      EXPECT_EQ(x->size(), duplicates ? 4U : 3U);
      EXPECT_EQ(y->size(), duplicates ? 4U : 3U);
      random.insert(x->begin(), x->end());
      sequential.insert(y->begin(), y->end());
      EXPECT_FALSE(a.next(1));
    }
    EXPECT_EQ(random.size(), duplicates ? 12U : 9U);
    EXPECT_EQ(std::set<size_t>(random.begin(), random.end()).size(), duplicates ? 10U : 9U);
    EXPECT_EQ(std::set<size_t>(sequential.begin(), sequential.end()).size(), duplicates ? 10U : 9U);
  }
}

// Numbers its copies, as a program that tells its workers apart.
struct Copied : datasets::Dataset<Copied, int> {
  explicit Copied(std::atomic<int>& copies) : copies(&copies) {}
  Copied(const Copied& o) : copies(o.copies), number((*copies)++) {}
  Copied(Copied&&) noexcept = default;
  int get(size_t) override { return number; }
  std::optional<size_t> size() const override { return 40; }
  std::atomic<int>* copies;
  int number = -1;
};

TEST(StatelessLoader, EveryWorkerHasACopy) {
  for (const int64_t workers : kWorkerCounts) {
    std::atomic<int> copies{0};
    auto loader = make_data_loader(Copied(copies), DataLoaderOptions(1).workers(workers));
    for (const auto& batch : *loader) EXPECT_EQ(batch[0] >= 0, workers > 0);
    EXPECT_EQ(copies, workers);
  }
}

}  // namespace
}  // namespace argand::data
