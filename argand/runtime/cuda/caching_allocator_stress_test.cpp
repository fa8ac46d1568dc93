// The allocator under long and random use, compared with a simple model.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "argand/base/error.h"
#include "argand/runtime/cuda/caching_allocator.h"
#include "argand/runtime/cuda/fake_device_test.h"

namespace argand::cuda {
namespace {

using testing::FakeDevice;
using testing::kKiB;
using testing::kMiB;
using testing::stream;

using Random = std::mt19937_64;

size_t below(Random& random, size_t bound) { return static_cast<size_t>(random() % bound); }

// Mostly small, some large, of all magnitudes.
size_t random_size(Random& random) { return 1 + below(random, size_t{1} << (4 + below(random, 20))); }

// A mark at both ends of a block shows whether another block overlaps it.
void mark(void* data, size_t nbytes, uint64_t value) {
  auto* bytes = static_cast<uint8_t*>(data);
  bytes[0] = static_cast<uint8_t>(value);
  bytes[nbytes - 1] = static_cast<uint8_t>(value);
}
bool is_marked(const void* data, size_t nbytes, uint64_t value) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  return bytes[0] == static_cast<uint8_t>(value) && bytes[nbytes - 1] == static_cast<uint8_t>(value);
}

// No two neighbours are both free: everything that can be merged is.
void expect_merged(const MemorySnapshot& snapshot) {
  for (const SegmentInfo& segment : snapshot.segments) {
    size_t total = 0;
    for (size_t i = 0; i < segment.blocks.size(); ++i) {
      const BlockInfo& block = segment.blocks[i];
      total += block.size;
      if (i == 0) continue;
      const BlockInfo& before = segment.blocks[i - 1];
      EXPECT_LE(before.address + before.size, block.address);
      const bool are_neighbours = before.address + before.size == block.address;
      EXPECT_FALSE(are_neighbours && before.state == BlockState::kInactive && block.state == BlockState::kInactive);
    }
    EXPECT_EQ(total, segment.reserved_bytes);
  }
}

TEST(CachingAllocatorStress, RandomUseAgreesWithAModel) {
  struct Live {
    void* data;
    size_t nbytes;
    uint64_t value;
  };
  FakeDevice device(120 * kMiB);
  CachingAllocator allocator(device, "cuda:0");
  Random random(1);
  std::vector<Live> live;
  std::map<std::byte*, size_t> extents;  // rounded, of live blocks
  Counter count, bytes, requested;
  int64_t ooms = 0, damaged = 0;
  const auto release = [&](const Live& block) {
    if (!is_marked(block.data, block.nbytes, block.value)) ++damaged;
    allocator.deallocate(block.data);
    const auto extent = extents.find(static_cast<std::byte*>(block.data));
    count.decrease(1);
    bytes.decrease(extent->second);
    requested.decrease(block.nbytes);
    extents.erase(extent);
  };
  for (uint64_t i = 0; i < 100000; ++i) {
    const size_t choice = below(random, 100);
    if (choice < 52) {
      const size_t nbytes = random_size(random);
      const StreamHandle s = stream(static_cast<int>(below(random, 3)));
      void* data = nullptr;
      try {
        data = allocator.allocate(nbytes, s);
      } catch (const OutOfMemoryError&) {
        ++ooms;
        continue;
      }
      const size_t rounded = (nbytes + 511) / 512 * 512;
      const auto place = extents.emplace(static_cast<std::byte*>(data), rounded).first;
      const auto next = std::next(place);
      ASSERT_TRUE(place == extents.begin() || std::prev(place)->first + std::prev(place)->second <= place->first);
      ASSERT_TRUE(next == extents.end() || place->first + rounded <= next->first);
      mark(data, nbytes, i);
      live.push_back({data, nbytes, i});
      count.increase(1);
      bytes.increase(rounded);
      requested.increase(nbytes);
    } else if (choice < 98 && !live.empty()) {
      const size_t at = below(random, live.size());
      const Live block = live[at];
      live[at] = live.back();
      live.pop_back();
      if (below(random, 5) == 0) {
        const StreamHandle s = stream(static_cast<int>(below(random, 4)));
        device.streams.issue(s);
        allocator.used_on(block.data, s);
      }
      release(block);
    } else if (choice == 98) {
      device.streams.complete(stream(static_cast<int>(below(random, 4))));
    } else if (below(random, 20) == 0) {
      allocator.empty_cache();
    }
    if (i % 1000 == 0) expect_merged(allocator.snapshot());
    if (live.size() > 400) {  // the end of a "step"
      for (const Live& block : live) release(block);
      live.clear();
    }
    ASSERT_EQ(damaged, 0) << "step " << i;
  }
  const MemoryStats stats = allocator.stats();
  EXPECT_EQ(stats.all.allocation, count);
  EXPECT_EQ(stats.all.allocated_bytes, bytes);
  EXPECT_EQ(stats.all.requested_bytes, requested);
  EXPECT_EQ(stats.all.reserved_bytes.current, static_cast<int64_t>(device.mapped()));
  EXPECT_EQ(stats.num_ooms, ooms);
  EXPECT_GT(ooms, 0);
  EXPECT_GT(stats.num_alloc_retries, ooms);
  for (const Live& block : live) release(block);
  EXPECT_EQ(damaged, 0);
  device.streams.complete_all();
  allocator.empty_cache();
  EXPECT_EQ(device.mapped(), 0u);
  EXPECT_EQ(allocator.stats().all.active_bytes.current, 0);
  EXPECT_EQ(allocator.stats().all.segment.current, 0);
  EXPECT_EQ(allocator.stats().small.reserved_bytes.current, 0);
  EXPECT_EQ(allocator.stats().large.reserved_bytes.current, 0);
}

// One run of a fixed random trace; the n-th allocation fails once and is tried again.
struct Trace {
  FakeDevice device{200 * kMiB};
  CachingAllocator allocator{device, "cuda:0"};
  std::vector<std::pair<size_t, size_t>> places;
  int failures = 0;

  void run(int64_t failing_allocation) {
    Random random(2);
    std::vector<void*> live;
    allocator.fail_after(failing_allocation);
    for (int i = 0; i < 120; ++i) {
      if (below(random, 3) != 0 || live.empty()) {
        const size_t nbytes = random_size(random);
        live.push_back(allocate(nbytes, stream(static_cast<int>(below(random, 2)))));
        places.push_back(device.place(live.back()));
      } else {
        const size_t at = below(random, live.size());
        allocator.deallocate(live[at]);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    for (void* data : live) allocator.deallocate(data);
  }

  void* allocate(size_t nbytes, StreamHandle s) {
    const MemorySnapshot snapshot = allocator.snapshot();
    MemoryStats stats = allocator.stats();
    try {
      return allocator.allocate(nbytes, s);
    } catch (const OutOfMemoryError&) {
      ++failures;
      ++stats.num_ooms;
      EXPECT_EQ(allocator.snapshot(), snapshot);
      EXPECT_EQ(allocator.stats(), stats);
    }
    return allocator.allocate(nbytes, s);
  }
};

TEST(CachingAllocatorStress, AFailureAtAnyAllocationChangesNothing) {
  Trace clean;
  clean.run(0);
  EXPECT_EQ(clean.failures, 0);
  const auto allocations = static_cast<int64_t>(clean.places.size());
  ASSERT_GT(allocations, 60);
  for (int64_t n = 1; n <= allocations; ++n) {
    Trace trace;
    trace.run(n);
    ASSERT_EQ(trace.failures, 1);
    ASSERT_EQ(trace.places, clean.places) << "failed at " << n;
    trace.allocator.empty_cache();
    ASSERT_EQ(trace.device.mapped(), 0u);
  }
}

TEST(CachingAllocatorStress, ThreadsShareIt) {
  struct Live {
    void* data;
    size_t nbytes;
    uint64_t value;
  };
  FakeDevice device(400 * kMiB);
  CachingAllocator allocator(device, "cuda:0");
  std::mutex mutex;
  std::vector<Live> exchanged;  // blocks that another thread frees
  std::atomic<int> damaged{0};
  const auto work = [&](int number) {
    Random random(static_cast<uint64_t>(number));
    std::vector<Live> live;
    const auto release = [&](const Live& block) {
      if (!is_marked(block.data, block.nbytes, block.value)) ++damaged;
      if (below(random, 8) == 0) allocator.used_on(block.data, stream(5));
      allocator.deallocate(block.data);
    };
    for (uint64_t i = 0; i < 4000; ++i) {
      const size_t nbytes = random_size(random);
      const uint64_t value = random();
      void* data = allocator.allocate(nbytes, stream(number / 2));  // two threads to a stream
      mark(data, nbytes, value);
      live.push_back({data, nbytes, value});
      if (live.size() > 10) {
        const std::lock_guard lock(mutex);
        exchanged.push_back(live.front());
        live.erase(live.begin());
        std::swap(exchanged.front(), exchanged.back());
        if (exchanged.size() > 10) {
          release(exchanged.back());
          exchanged.pop_back();
        }
      }
      if (i % 500 == 0) allocator.empty_cache();
      if (i % 700 == 0) expect_merged(allocator.snapshot());
    }
    for (const Live& block : live) release(block);
  };
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) threads.emplace_back(work, number);
  for (std::thread& thread : threads) thread.join();
  for (const Live& block : exchanged) allocator.deallocate(block.data);
  EXPECT_EQ(damaged, 0);
  EXPECT_EQ(allocator.stats().all.allocation.allocated, 4 * 4000);
  EXPECT_EQ(allocator.stats().all.allocation.current, 0);
  allocator.empty_cache();
  EXPECT_EQ(device.mapped(), 0u);
}

// Printed without a limit: the machine may be busy.
TEST(CachingAllocatorStress, Speed) {
  FakeDevice device(400 * kMiB);
  CachingAllocator allocator(device, "cuda:0");
  const auto print = [](const char* what, int pairs, auto&& run) {
    run();
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    std::cout << what << ": " << static_cast<int>(time.count() / pairs) << " ns for allocate and deallocate\n";
  };
  print("one size", 100000, [&] {
    for (int i = 0; i < 100000; ++i) allocator.deallocate(allocator.allocate(4 * kMiB, nullptr));
  });
  print("64 blocks, taken and freed in turn", 1000 * 64, [&] {
    void* live[64];
    for (int step = 0; step < 1000; ++step) {
      for (size_t i = 0; i < 64; ++i) live[i] = allocator.allocate((i * 37 % 64 + 1) * 40 * kKiB, nullptr);
      for (void* data : live) allocator.deallocate(data);
    }
  });
}

}  // namespace
}  // namespace argand::cuda
