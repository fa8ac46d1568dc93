#include "argand/runtime/cuda/caching_allocator.h"

#include <gtest/gtest.h>

#include "argand/base/error.h"
#include "argand/runtime/cuda/fake_device_test.h"

namespace argand::cuda {
namespace {

using testing::FakeDevice;
using testing::kKiB;
using testing::kMiB;
using testing::stream;

const StreamHandle kMain = nullptr;
const StreamHandle kSide = stream(1);

class CachingAllocatorTest : public ::testing::Test {
 protected:
  std::byte* allocate(size_t nbytes, StreamHandle s = kMain) {
    return static_cast<std::byte*>(allocator.allocate(nbytes, s));
  }
  template <class... Blocks>
  void deallocate(Blocks... blocks) {
    (allocator.deallocate(blocks), ...);
  }
  // A block that kSide still uses when it is deallocated.
  std::byte* deallocate_while_used(size_t nbytes) {
    std::byte* block = allocate(nbytes);
    device.streams.issue(kSide);
    allocator.used_on(block, kSide);
    allocator.deallocate(block);
    return block;
  }
  std::string out_of_memory(size_t nbytes, StreamHandle s = kMain) {
    try {
      allocator.allocate(nbytes, s);
    } catch (const OutOfMemoryError& e) {
      return e.msg();
    }
    return "";
  }

  FakeDevice device{100 * kMiB};
  CachingAllocator allocator{device, "cuda:0"};
};

TEST_F(CachingAllocatorTest, NothingNeedsNothing) {
  EXPECT_EQ(allocate(0), nullptr);
  allocator.deallocate(nullptr);
  EXPECT_EQ(allocator.stats(), MemoryStats{});
  EXPECT_EQ(device.map_calls, 0);
}

TEST_F(CachingAllocatorTest, BlocksAreRoundedAndAligned) {
  std::byte* a = allocate(1);
  std::byte* b = allocate(513);
  std::byte* c = allocate(512);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % kBlockAlignment, 0u);
  EXPECT_EQ(b - a, 512);
  EXPECT_EQ(c - b, 1024);
  c[511] = std::byte{1};
  EXPECT_EQ(device.mapped(), 2 * kMiB);
}

TEST_F(CachingAllocatorTest, AFreedBlockIsReusedAtOnce) {
  std::byte* a = allocate(3 * kMiB);
  deallocate(a);
  EXPECT_EQ(allocate(3 * kMiB), a);
  EXPECT_EQ(device.map_calls, 1);
}

TEST_F(CachingAllocatorTest, SmallAndLargeBlocksAreApart) {
  std::byte* small = allocate(kSmallBlock);
  std::byte* large = allocate(kSmallBlock + 1);
  EXPECT_NE(device.place(small).first, device.place(large).first);
  EXPECT_EQ(device.mapped(), 22 * kMiB);
}

TEST_F(CachingAllocatorTest, FreeNeighboursMergeInAnyOrder) {
  for (int order = 0; order < 6; ++order) {
    std::byte* blocks[3] = {allocate(2 * kMiB), allocate(2 * kMiB), allocate(2 * kMiB)};
    std::byte* fence = allocate(2 * kMiB);
    const int first = order / 2, second = (first + 1 + order % 2) % 3, third = 3 - first - second;
    deallocate(blocks[first], blocks[second], blocks[third]);
    EXPECT_EQ(allocate(6 * kMiB), blocks[0]) << order;
    deallocate(blocks[0], fence);
  }
  EXPECT_EQ(device.place(allocate(20 * kMiB)).second, 0u);
  EXPECT_EQ(device.map_calls, 1);
}

TEST_F(CachingAllocatorTest, TheBestFitIsTakenAndOfEqualOnesTheLowest) {
  std::byte* four = allocate(4 * kMiB);
  std::byte* fence1 = allocate(2 * kMiB);
  std::byte* three = allocate(3 * kMiB);
  std::byte* fence2 = allocate(2 * kMiB);
  std::byte* other_three = allocate(3 * kMiB);
  std::byte* fence3 = allocate(2 * kMiB);
  deallocate(other_three, four, three);
  EXPECT_EQ(allocate(3 * kMiB), three);
  EXPECT_EQ(allocate(2 * kMiB + 512), other_three);
  EXPECT_EQ(allocate(2 * kMiB), four);
  deallocate(fence1, fence2, fence3);
}

TEST_F(CachingAllocatorTest, ASegmentGrowsInPlaceAndUsesItsFreeEnd) {
  std::byte* a = allocate(15 * kMiB);
  std::byte* b = allocate(30 * kMiB);  // 5 MiB of the first page and two more pages
  EXPECT_EQ(b, a + 15 * kMiB);
  EXPECT_EQ(device.mapped(), 60 * kMiB);
  EXPECT_EQ(allocator.stats().all.segment.current, 1);
}

TEST_F(CachingAllocatorTest, TheSameStepTakesTheSameAddressesEveryTimeAndInEveryRun) {
  using Places = std::vector<std::pair<size_t, size_t>>;
  const auto step = [](CachingAllocator& a, const FakeDevice& d) {
    Places places;
    std::vector<void*> kept;
    for (size_t i = 1; i <= 40; ++i) {
      void* activation = a.allocate(i * 37 % 41 * 50 * kKiB, stream(static_cast<int>(i % 2)));
      void* workspace = a.allocate(i * 100 * kKiB, kMain);
      places.push_back(d.place(workspace));
      a.deallocate(workspace);
      if (activation != nullptr) places.push_back(d.place(activation));
      kept.push_back(activation);
    }
    while (!kept.empty()) {
      a.deallocate(kept.back());
      kept.pop_back();
    }
    return places;
  };
  FakeDevice other_device(100 * kMiB);
  CachingAllocator other(other_device, "cuda:1");
  const Places first = step(allocator, device);
  EXPECT_EQ(step(other, other_device), first);
  const Places second = step(allocator, device);
  const int map_calls = device.map_calls;
  EXPECT_EQ(step(allocator, device), second);
  EXPECT_EQ(device.map_calls, map_calls);
  EXPECT_EQ(step(other, other_device), second);
}

// ---- streams

TEST_F(CachingAllocatorTest, AStreamReusesOnlyItsOwnBlocks) {
  std::byte* a = allocate(kMiB, kMain);
  deallocate(a);
  std::byte* b = allocate(kMiB, kSide);
  EXPECT_NE(a, b);
  EXPECT_EQ(allocate(kMiB, kMain), a);
}

TEST_F(CachingAllocatorTest, ABlockUsedOnAnotherStreamWaitsForItsWork) {
  std::byte* a = deallocate_while_used(20 * kMiB);
  EXPECT_EQ(allocator.stats().all.allocated_bytes.current, 0);
  EXPECT_EQ(allocator.stats().all.active_bytes.current, 20 * kMiB);
  std::byte* b = allocate(20 * kMiB);
  EXPECT_NE(a, b);
  device.streams.issue(kSide);  // later work does not matter
  EXPECT_NE(allocate(20 * kMiB), a);
  device.streams.complete(kSide);
  EXPECT_EQ(allocate(20 * kMiB), a);
}

TEST_F(CachingAllocatorTest, WorkIssuedAfterDeallocateIsNotWaitedFor) {
  std::byte* a = allocate(20 * kMiB);
  allocator.used_on(a, kSide);
  deallocate(a);
  device.streams.issue(kSide);
  EXPECT_EQ(allocate(20 * kMiB), a);
}

TEST_F(CachingAllocatorTest, ABlockUsedOnTwoStreamsWaitsForBoth) {
  std::byte* a = allocate(20 * kMiB);
  for (const int number : {1, 2, 1}) {
    device.streams.issue(stream(number));
    allocator.used_on(a, stream(number));
  }
  deallocate(a);
  device.streams.complete(stream(2));
  std::byte* b = allocate(20 * kMiB);
  EXPECT_NE(b, a);
  device.streams.complete(stream(1));
  EXPECT_EQ(allocate(20 * kMiB), a);
}

TEST_F(CachingAllocatorTest, UseOnItsOwnStreamCostsNothing) {
  std::byte* a = allocate(kMiB);
  device.streams.issue(kMain);
  allocator.used_on(a, kMain);
  deallocate(a);
  EXPECT_EQ(allocate(kMiB), a);
}

TEST_F(CachingAllocatorTest, TheUsesOfABlockEndWithIt) {
  std::byte* a = deallocate_while_used(kMiB);
  device.streams.complete(kSide);
  allocator.empty_cache();
  EXPECT_EQ(allocate(kMiB), a);
  device.streams.issue(kSide);
  deallocate(a);
  EXPECT_EQ(allocate(kMiB), a);
}

TEST_F(CachingAllocatorTest, ForeignMemoryIsIgnoredByUsedOn) {
  int foreign = 0;
  allocator.used_on(&foreign, kSide);
  allocator.used_on(nullptr, kSide);
  EXPECT_NO_THROW(allocator.check_guards());
}

TEST_F(CachingAllocatorTest, ALostDeviceHasNoWorkToWaitFor) {
  device.streams.lost = true;
  std::byte* a = deallocate_while_used(kMiB);
  EXPECT_EQ(allocate(kMiB), a);
}

// ---- giving memory back

TEST_F(CachingAllocatorTest, EmptyCacheReturnsEverything) {
  std::byte* a = allocate(30 * kMiB);
  std::byte* b = allocate(kMiB, kSide);
  std::byte* c = deallocate_while_used(kKiB);
  ASSERT_NE(c, nullptr);
  deallocate(a, b);
  allocator.empty_cache();
  EXPECT_EQ(device.mapped(), 0u);
  const MemoryStats stats = allocator.stats();
  EXPECT_EQ(stats.all.reserved_bytes.current, 0);
  EXPECT_EQ(stats.all.reserved_bytes.freed, stats.all.reserved_bytes.allocated);
  EXPECT_EQ(stats.all.segment.current, 0);
  EXPECT_TRUE(allocator.snapshot().segments.empty());
  EXPECT_EQ(allocate(30 * kMiB), a);
}

TEST_F(CachingAllocatorTest, FreePagesInTheMiddleAreReturnedAndMappedAgain) {
  std::byte* a = allocate(19 * kMiB);
  std::byte* b = allocate(42 * kMiB);  // ends in the fourth page
  std::byte* c = allocate(10 * kMiB);
  deallocate(b);
  allocator.empty_cache();
  EXPECT_EQ(device.mapped(), 40 * kMiB);  // the second and the third page are gone
  a[19 * kMiB - 1] = c[0] = b[0] = std::byte{1};
  std::byte* d = allocate(42 * kMiB);
  EXPECT_EQ(d, b);
  EXPECT_EQ(device.mapped(), 80 * kMiB);
  for (size_t i = 0; i < 42; ++i) d[i * kMiB] = std::byte{1};
}

TEST_F(CachingAllocatorTest, TheGapWithTheLeastToMapIsFilled) {
  std::byte* a = allocate(40 * kMiB);
  std::byte* b = allocate(2 * kMiB);
  deallocate(a);
  allocator.empty_cache();  // 40 MiB without memory, b, 18 MiB free
  std::byte* c = allocate(30 * kMiB);
  EXPECT_EQ(c, b + 2 * kMiB);
  EXPECT_EQ(device.mapped(), 40 * kMiB);
  EXPECT_EQ(allocate(40 * kMiB), a);
}

TEST_F(CachingAllocatorTest, OfEqualGapsTheLowestIsFilled) {
  std::byte* a = allocate(40 * kMiB);
  std::byte* b = allocate(20 * kMiB);
  deallocate(a);
  allocator.empty_cache();  // 40 MiB without memory, b, addresses without memory
  EXPECT_EQ(allocate(30 * kMiB), a);
  deallocate(b);
}

TEST_F(CachingAllocatorTest, AGapMayBeFilledFromItsMiddle) {
  std::byte* a = allocate(40 * kMiB);
  std::byte* b = allocate(40 * kMiB);
  deallocate(a);
  allocator.empty_cache();
  deallocate(b);  // 40 MiB without memory, 40 MiB free, addresses without memory
  EXPECT_EQ(allocate(45 * kMiB), b);
  EXPECT_EQ(device.mapped(), 60 * kMiB);
  EXPECT_EQ(allocate(40 * kMiB), a);
}

TEST_F(CachingAllocatorTest, TheDestructorWaitsAndTakesBackWhatIsHeld) {
  FakeDevice other(100 * kMiB);
  {
    CachingAllocator short_lived(other, "cuda:1");
    other.streams.issue(kMain);
    EXPECT_NE(short_lived.allocate(25 * kMiB, kMain), nullptr);
    short_lived.deallocate(short_lived.allocate(25 * kMiB, kMain));
  }
  EXPECT_EQ(other.log, std::vector<std::string>{"synchronize"});
}

TEST_F(CachingAllocatorTest, FragmentedAddressesAreNoLimit) {
  // Two blocks hold the ends of the first range; what is between them is too short.
  std::byte* a = allocate(50 * kMiB);
  std::byte* b = allocate(2 * kMiB);
  deallocate(a);
  std::byte* c = allocate(70 * kMiB);
  EXPECT_NE(device.place(b).first, device.place(c).first);
  c[0] = c[70 * kMiB - 1] = std::byte{1};
}

TEST_F(CachingAllocatorTest, NoAddressesIsOutOfMemory) {
  device.no_addresses = true;
  EXPECT_NE(out_of_memory(1), "");
  device.no_addresses = false;
  EXPECT_NE(allocate(1), nullptr);
}

TEST_F(CachingAllocatorTest, TheMemoryOfOneStreamServesAnotherUnderPressure) {
  deallocate(allocate(100 * kMiB, kMain));
  EXPECT_NE(allocate(100 * kMiB, kSide), nullptr);
  EXPECT_EQ(allocator.stats().num_alloc_retries, 1);
}

// ---- pressure

TEST_F(CachingAllocatorTest, PressureIsRelievedInOrder) {
  std::vector<std::byte*> held;
  for (int i = 0; i < 5; ++i) held.push_back(allocate(20 * kMiB));
  int calls = 0;
  allocator.set_on_pressure([&] {
    ++calls;
    if (held.size() == 5) {
      allocator.deallocate(held.back());  // takes the lock: it must not be held
      held.pop_back();
    }
  });
  // 1. The callback is enough.
  held.push_back(allocate(20 * kMiB));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(device.log, std::vector<std::string>{});
  allocator.set_on_pressure(nullptr);
  // 2. Work that is done is found without waiting.
  allocator.used_on(held[0], kSide);
  deallocate(held[0]);
  held[0] = allocate(20 * kMiB);
  EXPECT_EQ(device.log, std::vector<std::string>{"poll"});
  // 3. Work that is not done is waited for.
  device.streams.issue(kSide);
  allocator.used_on(held[0], kSide);
  deallocate(held[0]);
  held[0] = allocate(20 * kMiB);
  EXPECT_EQ(device.log, (std::vector<std::string>{"poll", "poll", "poll", "wait"}));
  // 4. The cache of another stream.
  deallocate(held[0]);
  held[0] = allocate(20 * kMiB, kSide);
  EXPECT_EQ(device.log.back(), "synchronize");
  EXPECT_EQ(allocator.stats().num_alloc_retries, 3);
  EXPECT_EQ(allocator.stats().num_ooms, 0);
}

TEST_F(CachingAllocatorTest, ThePressureCallbackMayAllocateAndThrow) {
  std::byte* all = allocate(100 * kMiB);
  int calls = 0;
  allocator.set_on_pressure([&] {
    ++calls;
    allocate(kMiB);
  });
  EXPECT_NE(out_of_memory(2 * kMiB), "");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(allocator.stats().num_ooms, 1);
  EXPECT_NE(out_of_memory(2 * kMiB), "");  // called again the next time
  EXPECT_EQ(calls, 2);
  allocator.set_on_pressure([&] { allocator.deallocate(std::exchange(all, nullptr)); });
  EXPECT_NE(allocate(2 * kMiB), nullptr);
}

TEST_F(CachingAllocatorTest, AfterOutOfMemoryEverythingIsAsBefore) {
  std::byte* a = allocate(35 * kMiB);
  std::byte* b = allocate(5 * kMiB);
  const MemorySnapshot snapshot = allocator.snapshot();
  const MemoryStats stats = allocator.stats();
  const int map_calls = device.map_calls;
  EXPECT_NE(out_of_memory(70 * kMiB), "");
  EXPECT_GT(device.map_calls, map_calls + 3);  // some pages were mapped, and had to be given back
  EXPECT_EQ(device.mapped(), 40 * kMiB);
  EXPECT_EQ(allocator.snapshot(), snapshot);
  MemoryStats expected = stats;
  expected.num_ooms = expected.num_alloc_retries = 1;
  EXPECT_EQ(allocator.stats(), expected);
  std::byte* c = allocate(60 * kMiB);
  c[60 * kMiB - 1] = a[0] = b[0] = std::byte{1};
  EXPECT_EQ(allocator.stats().all.reserved_bytes.current, 100 * kMiB);
}

TEST_F(CachingAllocatorTest, AnImpossibleRequestDisturbsNothing) {
  deallocate(allocate(50 * kMiB));
  const MemorySnapshot snapshot = allocator.snapshot();
  for (const size_t nbytes : {100 * kMiB + 1, SIZE_MAX, SIZE_MAX - 600}) EXPECT_NE(out_of_memory(nbytes), "");
  EXPECT_EQ(allocator.snapshot(), snapshot);
  EXPECT_TRUE(device.log.empty());
}

TEST_F(CachingAllocatorTest, TheFractionLimitsWhatIsReserved) {
  EXPECT_THROW(allocator.set_memory_fraction(1.5), ValueError);
  EXPECT_THROW(allocator.set_memory_fraction(-0.5), ValueError);
  allocator.set_memory_fraction(0.5);
  std::byte* a = allocate(40 * kMiB);
  EXPECT_NE(out_of_memory(10 * kMiB), "");  // a large page is 20 MiB
  EXPECT_NE(out_of_memory(10 * kMiB).find(" set_memory_fraction limits it to 50.00 MiB."), std::string::npos);
  EXPECT_NE(allocate(kMiB), nullptr);
  deallocate(a);
  EXPECT_NE(allocate(40 * kMiB, kSide), nullptr);
  allocator.set_memory_fraction(0.1);  // below what is held
  EXPECT_NE(out_of_memory(5 * kMiB), "");
  allocator.set_memory_fraction(1);
  EXPECT_NE(allocate(40 * kMiB), nullptr);
}

// ---- who holds what

thread_local Holder t_holder;

TEST_F(CachingAllocatorTest, TheErrorSaysWhoHoldsTheMemory) {
  allocator.set_holder_source([](Holder& holder, size_t) { holder = t_holder; });
  t_holder = {"conv2d", "float32", 4, {64, 16, 28, 28}};
  deallocate(allocate(3 * kMiB));
  std::byte* a = allocate(3 * kMiB);
  std::byte* b = allocate(3 * kMiB);
  t_holder = {"relu", "float16", 7, {1, 2, 3, 4, 5, 6}};
  allocate(4 * kMiB);
  t_holder = {};
  allocate(600);
  t_holder = {"matmul", "float32", 2, {4096, 8192}};
  EXPECT_EQ(
      out_of_memory(128 * kMiB),
      "matmul: CUDA out of memory. Tried to allocate 128.00 MiB. GPU 0 has a total capacity of 100.00 MiB of which "
      "78.00 MiB is free. This process holds 10.00 MiB in tensors and 12.00 MiB reserved but free. The memory was "
      "for [4096, 8192] float32.\n"
      "       bytes    blocks    oldest  held by\n"
      "    6.00 MiB         2            conv2d [64, 16, 28, 28] float32\n"
      "    4.00 MiB         1            relu [1, 2, 3, 4, 5, 6, ...] float16\n"
      "    1.00 KiB         1            (no op)");
  const std::string beyond = out_of_memory(size_t{1} << 60), just_below = out_of_memory((size_t{1} << 60) - (1 << 30));
  EXPECT_NE(beyond.find("Tried to allocate more than 1EB memory. GPU 0 has"), std::string::npos) << beyond;
  EXPECT_NE(just_below.find("Tried to allocate 1073741823.00 GiB. GPU 0 has"), std::string::npos) << just_below;
  for (int64_t i = 0; i < 12; ++i) {
    t_holder = {"add", "int8", 1, {i}};
    allocate(512);
  }
  const std::string message = out_of_memory(128 * kMiB);
  EXPECT_NE(message.find("\n    2.50 KiB         5            others"), std::string::npos) << message;
  t_holder = {};
  deallocate(a, b);
}

TEST_F(CachingAllocatorTest, AnEmptyDeviceHoldsNothing) {
  EXPECT_NE(out_of_memory(128 * kMiB).find("\nnothing is allocated"), std::string::npos);
}

TEST_F(CachingAllocatorTest, TheSnapshotShowsEveryBlock) {
  allocator.set_holder_source([](Holder& holder, size_t) { holder = t_holder; });
  t_holder = {"say \"hi\"\n", "float32", 0, {}};
  std::byte* a = allocate(700);
  std::byte* b = allocate(100);
  t_holder = {};
  deallocate_while_used(512);
  deallocate(a);
  const MemorySnapshot snapshot = allocator.snapshot();
  ASSERT_EQ(snapshot.segments.size(), 1u);
  const SegmentInfo& s = snapshot.segments[0];
  const auto at = reinterpret_cast<uintptr_t>(a);
  EXPECT_EQ(s.address, at);
  EXPECT_EQ(s.reserved_bytes, 2 * kMiB);
  EXPECT_TRUE(s.is_small);
  ASSERT_EQ(s.blocks.size(), 4u);
  EXPECT_EQ(s.blocks[0], (BlockInfo{at, 1024, 0, BlockState::kInactive, 0, "", ""}));
  EXPECT_EQ(s.blocks[1], (BlockInfo{at + 1024, 512, 100, BlockState::kActive, 1, "say \"hi\"\n", "[] float32"}));
  EXPECT_EQ(s.blocks[2], (BlockInfo{at + 1536, 512, 512, BlockState::kAwaitingStream, 2, "(no op)", ""}));
  EXPECT_EQ(s.blocks[3], (BlockInfo{at + 2048, 2 * kMiB - 2048, 0, BlockState::kInactive, 0, "", ""}));
  const std::string json = allocator.snapshot_json();
  EXPECT_NE(json.find("\"requested_size\": 100, \"state\": \"active_allocated\", \"sequence\": 1, "
                      "\"op\": \"say \\\"hi\\\"\\u000a\", \"shape\": \"[] float32\"}"),
            std::string::npos)
      << json;
  deallocate(b);
}

TEST_F(CachingAllocatorTest, StatisticsCount) {
  std::byte* a = allocate(700);
  std::byte* b = allocate(5 * kMiB);
  deallocate(a);
  MemoryStats s = allocator.stats();
  EXPECT_EQ(s.small.allocation, (Counter{0, 1, 1, 1}));
  EXPECT_EQ(s.small.allocated_bytes, (Counter{0, 1024, 1024, 1024}));
  EXPECT_EQ(s.small.requested_bytes, (Counter{0, 700, 700, 700}));
  EXPECT_EQ(s.small.reserved_bytes, (Counter{2 << 20, 2 << 20, 2 << 20, 0}));
  EXPECT_EQ(s.large.allocated_bytes, (Counter{5 << 20, 5 << 20, 5 << 20, 0}));
  EXPECT_EQ(s.all.allocated_bytes, (Counter{5 << 20, (5 << 20) + 1024, (5 << 20) + 1024, 1024}));
  EXPECT_EQ(s.all.segment, (Counter{2, 2, 2, 0}));
  allocator.reset_peak_stats();
  allocator.reset_accumulated_stats();
  s = allocator.stats();
  EXPECT_EQ(s.all.allocated_bytes, (Counter{5 << 20, 5 << 20, 0, 0}));
  EXPECT_EQ(s.small.allocation, Counter{});
  const std::string summary = allocator.memory_summary();
  EXPECT_NE(summary.find("allocated memory              5.00 MiB      5.00 MiB       0 bytes       0 bytes\n"),
            std::string::npos)
      << summary;
  deallocate(b);
}

TEST_F(CachingAllocatorTest, AllocationsFailWhenTold) {
  allocator.fail_after(2);
  EXPECT_NE(allocate(1), nullptr);
  EXPECT_NE(out_of_memory(1), "");
  EXPECT_NE(allocate(1), nullptr);
  allocator.fail_after(1);
  allocator.fail_after(0);
  EXPECT_NE(allocate(1), nullptr);
}

// ---- private pools

TEST_F(CachingAllocatorTest, APrivatePoolIsApart) {
  std::byte* shared = allocate(kMiB);
  deallocate(shared);
  allocator.begin_pool(7, kMain);
  std::byte* in_graph = allocate(kMiB);
  EXPECT_NE(in_graph, shared);
  EXPECT_NE(allocate(kMiB, kSide), nullptr);  // another stream goes on as before
  deallocate(in_graph);
  EXPECT_EQ(allocate(kMiB), in_graph);  // reused inside
  allocator.end_pool(7, kMain);
  EXPECT_EQ(allocate(kMiB), shared);
  deallocate(in_graph);
  EXPECT_NE(allocate(kMiB), in_graph);  // and never outside
}

TEST_F(CachingAllocatorTest, TheMemoryOfAGraphStaysUntilItIsReleased) {
  allocator.begin_pool(7, kMain);
  std::byte* a = allocate(20 * kMiB);
  std::byte* b = allocate(20 * kMiB);
  deallocate(a);
  allocator.end_pool(7, kMain);
  allocator.begin_pool(7, kMain);  // a second graph in the same pool
  EXPECT_EQ(allocate(20 * kMiB), a);
  deallocate(a);
  allocator.end_pool(7, kMain);
  EXPECT_NE(out_of_memory(70 * kMiB), "");
  allocator.release_pool(7);
  allocator.empty_cache();
  EXPECT_EQ(device.mapped(), 40 * kMiB);
  a[0] = std::byte{1};  // a replay writes here
  allocator.release_pool(7);
  allocator.empty_cache();
  EXPECT_EQ(device.mapped(), 20 * kMiB);
  b[0] = std::byte{1};  // held by a caller
  deallocate(b);
  const size_t ranges = device.ranges();
  allocator.empty_cache();
  EXPECT_EQ(device.ranges(), ranges - 1);  // nobody can come back to the addresses of a graph
  EXPECT_NE(allocate(100 * kMiB), nullptr);
}

TEST_F(CachingAllocatorTest, NothingDisturbsACapture) {
  std::byte* a = allocate(20 * kMiB);
  std::byte* b = deallocate_while_used(20 * kMiB);
  allocator.begin_pool(7, kMain);
  device.capturing = true;
  allocator.used_on(a, kSide);
  deallocate(a);
  allocator.empty_cache();
  EXPECT_NE(allocate(20 * kMiB), nullptr);
  EXPECT_NE(out_of_memory(50 * kMiB), "");
  device.capturing = false;
  EXPECT_EQ(allocator.stats().all.active.current, 3);
  allocator.end_pool(7, kMain);
  EXPECT_EQ(allocator.stats().all.active.current, 3);  // a waits for kSide now
  device.streams.complete(kSide);
  EXPECT_EQ(allocate(20 * kMiB), a);
  EXPECT_EQ(allocate(20 * kMiB), b);
}

TEST_F(CachingAllocatorTest, TwoStreamsOfACapture) {
  for (StreamHandle stream : {kMain, kSide}) allocator.begin_pool(7, stream);
  std::byte* a = allocate(20 * kMiB);
  allocator.used_on(a, kSide);
  deallocate(a);
  EXPECT_NE(allocate(20 * kMiB), a) << "kSide works with it until the capture ends";
  std::byte* b = allocate(20 * kMiB, kSide);
  deallocate(b);
  for (StreamHandle stream : {kSide, kMain}) allocator.end_pool(7, stream);
  device.streams.complete(kSide);
  for (StreamHandle stream : {kMain, kSide}) allocator.begin_pool(7, stream);  // a second graph in the same pool
  EXPECT_EQ(allocate(20 * kMiB), a);
  EXPECT_EQ(allocate(20 * kMiB, kSide), b);
}

TEST_F(CachingAllocatorTest, PoolsAreBegunEndedAndReleasedInOrder) {
  EXPECT_THROW(allocator.begin_pool(kSharedPool, kMain), ValueError);
  EXPECT_THROW(allocator.end_pool(7, kMain), ValueError);
  EXPECT_THROW(allocator.release_pool(7), ValueError);
  allocator.begin_pool(7, kMain);
  EXPECT_THROW(allocator.begin_pool(8, kMain), ValueError);
  EXPECT_THROW(allocator.end_pool(7, kSide), ValueError);
  allocator.end_pool(7, kMain);
  allocator.release_pool(7);
  EXPECT_THROW(allocator.release_pool(7), ValueError);
}

// ---- guard mode

class GuardTest : public CachingAllocatorTest {
 protected:
  GuardTest() {
    allocator.set_guard(true);
    allocator.set_holder_source([](Holder& holder, size_t) { holder = {"scatter", "int8", 1, {600}}; });
  }
  std::string fault() {
    try {
      allocator.check_guards();
    } catch (const Error& e) {
      return e.msg();
    }
    return "";
  }
};

TEST_F(GuardTest, BlocksInOrderPass) {
  std::byte* a = allocate(600);
  std::memset(a, 0, 600);
  EXPECT_EQ(fault(), "");
  deallocate(a);
  EXPECT_EQ(fault(), "");
  EXPECT_EQ(allocate(600), a);
}

TEST_F(GuardTest, FreshAndFreedMemoryIsPoisoned) {
  std::byte* a = allocate(600);
  EXPECT_EQ(a[0], std::byte{0xFF});
  EXPECT_EQ(a[599], std::byte{0xFF});
  std::memset(a, 0, 600);
  deallocate(a);
  EXPECT_EQ(a[0], std::byte{0xFF});
  EXPECT_EQ(a[599], std::byte{0xFF});
}

TEST_F(GuardTest, AWriteBehindTheEndIsToldAtTheNextCheck) {
  std::byte* a = allocate(600);
  a[600] = std::byte{1};
  deallocate(a);
  EXPECT_EQ(fault(), "a write out of bounds: 1 bytes after the end of the memory of scatter [600] int8 (600 bytes)");
  EXPECT_EQ(fault(), "");
}

TEST_F(GuardTest, AWriteBeforeTheStartIsFoundInALiveBlock) {
  std::byte* a = allocate(600);
  a[-3] = std::byte{1};
  EXPECT_EQ(fault(), "a write out of bounds: 3 bytes before the start of the memory of scatter [600] int8 (600 bytes)");
  EXPECT_EQ(fault(), "");
  deallocate(a);
  EXPECT_EQ(fault(), "");
}

TEST_F(GuardTest, TheLastByteOfACanaryCounts) {
  std::byte* a = allocate(512);
  a[1023] = std::byte{1};
  EXPECT_NE(fault().find("512 bytes after the end"), std::string::npos);
  std::byte* b = allocate(512);
  b[-512] = std::byte{1};
  EXPECT_NE(fault().find("512 bytes before the start"), std::string::npos);
}

TEST_F(GuardTest, ABlockFreedTwiceIsTold) {
  std::byte* a = allocate(600);
  deallocate(a, a);
  EXPECT_NE(fault().find("no block that is in use begins at"), std::string::npos);
  EXPECT_EQ(allocator.stats().all.allocation, (Counter{0, 1, 1, 1}));
}

TEST_F(GuardTest, BlocksFromBeforeAndAfterMix) {
  std::byte* guarded = allocate(600);
  allocator.set_guard(false);
  std::byte* plain = allocate(600);
  deallocate(guarded, plain);
  EXPECT_EQ(fault(), "");
  EXPECT_EQ(allocator.stats().all.allocated_bytes.current, 0);
}

TEST_F(GuardTest, AGraphIsLeftAlone) {
  std::byte* shared = allocate(600);
  device.capturing = true;
  allocator.begin_pool(7, kMain);
  std::byte* a = allocate(600);
  EXPECT_EQ(a[0], std::byte{0});
  deallocate(a);
  EXPECT_EQ(a[0], std::byte{0});
  allocator.check_guards();
  deallocate(shared);
  allocator.end_pool(7, kMain);
  device.capturing = false;
}

}  // namespace
}  // namespace argand::cuda
