// Note [Kernels start early]
// A kernel may be made ready on the device while the last blocks of the work before it on its stream end, and waits
// then until that work is done and its writes are seen: this saves a part of the microseconds that lie between two
// kernels otherwise.  So every kernel begins with await_earlier_work().  Nothing may stand before it, no way around it:
// a kernel that ended without it might end before the one before it, and the next would not wait for that one.
//
// A kernel could also let the next one come as soon as all of its own blocks run.  But then the blocks of the next are
// laid where there happens to be room, several on one multiprocessor and none on another, and kernels that have just
// one block for each take longer: the steps of a small convolutional network took 142 us instead of 118.
#pragma once

namespace argand {

// Without effect on devices before compute capability 9.0, where kernels start when the one before has ended.
__device__ __forceinline__ void await_earlier_work() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace argand
