// Groups few positions by their row: (index[k], k) in the order of index, equal ones in that of k.
#pragma once
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// One block; n <= kFew = blockDim.x: each counts how many come before it.
inline constexpr int kFew = 1024;
__global__ void __launch_bounds__(kFew) group_few(const int64_t* index, int n, unsigned* keys, unsigned* order) {
  await_earlier_work();
  __shared__ unsigned all[kFew];
  const int k = int(threadIdx.x);
  if (k < n) all[k] = unsigned(index[k]);
  __syncthreads();
  if (k >= n) return;
  const unsigned key = all[k];
  int before = 0;
  for (int j = 0; j < n; ++j) before += all[j] < key || (all[j] == key && j < k);
  keys[before] = key;
  order[before] = unsigned(k);
}

}  // namespace argand
