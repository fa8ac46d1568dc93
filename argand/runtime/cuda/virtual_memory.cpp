#include "argand/runtime/cuda/virtual_memory.h"

#include <vector>

#include "argand/base/error.h"
#include "argand/runtime/backend.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/driver.h"
#include "argand/runtime/cuda/on_device.h"
#include "argand/runtime/cuda/peer.h"
#include "argand/runtime/process_end.h"

namespace argand::cuda {
namespace {

CUmemLocation location_of(int device) {
  CUmemLocation location{};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device;
  return location;
}

CUdeviceptr address(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

}  // namespace

VirtualMemory::VirtualMemory(int device) : device_(device) {
  const DeviceScope on(Device(kCUDA, static_cast<DeviceIndex>(device)));
  ARGAND_CUDA(cudaFree(nullptr));  // makes the context
  properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties_.location = location_of(device);
  const CUresult result =
      driver().mem_get_allocation_granularity(&granularity_, &properties_, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
  ARGAND_CHECK(DeviceError, result == CUDA_SUCCESS, "cuda:", device, " does not support virtual memory (error ",
               static_cast<int>(result), ")");
}

size_t VirtualMemory::total_bytes() noexcept {
  const OnDevice on(device_);
  size_t free = 0, total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? total : 0;
}

size_t VirtualMemory::free_bytes() noexcept {
  const OnDevice on(device_);
  size_t free = 0, total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? free : 0;
}

void* VirtualMemory::reserve(size_t nbytes) noexcept {
  const DeviceCalls calls(std::nothrow);
  CUdeviceptr base = 0;
  if (driver().mem_address_reserve(&base, nbytes, granularity_, 0, 0) != CUDA_SUCCESS) return nullptr;
  return reinterpret_cast<void*>(base);
}

void VirtualMemory::release(void* base, size_t nbytes) noexcept { driver().mem_address_free(address(base), nbytes); }

bool VirtualMemory::set_access(CUdeviceptr at, size_t nbytes) noexcept {
  std::vector<CUmemAccessDesc> access;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return false;
  for (int d = 0; d < count; ++d) {
    int can = d == device_ ? 1 : 0;
    if (d != device_ && cudaDeviceCanAccessPeer(&can, d, device_) != cudaSuccess) can = 0;
    if (can) access.push_back({location_of(d), CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
  }
  return driver().mem_set_access(at, nbytes, access.data(), access.size()) == CUDA_SUCCESS;
}

bool VirtualMemory::map(void* at, size_t nbytes) noexcept {
  const OnDevice on(device_);
  CUmemGenericAllocationHandle handle = 0;
  if (driver().mem_create(&handle, nbytes, &properties_, 0) != CUDA_SUCCESS) return false;
  if (driver().mem_map(address(at), nbytes, 0, handle, 0) != CUDA_SUCCESS) {
    driver().mem_release(handle);
    return false;
  }
  if (!set_access(address(at), nbytes)) {
    driver().mem_unmap(address(at), nbytes);
    driver().mem_release(handle);
    return false;
  }
  mapped_[at] = handle;
  return true;
}

void VirtualMemory::unmap(void* at, size_t nbytes) noexcept {
  issue_tapes_quietly(device_, FlushCause::kMemory);
  const OnDevice on(device_);
  driver().mem_unmap(address(at), nbytes);
  const auto found = mapped_.find(at);
  if (found == mapped_.end()) return;
  driver().mem_release(found->second);
  mapped_.erase(found);
}

void VirtualMemory::synchronize() noexcept {
  issue_tapes_quietly(device_, FlushCause::kMemory);
  const OnDevice on(device_);
  cudaDeviceSynchronize();
}

void VirtualMemory::fill(void* at, uint8_t value, size_t nbytes, StreamHandle stream) noexcept {
  issue_tape_quietly(device_, static_cast<cudaStream_t>(stream), FlushCause::kMemory);
  const OnDevice on(device_);
  cudaMemsetAsync(at, value, nbytes, static_cast<cudaStream_t>(stream));
}

bool VirtualMemory::read(void* host, const void* at, size_t nbytes) noexcept {
  issue_tapes_quietly(device_, FlushCause::kMemory);
  const OnDevice on(device_);
  return cudaDeviceSynchronize() == cudaSuccess && cudaMemcpy(host, at, nbytes, cudaMemcpyDeviceToHost) == cudaSuccess;
}

void* VirtualMemory::record_event(StreamHandle stream) noexcept {
  const OnDevice on(device_);
  return WithCudaEvents::record_event(stream);
}

}  // namespace argand::cuda
