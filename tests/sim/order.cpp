#include "tests/sim/order.h"

#include <algorithm>

#include "argand/base/error.h"

namespace argand::sim {

Order& Order::get() {
  static Order& order = *new Order;
  return order;
}

void Order::allocated(const void* data, size_t nbytes) {
  const std::lock_guard lock(mutex_);
  blocks_[static_cast<const char*>(data)] = {nbytes, {}, 0, {}};
}

void Order::freed(const void* data) {
  const std::lock_guard lock(mutex_);
  blocks_.erase(static_cast<const char*>(data));
}

void Order::work(const Queue& queue, const std::vector<const void*>& reads, const std::vector<const void*>& writes) {
  const std::lock_guard lock(mutex_);
  Clock& now = clocks_[queue];
  ++now[queue];
  for (const void* p : reads)
    if (Block* b = block_at(p)) {
      check(queue, b->writer, b->written, "reads what", "wrote");
      b->readers[queue] = now[queue];
    }
  for (const void* p : writes)
    if (Block* b = block_at(p)) {
      check(queue, b->writer, b->written, "overwrites what", "wrote");
      for (const auto& [reader, when] : b->readers) check(queue, reader, when, "overwrites what", "reads");
      b->writer = queue;
      b->written = now[queue];
      b->readers.clear();
    }
}

Clock Order::now(const Queue& queue) {
  const std::lock_guard lock(mutex_);
  return clocks_[queue];
}

void Order::after(const Queue& queue, const Clock& event) {
  const std::lock_guard lock(mutex_);
  Clock& mine = clocks_[queue];
  for (const auto& [q, when] : event) mine[q] = std::max(mine[q], when);
}

std::vector<std::string> Order::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(races_, {});
}

Order::Block* Order::block_at(const void* p) {
  auto after = blocks_.upper_bound(static_cast<const char*>(p));
  if (after == blocks_.begin()) return nullptr;
  auto& [start, block] = *std::prev(after);
  return static_cast<const char*>(p) < start + block.nbytes ? &block : nullptr;
}

void Order::check(const Queue& queue, const Queue& other, uint64_t when, const char* does, const char* did) {
  if (clocks_[queue][other] >= when) return;
  const auto name = [](const Queue& q) { return str(q.first, ":", reinterpret_cast<uintptr_t>(q.second)); };
  races_.push_back(str("stream ", name(queue), " ", does, " stream ", name(other), " ", did, ", and does not wait"));
}

}  // namespace argand::sim
