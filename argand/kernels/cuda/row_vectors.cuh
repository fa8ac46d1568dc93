// A row that a group of threads keeps in registers, as vectors of W elements.
#pragma once
#include "argand/kernels/cuda/row_threads.cuh"

namespace argand {

// A plain assignment under a condition becomes several stores.
template <class T, int W>
__device__ __forceinline__ void store_vector(T* p, const Vec<T, W>& v) {
  if constexpr (sizeof(v) == 16) {
    const auto& x = reinterpret_cast<const unsigned(&)[4]>(v);
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
                 : "memory");
  } else {
    *reinterpret_cast<Vec<T, W>*>(p) = v;
  }
}

// n is a multiple of W and at most count() * W * kItems.
template <class T, int W, int kItems, bool kOneWarp>
struct RowVectors {
  using Group = RowThreads<kOneWarp>;
  Vec<T, W> items[kItems];

  // Where item i of this thread begins.
  static __device__ __forceinline__ int at(int i) { return (i * Group::count() + Group::rank()) * W; }

  // All loads are issued before the first is waited for.  Zeros beyond the row.
  __device__ __forceinline__ RowVectors(const T* row, int n) {
#pragma unroll
    for (int i = 0; i < kItems; ++i)
      items[i] = at(i) < n ? *reinterpret_cast<const Vec<T, W>*>(row + at(i)) : Vec<T, W>{};
  }
  static __device__ __forceinline__ void store(T* row, int n, int i, const Vec<T, W>& v) {
    if (at(i) < n) *reinterpret_cast<Vec<T, W>*>(row + at(i)) = v;
  }
  __device__ __forceinline__ const Vec<T, W>& operator[](int i) const { return items[i]; }
};

// Longer rows are read in steps of U vectors a thread: loads those at `at`, `at + step`, ... that are in the row, and
// returns how many.
template <int W, int U, class T>
__device__ __forceinline__ int load_some(Vec<T, W> (&v)[U], const T* row, int64_t at, int64_t step, int64_t n) {
  int count = 0;
#pragma unroll
  for (int u = 0; u < U; ++u)
    if (at + u * step < n) {
      v[u] = *reinterpret_cast<const Vec<T, W>*>(row + at + u * step);
      count = u + 1;
    }
  return count;
}
template <int W, int U, class T>
__device__ __forceinline__ void store_some(const Vec<T, W> (&v)[U], T* row, int64_t at, int64_t step, int count) {
#pragma unroll
  for (int u = 0; u < U; ++u)
    if (u < count) store_vector(row + at + u * step, v[u]);
}

}  // namespace argand
