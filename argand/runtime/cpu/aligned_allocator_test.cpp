#include "argand/runtime/cpu/aligned_allocator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "argand/base/error.h"

namespace argand {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kReuses = false;
#elif defined(__has_feature)
constexpr bool kReuses = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
constexpr bool kReuses = true;
#endif

struct Block {
  void* address;
  size_t bytes;
  unsigned char mark;
};

Block make_block(size_t bytes, unsigned char mark) {
  void* p = allocate_aligned(bytes);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % kAllocationAlignment, 0u) << bytes;
  std::memset(p, mark, bytes);  // a sanitizer sees a block that is too short
  return {p, bytes, mark};
}

void check_and_free(const Block& b) {
  const auto* p = static_cast<const unsigned char*>(b.address);
  for (size_t at : {size_t{0}, b.bytes / 2, b.bytes - 1}) EXPECT_EQ(p[at], b.mark) << "overlap, block of " << b.bytes;
  deallocate_aligned(b.address, b.bytes);
}

TEST(AlignedAllocator, EverySizeClassBoundary) {
  for (size_t log = 0; log <= 21; ++log)
    for (size_t eighth = 8; eighth < 16; ++eighth)
      for (size_t delta : {size_t{0}, size_t{1}, size_t{2}}) {
        const size_t bytes = ((eighth << log) >> 3) + delta;
        if (bytes > 0) check_and_free(make_block(bytes, 7));
      }
}

TEST(AlignedAllocator, LiveBlocksNeverOverlap) {
  std::mt19937_64 random(1);
  std::vector<Block> live;
  for (int step = 0; step < 5000; ++step) {
    if (live.size() < 100 || random() % 2 == 0) {
      const size_t bytes = 1 + random() % (size_t{1} << (random() % 23));
      live.push_back(make_block(bytes, static_cast<unsigned char>(step)));
    } else {
      const size_t i = random() % live.size();
      check_and_free(live[i]);
      live[i] = live.back();
      live.pop_back();
    }
    if (live.size() > 200) {
      for (const Block& b : live) check_and_free(b);
      live.clear();
    }
  }
  for (const Block& b : live) check_and_free(b);
  release_cached_memory();
}

TEST(AlignedAllocator, NothingForNothing) {
  EXPECT_EQ(allocate_aligned(0), nullptr);
  deallocate_aligned(nullptr, 0);
  deallocate_aligned(nullptr, 100);
}

TEST(AlignedAllocator, TooMuchIsATypedErrorWithTheSize) {
  std::vector<size_t> sizes = {(size_t{1} << 60) + 1, SIZE_MAX};
  if (kReuses) sizes.push_back(size_t{1} << 46);  // a sanitizer's allocator ends the program instead
  for (size_t bytes : sizes) try {
      allocate_aligned(bytes);
      ADD_FAILURE() << "got " << bytes << " bytes";
    } catch (const OutOfMemoryError& e) {
      EXPECT_NE(e.msg().find(std::to_string(bytes)), std::string::npos) << e.what();
    }
  check_and_free(make_block(1 << 20, 3));  // goes on working
}

TEST(AlignedAllocator, BlocksMayChangeThread) {
  std::vector<Block> blocks;
  std::thread([&] {
    for (size_t i = 1; i <= 1000; ++i) blocks.push_back(make_block(i * 37, static_cast<unsigned char>(i)));
  }).join();
  for (const Block& b : blocks) check_and_free(b);
  std::thread([&] {
    for (size_t i = 1; i <= 100; ++i) check_and_free(make_block(i * 1000, 9));
  }).join();
}

TEST(AlignedAllocator, FreedBlocksAreReused) {
  if (!kReuses) GTEST_SKIP() << "sanitizer builds keep nothing";
  for (size_t bytes : {size_t{40}, size_t{5000}, size_t{100000}, size_t{3} << 20, size_t{50} << 20}) {
    void* first = allocate_aligned(bytes);
    deallocate_aligned(first, bytes);
    void* second = allocate_aligned(bytes - 1);  // the same size class
    EXPECT_EQ(first, second) << bytes;
    deallocate_aligned(second, bytes - 1);
  }
  release_cached_memory();
}

}  // namespace
}  // namespace argand
