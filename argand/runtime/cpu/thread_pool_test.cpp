#include "argand/runtime/cpu/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "argand/base/error.h"

namespace argand {
namespace {

class ThreadPoolTest : public testing::Test {
 protected:
  void SetUp() override { set_num_threads(4); }
  void TearDown() override { set_num_threads(before_); }
  const int before_ = get_num_threads();
};

std::vector<std::pair<int64_t, int64_t>> chunks_of(int64_t begin, int64_t end, int64_t grain) {
  std::mutex mutex;
  std::set<std::pair<int64_t, int64_t>> seen;
  parallel_for(begin, end, grain, [&](int64_t b, int64_t e) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(seen.emplace(b, e).second) << "chunk given out twice";
  });
  return {seen.begin(), seen.end()};
}

TEST_F(ThreadPoolTest, ChunksDependOnRangeAndGrainOnly) {
  const std::vector<std::pair<int64_t, int64_t>> expected = {{-3, 4}, {4, 11}, {11, 18}, {18, 20}};
  for (int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    EXPECT_EQ(chunks_of(-3, 20, 7), expected) << threads << " threads";
  }
  EXPECT_EQ(chunks_of(5, 5, 7).size(), 0u);
  EXPECT_EQ(chunks_of(5, 4, 7).size(), 0u);
  EXPECT_EQ(chunks_of(0, 3, 0).size(), 3u);
  EXPECT_EQ(chunks_of(0, 14, 7).size(), 2u);
}

TEST_F(ThreadPoolTest, ManySmallRegionsAreAllComplete) {
  for (int round = 0; round < 3000; ++round) {
    std::vector<int> hits(static_cast<size_t>(1 + round % 37), 0);
    parallel_for(0, static_cast<int64_t>(hits.size()), 2, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) ++hits[static_cast<size_t>(i)];
    });
    for (int h : hits) ASSERT_EQ(h, 1);
  }
}

TEST_F(ThreadPoolTest, UsesMoreThanOneThread) {
  std::mutex mutex;
  std::set<std::thread::id> ids;
  // Each chunk waits until a second thread takes part, so a single thread would reach the deadline.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  parallel_for(0, 8, 1, [&](int64_t, int64_t) {
    for (bool done = false; !done && std::chrono::steady_clock::now() < deadline;) {
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
      done = ids.size() >= 2;
    }
  });
  EXPECT_GE(ids.size(), 2u);
  EXPECT_LE(ids.size(), 4u);
}

TEST_F(ThreadPoolTest, WorkersThatSleepAreWoken) {
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int64_t> sum{0};
    parallel_for(0, 100, 1, [&](int64_t b, int64_t) { sum += b; });
    ASSERT_EQ(sum.load(), 4950);
  }
}

TEST_F(ThreadPoolTest, NestedRegionsRunInline) {
  EXPECT_FALSE(in_parallel_region());
  std::atomic<int64_t> total{0};
  parallel_for(0, 8, 1, [&](int64_t, int64_t) {
    EXPECT_TRUE(in_parallel_region());
    const auto self = std::this_thread::get_id();
    parallel_for(0, 10, 3, [&](int64_t b, int64_t e) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      total += e - b;
    });
  });
  EXPECT_EQ(total.load(), 80);
  EXPECT_FALSE(in_parallel_region());
}

TEST_F(ThreadPoolTest, TheExceptionOfTheLowestChunkArrives) {
  for (int threads : {1, 2, 4}) {
    set_num_threads(threads);
    for (int round = 0; round < 200; ++round) {
      std::string caught;
      try {
        parallel_for(0, 64, 1, [&](int64_t b, int64_t) {
          if (b == 5) std::this_thread::sleep_for(std::chrono::microseconds(100));
          if (b >= 5) throw std::runtime_error(std::to_string(b));
        });
      } catch (const std::runtime_error& e) {
        caught = e.what();
      }
      ASSERT_EQ(caught, "5");
    }
    EXPECT_EQ(chunks_of(0, 10, 1).size(), 10u) << "the pool works after an exception";
  }
}

TEST_F(ThreadPoolTest, ManyCallersAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<int64_t> total{0};
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 500; ++i) parallel_for(0, 16, 1, [&](int64_t b, int64_t e) { total += e - b; });
    });
  for (std::thread& c : callers) c.join();
  EXPECT_EQ(total.load(), 4 * 500 * 16);
}

TEST_F(ThreadPoolTest, CountIsChecked) {
  EXPECT_THROW(set_num_threads(0), ValueError);
  EXPECT_THROW(set_num_threads(-1), ValueError);
  EXPECT_THROW(set_num_threads(65536), ValueError);
  EXPECT_EQ(get_num_threads(), 4);
}

#if !defined(__SANITIZE_THREAD__)  // its runtime does not go on in the child of a program with threads
TEST_F(ThreadPoolTest, AForkedChildRunsInlineAndExits) {
  parallel_for(0, 100, 1, [](int64_t, int64_t) {});  // the pool has workers now
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    int64_t sum = 0;  // not atomic: inline
    parallel_for(0, 100, 1, [&](int64_t b, int64_t) { sum += b; });
    std::exit(sum == 4950 && !in_parallel_region() ? 0 : 1);  // static destructors run too
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
#endif

}  // namespace
}  // namespace argand
