// The blocks that callers hold, found by their addresses.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "argand/runtime/cuda/block_pool.h"

namespace argand::cuda {

// A hash table linked through the blocks.  Only grow_if_full() allocates, and it affects only the speed.
class LiveTable {
 public:
  size_t size() const { return size_; }

  void grow_if_full() {
    if (size_ < buckets_.size()) return;
    std::vector<Block*> old(buckets_.size() * 2, nullptr);
    old.swap(buckets_);
    for (Block* block : old)
      while (block != nullptr) link(std::exchange(block, block->hash_next));
  }

  void insert(Block* block) {
    link(block);
    ++size_;
  }

  Block* find(const void* data) const { return *slot(data); }

  Block* remove(const void* data) {
    Block** place = slot(data);
    Block* block = *place;
    if (block != nullptr) {
      *place = block->hash_next;
      --size_;
    }
    return block;
  }

  template <class F>
  void for_each(F&& f) const {
    for (Block* block : buckets_)
      for (; block != nullptr; block = block->hash_next) f(*block);
  }

 private:
  size_t bucket(const void* data) const {
    // Blocks are 512 bytes apart or more; the product spreads them over the upper bits (Knuth's multiplicative hash).
    const uint64_t product = (reinterpret_cast<uintptr_t>(data) >> 9) * 0x9E3779B97F4A7C15u;
    return static_cast<size_t>(product >> 32) & (buckets_.size() - 1);
  }

  // The link that points to the block, or the null one at the end of its list.
  Block** slot(const void* data) const {
    Block** place = const_cast<Block**>(&buckets_[bucket(data)]);
    while (*place != nullptr && (*place)->data != data) place = &(*place)->hash_next;
    return place;
  }

  void link(Block* block) {
    Block*& head = buckets_[bucket(block->data)];
    block->hash_next = head;
    head = block;
  }

  std::vector<Block*> buckets_ = std::vector<Block*>(1024, nullptr);  // a power of two
  size_t size_ = 0;
};

}  // namespace argand::cuda
