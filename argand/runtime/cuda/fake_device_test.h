// A device for the tests of the allocators: its memory is host memory that faults where nothing is mapped, its streams
// do their work when the test says so, and it fails the test where the contract of DeviceMemory is broken.
#pragma once
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "argand/runtime/cuda/device_memory.h"

namespace argand::cuda::testing {

inline constexpr size_t kKiB = size_t{1} << 10;
inline constexpr size_t kMiB = size_t{1} << 20;

inline StreamHandle stream(int number) { return reinterpret_cast<StreamHandle>(static_cast<uintptr_t>(number)); }

// Streams that have issued some work and completed a part of it; both are counted.
class FakeStreams {
 public:
  ~FakeStreams() { EXPECT_TRUE(events_.empty()) << events_.size() << " events were not dropped"; }

  void issue(StreamHandle s) {
    const std::lock_guard lock(mutex_);
    ++work_[s].issued;
    ++issued_;
  }
  void complete(StreamHandle s) {
    const std::lock_guard lock(mutex_);
    work_[s].done = work_[s].issued;
  }
  void complete_all() {
    const std::lock_guard lock(mutex_);
    for (auto& [s, work] : work_) work.done = work.issued;
  }

  // How much work was issued on all streams together, and whether all of it is done.
  int issued() {
    const std::lock_guard lock(mutex_);
    return issued_;
  }
  bool idle() {
    const std::lock_guard lock(mutex_);
    return std::all_of(work_.begin(), work_.end(), [](const auto& w) { return w.second.done == w.second.issued; });
  }

  void* record(StreamHandle s) {
    const std::lock_guard lock(mutex_);
    if (lost) return nullptr;
    auto* event = new Event{s, work_[s].issued};
    events_.insert(event);
    return event;
  }
  bool done(void* event) {
    const std::lock_guard lock(mutex_);
    const Event& e = known(event);
    return work_[e.stream].done >= e.work;
  }
  void wait(void* event) {
    const std::lock_guard lock(mutex_);
    const Event& e = known(event);
    work_[e.stream].done = std::max(work_[e.stream].done, e.work);
  }
  void drop(void* event) {
    const std::lock_guard lock(mutex_);
    known(event);
    events_.erase(static_cast<Event*>(event));
    delete static_cast<Event*>(event);
  }

  bool lost = false;

 private:
  struct Event {
    StreamHandle stream;
    int work;
  };
  struct Work {
    int issued = 0;
    int done = 0;
  };
  const Event& known(void* event) {
    EXPECT_TRUE(events_.count(static_cast<Event*>(event))) << "not an event";
    return *static_cast<Event*>(event);
  }
  std::mutex mutex_;
  std::map<StreamHandle, Work> work_;
  int issued_ = 0;
  std::set<Event*> events_;
};

class FakeDevice final : public DeviceMemory {
 public:
  explicit FakeDevice(size_t capacity) : capacity_(capacity) {}
  ~FakeDevice() override {
    EXPECT_TRUE(ranges_.empty()) << "addresses were not released";
    EXPECT_EQ(mapped_, 0u);
  }

  FakeStreams streams;
  std::vector<std::string> log;  // what may take long, in order
  bool capturing = false;        // nothing may be recorded, asked for or waited for

  size_t mapped() const { return mapped_; }
  size_t ranges() const { return ranges_.size(); }
  // Which range an address is in, and where: the same in every run.
  std::pair<size_t, size_t> place(const void* data) const {
    const auto* at = static_cast<const std::byte*>(data);
    for (const Range& r : ranges_)
      if (at >= r.base && at < r.base + r.size) return {r.number, static_cast<size_t>(at - r.base)};
    ADD_FAILURE() << "not an address of the device";
    return {};
  }

  size_t granularity() noexcept override { return 2 * kMiB; }
  size_t total_bytes() noexcept override { return capacity_; }
  size_t free_bytes() noexcept override { return capacity_ - mapped_; }

  void* reserve(size_t nbytes) noexcept override {
    EXPECT_EQ(nbytes % granularity(), 0u);
    if (no_addresses) return nullptr;
    const size_t span = nbytes + granularity();
    void* raw = mmap(nullptr, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(raw, MAP_FAILED);
    const auto address = reinterpret_cast<uintptr_t>(raw);
    const uintptr_t aligned = (address + granularity() - 1) / granularity() * granularity();
    ranges_.push_back({raw, span, static_cast<std::byte*>(raw) + (aligned - address), nbytes, reserved_++});
    return ranges_.back().base;
  }
  void release(void* base, size_t nbytes) noexcept override {
    for (auto it = ranges_.begin(); it != ranges_.end(); ++it) {
      if (it->base != base) continue;
      EXPECT_EQ(it->size, nbytes);
      const auto first = pages_.lower_bound(it->base);
      EXPECT_TRUE(first == pages_.end() || first->first >= it->base + it->size) << "released while mapped";
      munmap(it->raw, it->span);
      ranges_.erase(it);
      return;
    }
    ADD_FAILURE() << "release of what was not reserved";
  }
  bool map(void* at, size_t nbytes) noexcept override {
    ++map_calls;
    EXPECT_EQ(nbytes % granularity(), 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % granularity(), 0u);
    if (mapped_ + nbytes > capacity_) return false;
    auto* page = static_cast<std::byte*>(at);
    place(page);
    place(page + nbytes - 1);
    const auto next = pages_.lower_bound(page);
    EXPECT_TRUE(next == pages_.end() || next->first >= page + nbytes) << "mapped twice";
    EXPECT_TRUE(next == pages_.begin() || std::prev(next)->first + std::prev(next)->second.size <= page)
        << "mapped twice";
    EXPECT_EQ(mprotect(at, nbytes, PROT_READ | PROT_WRITE), 0);
    pages_[page] = {nbytes, streams.issued()};
    mapped_ += nbytes;
    return true;
  }
  void unmap(void* at, size_t nbytes) noexcept override {
    const auto it = pages_.find(static_cast<std::byte*>(at));
    ASSERT_TRUE(it != pages_.end() && it->second.size == nbytes) << "unmap of what no map() gave";
    EXPECT_TRUE(streams.idle() || streams.issued() == it->second.issued) << "unmapped while work may use it";
    madvise(at, nbytes, MADV_DONTNEED);
    EXPECT_EQ(mprotect(at, nbytes, PROT_NONE), 0);
    pages_.erase(it);
    mapped_ -= nbytes;
  }

  void* record_event(StreamHandle s) noexcept override {
    EXPECT_FALSE(capturing);
    return streams.record(s);
  }
  bool event_done(void* event) noexcept override {
    EXPECT_FALSE(capturing);
    log.push_back("poll");
    return streams.done(event);
  }
  void wait_event(void* event) noexcept override {
    EXPECT_FALSE(capturing);
    log.push_back("wait");
    streams.wait(event);
  }
  void drop_event(void* event) noexcept override { streams.drop(event); }
  void synchronize() noexcept override {
    EXPECT_FALSE(capturing);
    log.push_back("synchronize");
    streams.complete_all();
  }
  void fill(void* at, uint8_t value, size_t nbytes, StreamHandle) noexcept override {
    EXPECT_FALSE(capturing);
    std::memset(at, value, nbytes);
  }
  bool read(void* host, const void* at, size_t nbytes) noexcept override {
    EXPECT_FALSE(capturing);
    std::memcpy(host, at, nbytes);
    return !streams.lost;
  }

  bool no_addresses = false;
  int map_calls = 0;

 private:
  struct Range {
    void* raw;
    size_t span;
    std::byte* base;
    size_t size;
    size_t number;
  };
  struct Page {
    size_t size;
    int issued;  // work of the streams when it was mapped
  };
  const size_t capacity_;
  size_t mapped_ = 0;
  size_t reserved_ = 0;
  std::vector<Range> ranges_;
  std::map<std::byte*, Page> pages_;
};

}  // namespace argand::cuda::testing
