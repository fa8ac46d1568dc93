#include "argand/runtime/cuda/host_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "argand/base/error.h"
#include "argand/runtime/cuda/caching_allocator.h"

namespace argand::cuda {
namespace {

void close_all(const SharedMemory& memory) {
  for (const SharedPiece& piece : memory.pieces) close(piece.descriptor);
}

TEST(HostMemory, IsTheSameWhereItIsMappedAgain) {
  HostMemory host(0);
  CachingAllocator blocks(host, "cuda:0");
  blocks.deallocate(blocks.allocate(5 << 20, nullptr));
  for (const size_t nbytes : {size_t{100}, size_t{1} << 20, size_t{7} << 20, size_t{50} << 20}) {
    void* before = blocks.allocate(3000, nullptr);  // the block begins within a piece
    auto* data = static_cast<char*>(blocks.allocate(nbytes, nullptr));
    data[0] = 1;
    data[nbytes - 1] = 2;
    SharedMemory memory;
    ASSERT_TRUE(blocks.share(data, nbytes, memory));
    EXPECT_GE(memory.mapped_bytes(), memory.offset + nbytes);
    void* base = host.map_shared(memory);
    close_all(memory);
    ASSERT_TRUE(base);
    char* same = static_cast<char*>(base) + memory.offset;
    ASSERT_NE(same, data);
    EXPECT_EQ(same[0], 1);
    EXPECT_EQ(same[nbytes - 1], 2);
    same[nbytes / 2] = 3;
    EXPECT_EQ(data[nbytes / 2], 3);
    host.unmap_shared(base, memory);
    blocks.deallocate(data);
    blocks.deallocate(before);
  }
}

TEST(HostMemory, IsZeroAndFreeAfterItWasUnmapped) {
  HostMemory host(0);
  const size_t page = host.granularity();
  auto* base = static_cast<char*>(host.reserve(8 * page));
  ASSERT_TRUE(base);
  const size_t free = host.free_bytes();
  ASSERT_TRUE(host.map(base + page, page));
  EXPECT_EQ(host.free_bytes(), free - page);
  base[page] = 1;
  host.unmap(base + page, page);
  EXPECT_EQ(host.free_bytes(), free);
  ASSERT_TRUE(host.map(base + page, page));
  EXPECT_EQ(base[page], 0);
  host.unmap(base + page, page);
  host.release(base, 8 * page);
}

TEST(HostMemory, OfAnotherDeviceIsOutOfReach) {
  HostMemory first(0), second(1);
  const size_t page = first.granularity();
  auto* a = static_cast<char*>(first.reserve(page));
  auto* b = static_cast<char*>(second.reserve(page));
  ASSERT_TRUE(a && b);
  struct Arguments {
    int64_t n;
    const void *in, *out;
  };
  const auto check = [](int device, Arguments args) { HostMemory::check_reach(device, &args, sizeof args); };
  EXPECT_NO_THROW(check(0, {5, a, a + page - 1}));
  EXPECT_NO_THROW(check(1, {5, b, nullptr}));
  EXPECT_THROW(check(0, {5, a, b + 7}), InternalError);
  EXPECT_THROW(check(1, {5, a, b}), InternalError);
  second.release(b, page);
  EXPECT_NO_THROW(check(0, {5, a, b + 7}));
  first.release(a, page);
}

TEST(HostMemory, OfOthersIsNotShared) {
  HostMemory host(0);
  CachingAllocator blocks(host, "cuda:0");
  void* data = blocks.allocate(1000, nullptr);
  char others[8] = {};
  SharedMemory memory;
  EXPECT_FALSE(blocks.share(others, sizeof others, memory));
  EXPECT_TRUE(memory.pieces.empty());
  blocks.deallocate(data);
}

}  // namespace
}  // namespace argand::cuda
