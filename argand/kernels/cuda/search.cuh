// Positions of values in sorted rows.
#pragma once
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// As kernels/cpu/search.h says.  A thread looks for one value.
template <class T, bool kRight, class Out>
__global__ void search_sorted(const T* rows, const int64_t* order, const T* values, SearchShape s, Out* out) {
  await_earlier_work();
  using A = op_math_t<T>;
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= s.count) return;
  const int64_t start = i / s.per_row * s.n;
  const A value = convert<A>(values[i]);
  int64_t begin = 0, end = s.n;
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    const A x = convert<A>(rows[start + (order ? order[start + middle] : middle)]);
    if (kRight ? x > value : x >= value)
      end = middle;
    else
      begin = middle + 1;
  }
  out[i] = static_cast<Out>(begin);
}

}  // namespace argand
