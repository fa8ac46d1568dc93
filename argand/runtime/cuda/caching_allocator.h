// The memory of one CUDA device: freed blocks are kept and reused, because cudaMalloc and cudaFree wait for the device.
//
// Each stream has its own memory.  A block that was freed is reused by later work of the same stream at once: the
// stream runs its work in order, so the old use is over when the new one begins.  A block that other streams used as
// well (used_on) is reused only when the work they had at the time of deallocate() is done.
//
// The same sequence of calls gives the same addresses (relative to the reserved ranges), as long as no block is used on
// a second stream: when the work of another stream ends depends on timing.  See block_pool.h for the layout.
//
// Note [Memory pressure]
// When a request does not fit into the kept blocks and the device gives no more memory, allocate() tries in turn
//   1. the callback of set_on_pressure (work that is recorded but not yet issued may hold memory),
//   2. blocks whose work on other streams is already done,
//   3. waiting for that work,
//   4. giving all free pages back to the device, as the memory of one stream may serve another,
// and then throws OutOfMemoryError, with a table of who holds the memory.  Blocks that callers hold are as before, and
// a smaller request may succeed.  A request beyond the capacity (or the limit) throws at once and disturbs nothing.
//
// Note [Private pools]
// A captured graph writes to the same addresses at every replay, so its memory is kept apart: between begin_pool and
// end_pool, allocations of that stream come from the pool, blocks freed into it are reused only inside it, and its
// pages stay mapped until release_pool.  While any pool is active (a capture is under way, which waiting for the device
// would break) no event is recorded or asked for and nothing waits: blocks used on several streams are kept until the
// end, guards are not checked, empty_cache() does nothing, and a request for which the device has no memory throws at
// once.
//
// Thread safety: all functions may be called from any thread.
#pragma once
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "argand/runtime/cuda/block_pool.h"
#include "argand/runtime/cuda/event_queue.h"
#include "argand/runtime/cuda/live_table.h"
#include "argand/runtime/cuda/memory_stats.h"

namespace argand::cuda {

inline constexpr size_t kBlockAlignment = 512;          // sizes are rounded up to it, addresses are multiples of it
inline constexpr size_t kSmallBlock = size_t{1} << 20;  // up to here a block comes from the pool of small ones
inline constexpr size_t kSmallPage = size_t{2} << 20;   // pools grow by whole pages
inline constexpr size_t kLargePage = size_t{20} << 20;

// Fills in which op of the calling thread asks for `nbytes` of memory.  Called at each allocation: must be fast, must
// not throw and must not call the allocator.
using HolderSource = void (*)(Holder& holder, size_t nbytes);

class CachingAllocator {
 public:
  // `device` outlives the allocator; `device_name` is for messages ("cuda:0").
  CachingAllocator(DeviceMemory& device, std::string device_name);
  // Waits for the device and unmaps everything, also blocks that are still held.
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  // For work of `stream`.  Null if nbytes is 0.  Throws OutOfMemoryError; see Note [Memory pressure].
  void* allocate(size_t nbytes, StreamHandle stream);
  // Frees what allocate() returned; null is allowed.  Any other pointer is ignored, and check_guards() reports it.
  void deallocate(void* data) noexcept;
  // Notes that work of `stream`, issued before deallocate(), uses the block.  Memory of other origin is ignored.
  void used_on(void* data, StreamHandle stream);
  // Note [Joined uses]
  uint64_t mark(StreamHandle side);
  void joined(StreamHandle owner, StreamHandle side, uint64_t mark);

  // Returns every completely free page to the device.  Waits for the device.
  void empty_cache();
  // Shares bytes of a block that a caller holds; false if other processes cannot map them.  See DeviceMemory.
  bool share(const void* data, size_t nbytes, SharedMemory& out);
  // Whether a graph is captured, so that nobody may wait for the device.
  bool capture_under_way() const;
  // Limits reserved memory to this fraction of the device's memory, from 0 to 1; ValueError otherwise.
  void set_memory_fraction(double fraction);
  double memory_fraction() const;
  // Whether a block of so many bytes may be available: it fits into the memory that may be reserved, beside the blocks
  // that callers hold.  Only allocate() knows for certain.
  bool may_have(size_t nbytes) const;
  // The callback runs without the allocator's lock, so it may allocate and deallocate; what it throws, allocate()
  // throws.
  void set_on_pressure(std::function<void()> callback);
  void set_holder_source(HolderSource source);

  // See Note [Private pools].  ValueError for a stream that is in another pool already, or in none; for an id never
  // begun.  Each begin_pool is undone by one end_pool and, once the graph is gone, by one release_pool.
  void begin_pool(PoolId id, StreamHandle stream);
  void end_pool(PoolId id, StreamHandle stream);
  void release_pool(PoolId id);

  MemoryStats stats() const;
  void reset_peak_stats();
  void reset_accumulated_stats();
  MemorySnapshot snapshot() const;
  std::string memory_summary() const;
  std::string snapshot_json() const;
  // Keeps the last `max_entries` allocations, deallocations and failures for snapshots; 0 keeps none and forgets the
  // old ones.
  void record_history(size_t max_entries);

  // For tests: the n-th allocation from now (1: the next) calls the callback of set_on_pressure and throws as if memory
  // were exhausted; 0 cancels it.
  void fail_after(int64_t n);
  // Guard mode, for blocks allocated from now on outside private pools; see guard.h.  Slow: each deallocate() waits for
  // the device.
  void set_guard(bool on);
  // Throws Error if a block was written out of bounds (found at its deallocate(), or now), or a pointer was deallocated
  // that is not from here or twice.  Each is reported once.
  void check_guards();

 private:
  struct Request {
    size_t nbytes;
    StreamHandle stream;
    Holder holder;
  };
  struct StreamPools {
    BlockPool small;
    BlockPool large;
  };
  struct ActivePool {
    PoolId id;
    StreamHandle stream;
  };

  bool capturing() const { return !active_.empty(); }
  size_t capacity() const;
  PoolId pool_id(StreamHandle stream) const;
  BlockPool& pool_of(StreamHandle stream, size_t size);
  Block* take_or_grow(StreamHandle stream, size_t size);
  bool relieve_pressure(std::unique_lock<std::mutex>& lock);
  Block* find_memory(std::unique_lock<std::mutex>& lock, StreamHandle stream, size_t size);
  void hand_out(Block* block, const Request& request, bool guarded);
  void await_streams(Block* block);
  bool is_joined(const Block& block, const Block::Use& use) const;
  void finish(Block* block) noexcept;
  void trim_pools();
  template <class Change>
  void change_reserved(BlockPool& pool, Change&& change);
  PoolStats& stats_of(const BlockPool& pool) { return pool.key().is_small ? stats_.small : stats_.large; }
  [[noreturn]] void throw_out_of_memory(const Request& request);
  MemorySnapshot make_snapshot() const;
  void trace(TraceAction action, const void* address, size_t size, StreamHandle stream, const char* op);

  mutable std::mutex mutex_;
  DeviceMemory& device_;
  const std::string device_name_;
  const size_t total_bytes_;
  std::atomic<HolderSource> holder_source_{nullptr};
  std::function<void()> on_pressure_;
  MemoryBudget budget_;
  double fraction_ = 1;
  std::vector<std::unique_ptr<StreamPools>> pools_;
  LiveTable live_;
  EventQueue<Block> events_;
  std::map<StreamHandle, uint64_t> marks_;                            // of side streams
  std::map<std::pair<StreamHandle, StreamHandle>, uint64_t> joined_;  // by owner and side: the last mark
  std::vector<Block*> deferred_;  // freed during a capture, after use on several streams
  std::vector<ActivePool> active_;
  std::map<PoolId, int> graphs_;  // how many graphs use a private pool; 0: its memory may be freed
  MemoryStats stats_;
  uint64_t sequence_ = 0;
  int64_t fail_countdown_ = 0;
  std::deque<TraceEntry> history_;
  size_t max_history_ = 0;
  bool guard_ = false;
  std::vector<std::string> faults_;
};

}  // namespace argand::cuda
