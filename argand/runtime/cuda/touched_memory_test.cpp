#include "argand/runtime/cuda/touched_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>

#include "argand/core/lost_memory.h"
#include "argand/core/storage.h"

namespace argand::cuda {
namespace {

struct Arguments {
  uint64_t words[3];
  const char* bytes() const { return reinterpret_cast<const char*>(words); }
  bool touches() const { return touches_exposed_memory(bytes(), sizeof words); }
};
const void* at(uint64_t address) { return reinterpret_cast<const void*>(address); }

TEST(TouchedMemory, AddressesInExposedMemoryAreFound) {
  EXPECT_FALSE((Arguments{{1, 2, 3}}.touches()));
  expose_memory(at(0x10000), 0x100);
  expose_memory(at(0x30000), 0x100);
  EXPECT_TRUE((Arguments{{7, 0x10000, 9}}.touches()));
  EXPECT_TRUE((Arguments{{7, 8, 0x300ff}}.touches()));
  EXPECT_FALSE((Arguments{{0x10100, 0x20000, 0xffff}}.touches())) << "beside it";
  unexpose_memory(at(0x10000), 0x100);
  EXPECT_FALSE((Arguments{{7, 0x10000, 9}}.touches()));
  EXPECT_TRUE((Arguments{{0x30000, 8, 9}}.touches()));
  unexpose_memory(at(0x30000), 0x100);
  EXPECT_FALSE((Arguments{{0x30000, 0x10000, 9}}.touches()));
}

TEST(TouchedMemory, RangesMayBeTheSameOrOverlap) {
  expose_memory(at(0x10000), 0x1000);
  expose_memory(at(0x10000), 0x1000);
  expose_memory(at(0x10400), 0x100);
  EXPECT_TRUE((Arguments{{0x10800, 0, 0}}.touches())) << "behind the inner one, in the outer one";
  unexpose_memory(at(0x10000), 0x1000);
  EXPECT_TRUE((Arguments{{0x10800, 0, 0}}.touches())) << "one of two that are the same is left";
  unexpose_memory(at(0x10000), 0x1000);
  EXPECT_FALSE((Arguments{{0x10800, 0, 0}}.touches()));
  EXPECT_TRUE((Arguments{{0x10480, 0, 0}}.touches()));
  unexpose_memory(at(0x10400), 0x100);
  EXPECT_FALSE((Arguments{{0x10480, 0, 0}}.touches()));
}

// Host memory that claims to be GPU memory.
class FakeMemory final : public Allocator {
 public:
  void* allocate(size_t nbytes) override { return ::operator new(nbytes); }
  void deallocate(void* data, size_t nbytes) noexcept override {
    forget_lost_memory(data, nbytes);
    ::operator delete(data);
  }
  Device device() const override { return Device(kCUDA, 0); }
};

TEST(TouchedMemory, WhatWorkThatNeverRanWouldHaveTouchedIsLost) {
  FakeMemory memory;
  StoragePtr touched(new StorageImpl(64, memory)), other(new StorageImpl(64, memory));
  char* data = static_cast<char*>(touched->issued_data());
  other->issued_data();
  const Arguments arguments{{0, reinterpret_cast<uintptr_t>(data + 60), 5}};
  lose_memory(arguments.bytes(), sizeof arguments, std::make_exception_ptr(std::runtime_error("relu: planted")));
  for (int i = 0; i < 2; ++i) EXPECT_THROW(touched->data(), std::runtime_error);
  EXPECT_TRUE(touched->lost());
  EXPECT_NO_THROW(other->data());
  touched->recover();
  EXPECT_EQ(touched->data(), data);
  lose_memory(arguments.bytes(), sizeof arguments, std::make_exception_ptr(std::runtime_error("relu: planted")));
  touched = nullptr;  // nobody looked; what comes to lie there has not been lost
  EXPECT_EQ(lost_memory_hook.load()(Device(kCUDA, 0), data, 64), nullptr);
  StorageImpl::side_streams = false;
}

}  // namespace
}  // namespace argand::cuda
