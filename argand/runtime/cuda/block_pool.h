// The memory of one stream, for small or for large blocks: reserved address ranges, cut into blocks without gaps.
//
//   range   | in use | free | in use |  free  |      unmapped ...      |
//   pages   |          page          |  page  |
//
// A block is in use, free (memory without a holder) or unmapped (addresses without memory, whole pages).  Neighbours
// that are both free, or both unmapped, are merged at once, so free memory is in as few pieces as possible. Every
// choice depends on sizes and addresses alone: the same calls give the same addresses.
//
// Not thread-safe: the allocator that owns the pool holds its lock.
#pragma once
#include <cstddef>
#include <deque>
#include <set>
#include <vector>

#include "argand/runtime/cuda/device_memory.h"
#include "argand/runtime/cuda/memory_stats.h"

namespace argand::cuda {

class BlockPool;
struct Block;

// By size, then by address: the first block that is large enough is the best fit.
struct SmallerBlock {
  using is_transparent = void;
  bool operator()(const Block* a, const Block* b) const;
  bool operator()(const Block* a, size_t nbytes) const;
};
using FreeBlocks = std::set<Block*, SmallerBlock>;

struct LowerBlock {
  bool operator()(const Block* a, const Block* b) const;
};

struct AddressRange {
  std::byte* base;
  size_t size;
  Block* first;       // at base
  size_t mapped = 0;  // bytes with memory
};

struct Block {
  BlockPool* pool = nullptr;
  AddressRange* range = nullptr;
  std::byte* address = nullptr;
  size_t size = 0;
  BlockState state = BlockState::kUnmapped;
  Block* prev = nullptr;  // neighbours in the range
  Block* next = nullptr;
  // The block's node for the set of free blocks, kept here while it is not in the set, so that freeing allocates
  // nothing.
  FreeBlocks::node_type node;
  FreeBlocks::iterator place;

  // While in use:
  void* data = nullptr;  // the caller's address: `address`, except in guarded blocks
  size_t requested = 0;
  uint64_t sequence = 0;
  bool guarded = false;
  Holder holder;
  struct Use {
    StreamHandle stream;
    uint64_t number;  // Note [Joined uses]: how many marks the stream had
  };
  std::vector<Use> uses;  // of other streams
  int pending_events = 0;
  Block* hash_next = nullptr;

  std::byte* end() const { return address + size; }
  bool in_use() const { return state == BlockState::kActive || state == BlockState::kAwaitingStream; }
};

// The memory that all pools of a device may take together.
struct MemoryBudget {
  DeviceMemory& device;
  size_t limit;
  size_t reserved = 0;

  bool map(void* at, size_t nbytes) noexcept;
  void unmap(void* at, size_t nbytes) noexcept;
};

// Which memory a pool holds.
struct PoolKey {
  PoolId id;
  StreamHandle stream;
  bool is_small;
};

class BlockPool {
 public:
  // Takes memory in pages of `page_size`, a multiple of the device's granularity; an address range has at least
  // `range_size` bytes.
  BlockPool(MemoryBudget& budget, PoolKey key, size_t page_size, size_t range_size);
  ~BlockPool();  // unmaps everything; the device must no longer use it
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // Exactly `nbytes` bytes of the free block that fits best, as a block in state kActive; null if none fits.
  Block* take(size_t nbytes);
  // Maps memory such that take(nbytes) succeeds.  Returns false, and maps nothing, if there is none.
  bool grow(size_t nbytes);
  // Frees a block that take() returned.  Never fails.
  void give_back(Block* block) noexcept;
  // Unmaps every page that is completely free.  The device must no longer use free memory.
  void trim();

  const PoolKey& key() const { return key_; }
  size_t mapped_bytes() const { return mapped_bytes_; }
  size_t mapped_ranges() const;
  const std::deque<AddressRange>& ranges() const { return ranges_; }

 private:
  struct Gap {
    Block* first;
    size_t missing;  // bytes to map
  };
  Gap best_gap(size_t nbytes) const;
  bool add_range(size_t nbytes);
  void make_free(Block* block) noexcept;
  void make_unmapped(Block* block);
  Block* new_block();
  Block* split(Block* block, size_t nbytes);
  Block* cut_front(Block* block, size_t nbytes);
  void absorb_next(Block* block) noexcept;
  void absorb_prev(Block* block) noexcept;
  void recycle(Block* block) noexcept;
  void insert_free(Block* block) noexcept;
  void remove_free(Block* block) noexcept;
  void resized(Block* block) noexcept;

  MemoryBudget& budget_;
  const PoolKey key_;
  const size_t page_size_;
  const size_t range_size_;
  size_t mapped_bytes_ = 0;
  FreeBlocks free_;
  std::set<Block*, LowerBlock> unmapped_;
  std::deque<AddressRange> ranges_;
  std::deque<Block> blocks_;  // all that were ever made; merged ones are reused
  Block* spare_ = nullptr;    // those, linked by `next`
};

inline bool SmallerBlock::operator()(const Block* a, const Block* b) const {
  return a->size != b->size ? a->size < b->size : a->address < b->address;
}
inline bool SmallerBlock::operator()(const Block* a, size_t nbytes) const { return a->size < nbytes; }
inline bool LowerBlock::operator()(const Block* a, const Block* b) const { return a->address < b->address; }

}  // namespace argand::cuda
