// The statistics and snapshots of an allocator as text.
#pragma once
#include <string>

#include "argand/runtime/cuda/memory_stats.h"
#include "argand/runtime/cuda/pinned_allocator.h"
#include "argand/runtime/memory_monitor.h"

namespace argand::cuda {

std::string bytes_text(size_t nbytes);      // "512 bytes", "1.50 KiB", "20.00 MiB", ...
std::string op_text(const Holder& holder);  // "conv2d", "(no op)"
std::string shape_text(
    const Holder& holder);  // "[64, 3, 28, 28] float32"; "[4096] bytes" of no tensor; "" if not known

// The data for the error of an allocation that found no memory.
struct OutOfMemory {
  std::string device;
  size_t requested;
  Holder holder;  // of the request
  size_t capacity;
  size_t free;
  size_t limit;  // below the capacity if a memory fraction is set
  size_t allocated;
  size_t reserved;
};

// The message of the error, with a table of the largest holders of memory.
std::string out_of_memory_text(const OutOfMemory& error, const MemorySnapshot& snapshot);

// A table of the statistics, and one of the largest holders of memory.
std::string memory_summary_text(const std::string& device, const MemoryStats& stats, const MemorySnapshot& snapshot);

// PyTorch's names: "allocated_bytes.small_pool.peak".
MemoryStatsMap stats_map(const MemoryStats& stats);
MemoryStatsMap stats_map(const PinnedStats& stats);

// {"segments": [{..., "blocks": [{...}, ...]}, ...], "device_traces": [[{...}, ...]]}, the latter if there is a history
std::string snapshot_json_text(const MemorySnapshot& snapshot);

}  // namespace argand::cuda
