// Bytes of a storage that may disappear while it lives: those of a mapped file, which another process may truncate.
//
// Note [Bytes that go]
// The process does not own the bytes of a mapped file.  If the file becomes shorter, the system shows zeros up to the
// end of the page and sends SIGBUS to a thread that accesses later pages, at any instruction, where nothing may be
// thrown.  So three parts work together:
// 1. A storage over such bytes checks at every access (StorageImpl::data) whether they are still there, and throws if
//    they are not: `look()`.  The storage never keeps the address, so every access makes the check.
// 2. The bytes may disappear while a kernel runs.  A handler of SIGBUS (runtime/cpu/bus_errors.h) puts pages of zeros
//    where the file was and notes that the range is torn; the instruction goes on.
// 3. Code that has read the bytes checks again (`check_watched`): exec after every kernel and copy, and all code that
//    reads elements without a kernel.  The check throws, and what was written meanwhile is lost (Note [Lost writes]).
// If no file is mapped, the cost is one relaxed load per call.
#pragma once
#include <atomic>
#include <memory>

#include "argand/core/storage.h"

namespace argand {

class WatchedBytes {
 public:
  virtual ~WatchedBytes() = default;
  // The address of the first byte.  Throws why the bytes are no longer what they were.  Thread-safe.
  virtual void* look() const = 0;
};

// A range of addresses that a signal handler can look up: every member may be read at any moment.
struct WatchedRange {
  static constexpr uintptr_t kFree = 0, kTaken = 1;  // values of `begin`; others are addresses
  std::atomic<uintptr_t> begin{kFree};
  std::atomic<size_t> nbytes{0};
  std::atomic<const StorageImpl*> storage{nullptr};
  std::atomic<const WatchedBytes*> bytes{nullptr};
  std::atomic<bool> torn{false};
  char name[128] = {};  // for the handler's message: what the bytes are, maybe truncated
};

// A storage over borrowed bytes keeps a function that releases them.  A storage over bytes that may go keeps one of
// these instead, which owns the bytes.
struct WatchedRelease {
  std::shared_ptr<const WatchedBytes> bytes;
  void operator()(void*) const noexcept {}
};

// Registers a range; the entry belongs to the caller until it releases it.
WatchedRange& watch_range(const void* begin, size_t nbytes, const char* name);
void unwatch_range(WatchedRange& range) noexcept;
// Null if no range has this address, or this storage.  May be called by a handler of signals.
WatchedRange* watched_range_of(const void* address) noexcept;
WatchedRange* watched_range_of(const StorageImpl& storage) noexcept;

// A storage over such bytes, whose range is `range`.  It cannot be resized, and nothing that uses it waits in a window.
intrusive_ptr<StorageImpl> watched_storage(size_t nbytes, const Device& device, WatchedRange& range,
                                           std::shared_ptr<const WatchedBytes> bytes);

namespace detail {
inline constinit std::atomic<int> watched_ranges{0};
void check_watched(const StorageImpl& storage);
}  // namespace detail

inline bool any_watched() { return detail::watched_ranges.load(std::memory_order_relaxed) != 0; }
// Call this after reading the bytes of the storage: throws if they were not valid.
inline void check_watched(const StorageImpl& storage) {
  if (any_watched()) [[unlikely]]
    detail::check_watched(storage);
}

}  // namespace argand
