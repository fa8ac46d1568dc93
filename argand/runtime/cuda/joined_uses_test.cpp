// Note [Joined uses]
#include <gtest/gtest.h>

#include "argand/runtime/cuda/caching_allocator.h"
#include "argand/runtime/cuda/fake_device_test.h"

namespace argand::cuda {
namespace {

using testing::kMiB;
using testing::stream;

const StreamHandle kMain = nullptr;
const StreamHandle kSide = stream(1);

class JoinedUses : public ::testing::Test {
 protected:
  std::byte* allocate(size_t nbytes) { return static_cast<std::byte*>(allocator.allocate(nbytes, kMain)); }
  testing::FakeDevice device{100 * kMiB};
  CachingAllocator allocator{device, "cuda:0"};
};

TEST_F(JoinedUses, NeedNoWaiting) {
  std::byte* a = allocate(20 * kMiB);
  std::byte* late = allocate(20 * kMiB);
  device.streams.issue(kSide);
  allocator.used_on(a, kSide);
  allocator.used_on(late, kSide);
  const uint64_t mark = allocator.mark(kSide);
  allocator.used_on(late, kSide);  // once more, which the mark does not cover
  allocator.joined(kMain, kSide, mark);
  allocator.deallocate(a);
  EXPECT_EQ(allocate(20 * kMiB), a);
  allocator.deallocate(late);
  EXPECT_NE(allocate(20 * kMiB), late);
  device.streams.complete(kSide);
  EXPECT_EQ(allocate(20 * kMiB), late);
}

TEST_F(JoinedUses, AreThoseOfTheOwnersStream) {
  std::byte* a = allocate(20 * kMiB);
  device.streams.issue(kSide);
  allocator.used_on(a, kSide);
  allocator.joined(stream(2), kSide, allocator.mark(kSide));
  allocator.deallocate(a);
  EXPECT_NE(allocate(20 * kMiB), a);
}

}  // namespace
}  // namespace argand::cuda
