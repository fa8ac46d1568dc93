#include "argand/runtime/cuda/pinned_allocator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <thread>

#include "argand/base/error.h"
#include "argand/runtime/cuda/fake_device_test.h"

namespace argand::cuda {
namespace {

using testing::FakeStreams;
using testing::kKiB;
using testing::kMiB;
using testing::stream;

class FakeSource final : public PinnedSource {
 public:
  ~FakeSource() override { EXPECT_TRUE(blocks.empty()); }
  void* allocate(size_t nbytes) noexcept override {
    if (bytes + nbytes > capacity) return nullptr;
    bytes += nbytes;
    void* data = std::malloc(nbytes);
    blocks[data] = nbytes;
    return data;
  }
  void free(void* data, size_t nbytes) noexcept override {
    EXPECT_EQ(blocks.at(data), nbytes);
    blocks.erase(data);
    bytes -= nbytes;
    std::free(data);
  }
  void* record_event(StreamHandle s) noexcept override { return streams.record(s); }
  bool event_done(void* event) noexcept override { return streams.done(event); }
  void wait_event(void* event) noexcept override {
    ++waits;
    streams.wait(event);
  }
  void drop_event(void* event) noexcept override { streams.drop(event); }

  FakeStreams streams;
  size_t capacity = 64 * kMiB;
  size_t bytes = 0;
  int waits = 0;
  std::map<void*, size_t> blocks;
};

class PinnedAllocatorTest : public ::testing::Test {
 protected:
  void* deallocate_while_used(size_t nbytes) {
    void* block = allocator.allocate(nbytes);
    source.streams.issue(stream(1));
    allocator.used_on(block, stream(1));
    allocator.deallocate(block);
    return block;
  }

  FakeSource source;
  PinnedAllocator allocator{source};
};

TEST_F(PinnedAllocatorTest, NothingNeedsNothing) {
  EXPECT_EQ(allocator.allocate(0), nullptr);
  allocator.deallocate(nullptr);
  EXPECT_EQ(allocator.stats(), PinnedStats{});
}

TEST_F(PinnedAllocatorTest, SizesAreRoundedToPowersOfTwo) {
  size_t expected = 0;
  for (const auto& [nbytes, rounded] : {std::pair{size_t{1}, 4 * kKiB},
                                        {4 * kKiB, 4 * kKiB},
                                        {4 * kKiB + 1, 8 * kKiB},
                                        {kMiB, kMiB},
                                        {kMiB + 1, 2 * kMiB}}) {
    ASSERT_NE(allocator.allocate(nbytes), nullptr);
    expected += rounded;
    EXPECT_EQ(source.bytes, expected);
  }
}

TEST_F(PinnedAllocatorTest, AFreedBlockIsReusedByItsSizeTheLastOneFirst) {
  void* a = allocator.allocate(5000);
  void* b = allocator.allocate(5000);
  allocator.deallocate(a);
  allocator.deallocate(b);
  EXPECT_NE(allocator.allocate(3000), a);
  EXPECT_EQ(allocator.allocate(8192), b);
  EXPECT_EQ(allocator.allocate(4097), a);
}

TEST_F(PinnedAllocatorTest, ABlockWaitsForTheStreamsThatUseIt) {
  void* a = deallocate_while_used(kMiB);
  void* b = allocator.allocate(kMiB);
  EXPECT_NE(b, a);
  source.streams.complete(stream(1));
  EXPECT_EQ(allocator.allocate(kMiB), a);
  EXPECT_EQ(source.waits, 0);
}

TEST_F(PinnedAllocatorTest, TheUsesOfABlockEndWithIt) {
  void* a = deallocate_while_used(kMiB);
  source.streams.complete(stream(1));
  EXPECT_EQ(allocator.allocate(kMiB), a);
  source.streams.issue(stream(1));
  allocator.deallocate(a);
  EXPECT_EQ(allocator.allocate(kMiB), a);
}

TEST_F(PinnedAllocatorTest, UnderPressureItWaitsAndGivesBackWhatItKeeps) {
  void* a = deallocate_while_used(32 * kMiB);
  void* b = allocator.allocate(32 * kMiB);
  EXPECT_EQ(allocator.allocate(32 * kMiB), a);  // waited for
  EXPECT_EQ(source.waits, 1);
  allocator.deallocate(a);
  allocator.deallocate(b);
  EXPECT_NE(allocator.allocate(64 * kMiB), nullptr);
  EXPECT_EQ(source.bytes, 64 * kMiB);
}

TEST_F(PinnedAllocatorTest, OutOfMemoryLeavesItUsable) {
  void* a = allocator.allocate(32 * kMiB);
  const PinnedStats stats = allocator.stats();
  for (const size_t nbytes : {40 * kMiB, size_t{1} << 60, SIZE_MAX}) {
    try {
      allocator.allocate(nbytes);
      ADD_FAILURE();
    } catch (const OutOfMemoryError& e) {
      EXPECT_NE(e.msg().find("this process holds 32.00 MiB in use, 32.00 MiB in all"), std::string::npos) << e.msg();
    }
    EXPECT_EQ(allocator.stats(), stats);
  }
  EXPECT_NE(allocator.allocate(32 * kMiB), nullptr);
  allocator.deallocate(a);
}

TEST_F(PinnedAllocatorTest, EmptyCacheReturnsAllThatIsNotHeld) {
  void* held = allocator.allocate(10);
  deallocate_while_used(kMiB);
  allocator.deallocate(allocator.allocate(kKiB * 100));
  allocator.empty_cache();
  EXPECT_EQ(source.blocks.size(), 1u);
  EXPECT_EQ(allocator.stats().segment, (Counter{1, 3, 3, 2}));
  EXPECT_EQ(allocator.stats().reserved_bytes.current, 4096);
  allocator.deallocate(held);
}

TEST_F(PinnedAllocatorTest, ItKnowsWhatItHolds) {
  int foreign = 0;
  void* a = allocator.allocate(100);
  EXPECT_TRUE(allocator.holds(a));
  EXPECT_FALSE(allocator.holds(&foreign));
  allocator.used_on(&foreign, stream(1));
  allocator.deallocate(&foreign);
  allocator.deallocate(a);
  EXPECT_FALSE(allocator.holds(a));
  allocator.deallocate(a);  // twice: left alone
  EXPECT_EQ(allocator.stats().allocation, (Counter{0, 1, 1, 1}));
  EXPECT_EQ(allocator.allocate(100), a);
  EXPECT_NE(allocator.allocate(100), a);
}

TEST_F(PinnedAllocatorTest, ABlockOfAGraphIsReusedWhenTheGraphIsGoneAndItsLastReplayDone) {
  int foreign = 0;
  EXPECT_EQ(allocator.keep_for_graph(&foreign), nullptr);
  EXPECT_FALSE(allocator.contains(&foreign));
  void* a = allocator.allocate(100);
  EXPECT_EQ(allocator.keep_for_graph(static_cast<char*>(a) + 40), a);
  allocator.deallocate(a);
  EXPECT_TRUE(allocator.contains(static_cast<char*>(a) + 40));
  EXPECT_NE(allocator.allocate(100), a);
  source.streams.issue(stream(1));
  allocator.used_on(a, stream(1));  // by a replay
  allocator.release_of_graph(a);
  EXPECT_FALSE(allocator.contains(a));
  EXPECT_NE(allocator.allocate(100), a);
  source.streams.complete(stream(1));
  EXPECT_EQ(allocator.allocate(100), a);
}

TEST_F(PinnedAllocatorTest, TheDestructorWaitsForBlocksThatAreStillHeld) {
  FakeSource other;
  {
    PinnedAllocator short_lived(other);
    void* block = short_lived.allocate(1);
    other.streams.issue(stream(1));
    short_lived.used_on(block, stream(1));
  }
  EXPECT_EQ(other.waits, 1);
}

TEST_F(PinnedAllocatorTest, ThreadsShareIt) {
  std::atomic<int> damaged{0};
  const auto work = [&](int number) {
    std::mt19937 random(static_cast<unsigned>(number));
    for (int i = 0; i < 5000; ++i) {
      const size_t nbytes = 1 + random() % (64 * kKiB);
      auto* data = static_cast<int*>(allocator.allocate(nbytes + sizeof(int)));
      *data = number;
      if (random() % 4 == 0) allocator.used_on(data, stream(number % 2));
      if (*data != number) ++damaged;
      allocator.deallocate(data);
      if (i % 1000 == 0) allocator.empty_cache();
    }
  };
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) threads.emplace_back(work, number);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(damaged, 0);
  EXPECT_EQ(allocator.stats().allocation, (Counter{0, allocator.stats().allocation.peak, 20000, 20000}));
}

// Printed without a limit: the machine may be busy.
TEST_F(PinnedAllocatorTest, Speed) {
  constexpr int kPairs = 100000;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kPairs; ++i) allocator.deallocate(allocator.allocate(kMiB));
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
  std::cout << static_cast<int>(time.count() / kPairs) << " ns for allocate and deallocate\n";
}

}  // namespace
}  // namespace argand::cuda
