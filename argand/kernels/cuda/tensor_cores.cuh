// Products of tiles on tensor cores, of devices from compute capability 8.0 on.
#pragma once
#include "argand/kernels/cuda/async_copy.cuh"
#include "argand/kernels/cuda/types.cuh"

namespace argand {

// Note [Tiles of a warp]
// A warp multiplies 16 x kDepth elements by kDepth x 8.  Of the 16 x 8 sums its thread with g = lane / 4, t = lane % 4
// has x[0] = (g, 2t), x[1] = (g, 2t + 1), x[2] = (g + 8, 2t), x[3] = (g + 8, 2t + 1).
//   The sums of one product can be the left operand of the next without moving: with 16-bit types two tiles of sums
// make 16 columns; with float one tile makes 8, in the order 0, 2, 4, 6, 1, 3, 5, 7, and the rows of the right operand
// are read in that order, too (SharedTile::right_down).
struct TileSums {
  float x[4];
};

template <class T>
inline constexpr bool kIsHalf = false;
template <>
inline constexpr bool kIsHalf<Half> = true;

// The operands of a warp's product, and the product: Half and BFloat16.
template <class T>
struct TensorCore {
  static constexpr int kDepth = 16, kTilesOfDepth = 2;
  struct Left {
    unsigned x[4];
  };
  struct Right {
    unsigned x[2];
  };
  __device__ __forceinline__ static Left left(const unsigned (&x)[4]) { return {{x[0], x[1], x[2], x[3]}}; }
  __device__ __forceinline__ static Right right(unsigned x0, unsigned x1) { return {{x0, x1}}; }
  __device__ __forceinline__ static Left left(const TileSums* s) {
    return {{pair(s[0].x[0], s[0].x[1]), pair(s[0].x[2], s[0].x[3]), pair(s[1].x[0], s[1].x[1]),
             pair(s[1].x[2], s[1].x[3])}};
  }
  __device__ __forceinline__ static void add(TileSums& sums, const Left& l, const Right& r) {
    if constexpr (kIsHalf<T>)
      asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
          "%2, %3};"
          : "+f"(sums.x[0]), "+f"(sums.x[1]), "+f"(sums.x[2]), "+f"(sums.x[3])
          : "r"(l.x[0]), "r"(l.x[1]), "r"(l.x[2]), "r"(l.x[3]), "r"(r.x[0]), "r"(r.x[1]));
    else
      asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
          "%2, %3};"
          : "+f"(sums.x[0]), "+f"(sums.x[1]), "+f"(sums.x[2]), "+f"(sums.x[3])
          : "r"(l.x[0]), "r"(l.x[1]), "r"(l.x[2]), "r"(l.x[3]), "r"(r.x[0]), "r"(r.x[1]));
  }

 private:
  __device__ __forceinline__ static unsigned pair(float low, float high) {
    unsigned both;
    if constexpr (kIsHalf<T>)
      asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    else
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
  }
};

// float as the sum of two TF32 numbers of 11 bits each: three products have a relative error of 2^-22.  (An infinity
// times a number without a second part is NaN.)
template <>
struct TensorCore<float> {
  static constexpr int kDepth = 8, kTilesOfDepth = 1;
  struct Left {
    unsigned high[4], low[4];
  };
  struct Right {
    unsigned high[2], low[2];
  };
  __device__ __forceinline__ static Left left(const unsigned (&x)[4]) {
    Left l;
#pragma unroll
    for (int i = 0; i < 4; ++i) split(__uint_as_float(x[i]), l.high[i], l.low[i]);
    return l;
  }
  __device__ __forceinline__ static Right right(unsigned x0, unsigned x1) {
    Right r;
    split(__uint_as_float(x0), r.high[0], r.low[0]);
    split(__uint_as_float(x1), r.high[1], r.low[1]);
    return r;
  }
  __device__ __forceinline__ static Left left(const TileSums* s) {
    Left l;
#pragma unroll
    for (int i = 0; i < 4; ++i) split(s->x[i % 2 * 2 + i / 2], l.high[i], l.low[i]);
    return l;
  }
  __device__ __forceinline__ static void add(TileSums& sums, const Left& l, const Right& r) {
    add(sums, l.low, r.high);
    add(sums, l.high, r.low);
    add(sums, l.high, r.high);
  }

 private:
  __device__ __forceinline__ static unsigned rounded(float x) {
    unsigned r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
  }
  __device__ __forceinline__ static void split(float x, unsigned& high, unsigned& low) {
    high = rounded(x);
    low = rounded(x - __uint_as_float(high));
  }
  __device__ __forceinline__ static void add(TileSums& sums, const unsigned (&l)[4], const unsigned (&r)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, %3};"
        : "+f"(sums.x[0]), "+f"(sums.x[1]), "+f"(sums.x[2]), "+f"(sums.x[3])
        : "r"(l[0]), "r"(l[1]), "r"(l[2]), "r"(l[3]), "r"(r[0]), "r"(r[1]));
  }
};

// Copies the rows of a tile to the places of their chunks, chunk_at(row, number), with zeros beyond `rows` and `width`.
// With `vectors`, whose rows are all multiples of 16 bytes, it is started and can be waited for.
template <class T, int kWidth, int kRows, int kThreads, class F>
__device__ __forceinline__ void load_tile(const T* from, int64_t row_stride, int rows, int width, bool vectors,
                                          F chunk_at) {
  constexpr int kChunk = 16 / int(sizeof(T)), kChunks = kWidth / kChunk;
  static_assert(kRows * kChunks % kThreads == 0 && kThreads % kChunks == 0);
  if (vectors) {
    constexpr int kAtOnce = kThreads / kChunks;
    const int c = int(threadIdx.x) % kChunks, first = int(threadIdx.x) / kChunks;
    from += first * row_stride + c * kChunk;
    if (c * kChunk >= width) rows = 0;
#pragma unroll
    for (int row = 0; row < kRows; row += kAtOnce, from += kAtOnce * row_stride)
      copy_async(reinterpret_cast<uint4*>(chunk_at(first + row, c)), from, first + row < rows);
  } else {
#pragma unroll 1
    for (int i = threadIdx.x; i < kRows * kWidth; i += kThreads) {
      const int row = i / kWidth, column = i % kWidth;
      chunk_at(row, column / kChunk)[column % kChunk] =
          row < rows && column < width ? from[row * row_stride + column] : T{};
    }
  }
}

// A row-major tile in shared memory, in chunks of 16 bytes.  The order of a row's chunks depends on the row's number,
// so that the same chunk of eight rows is in different banks.
template <class T, int kWidth, int kRows>
class SharedTile {
 public:
  static constexpr int kChunk = 16 / int(sizeof(T)), kChunks = kWidth / kChunk;
  static_assert(kChunks % 8 == 0);
  using Core = TensorCore<T>;
  using Left = typename Core::Left;
  using Right = typename Core::Right;

  __device__ __forceinline__ explicit SharedTile(T* data)
      : data_(data), address_(static_cast<unsigned>(__cvta_generic_to_shared(data))) {}

  // From global memory, with zeros beyond `rows` and `width`.
  template <int kThreads>
  __device__ __forceinline__ void load(const T* from, int64_t row_stride, int rows, int width, bool vectors) const {
    load_tile<T, kWidth, kRows, kThreads>(from, row_stride, rows, width, vectors, [&](int row, int c) {
      return data_ + row * kWidth + (c ^ row % 8) * kChunk;
    });
  }

  // Rows [row, row + 16), a multiple of 8, columns from depth * kDepth on, as a left operand.
  __device__ __forceinline__ Left left(int row, int depth) const {
    unsigned x[4];
    left_words(x, row, depth);
    return Core::left(x);
  }
  // Two right operands whose columns are rows [row, row + 8) and [row + 8, row + 16) of this tile.
  __device__ __forceinline__ void right_across(int row, int depth, Right (&r)[2]) const {
    const int lane = threadIdx.x % 32;
    unsigned x[4];
    matrices(x, at(row, depth * 2, lane % 8 + lane / 16 * 8, lane / 8 % 2));
    r[0] = Core::right(x[0], x[1]);
    r[1] = Core::right(x[2], x[3]);
  }
  // Two right operands whose rows are rows of this tile, kDepth of them, of columns [column, column + 16).
  __device__ __forceinline__ void right_down(int depth, int column, Right (&r)[2]) const {
    if constexpr (sizeof(T) == 2) {
      unsigned x[4];
      right_words(x, depth, column);
      r[0] = Core::right(x[0], x[1]);
      r[1] = Core::right(x[2], x[3]);
    } else {
      const int lane = threadIdx.x % 32;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        unsigned x[2];
#pragma unroll
        for (int j = 0; j < 2; ++j)
          x[j] = word(at(depth * 8, column / kChunk + i * 2, lane % 4 * 2 + j, lane / 16) + lane / 4 % 4 * 4);
        r[i] = Core::right(x[0], x[1]);
      }
    }
  }

 protected:
  // The words from which left() and right_down() make operands.  Without `rows`, the first row stands for all rows.
  __device__ __forceinline__ void left_words(unsigned (&x)[4], int row, int depth, bool rows = true) const {
    const int lane = threadIdx.x % 32;
    matrices(x, at(row, depth * 2, rows ? lane % 16 : 0, lane / 16));
  }
  __device__ __forceinline__ void right_words(unsigned (&x)[4], int depth, int column, bool rows = true) const {
    const int lane = threadIdx.x % 32;
    transposed_matrices(x, at(depth * 16, column / kChunk, rows ? lane % 16 : 0, lane / 16));
  }
  __device__ __forceinline__ T element(int row, int column) const {
    return data_[row * kWidth + (column / kChunk ^ row % 8) * kChunk + column % kChunk];
  }

 private:
  // The address of chunk c + lane_chunk of row + lane_row, where row is a multiple of 8 and c of 2: the part that
  // depends on the lane is the same for all tiles except for one exclusive or.
  __device__ __forceinline__ unsigned at(int row, int c, int lane_row, int lane_chunk) const {
    constexpr int kRowBytes = kWidth * int(sizeof(T));
    const int lane_offset = lane_row * kRowBytes + (lane_chunk ^ lane_row % 8) * 16;
    return address_ + row * kRowBytes + (c * 16 & ~127) + (lane_offset ^ (c * 16 & 127));
  }
  __device__ __forceinline__ static unsigned word(unsigned address) {
    unsigned x;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(address) : "memory");
    return x;
  }
  // Four matrices of 8 rows of 16 bytes: lane i gives the address of row i % 8 of matrix i / 8.
  __device__ __forceinline__ static void matrices(unsigned (&x)[4], unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(address)
                 : "memory");
  }
  __device__ __forceinline__ static void transposed_matrices(unsigned (&x)[4], unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(address)
                 : "memory");
  }

  T* data_;
  unsigned address_;
};

// Products by each warp for itself, done when they are started.  Each warp has 16 rows of the sums.
template <class T>
struct WarpProducts {
  using Core = TensorCore<T>;
  using Left = typename Core::Left;
  template <int kWidth, int kRows>
  using Tile = SharedTile<T, kWidth, kRows>;

  // Data written to shared memory before a barrier is read after it.
  static __device__ __forceinline__ void publish() {}

  // sums = rows [row, row + 16) of `left` times the transposed rows of `right`.
  template <int kWidth, int kLeftRows, int kRightRows>
  static __device__ __forceinline__ void start_by_rows(TileSums (&sums)[kRightRows / 8],
                                                       const Tile<kWidth, kLeftRows>& left, int row,
                                                       const Tile<kWidth, kRightRows>& right) {
#pragma unroll
    for (TileSums& s : sums) s = {};
#pragma unroll
    for (int d = 0; d < kWidth / Core::kDepth; ++d) {
      const Left l = left.left(row, d);
#pragma unroll
      for (int n = 0; n < kRightRows / 8; n += 2) {
        typename Core::Right r[2];
        right.right_across(n * 8, d, r);
        Core::add(sums[n], l, r[0]);
        Core::add(sums[n + 1], l, r[1]);
      }
    }
  }

  // sums += `left`, whose columns are as many as `right` has rows, times `right`.  Tensor cores truncate the terms that
  // they add, so float sums are kept short there and added up outside.
  template <int kWidth, int kRows>
  static __device__ __forceinline__ void start_by_columns(TileSums (&sums)[kWidth / 8],
                                                          const Left (&left)[kRows / Core::kDepth],
                                                          const Tile<kWidth, kRows>& right) {
    constexpr int kDepths = kRows / Core::kDepth;
    if constexpr (sizeof(T) == 2) {
#pragma unroll
      for (int d = 0; d < kDepths; ++d)
#pragma unroll
        for (int n = 0; n < kWidth / 8; n += 2) {
          typename Core::Right r[2];
          right.right_down(d, n * 8, r);
          Core::add(sums[n], left[d], r[0]);
          Core::add(sums[n + 1], left[d], r[1]);
        }
    } else {
#pragma unroll
      for (int n = 0; n < kWidth / 8; n += 2) {
        TileSums part[2] = {};
#pragma unroll
        for (int d = 0; d < kDepths; ++d) {
          typename Core::Right r[2];
          right.right_down(d, n * 8, r);
          Core::add(part[0], left[d], r[0]);
          Core::add(part[1], left[d], r[1]);
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) sums[n + i / 4].x[i % 4] += part[i / 4].x[i % 4];
      }
    }
  }

  // Waits for all products but those started by the kLater last calls, of which `sums` is not one.
  template <int kLater, int kCount>
  static __device__ __forceinline__ void await(TileSums (&)[kCount]) {}
};

// Sums as the left operand of the next product.
template <class T, int kTiles>
__device__ __forceinline__ void pack(const TileSums (&sums)[kTiles],
                                     typename TensorCore<T>::Left (&left)[kTiles / TensorCore<T>::kTilesOfDepth]) {
#pragma unroll
  for (int d = 0; d < kTiles / TensorCore<T>::kTilesOfDepth; ++d)
    left[d] = TensorCore<T>::left(&sums[d * TensorCore<T>::kTilesOfDepth]);
}

}  // namespace argand
