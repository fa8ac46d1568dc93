// One launch over many tensors, whose elements are cut into tiles of one block each.
#pragma once

namespace argand {

// Which tensor this block belongs to: the last one whose tiles begin at or before it.  N is a power of 2.
template <int N>
__device__ __forceinline__ int tensor_of_block(const unsigned (&first_block)[N], int count) {
  int t = 0;
  if constexpr (N <= 16) {  // all at once: the loads of a search wait for one another
#pragma unroll
    for (int i = 1; i < N; ++i) t += i < count && first_block[i] <= blockIdx.x;
  } else {
#pragma unroll
    for (int step = N / 2; step > 0; step /= 2)
      if (t + step < count && first_block[t + step] <= blockIdx.x) t += step;
  }
  return t;
}

}  // namespace argand
