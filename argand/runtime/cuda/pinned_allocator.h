// Page-locked host memory, from which a device copies on its own while the host goes on.
//
// Locking pages takes as long as copying megabytes, so freed blocks are kept, by size: powers of two, the block freed
// last is reused first.  A block that streams used (used_on) is reused when the work they had at the time of
// deallocate() is done; the queue is looked through when no kept block fits.
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
  Counter segment;          // blocks there are: held, waiting or kept
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
  // Takes back what allocate() gave; null and memory that is not from here are left alone.
  void deallocate(void* data) noexcept;
  // Work of `stream`, issued before deallocate(), uses the block that `data` lies in.  Memory that is not from here is
  // ignored.
  void used_on(void* data, StreamHandle stream);
  // Whether a caller holds a block that begins at `data`.
  bool holds(const void* data) const;

  // Gives the kept blocks back.  Waits for the work of streams.
  void empty_cache();
  PinnedStats stats() const;

 private:
  struct Block {
    void* data = nullptr;
    size_t size_class = 0;
    bool held = false;
    std::vector<StreamHandle> streams;
    int pending_events = 0;
  };
  static constexpr size_t kSizeClasses = 48;

  Block* take_new(size_t size_class);
  Block* find_block(size_t size_class);
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
