#include "argand/kernels/cuda/scratch.h"

#include <cuda_runtime_api.h>

#include "argand/runtime/cuda/check.h"

namespace argand::cuda {
namespace {

Allocator& allocator_of_current_device() {
  int device = 0;
  ARGAND_CUDA(cudaGetDevice(&device));
  return device_allocator(device);
}

}  // namespace

Scratch::Scratch(int64_t nbytes)
    : allocator_(allocator_of_current_device()),
      nbytes_(static_cast<size_t>(nbytes)),
      data_(allocator_.allocate(nbytes_)) {}

}  // namespace argand::cuda
