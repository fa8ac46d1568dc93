// Greedy choice among boxes that overlap, one chunk of boxes after the other: one block chooses in the chunk, then all
// later boxes are compared with those that it kept.
#pragma once
#include "argand/kernels/cuda/plane_position.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

inline constexpr int kBoxChunk = 512;

template <class A>
struct Box {
  A x1, y1, x2, y2, area;

  Box() = default;
  template <class T>
  __device__ __forceinline__ explicit Box(const T* p)
      : x1(convert<A>(p[0])), y1(convert<A>(p[1])), x2(convert<A>(p[2])), y2(convert<A>(p[3])) {
    area = (x2 - x1) * (y2 - y1);
  }
  // Comparisons with NaN are false: the area is NaN, then, and so is the quotient.
  __device__ __forceinline__ bool overlaps(const Box& o, A threshold) const {
    const A width = (x2 < o.x2 ? x2 : o.x2) - (x1 > o.x1 ? x1 : o.x1);
    const A height = (y2 < o.y2 ? y2 : o.y2) - (y1 > o.y1 ? y1 : o.y1);
    const A both = (width > A(0) ? width : A(0)) * (height > A(0) ? height : A(0));
    return both / (area + o.area - both) > threshold;
  }
};

// One block of kBoxChunk threads: kept[first ...] of the chunk that begins with box `first`; 0 stays 0.
template <class T>
__global__ void __launch_bounds__(kBoxChunk)
    keep_in_chunk(const T* boxes, int64_t n, int64_t first, op_math_t<T> threshold, unsigned char* kept) {
  await_earlier_work();
  using A = op_math_t<T>;
  __shared__ Box<A> all[kBoxChunk];
  __shared__ bool keeps[kBoxChunk];
  const int i = int(threadIdx.x), count = int(n - first < kBoxChunk ? n - first : kBoxChunk);
  Box<A> mine{};
  if (i < count) {
    mine = Box<A>(boxes + (first + i) * 4);
    all[i] = mine;
  }
  keeps[i] = i < count && kept[first + i] != 0;
  __syncthreads();
  for (int j = 0; j < count; ++j) {
    if (!keeps[j]) continue;  // all threads see the same: nobody writes keeps[j] after the round of j - 1
    if (i > j && keeps[i] && all[j].overlaps(mine, threshold)) keeps[i] = false;
    __syncthreads();
  }
  if (i < count) kept[first + i] = keeps[i];
}

// A thread for each box behind the chunk.
template <class T>
__global__ void __launch_bounds__(kBoxChunk)
    drop_behind_chunk(const T* boxes, int64_t n, int64_t first, op_math_t<T> threshold, unsigned char* kept) {
  await_earlier_work();
  using A = op_math_t<T>;
  __shared__ Box<A> chosen[kBoxChunk];
  __shared__ bool keeps[kBoxChunk];
  const int k = int(threadIdx.x);
  chosen[k] = Box<A>(boxes + (first + k) * 4);  // a chunk with boxes behind it is full
  keeps[k] = kept[first + k] != 0;
  __syncthreads();
  const int64_t i = first + kBoxChunk + thread_number();
  if (i >= n || kept[i] == 0) return;
  const Box<A> mine(boxes + i * 4);
  for (int j = 0; j < kBoxChunk; ++j)
    if (keeps[j] && chosen[j].overlaps(mine, threshold)) {
      kept[i] = 0;
      return;
    }
}

}  // namespace argand
