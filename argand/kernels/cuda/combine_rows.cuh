// Sums, or products, of rows that have the same index, in the order of their positions.
//
// Positions come sorted by row (group_rows.h).  They are cut into pieces of kPiece, whatever the rows: one thread
// adds up one column of a piece.  Rows within a piece are then complete; the parts of rows that cross pieces go to
// memory, and the piece in which such a row begins adds them up.  So the order follows from the positions only.
#pragma once
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

inline constexpr int kPiece = 32;

template <class T>
struct RowAccumulator {
  using type = op_math_t<T>;
};
template <>
struct RowAccumulator<bool> {
  using type = int;
};

struct Add {
  template <class A>
  static __device__ __forceinline__ A neutral() {
    return A(0);
  }
  template <class A>
  static __device__ __forceinline__ A of(const A& a, const A& b) {
    return static_cast<A>(a + b);
  }
};
struct Multiply {
  template <class A>
  static __device__ __forceinline__ A neutral() {
    return A(1);
  }
  template <class A>
  static __device__ __forceinline__ A of(const A& a, const A& b) {
    return static_cast<A>(a * b);
  }
};

struct SortedRows {
  const unsigned *keys, *order;
  int n;
  __device__ __forceinline__ int pieces() const { return (n + kPiece - 1) / kPiece; }
  __device__ __forceinline__ int begin(int piece) const { return piece * kPiece; }
  __device__ __forceinline__ int end(int piece) const { return min(n, (piece + 1) * kPiece); }
  // Whether the row of the piece's first (last) position has positions before (after) the piece.
  __device__ __forceinline__ bool continues(int piece) const {
    return piece > 0 && keys[begin(piece)] == keys[begin(piece) - 1];
  }
  __device__ __forceinline__ bool goes_on(int piece) const {
    return end(piece) < n && keys[end(piece)] == keys[end(piece) - 1];
  }
};

// One column of one piece; `parts` are the column's, and lie `columns` apart.
template <class Op, class T, class A>
__device__ __forceinline__ void combine_piece(const SortedRows& s, int piece, T* to, const T* from, int64_t inner,
                                              A* parts, int64_t columns) {
  const int end = s.end(piece);
  const bool continues = s.continues(piece), goes_on = s.goes_on(piece);
  for (int k = s.begin(piece); k < end;) {
    const unsigned key = s.keys[k];
    int last = k + 1;
    while (last < end && s.keys[last] == key) ++last;
    const bool head = k == s.begin(piece) && continues, tail = last == end && goes_on;
    T& slot = to[int64_t{key} * inner];
    A result = head || tail ? Op::template neutral<A>() : convert<A>(slot);
#pragma unroll 4
    for (; k < last; ++k) result = Op::of(result, convert<A>(from[int64_t{s.order[k]} * inner]));
    if (head)
      parts[int64_t{2 * piece} * columns] = result;
    else if (tail)
      parts[int64_t{2 * piece + 1} * columns] = result;
    else
      slot = convert<T>(result);
  }
}

// Combines from[o][k] with to[o][index[k]] of [outer, rows, inner] and [outer, n, inner].  x: pieces; y: columns (o,
// i). parts[2 * piece] is the part of a row that began in an earlier piece, parts[2 * piece + 1] that of a row that
// continues.
template <class T, class Op>
__global__ void combine_sorted_rows(T* to, const T* from, const unsigned* keys, const unsigned* order, int n,
                                    int64_t rows, int64_t inner, int64_t columns,
                                    typename RowAccumulator<T>::type* parts) {
  await_earlier_work();
  const SortedRows s{keys, order, n};
  const int piece = int(blockIdx.x * blockDim.y + threadIdx.y);
  if (piece >= s.pieces()) return;
  const int64_t step = int64_t{gridDim.y} * blockDim.x;
  for (int64_t c = int64_t{blockIdx.y} * blockDim.x + threadIdx.x; c < columns; c += step) {
    const int64_t o = c / inner, i = c - o * inner;
    combine_piece<Op>(s, piece, to + o * rows * inner + i, from + o * n * inner + i, inner, parts + c, columns);
  }
}

// Combines the parts of a row that continues, from the piece in which it begins.
template <class T, class Op>
__global__ void combine_row_parts(T* to, const unsigned* keys, int n, int64_t rows, int64_t inner, int64_t columns,
                                  const typename RowAccumulator<T>::type* parts) {
  await_earlier_work();
  using A = typename RowAccumulator<T>::type;
  const SortedRows s{keys, nullptr, n};
  const int first = int(blockIdx.x * blockDim.y + threadIdx.y);
  if (first >= s.pieces() || !s.goes_on(first)) return;
  const unsigned key = keys[s.end(first) - 1];
  if (keys[s.begin(first)] == key && s.continues(first)) return;  // it began earlier
  const int64_t step = int64_t{gridDim.y} * blockDim.x;
  for (int64_t c = int64_t{blockIdx.y} * blockDim.x + threadIdx.x; c < columns; c += step) {
    const int64_t o = c / inner, i = c - o * inner;
    T& slot = to[(o * rows + key) * inner + i];
    A result = Op::of(convert<A>(slot), parts[int64_t{2 * first + 1} * columns + c]);
    int piece = first;
    do {
      ++piece;
      result = Op::of(result, parts[int64_t{2 * piece} * columns + c]);
    } while (s.goes_on(piece) && keys[s.end(piece) - 1] == key);
    slot = convert<T>(result);
  }
}

}  // namespace argand
