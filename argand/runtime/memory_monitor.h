// Statistics and settings of a device's allocator.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace argand {

// Counters by name, "allocated_bytes.all.current": names and meaning are PyTorch's.
using MemoryStatsMap = std::map<std::string, int64_t>;

class MemoryMonitor {
 public:
  virtual ~MemoryMonitor() = default;
  virtual MemoryStatsMap stats() = 0;
  virtual void reset_peak_stats() = 0;
  virtual void reset_accumulated_stats() = 0;
  virtual std::string summary() = 0;  // a table
  virtual std::string snapshot_json() = 0;
  virtual std::string snapshot_html() = 0;
  // Keeps the last `max_entries` allocations and deallocations for snapshots; 0 keeps none.
  virtual void record_history(size_t max_entries) = 0;
  virtual void set_memory_fraction(double fraction) = 0;
  virtual double memory_fraction() = 0;                    // the last value that was set; 1 at first
  virtual std::pair<size_t, size_t> free_and_total() = 0;  // bytes of the device, used by any process
  // For tests: the n-th allocation from now (1: the next) finds no memory; 0 cancels it.
  virtual void fail_allocation(int64_t n) = 0;
};

}  // namespace argand
