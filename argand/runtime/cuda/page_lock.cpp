#include "argand/runtime/cuda/page_lock.h"

#include <cuda_runtime_api.h>

#include "argand/runtime/cuda/numa.h"

namespace argand::cuda {
namespace {

// -1: the host has one node, or none is known.
int node_of_device() noexcept {
  int device = 0, node = -1;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&node, cudaDevAttrHostNumaId, device) != cudaSuccess) {
    cudaGetLastError();
    return -1;
  }
  return node;
}

}  // namespace

void* lock_pages(size_t nbytes) noexcept {
  const PreferNode near_device(node_of_device());
  void* p = nullptr;
  if (cudaHostAlloc(&p, nbytes, cudaHostAllocPortable) == cudaSuccess) return p;
  cudaGetLastError();
  return nullptr;
}

}  // namespace argand::cuda
