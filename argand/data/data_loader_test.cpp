#include "argand/data/data_loader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "argand/core/cpu_generator.h"
#include "argand/data/errors.h"
#include "argand/ops/functions.h"

namespace argand::data {
namespace {

// Sample i is [i, 2i] with target i; `at` is called before it is made.
class Numbers : public AnyDataset {
 public:
  explicit Numbers(int64_t size, std::function<void(int64_t)> at = nullptr) : size_(size), at_(std::move(at)) {}
  int64_t size() const override { return size_; }
  Example<> get(int64_t i) const override {
    if (at_) at_(i);
    const Tensor data = full({2}, i, kLong);
    data[1].mul_(2);
    return {data, full({}, i, kLong)};
  }

 private:
  int64_t size_;
  std::function<void(int64_t)> at_;
};

DataLoader loader_of(int64_t size, DataLoaderOptions options, std::function<void(int64_t)> at = nullptr) {
  return DataLoader(std::make_shared<Numbers>(size, std::move(at)), std::move(options));
}

std::vector<int64_t> values(const Tensor& t) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < t.size(0); ++i) out.push_back(t[i].item<int64_t>());
  return out;
}

// The targets of a pass, batch by batch; checks that each sample's data belongs to its target.
std::vector<std::vector<int64_t>> batches(DataLoader& loader) {
  std::vector<std::vector<int64_t>> out;
  for (const Example<>& batch : loader) {
    out.push_back(values(batch.target));
    for (size_t i = 0; i < out.back().size(); ++i)
      EXPECT_EQ(batch.data[static_cast<int64_t>(i)][1].item<int64_t>(), 2 * out.back()[i]);
  }
  return out;
}

using Batches = std::vector<std::vector<int64_t>>;
constexpr int64_t kWorkerCounts[] = {0, 1, 2, 5};

TEST(DataLoader, OrderForAnyNumberOfWorkers) {
  for (const int64_t workers : kWorkerCounts) {
    for (const int64_t prefetch : {0, 1, 3}) {
      auto loader = loader_of(7, DataLoaderOptions(3).workers(workers).prefetch(prefetch));
      EXPECT_EQ(batches(loader), (Batches{{0, 1, 2}, {3, 4, 5}, {6}}));
      EXPECT_EQ(loader.num_batches(), 3);
    }
  }
}

TEST(DataLoader, LastBatchIsKeptOrDropped) {
  for (const int64_t workers : kWorkerCounts) {
    const auto options = [&](int64_t n) { return DataLoaderOptions(n).workers(workers).drop_last(true); };
    auto odd = loader_of(7, options(3)), even = loader_of(6, options(3)), small = loader_of(2, options(3));
    EXPECT_EQ(batches(odd), (Batches{{0, 1, 2}, {3, 4, 5}}));
    EXPECT_EQ(batches(even), (Batches{{0, 1, 2}, {3, 4, 5}}));
    EXPECT_EQ(batches(small), Batches{});
    EXPECT_EQ(odd.num_batches(), 2);
    EXPECT_EQ(small.num_batches(), 0);
  }
}

TEST(DataLoader, EmptySetAndBatchLargerThanTheSet) {
  for (const int64_t workers : kWorkerCounts) {
    auto empty = loader_of(0, DataLoaderOptions(3).workers(workers).shuffle(true));
    EXPECT_EQ(batches(empty), Batches{});
    auto large = loader_of(2, DataLoaderOptions(int64_t{1} << 40).workers(workers));
    EXPECT_EQ(batches(large), (Batches{{0, 1}}));
  }
}

TEST(DataLoader, ShuffleIsThatOfItsGeneratorWhateverTheWorkers) {
  Batches first, second;
  for (const int64_t workers : kWorkerCounts) {
    auto loader = loader_of(20, DataLoaderOptions(6).shuffle(true).workers(workers).generator(make_cpu_generator(5)));
    const Batches one = batches(loader), two = batches(loader);
    if (workers == 0) first = one, second = two;
    EXPECT_EQ(one, first);
    EXPECT_EQ(two, second);
  }
  EXPECT_NE(first, second) << "each pass has an order of its own";
  std::vector<bool> seen(20);
  for (const auto& batch : first)
    for (const int64_t i : batch) seen[static_cast<size_t>(i)] = true;
  EXPECT_EQ(seen, std::vector<bool>(20, true));
}

TEST(DataLoader, GoesOnInTheMiddleOfAPass) {
  for (const int64_t workers : kWorkerCounts) {
    const auto options = DataLoaderOptions(3).shuffle(true).workers(workers);
    auto whole = loader_of(20, DataLoaderOptions(options).generator(make_cpu_generator(5)));
    const Batches all = batches(whole);
    for (int64_t first = 0; first <= 7; ++first) {
      auto loader = loader_of(20, DataLoaderOptions(options).generator(make_cpu_generator(5)));
      Batches rest;
      for (auto it = loader.begin_at(first); it != loader.end(); ++it) rest.push_back(values(it->target));
      EXPECT_EQ(rest, Batches(all.begin() + first, all.end()));
    }
    EXPECT_THROW(whole.begin_at(8), ValueError);
    EXPECT_THROW(whole.begin_at(-1), ValueError);
  }
}

// Sample 4 fails at once and sample 1 late: they are reported in the order of the batches, the others come all the
// same.
TEST(DataLoader, ItsStateGoesOnWithThePass) {
  for (const bool own : {true, false}) {
    for (const int64_t workers : {0, 2}) {
      const auto make = [&] {
        DataLoaderOptions options = DataLoaderOptions(6).shuffle(true).workers(workers);
        if (own) options.generator(make_cpu_generator(5));
        return loader_of(20, options);
      };
      // The batches of two passes, with a draw of the program's own behind each batch.
      const auto draw = [] { return randint(1'000'000, {1}).item<int64_t>(); };
      manual_seed(3);
      auto whole = make();
      std::vector<std::pair<Tensor, int64_t>> expected;
      for (int pass = 0; pass < 2; ++pass)
        for (const Example<>& batch : whole) expected.emplace_back(batch.data, draw());
      ASSERT_EQ(expected.size(), 8u);
      for (size_t stop = 0; stop <= expected.size(); ++stop) {
        manual_seed(3);
        auto first = make();
        size_t given = 0;
        for (int pass = 0; pass < 2 && given < stop; ++pass) {
          for (const Example<>& batch : first) {
            EXPECT_TRUE(equal(batch.data, expected[given].first));
            EXPECT_EQ(draw(), expected[given++].second);
            if (given == stop) break;
          }
        }
        const StateDict state = first.state_dict();
        const std::vector<uint8_t> now = default_cpu_generator().state();
        manual_seed(99);
        auto second = make();
        second.load_state_dict(state);
        EXPECT_TRUE(equal(second.state_dict()["batches"], state["batches"]));
        default_cpu_generator().set_state(now);
        while (given < expected.size()) {
          for (const Example<>& batch : second) {
            EXPECT_TRUE(equal(batch.data, expected[given].first)) << stop << " " << given;
            EXPECT_EQ(draw(), expected[given++].second);
          }
        }
      }
    }
  }
}

TEST(DataLoader, WhatIsNoStateOfItIsRefused) {
  auto loader = loader_of(20, DataLoaderOptions(6).shuffle(true));
  EXPECT_THROW(loader.load_state_dict(StateDict()), ValueError);
  StateDict state = loader.state_dict();
  state["batches"] = full({}, 5, kLong);
  EXPECT_THROW(loader.load_state_dict(state), ValueError);
  state["batches"] = full({}, 4, kLong);
  loader.load_state_dict(state);
  EXPECT_EQ(loader.begin(), loader.end());
  state["generator"] = zeros({3}, kByte);
  EXPECT_THROW(loader.load_state_dict(state), ValueError);
}

TEST(DataLoader, ExceptionsComeWhereTheirBatchWouldHave) {
  for (const int64_t workers : kWorkerCounts) {
    std::atomic<bool> four_failed = workers < 2;  // with one worker or none there is nobody to wait for
    auto loader = loader_of(7, DataLoaderOptions(1).workers(workers).prefetch(10), [&](int64_t i) {
      if (i == 4) {
        four_failed = true;
        throw std::runtime_error("four is broken");
      }
      if (i == 1) {
        while (!four_failed) std::this_thread::yield();
        throw 1;
      }
    });
    std::string story;
    auto it = loader.begin();
    story += str(it->target[0].item<int64_t>(), " ");
    for (int i = 0; i < 6; ++i) {
      try {
        ++it;
        story += str(it->target[0].item<int64_t>(), " ");
      } catch (const SampleError& e) {
        story += str("[", e.index(), ": ", e.msg(), "] ");
      }
    }
    ++it;
    EXPECT_EQ(it, loader.end());
    EXPECT_EQ(story, "0 [1: sample 1: an exception that is no std::exception] 2 3 [4: sample 4: four is broken] 5 6 ");
  }
}

TEST(DataLoader, CauseOfASampleErrorCanBeCaught) {
  auto loader = loader_of(3, DataLoaderOptions(2).workers(1), [](int64_t) { throw std::out_of_range("no such file"); });
  try {
    loader.begin();
    FAIL() << "begin() makes the first batch";
  } catch (const SampleError& e) {
    EXPECT_EQ(e.index(), 0);
    EXPECT_THROW(std::rethrow_exception(e.cause()), std::out_of_range);
  }
}

// With full queues and workers that wait for room.
TEST(DataLoader, LeavingEarlyNeverHangs) {
  for (int round = 0; round < 20; ++round) {
    for (const int64_t workers : kWorkerCounts) {
      for (const int64_t taken : {0, 1, 3}) {
        auto loader = loader_of(1000, DataLoaderOptions(2).workers(workers));
        auto it = loader.begin();
        for (int64_t i = 0; i < taken; ++i) ++it;
        EXPECT_EQ(it->target[0].item<int64_t>(), 2 * taken);
      }
    }
  }
}

TEST(DataLoader, IteratorOutlivesItsLoader) {
  DataLoader::Iterator it;
  {
    auto loader = loader_of(6, DataLoaderOptions(2).workers(2));
    it = loader.begin();
  }
  ++it;
  EXPECT_EQ(values(it->target), (std::vector<int64_t>{2, 3}));
}

// No more is made ahead than asked for.
TEST(DataLoader, QueuesAreBounded) {
  std::atomic<int64_t> made{0};
  auto loader = loader_of(100, DataLoaderOptions(1).workers(2).prefetch(3), [&](int64_t) { ++made; });
  int64_t taken = 0;
  for (auto it = loader.begin(); it != loader.end(); ++it) {
    ++taken;
    for (int i = 0; i < 50; ++i) std::this_thread::yield();
    EXPECT_LE(made, taken + 6);
  }
  EXPECT_EQ(made, 100);
}

// The first batch is finished only after all others of the queue have been made: it still comes first.
TEST(DataLoader, SlowWorkerKeepsTheOrder) {
  std::mutex mutex;
  std::condition_variable changed;
  int64_t done = 0;
  auto loader = loader_of(4, DataLoaderOptions(1).workers(4), [&](int64_t i) {
    std::unique_lock lock(mutex);
    if (i == 0) changed.wait(lock, [&] { return done == 3; });
    ++done;
    changed.notify_all();
  });
  EXPECT_EQ(batches(loader), (Batches{{0}, {1}, {2}, {3}}));
}

// A gate that keeps a worker inside a sample until the test is over.
struct Gate {
  std::mutex mutex;
  std::condition_variable opened;
  bool open = false;
  std::atomic<bool> left{false};
  void wait() {
    std::unique_lock lock(mutex);
    opened.wait(lock, [&] { return open; });
    left = true;
  }
};

TEST(DataLoader, TimeoutNamesTheBatchAndAStuckWorkerIsLeftBehind) {
  const auto gate = std::make_shared<Gate>();
  {
    auto loader =
        loader_of(6, DataLoaderOptions(2).workers(1).timeout(std::chrono::milliseconds(30)), [gate](int64_t i) {
          if (i == 3) gate->wait();
        });
    auto it = loader.begin();
    EXPECT_EQ(values(it->target), (std::vector<int64_t>{0, 1}));
    try {
      ++it;
      ADD_FAILURE() << "nothing can have come";
    } catch (const LoaderTimeout& e) {
      EXPECT_EQ(e.msg(), "DataLoader: Timeout, batch 1 (sample 2 and following) was not made within 30 ms");
    }
  }
  EXPECT_FALSE(gate->left) << "the loader went away without waiting for it";
  {
    const std::lock_guard lock(gate->mutex);
    gate->open = true;
  }
  gate->opened.notify_all();
  while (!gate->left) std::this_thread::yield();
}

TEST(DataLoader, SeveralAtOnceOverOneSet) {
  const auto set = std::make_shared<Numbers>(50);
  DataLoader a(set, DataLoaderOptions(4).workers(2)), b(set, DataLoaderOptions(4).workers(3));
  auto x = a.begin(), y = b.begin(), z = a.begin();  // and two passes of one loader
  for (; x != a.end(); ++x, ++y, ++z) {
    EXPECT_EQ(values(x->target), values(y->target));
    EXPECT_EQ(values(x->target), values(z->target));
  }
  EXPECT_EQ(y, b.end());
}

TEST(DataLoader, FromSeveralThreads) {
  const auto set = std::make_shared<Numbers>(40);
  std::vector<std::thread> threads;
  std::atomic<int64_t> sum{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      DataLoader loader(set, DataLoaderOptions(3).workers(2));
      for (const Example<>& batch : loader)
        for (const int64_t i : values(batch.target)) sum += i;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(sum, 4 * 39 * 20);
}

// Gives the indices it was made with.
class Fixed final : public Sampler {
 public:
  explicit Fixed(std::vector<int64_t> order) : order_(std::move(order)) {}
  std::vector<int64_t> next_order(int64_t) override { return order_; }

 private:
  std::vector<int64_t> order_;
};

TEST(DataLoader, SamplersDecideOrderAndNumber) {
  for (const int64_t workers : kWorkerCounts) {
    const auto with = [&](std::vector<int64_t> order) {
      return DataLoader(std::make_shared<Numbers>(5), DataLoaderOptions(2).workers(workers),
                        std::make_unique<Fixed>(std::move(order)));
    };
    auto fewer = with({4, 2, 0}), more = with({1, 1, 1, 1, 1, 3}), none = with({});
    EXPECT_EQ(batches(fewer), (Batches{{4, 2}, {0}}));
    EXPECT_EQ(batches(more), (Batches{{1, 1}, {1, 1}, {1, 3}}));
    EXPECT_EQ(batches(none), Batches{});
    for (const int64_t wrong : {-1, 5}) {
      auto loader = with({0, wrong});
      EXPECT_THROW(loader.begin(), IndexError);
    }
  }
}

TEST(DataLoader, InvalidOptions) {
  EXPECT_THROW(loader_of(3, DataLoaderOptions(0)), ValueError);
  EXPECT_THROW(loader_of(3, DataLoaderOptions(-2)), ValueError);
  EXPECT_THROW(loader_of(3, DataLoaderOptions(2).workers(-1)), ValueError);
  EXPECT_THROW(DataLoader(nullptr, DataLoaderOptions(2)), ValueError);
}

}  // namespace
}  // namespace argand::data
