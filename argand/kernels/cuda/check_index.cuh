// Index tensors as int64 within their bounds; with `ignores`, those equal to `ignore` stay as they are.
#pragma once
#include "argand/kernels/cuda/error_slot.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

template <class I>
__global__ void check_index(const I* index, int64_t* out, int64_t n, int64_t bound, int64_t dim, bool ignores,
                            int64_t ignore, bool wrap, ErrorSlot* slot, const char* op) {
  await_earlier_work();
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) {
    const int64_t x = index[i];
    out[i] = ignores && x == ignore ? x : checked_index(x, bound, wrap, slot, op, dim);
  }
}

}  // namespace argand
