// The memory of CUDA devices for programs: argand::cuda, with PyTorch's names and meaning.  A device index of -1 is the
// current device; sizes are bytes.  In a program without a GPU everything here throws DeviceError with the reason.
//
// Results of calls that wait in the issue window have no memory yet: cuda::synchronize() first where numbers must be
// exact.  With ARGAND_CUDA_GUARD=1 in the environment every block has guards: a kernel's write out of bounds is an
// Error at the next synchronisation that names the op whose memory it is; slow.
//
// Thread safety: all functions may be called from any thread.
#pragma once
#include <string>
#include <utility>

#include "argand/runtime/backend.h"

namespace argand::cuda {

int64_t memory_allocated(DeviceIndex index = -1);      // by tensors, rounded up to blocks
int64_t max_memory_allocated(DeviceIndex index = -1);  // its peak since the start or reset_peak_memory_stats()
int64_t memory_reserved(DeviceIndex index = -1);       // taken from the device: allocated, or cached
int64_t max_memory_reserved(DeviceIndex index = -1);
inline int64_t memory_cached(DeviceIndex index = -1) { return memory_reserved(index); }
void reset_peak_memory_stats(DeviceIndex index = -1);
void reset_accumulated_memory_stats(DeviceIndex index = -1);  // the counters .allocated and .freed

// "<counter>.<all|small_pool|large_pool>.<current|peak|allocated|freed>" with the counters allocation, allocated_bytes,
// requested_bytes, active, active_bytes, segment, reserved_bytes; and num_alloc_retries, num_ooms.
MemoryStatsMap memory_stats(DeviceIndex index = -1);
// Statistics of page-locked host memory: "<allocation|allocated_bytes|segment|reserved_bytes>.<current|...>".
MemoryStatsMap host_memory_stats();
// memory_stats() as a printable table, and a table of the largest holders of memory: op, shape, dtype, since when.
std::string memory_summary(DeviceIndex index = -1);
// Every block as JSON: {"segments": [{"address", "reserved_bytes", "stream", ..., "blocks": [{"address", "size",
// "state", "op", "shape" ("[64, 10] float32"; "[4096] bytes" of memory that is no tensor, or none an op has written
// yet), "sequence", "time_us" (since 1970)}]}], "device_traces": [[...]]}; the traces are there if
// record_memory_history() is on.
std::string memory_snapshot(DeviceIndex index = -1);
// The same as a self-contained HTML page with a drawing.
std::string memory_snapshot_html(DeviceIndex index = -1);
// Keeps the last `max_entries` allocations and deallocations for snapshots.  Switching it off forgets them.
void record_memory_history(bool enabled = true, size_t max_entries = 100000, DeviceIndex index = -1);

// Limits the process to this fraction of the device's memory, from 0 to 1; ValueError otherwise.
void set_per_process_memory_fraction(double fraction, DeviceIndex index = -1);
double get_per_process_memory_fraction(DeviceIndex index = -1);  // 1 if nothing was set
std::pair<size_t, size_t> mem_get_info(DeviceIndex index = -1);  // free and total bytes of the device

}  // namespace argand::cuda
