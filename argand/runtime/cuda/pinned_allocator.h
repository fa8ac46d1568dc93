// Page-locked host memory, from which a device copies while the host continues.
//
// Locking pages takes as long as copying megabytes, so freed blocks are kept, by size: powers of two, the block freed
// last is reused first.  A block that streams used (used_on) is reused when the work they had at the time of
// deallocate() is done; the queue is looked through when no kept block fits.  A block that a CUDA graph copies from or
// to (keep_for_graph) is reused after the graph is gone, too.
//
// Thread safety: all functions may be called from any thread.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "argand/runtime/cuda/device_memory.h"
#include "argand/runtime/cuda/event_queue.h"
#include "argand/runtime/cuda/memory_stats.h"

namespace argand::cuda {

// Where the memory comes from (cudaHostAlloc).
class PinnedSource : public StreamEvents {
 public:
  virtual void* allocate(size_t nbytes) noexcept = 0;  // null if there is none
  virtual void free(void* data, size_t nbytes) noexcept = 0;
};

struct PinnedStats {
  Counter allocation;       // blocks that a caller holds
  Counter allocated_bytes;  // their sizes, rounded up
  Counter segment;          // all blocks: held, waiting or kept
  Counter reserved_bytes;
  bool operator==(const PinnedStats&) const = default;
};

class PinnedAllocator {
 public:
  explicit PinnedAllocator(PinnedSource& source);  // `source` outlives the allocator
  // Waits for the work of streams and frees everything, also blocks that are still held.
  ~PinnedAllocator();
  PinnedAllocator(const PinnedAllocator&) = delete;
  PinnedAllocator& operator=(const PinnedAllocator&) = delete;

  // Null if nbytes is 0.  Throws OutOfMemoryError, after waiting for the work of streams, giving back all kept blocks
  // and trying again.
  void* allocate(size_t nbytes);
  // Frees what allocate() returned; null and memory of other origin are ignored.
  void deallocate(void* data) noexcept;
  // Notes that work of `stream`, issued before deallocate(), uses the block that contains `data`.  Memory of other
  // origin is ignored.
  void used_on(void* data, StreamHandle stream);
  // Notes that a CUDA graph copies from or to the block that contains `data` at each replay.  Returns the block's first
  // byte, to be passed to release_of_graph(); null for memory of other origin.
  void* keep_for_graph(const void* data);
  void release_of_graph(void* block) noexcept;
  // Whether a caller holds a block that begins at `data`.
  bool holds(const void* data) const;
  // Whether `data` lies in a block that a caller or a graph holds.
  bool contains(const void* data) const;

  // Frees the kept blocks.  Waits for the work of streams.
  void empty_cache();
  PinnedStats stats() const;

 private:
  struct Block {
    void* data = nullptr;
    size_t size_class = 0;
    bool held = false;
    int graphs = 0;  // that copy from or to it
    std::vector<StreamHandle> streams;
    int pending_events = 0;
  };
  static constexpr size_t kSizeClasses = 48;

  Block* take_new(size_t size_class);
  Block* find_block(size_t size_class);
  Block* block_at(const void* data) const;  // that is in use, and that `data` lies in
  void let_go(Block* block) noexcept;       // called by its last holder
  void keep(Block* block) { kept_[block->size_class].push_back(block); }
  void free_kept_blocks();

  mutable std::mutex mutex_;
  PinnedSource& source_;
  EventQueue<Block> events_;
  std::map<const void*, std::unique_ptr<Block>> blocks_;
  std::array<std::vector<Block*>, kSizeClasses> kept_;
  PinnedStats stats_;
};

}  // namespace argand::cuda
