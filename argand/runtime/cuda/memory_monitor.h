// The MemoryMonitor of a caching allocator.
#pragma once
#include "argand/runtime/cuda/caching_allocator.h"
#include "argand/runtime/memory_monitor.h"

namespace argand::cuda {

class CachingMonitor final : public MemoryMonitor {
 public:
  // Both outlive it.
  CachingMonitor(CachingAllocator& blocks, DeviceMemory& memory) : blocks_(blocks), memory_(memory) {}

  MemoryStatsMap stats() override;
  void reset_peak_stats() override { blocks_.reset_peak_stats(); }
  void reset_accumulated_stats() override { blocks_.reset_accumulated_stats(); }
  std::string summary() override { return blocks_.memory_summary(); }
  std::string snapshot_json() override { return blocks_.snapshot_json(); }
  std::string snapshot_html() override;
  void record_history(size_t max_entries) override { blocks_.record_history(max_entries); }
  void set_memory_fraction(double fraction) override { blocks_.set_memory_fraction(fraction); }
  double memory_fraction() override { return blocks_.memory_fraction(); }
  std::pair<size_t, size_t> free_and_total() override { return {memory_.free_bytes(), memory_.total_bytes()}; }
  void fail_allocation(int64_t n) override { blocks_.fail_after(n); }

 private:
  CachingAllocator& blocks_;
  DeviceMemory& memory_;
};

}  // namespace argand::cuda
