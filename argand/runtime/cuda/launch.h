// Launching kernels on the current stream.
#pragma once
#include <span>

#include "argand/runtime/cuda/compiler.h"
#include "argand/runtime/cuda/grid.h"

namespace argand::cuda {

// `args` are addresses of the kernel's arguments, `sizes` their bytes, which a dry run searches for addresses.  With no
// blocks nothing is launched.
void launch_with(const Kernel& kernel, const Grid& grid, void** args, std::span<const size_t> sizes,
                 const EpilogueSlot* slot = nullptr);

// launch(kernel, {blocks, threads}, a, b, c): the types must be exactly those of the kernel's parameters.
template <class... Args>
void launch(const Kernel& kernel, const Grid& grid, Args... args) {
  void* pointers[] = {&args...};
  const size_t sizes[] = {sizeof(Args)...};  // NOLINT(bugprone-sizeof-expression): a pointer's own size
  launch_with(kernel, grid, pointers, sizes);
}

// The same for a kernel whose last parameter, after `args`, is an epilogue.
template <class... Args>
void launch(const Kernel& kernel, const Grid& grid, const EpilogueSlot& slot, Args... args) {
  Epilogue<void> none{};
  void* pointers[] = {&args..., &none};
  const size_t sizes[] = {sizeof(Args)...};  // NOLINT(bugprone-sizeof-expression): a pointer's own size
  launch_with(kernel, grid, pointers, sizes, &slot);
}

// Sets bytes of device memory, on the current stream.
void fill_bytes(void* at, uint8_t value, size_t nbytes);

// Properties of the current device.
int multi_processor_count();
int max_threads_per_multi_processor();
int shared_memory_per_block();            // bytes, at most, with allow_shared_memory()
int shared_memory_per_multi_processor();  // bytes, for all blocks there
bool has_tensor_cores();                  // for bfloat16 and TF32: compute capability 8.0 and later
bool has_warpgroup_products();            // compute capability 9.0 only

}  // namespace argand::cuda
