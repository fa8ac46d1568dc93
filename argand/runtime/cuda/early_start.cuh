// Note [Kernels start early]
// A kernel may start on the device while the last blocks of the previous work of its stream end.  It then waits until
// that work is done and its writes are visible.  This saves some of the microseconds between two kernels.  So every
// kernel begins with await_earlier_work().  No code may precede or bypass it: a kernel that ended without it might end
// before the previous one, and the next kernel would not wait for that one.
//
// A kernel could also let the next one start as soon as all its own blocks run.  But then the blocks of the next kernel
// are placed wherever there is room, several on one multiprocessor and none on another, and kernels with one block per
// multiprocessor take longer: the steps of a small convolutional network took 142 us instead of 118.
#pragma once

namespace argand {

// Without effect on devices before compute capability 9.0, where kernels start when the one before has ended.
__device__ __forceinline__ void await_earlier_work() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace argand
