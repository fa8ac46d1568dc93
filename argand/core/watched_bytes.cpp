#include "argand/core/watched_bytes.h"

#include <array>
#include <cstdio>
#include <utility>

namespace argand {
namespace {

// Blocks are added and never freed, so that a signal handler may read them at any moment.
struct Block {
  std::array<WatchedRange, 64> ranges;
  std::atomic<Block*> next{nullptr};
};
constinit Block first_block;

template <class Find>
WatchedRange* find_range(const Find& find) noexcept {
  for (Block* block = &first_block; block; block = block->next.load(std::memory_order_acquire))
    for (WatchedRange& range : block->ranges)
      if (find(range)) return &range;
  return nullptr;
}

bool take(WatchedRange& range) noexcept {
  uintptr_t free = WatchedRange::kFree;
  return range.begin.compare_exchange_strong(free, WatchedRange::kTaken, std::memory_order_acq_rel);
}

void add_block() {
  auto* const fresh = new Block;
  fresh->next.store(nullptr);
  Block* last = &first_block;
  for (Block* none = nullptr; !last->next.compare_exchange_strong(none, fresh, std::memory_order_acq_rel);
       none = nullptr)
    last = none;
}

}  // namespace

WatchedRange& watch_range(const void* begin, size_t nbytes, const char* name) {
  WatchedRange* range = find_range(take);
  while (!range) {
    add_block();
    range = find_range(take);
  }
  range->nbytes.store(nbytes);
  range->torn.store(false);
  std::snprintf(range->name, sizeof range->name, "%s", name);
  range->begin.store(reinterpret_cast<uintptr_t>(begin), std::memory_order_release);
  detail::watched_ranges.fetch_add(1);
  return *range;
}

void unwatch_range(WatchedRange& range) noexcept {
  detail::watched_ranges.fetch_sub(1);
  range.storage.store(nullptr);
  range.begin.store(WatchedRange::kFree, std::memory_order_release);
}

WatchedRange* watched_range_of(const void* address) noexcept {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  return find_range([wanted](const WatchedRange& range) {
    const uintptr_t begin = range.begin.load(std::memory_order_acquire);
    if (begin <= WatchedRange::kTaken || wanted < begin) return false;
    const bool inside = wanted - begin < range.nbytes.load(std::memory_order_acquire);
    return inside && range.begin.load(std::memory_order_acquire) == begin;  // not given back and taken meanwhile
  });
}

WatchedRange* watched_range_of(const StorageImpl& storage) noexcept {
  return find_range([&](const WatchedRange& range) { return range.storage.load() == &storage; });
}

intrusive_ptr<StorageImpl> watched_storage(size_t nbytes, const Device& device, WatchedRange& range,
                                           std::shared_ptr<const WatchedBytes> bytes) {
  range.bytes.store(bytes.get());
  auto storage = make_intrusive<StorageImpl>(nullptr, nbytes, device, WatchedRelease{std::move(bytes)});
  range.storage.store(storage.get());
  return storage;
}

void detail::check_watched(const StorageImpl& storage) {
  if (const WatchedRange* range = watched_range_of(storage)) range->bytes.load()->look();
}

}  // namespace argand
