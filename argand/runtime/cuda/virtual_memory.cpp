#include "argand/runtime/cuda/virtual_memory.h"

#include <vector>

#include "argand/base/error.h"
#include "argand/runtime/backend.h"
#include "argand/runtime/cuda/check.h"
#include "argand/runtime/cuda/driver.h"
#include "argand/runtime/cuda/on_device.h"
#include "argand/runtime/cuda/peer.h"
#include "argand/runtime/cuda/sharing.h"
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

VirtualMemory::VirtualMemory(int device) : device_(device), exportable_(sharing_allowed()) {
  const DeviceScope on(Device(kCUDA, static_cast<DeviceIndex>(device)));
  ARGAND_CUDA(cudaFree(nullptr));  // makes the context
  properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties_.location = location_of(device);
  const CUresult result =
      driver().mem_get_allocation_granularity(&granularity_, &properties_, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
  ARGAND_CHECK(DeviceError, result == CUDA_SUCCESS, "cuda:", device, " does not support virtual memory (error ",
               static_cast<int>(result), ")");
  if (exportable_) properties_.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
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
  Piece piece{};
  if (!create(nbytes, piece)) return false;
  if (!map_handle(address(at), nbytes, piece.handle)) {
    driver().mem_release(piece.handle);
    return false;
  }
  mapped_[static_cast<const std::byte*>(at)] = piece;
  return true;
}

// Some virtual machines and containers cannot export memory; only an attempt shows this.
bool VirtualMemory::create(size_t nbytes, Piece& piece) noexcept {
  CUresult result = driver().mem_create(&piece.handle, nbytes, &properties_, 0);
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY && exportable_) {
    CUmemAllocationProp plain = properties_;
    plain.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
    result = driver().mem_create(&piece.handle, nbytes, &plain, 0);
    if (result == CUDA_SUCCESS) {
      properties_ = plain;
      exportable_ = false;
    }
  }
  piece.nbytes = nbytes;
  piece.exportable = exportable_;
  return result == CUDA_SUCCESS;
}

bool VirtualMemory::map_handle(CUdeviceptr at, size_t nbytes, CUmemGenericAllocationHandle handle) noexcept {
  if (driver().mem_map(at, nbytes, 0, handle, 0) != CUDA_SUCCESS) return false;
  if (set_access(at, nbytes)) return true;
  driver().mem_unmap(at, nbytes);
  return false;
}

void VirtualMemory::unmap(void* at, size_t nbytes) noexcept {
  issue_tapes_quietly(device_, FlushCause::kMemory);
  const OnDevice on(device_);
  driver().mem_unmap(address(at), nbytes);
  const auto found = mapped_.find(static_cast<const std::byte*>(at));
  if (found == mapped_.end()) return;
  driver().mem_release(found->second.handle);
  mapped_.erase(found);
}

bool VirtualMemory::share(const void* at, size_t nbytes, SharedMemory& out) noexcept {
  const DeviceCalls calls(std::nothrow);
  const auto *from = static_cast<const std::byte*>(at), *end = from + nbytes;
  auto piece = mapped_.upper_bound(from);
  if (piece == mapped_.begin()) return false;
  --piece;
  out.offset = static_cast<size_t>(from - piece->first);
  for (const std::byte* next = piece->first; next < end; next += piece->second.nbytes, ++piece) {
    if (piece == mapped_.end() || piece->first != next || !piece->second.exportable) return false;
    if (next + piece->second.nbytes <= from) return false;  // an address that is not mapped here
    int descriptor = -1;
    const CUresult result = driver().mem_export_to_shareable_handle(&descriptor, piece->second.handle,
                                                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (result == CUDA_ERROR_NOT_SUPPORTED || result == CUDA_ERROR_NOT_PERMITTED) exportable_ = false;
    if (result != CUDA_SUCCESS) return false;
    out.pieces.push_back({descriptor, 0, piece->second.nbytes});
  }
  return true;
}

// Uses no state of this object, so it needs no lock.
void* VirtualMemory::map_shared(const SharedMemory& memory) noexcept {
  const OnDevice on(device_);
  const size_t nbytes = memory.mapped_bytes();
  CUdeviceptr base = 0;
  if (driver().mem_address_reserve(&base, nbytes, granularity_, 0, 0) != CUDA_SUCCESS) return nullptr;
  CUdeviceptr at = base;
  for (const SharedPiece& piece : memory.pieces) {
    CUmemGenericAllocationHandle handle = 0;
    // The driver expects the descriptor itself in the pointer argument.
    void* descriptor = reinterpret_cast<void*>(static_cast<uintptr_t>(piece.descriptor));
    bool mapped = driver().mem_import_from_shareable_handle(&handle, descriptor,
                                                            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == CUDA_SUCCESS;
    if (mapped) {
      mapped = map_handle(at, piece.nbytes, handle);
      driver().mem_release(handle);  // what is mapped stays until it is unmapped
    }
    if (!mapped) {
      CUdeviceptr done = base;
      for (const SharedPiece* p = memory.pieces.data(); p != &piece; done += p->nbytes, ++p)
        driver().mem_unmap(done, p->nbytes);
      driver().mem_address_free(base, nbytes);
      return nullptr;
    }
    at += piece.nbytes;
  }
  return reinterpret_cast<void*>(base);
}

void VirtualMemory::unmap_shared(void* base, const SharedMemory& memory) noexcept {
  const OnDevice on(device_);
  CUdeviceptr at = address(base);
  for (const SharedPiece& piece : memory.pieces) {
    driver().mem_unmap(at, piece.nbytes);
    at += piece.nbytes;
  }
  driver().mem_address_free(address(base), memory.mapped_bytes());
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
