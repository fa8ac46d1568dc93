#include "argand/exec/cuda_memory.h"

#include "argand/exec/cuda.h"

namespace argand::cuda {
namespace {

MemoryMonitor& monitor(DeviceIndex index) { return backend_of(kCUDA).memory(index < 0 ? current_device() : index); }

int64_t counter(DeviceIndex index, const char* name) { return monitor(index).stats().at(name); }

}  // namespace

int64_t memory_allocated(DeviceIndex index) { return counter(index, "allocated_bytes.all.current"); }
int64_t max_memory_allocated(DeviceIndex index) { return counter(index, "allocated_bytes.all.peak"); }
int64_t memory_reserved(DeviceIndex index) { return counter(index, "reserved_bytes.all.current"); }
int64_t max_memory_reserved(DeviceIndex index) { return counter(index, "reserved_bytes.all.peak"); }
void reset_peak_memory_stats(DeviceIndex index) { monitor(index).reset_peak_stats(); }
void reset_accumulated_memory_stats(DeviceIndex index) { monitor(index).reset_accumulated_stats(); }

MemoryStatsMap memory_stats(DeviceIndex index) { return monitor(index).stats(); }
MemoryStatsMap host_memory_stats() { return backend_of(kCUDA).pinned_stats(); }
std::string memory_summary(DeviceIndex index) { return monitor(index).summary(); }
std::string memory_snapshot(DeviceIndex index) { return monitor(index).snapshot_json(); }
std::string memory_snapshot_html(DeviceIndex index) { return monitor(index).snapshot_html(); }
void record_memory_history(bool enabled, size_t max_entries, DeviceIndex index) {
  monitor(index).record_history(enabled ? max_entries : 0);
}

void set_per_process_memory_fraction(double fraction, DeviceIndex index) {
  monitor(index).set_memory_fraction(fraction);
}
double get_per_process_memory_fraction(DeviceIndex index) { return monitor(index).memory_fraction(); }
std::pair<size_t, size_t> mem_get_info(DeviceIndex index) { return monitor(index).free_and_total(); }

}  // namespace argand::cuda
