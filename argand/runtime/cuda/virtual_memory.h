// Memory of one device through the driver's virtual memory functions (cuMemAddressReserve, cuMemCreate, cuMemMap).
#pragma once
#include <cuda.h>

#include <atomic>
#include <map>

#include "argand/runtime/cuda/cuda_events.h"

namespace argand::cuda {

class VirtualMemory final : public WithCudaEvents<DeviceMemory> {
 public:
  explicit VirtualMemory(int device);

  size_t granularity() noexcept override { return granularity_; }
  size_t total_bytes() noexcept override;
  size_t free_bytes() noexcept override;
  void* reserve(size_t nbytes) noexcept override;
  void release(void* base, size_t nbytes) noexcept override;
  bool map(void* at, size_t nbytes) noexcept override;
  void unmap(void* at, size_t nbytes) noexcept override;
  void synchronize() noexcept override;
  void fill(void* at, uint8_t value, size_t nbytes, StreamHandle stream) noexcept override;
  bool read(void* host, const void* at, size_t nbytes) noexcept override;
  bool can_share() noexcept override { return exportable_.load(); }
  bool share(const void* at, size_t nbytes, SharedMemory& out) noexcept override;
  void* map_shared(const SharedMemory& memory) noexcept override;
  void unmap_shared(void* base, const SharedMemory& memory) noexcept override;

  void* record_event(StreamHandle stream) noexcept override;

 private:
  struct Piece {
    CUmemGenericAllocationHandle handle;
    size_t nbytes;
    bool exportable;
  };

  // Memory for one map(), exportable if the driver supports it.
  bool create(size_t nbytes, Piece& piece) noexcept;
  // Maps it at an address; the handle stays the caller's.
  bool map_handle(CUdeviceptr at, size_t nbytes, CUmemGenericAllocationHandle handle) noexcept;
  // Gives access to this device and to those that can reach it, so that copies between devices work directly.
  bool set_access(CUdeviceptr at, size_t nbytes) noexcept;

  int device_;
  size_t granularity_ = 0;
  CUmemAllocationProp properties_{};
  std::atomic<bool> exportable_;  // whether the next piece is one that other processes can map
  std::map<const std::byte*, Piece> mapped_;
};

}  // namespace argand::cuda
