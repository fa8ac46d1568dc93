#include "argand/runtime/cuda/block_pool.h"

#include <algorithm>
#include <iterator>

namespace argand::cuda {
namespace {

size_t round_up(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

size_t offset(const Block* block) { return static_cast<size_t>(block->address - block->range->base); }

// The part of an unmapped block that has to be mapped if everything below `end` is needed.
size_t missing_bytes(const Block* block, const std::byte* end, size_t page_size) {
  return round_up(static_cast<size_t>(std::min<const std::byte*>(end, block->end()) - block->address), page_size);
}

}  // namespace

bool MemoryBudget::map(void* at, size_t nbytes) noexcept {
  if (nbytes > limit || reserved > limit - nbytes || !device.map(at, nbytes)) return false;
  reserved += nbytes;
  return true;
}

void MemoryBudget::unmap(void* at, size_t nbytes) noexcept {
  device.unmap(at, nbytes);
  reserved -= nbytes;
}

BlockPool::BlockPool(MemoryBudget& budget, PoolKey key, size_t page_size, size_t range_size)
    : budget_(budget), key_(key), page_size_(page_size), range_size_(round_up(range_size, page_size)) {}

BlockPool::~BlockPool() {
  for (AddressRange& range : ranges_) {
    // Page by page: blocks whose holders outlive the allocator may end anywhere in a page.
    std::byte* unmapped_end = range.base;
    for (const Block* block = range.first; block != nullptr; block = block->next) {
      if (block->state == BlockState::kUnmapped) {
        unmapped_end = block->end();
        continue;
      }
      for (; unmapped_end < block->end(); unmapped_end += page_size_) budget_.unmap(unmapped_end, page_size_);
    }
    budget_.device.release(range.base, range.size);
  }
}

size_t BlockPool::mapped_ranges() const {
  return static_cast<size_t>(
      std::count_if(ranges_.begin(), ranges_.end(), [](const AddressRange& range) { return range.mapped != 0; }));
}

Block* BlockPool::take(size_t nbytes) {
  const auto fit = free_.lower_bound(nbytes);
  if (fit == free_.end()) return nullptr;
  Block* block = *fit;
  if (block->size > nbytes)
    block = cut_front(block, nbytes);
  else
    remove_free(block);
  block->state = BlockState::kActive;
  return block;
}

void BlockPool::give_back(Block* block) noexcept { make_free(block); }

// Adjacent free and unmapped blocks form a gap.  A request may begin at an unmapped block, or at the free one below it.
// The chosen place needs the least mapping; among equal ones it is the lowest.
BlockPool::Gap BlockPool::best_gap(size_t nbytes) const {
  Gap best{nullptr, SIZE_MAX};
  for (Block* unmapped : unmapped_) {
    Block* prev = unmapped->prev;
    Block* first = prev != nullptr && prev->state == BlockState::kInactive ? prev : unmapped;
    const std::byte* end = first->address + nbytes;
    size_t missing = 0;
    for (Block* block = first; block != nullptr && !block->in_use(); block = block->next) {
      if (block->state == BlockState::kUnmapped) missing += missing_bytes(block, end, page_size_);
      if (block->end() < end) continue;
      if (missing < best.missing) best = {first, missing};
      break;
    }
  }
  return best;
}

bool BlockPool::add_range(size_t nbytes) {
  const size_t size = std::max(range_size_, round_up(nbytes, page_size_));
  void* base = budget_.device.reserve(size);
  if (base == nullptr) return false;
  Block* block = new_block();
  AddressRange& range = ranges_.emplace_back(AddressRange{static_cast<std::byte*>(base), size, block});
  block->range = &range;
  block->address = range.base;
  block->size = size;
  block->state = BlockState::kUnmapped;
  unmapped_.insert(block);
  return true;
}

bool BlockPool::grow(size_t nbytes) {
  Gap gap = best_gap(nbytes);
  if (gap.first == nullptr) {
    if (!add_range(nbytes)) return false;
    gap = best_gap(nbytes);
  }
  const std::byte* end = gap.first->address + nbytes;
  std::vector<std::byte*> pages;
  for (Block* block = gap.first; block != nullptr && block->address < end; block = block->next) {
    if (block->state != BlockState::kUnmapped) continue;
    const size_t missing = missing_bytes(block, end, page_size_);
    for (size_t at = 0; at < missing; at += page_size_) {
      std::byte* page = block->address + at;
      if (!budget_.map(page, page_size_)) {
        for (std::byte* mapped : pages) budget_.unmap(mapped, page_size_);
        return false;
      }
      pages.push_back(page);
    }
  }
  AddressRange& range = *gap.first->range;
  range.mapped += gap.missing;
  mapped_bytes_ += gap.missing;
  // From above, as blocks merge into the one below them.
  std::vector<Block*> filled;
  for (Block* block = gap.first; block != nullptr && block->address < end; block = block->next)
    if (block->state == BlockState::kUnmapped) filled.push_back(block);
  for (auto it = filled.rbegin(); it != filled.rend(); ++it) {
    Block* block = *it;
    const size_t missing = missing_bytes(block, end, page_size_);
    unmapped_.erase(block);
    if (missing < block->size) unmapped_.insert(split(block, missing));
    make_free(block);
  }
  return true;
}

void BlockPool::trim() {
  const std::vector<Block*> blocks(free_.begin(), free_.end());
  for (Block* block : blocks) {
    const size_t first = round_up(offset(block), page_size_);
    const size_t last = (offset(block) + block->size) / page_size_ * page_size_;
    if (first >= last) continue;
    remove_free(block);
    if (first > offset(block)) {
      Block* head = block;
      block = split(head, first - offset(head));
      insert_free(head);
    }
    if (block->size > last - first) insert_free(split(block, last - first));
    make_unmapped(block);
  }
}

void BlockPool::make_free(Block* block) noexcept {
  block->state = BlockState::kInactive;
  Block *prev = block->prev, *next = block->next;
  if (next != nullptr && next->state != BlockState::kInactive) next = nullptr;
  if (prev != nullptr && prev->state == BlockState::kInactive) {
    absorb_next(prev);
    if (next != nullptr) {
      remove_free(next);
      absorb_next(prev);
    }
    resized(prev);
  } else if (next != nullptr) {
    absorb_prev(next);
    resized(next);
  } else {
    insert_free(block);
  }
}

void BlockPool::make_unmapped(Block* block) {
  for (size_t at = 0; at < block->size; at += page_size_) budget_.unmap(block->address + at, page_size_);
  block->range->mapped -= block->size;
  mapped_bytes_ -= block->size;
  block->state = BlockState::kUnmapped;
  if (block->next != nullptr && block->next->state == BlockState::kUnmapped) {
    unmapped_.erase(block->next);
    absorb_next(block);
  }
  if (block->prev != nullptr && block->prev->state == BlockState::kUnmapped) {
    absorb_next(block->prev);
  } else {
    unmapped_.insert(block);
  }
}

Block* BlockPool::new_block() {
  if (spare_ != nullptr) {
    Block* block = spare_;
    spare_ = block->next;
    block->next = nullptr;
    return block;
  }
  Block& block = blocks_.emplace_back();
  block.pool = this;
  FreeBlocks set{&block};
  block.node = set.extract(set.begin());
  return &block;
}

// Cuts a block that is in no set to `nbytes`; returns the rest, in the same state.
Block* BlockPool::split(Block* block, size_t nbytes) {
  Block* rest = new_block();
  rest->range = block->range;
  rest->address = block->address + nbytes;
  rest->size = block->size - nbytes;
  rest->state = block->state;
  rest->prev = block;
  rest->next = block->next;
  if (rest->next != nullptr) rest->next->prev = rest;
  block->next = rest;
  block->size = nbytes;
  return rest;
}

// Cuts the first `nbytes` off a free block, which stays one; returns them, as a block in no set.
Block* BlockPool::cut_front(Block* block, size_t nbytes) {
  Block* front = new_block();
  front->range = block->range;
  front->address = block->address;
  front->size = nbytes;
  front->prev = block->prev;
  front->next = block;
  (front->prev != nullptr ? front->prev->next : front->range->first) = front;
  block->prev = front;
  block->address += nbytes;
  block->size -= nbytes;
  resized(block);
  return front;
}

void BlockPool::absorb_next(Block* block) noexcept {
  Block* next = block->next;
  block->size += next->size;
  block->next = next->next;
  if (block->next != nullptr) block->next->prev = block;
  recycle(next);
}

void BlockPool::absorb_prev(Block* block) noexcept {
  Block* prev = block->prev;
  block->address = prev->address;
  block->size += prev->size;
  block->prev = prev->prev;
  (block->prev != nullptr ? block->prev->next : block->range->first) = block;
  recycle(prev);
}

void BlockPool::recycle(Block* block) noexcept {
  block->prev = nullptr;
  block->next = spare_;
  spare_ = block;
}

void BlockPool::insert_free(Block* block) noexcept { block->place = free_.insert(std::move(block->node)).position; }

void BlockPool::remove_free(Block* block) noexcept { block->node = free_.extract(block->place); }

// Call it after a change of a free block's size or address.  Usually the block keeps its place in the order.
void BlockPool::resized(Block* block) noexcept {
  const SmallerBlock smaller;
  const auto next = std::next(block->place);
  if ((block->place == free_.begin() || smaller(*std::prev(block->place), block)) &&
      (next == free_.end() || smaller(block, *next)))
    return;
  remove_free(block);
  insert_free(block);
}

}  // namespace argand::cuda
