// How a kernel reports a bad index: Note [Error slots] in runtime/cuda/error_slot.h.
#pragma once
#include "argand/kernels/cuda/types.cuh"

namespace argand {

struct ErrorSlot {
  unsigned state;  // 0 free, 1 claimed, 2 filled
  unsigned unused;
  const char* op;  // of the host: never read here
  int64_t index, bound, dim;
};

__device__ __noinline__ inline void report_bad_index(ErrorSlot* slot, const char* op, int64_t index, int64_t bound,
                                                     int64_t dim) {
  if (atomicCAS_system(&slot->state, 0u, 1u) != 0) return;
  slot->op = op;
  slot->index = index;
  slot->bound = bound;
  slot->dim = dim;
  __threadfence_system();
  atomicExch_system(&slot->state, 2u);
}

// The index, counted from the end if negative and `wrap`; 0 after a report if it is not in [0, bound).
__device__ __forceinline__ int64_t checked_index(int64_t index, int64_t bound, bool wrap, ErrorSlot* slot,
                                                 const char* op, int64_t dim) {
  const int64_t i = wrap && index < 0 ? index + bound : index;
  if (i >= 0 && i < bound) return i;
  report_bad_index(slot, op, index, bound, dim);
  return 0;
}

}  // namespace argand
