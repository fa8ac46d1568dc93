#include <gtest/gtest.h>

#include <numeric>
#include <sstream>

#include "argand/core/cpu_generator.h"
#include "argand/data/dataloader.h"
#include "argand/data/datasets.h"
#include "argand/data/samplers.h"
#include "argand/data/transforms.h"
#include "argand/serialize/serialize.h"

namespace argand::data {
namespace {

// Chunk i holds i + 1 numbers: 0 | 1 2 | 3 4 5 | ...
struct Triangle : datasets::ChunkDataReader<int> {
  explicit Triangle(size_t count, size_t bad = 1000) : count(count), bad(bad) {}
  std::vector<int> read_chunk(size_t i) override {
    ARGAND_CHECK(IndexError, i != bad, "chunk ", i, " cannot be read");
    // The first ones take longest: they must not be overtaken.
    std::this_thread::sleep_for(std::chrono::microseconds(300 * (count - i)));
    std::vector<int> out(i + 1);
    std::iota(out.begin(), out.end(), static_cast<int>(i * (i + 1) / 2));
    return out;
  }
  size_t chunk_count() override { return count; }
  void reset() override {}
  size_t count, bad;
};

using InOrder = datasets::ChunkDataset<Triangle, samplers::SequentialSampler, samplers::SequentialSampler>;
using AtRandom = datasets::ChunkDataset<Triangle>;

template <class Set>
std::vector<int> pass(Set& set, size_t batch_size) {
  std::vector<int> out;
  set.reset();
  while (const auto batch = set.get_batch(batch_size)) {
    EXPECT_LE(batch->size(), batch_size);
    out.insert(out.end(), batch->begin(), batch->end());
  }
  return out;
}

std::vector<int> numbers(int n) {
  std::vector<int> out(static_cast<size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

TEST(ChunkDataset, GivesChunksInOrderForAnyNumberOfThreads) {
  for (size_t threads : {1, 2, 5}) {
    for (size_t cache : {4, 9, 2048}) {
      InOrder set(Triangle(8), samplers::SequentialSampler(0), samplers::SequentialSampler(0),
                  datasets::ChunkDatasetOptions(threads, 4, cache));
      EXPECT_EQ(pass(set, 4), numbers(36));
      EXPECT_EQ(pass(set, 4), numbers(36));
    }
  }
}

TEST(ChunkDataset, RandomOrderDependsOnTheSeedAlone) {
  std::vector<std::vector<int>> orders;
  for (size_t threads : {1, 3}) {
    manual_seed(5);
    AtRandom set(Triangle(8), samplers::RandomSampler(0), samplers::RandomSampler(0),
                 datasets::ChunkDatasetOptions(threads, 6, 16, 2));
    orders.push_back(pass(set, 6));
  }
  EXPECT_EQ(orders[0], orders[1]);
  EXPECT_NE(orders[0], numbers(36));
  std::sort(orders[0].begin(), orders[0].end());
  EXPECT_EQ(orders[0], numbers(36));
}

TEST(ChunkDataset, PolicySeesWhatWasReadTogether) {
  std::vector<size_t> sizes;
  InOrder set(Triangle(5), samplers::SequentialSampler(0), samplers::SequentialSampler(0),
              datasets::ChunkDatasetOptions(1, 2, 100, 2), [&](std::vector<int>& data) {
                sizes.push_back(data.size());
                std::reverse(data.begin(), data.end());
              });
  EXPECT_EQ(pass(set, 2), (std::vector<int>{2, 1, 0, 9, 8, 7, 6, 5, 4, 3, 14, 13, 12, 11, 10}));
  EXPECT_EQ(sizes, (std::vector<size_t>{3, 7, 5}));
}

struct Failing : samplers::SequentialSampler {
  using SequentialSampler::SequentialSampler;
  std::optional<std::vector<size_t>> next(size_t count) override {
    ARGAND_CHECK(IndexError, ++calls < 3, "no chunk ", calls);
    return SequentialSampler::next(count);
  }
  int calls = 0;
};

TEST(ChunkDataset, AnErrorOfTheSamplerComesAfterWhatWasBeforeIt) {
  for (size_t threads : {1, 3}) {
    datasets::ChunkDataset<Triangle, Failing, samplers::SequentialSampler> set(
        Triangle(8), Failing(0), samplers::SequentialSampler(0), datasets::ChunkDatasetOptions(threads, 3));
    set.reset();
    EXPECT_EQ(set.get_batch(3), numbers(3));
    EXPECT_THROW(set.get_batch(3), IndexError);
  }
}

TEST(ChunkDataset, AnErrorOfTheReaderComesAfterWhatWasBeforeIt) {
  InOrder set(Triangle(6, 3), samplers::SequentialSampler(0), samplers::SequentialSampler(0),
              datasets::ChunkDatasetOptions(3, 3));
  for (int i = 0; i < 2; ++i) {
    set.reset();
    EXPECT_EQ(set.get_batch(3)->size(), 3u);
    EXPECT_EQ(set.get_batch(3)->size(), 3u);
    EXPECT_THROW(set.get_batch(3), IndexError);
    EXPECT_FALSE(set.get_batch(3).has_value());
  }
}

TEST(ChunkDataset, GoesOnWhereItWasSaved) {
  InOrder set(Triangle(4), samplers::SequentialSampler(0), samplers::SequentialSampler(0),
              datasets::ChunkDatasetOptions(1, 3));
  samplers::SequentialSampler at(0);
  at.reset(4);
  at.next(2);
  std::stringstream file;
  save(at, file);
  pass(set, 3);
  load(set, file);
  EXPECT_EQ(pass(set, 3), (std::vector<int>{3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(pass(set, 3), numbers(10));
}

TEST(ChunkDataset, LoadsInALoaderAndEndsBeforeItsTime) {
  auto set =
      datasets::make_shared_dataset<InOrder>(Triangle(8), samplers::SequentialSampler(0),
                                             samplers::SequentialSampler(0), datasets::ChunkDatasetOptions(2, 5, 6));
  auto sums = make_data_loader(set.map(transforms::Collate<int>([](const std::vector<int>& batch) {
    return std::accumulate(batch.begin(), batch.end(), 0);
  })),
                               5);
  int sum = 0;
  for (int s : *sums) sum += s;
  EXPECT_EQ(sum, 35 * 36 / 2);
  EXPECT_EQ(*sums->begin(), 10);  // and the rest is never asked for
}

TEST(ChunkDataset, ChecksItsOptions) {
  using Options = datasets::ChunkDatasetOptions;
  EXPECT_THROW(Options(0, 1), ValueError);
  EXPECT_THROW(Options(1, 0), ValueError);
  EXPECT_THROW(Options(1, 1, 0), ValueError);
  EXPECT_THROW(Options(1, 10, 5), ValueError);
  EXPECT_THROW(Options(1, 10, 20, 0), ValueError);
  InOrder set(Triangle(2), samplers::SequentialSampler(0), samplers::SequentialSampler(0), Options(1, 2));
  set.reset();
  EXPECT_THROW(set.get_batch(3), ValueError);
}

}  // namespace
}  // namespace argand::data
