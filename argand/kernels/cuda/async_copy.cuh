// Copies from global to shared memory that a thread starts and waits for later; it sees its own copies without a
// barrier.
#pragma once

namespace argand {

// 16 bytes, both addresses multiples of 16.
__device__ __forceinline__ void copy_async(uint4* shared, const void* global) {
#if __CUDA_ARCH__ >= 800
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(global) : "memory");
#else
  *shared = *static_cast<const uint4*>(global);
#endif
}
// The same; if not `inside`, stores zeros and does not read `global`.
__device__ __forceinline__ void copy_async(uint4* shared, const void* global, bool inside) {
#if __CUDA_ARCH__ >= 800
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global), "r"(inside ? 16 : 0)
               : "memory");
#else
  *shared = inside ? *static_cast<const uint4*>(global) : uint4{0, 0, 0, 0};
#endif
}
// *shared becomes *global, or 0 if it is not `inside`.
__device__ __forceinline__ void copy_async(float* shared, const float* global, bool inside) {
#if __CUDA_ARCH__ >= 800
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(global), "r"(inside ? 4 : 0)
               : "memory");
#else
  *shared = inside ? *global : 0;
#endif
}
// The copies that were started since the last call form a group.
__device__ __forceinline__ void end_copy_group() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Waits for all copies of the thread.
__device__ __forceinline__ void wait_for_all_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
// Waits for all groups but the kPending last.
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

}  // namespace argand
