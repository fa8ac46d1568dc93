// The counters and snapshots of a caching allocator; names and meaning as in torch.cuda.memory_stats and
// memory_snapshot.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "argand/runtime/cuda/device_memory.h"

namespace argand::cuda {

using PoolId = uint64_t;
inline constexpr PoolId kSharedPool = 0;  // every other id is a private pool of a graph

struct Counter {
  int64_t current = 0;
  int64_t peak = 0;       // of current, since reset_peak
  int64_t allocated = 0;  // all increases since reset_accumulated
  int64_t freed = 0;      // all decreases since reset_accumulated

  void increase(size_t amount) {
    current += static_cast<int64_t>(amount);
    allocated += static_cast<int64_t>(amount);
    peak = std::max(peak, current);
  }
  void decrease(size_t amount) {
    current -= static_cast<int64_t>(amount);
    freed += static_cast<int64_t>(amount);
  }
  void reset_peak() { peak = current; }
  void reset_accumulated() { allocated = freed = 0; }
  bool operator==(const Counter&) const = default;
};

struct PoolStats {
  Counter allocation;       // blocks that a caller holds
  Counter allocated_bytes;  // their sizes, rounded up
  Counter requested_bytes;  // their sizes as asked for
  Counter active;           // blocks that a caller holds or that await the work of another stream
  Counter active_bytes;
  Counter segment;         // address ranges with memory
  Counter reserved_bytes;  // memory taken from the device
  bool operator==(const PoolStats&) const = default;
};

struct MemoryStats {
  PoolStats all;
  PoolStats small;  // blocks up to kSmallBlock
  PoolStats large;
  int64_t num_alloc_retries = 0;  // allocations that found the device full at first
  int64_t num_ooms = 0;           // allocations that threw OutOfMemoryError
  bool operator==(const MemoryStats&) const = default;
};

int64_t now_us();  // microseconds since 1970

// Who asks for memory, as plain data, so that recording it is cheap.  Text is made when a table is printed: `op` and
// `dtype` must live as long as the allocator.
struct Holder {
  static constexpr int kMaxDims = 6;
  const char* op = nullptr;
  const char* dtype = nullptr;
  int32_t ndim = 0;  // sizes beyond kMaxDims are not kept
  int64_t sizes[kMaxDims] = {};
  int64_t time_us = 0;  // since 1970; 0: not known
};

enum class BlockState : uint8_t { kUnmapped, kInactive, kActive, kAwaitingStream };

struct BlockInfo {
  uintptr_t address = 0;
  size_t size = 0;
  size_t requested_size = 0;  // of blocks in use, as are all below
  BlockState state = BlockState::kInactive;
  uint64_t sequence = 0;  // how many allocations came before; the same in every run
  std::string op;
  std::string shape;
  int64_t time_us = 0;
  bool operator==(const BlockInfo&) const = default;
};

struct SegmentInfo {
  uintptr_t address = 0;
  size_t address_bytes = 0;   // of the range
  size_t reserved_bytes = 0;  // of memory in it
  bool is_small = false;
  PoolId pool = kSharedPool;
  StreamHandle stream = nullptr;
  std::vector<BlockInfo> blocks;  // those with memory, by address
  bool operator==(const SegmentInfo&) const = default;
};

enum class TraceAction : uint8_t { kAllocate, kDeallocate, kOutOfMemory };

// An entry of the recorded history.
struct TraceEntry {
  TraceAction action = TraceAction::kAllocate;
  uintptr_t address = 0;  // 0 for kOutOfMemory
  size_t size = 0;
  StreamHandle stream = nullptr;
  const char* op = nullptr;
  int64_t time_us = 0;
  bool operator==(const TraceEntry&) const = default;
};

struct MemorySnapshot {
  std::vector<SegmentInfo> segments;
  std::vector<TraceEntry> history;  // the oldest first
  bool operator==(const MemorySnapshot&) const = default;
};

}  // namespace argand::cuda
