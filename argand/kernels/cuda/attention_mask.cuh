// A tile of an attention mask in shared memory, which is added to the scores of a tile of queries and keys.
#pragma once
#include "argand/kernels/cuda/tensor_cores.cuh"

namespace argand {

// [kRows, kWidth] of the mask, whose rows may be one and the same, which is then there once; the sums of a warp are
// laid out as Note [Tiles of a warp] says.
template <class T, int kWidth, int kRows>
class MaskTile : public SharedTile<T, kWidth, kRows> {
  using Tile = SharedTile<T, kWidth, kRows>;

 public:
  __device__ __forceinline__ MaskTile(T* data, bool one_row) : Tile(data), one_row_(one_row) {}

  // Starts to copy rows from `from` on; zeros take the place of what is beyond `rows` and `width`.
  template <int kThreads>
  __device__ __forceinline__ void load(const T* from, int64_t row_stride, int rows, int width) const {
    Tile::template load<kThreads>(from, row_stride, one_row_ ? 1 : rows, width, true);
  }

  // Sums of rows [row, row + 16) and all columns become sums * scale + mask.
  __device__ __forceinline__ void add_to(TileSums (&sums)[kWidth / 8], int row, float scale) const {
#pragma unroll
    for (int n = 0; n < kWidth / 8; n += 2)
      if constexpr (sizeof(T) == 2) {
        unsigned x[4];
        Tile::left_words(x, one_row_ ? 0 : row, n / 2, !one_row_);
        add_words(sums[n], x[0], x[1], scale);
        add_words(sums[n + 1], x[2], x[3], scale);
      } else {
        add_elements(sums[n], scale, [&](int r, int c) { return element(row + r, n * 8 + c); });
        add_elements(sums[n + 1], scale, [&](int r, int c) { return element(row + r, n * 8 + 8 + c); });
      }
  }
  // The same for sums whose rows are the tile's columns [column, column + 16) and whose columns are all its rows.
  __device__ __forceinline__ void add_transposed_to(TileSums (&sums)[kRows / 8], int column, float scale) const {
#pragma unroll
    for (int n = 0; n < kRows / 8; n += 2)
      if constexpr (sizeof(T) == 2) {
        unsigned x[4];
        Tile::right_words(x, one_row_ ? 0 : n / 2, column, !one_row_);
        add_words(sums[n], x[0], x[2], scale);
        add_words(sums[n + 1], x[1], x[3], scale);
      } else {
        add_elements(sums[n], scale, [&](int r, int c) { return element(n * 8 + c, column + r); });
        add_elements(sums[n + 1], scale, [&](int r, int c) { return element(n * 8 + 8 + c, column + r); });
      }
  }

 private:
  __device__ __forceinline__ T element(int row, int column) const { return Tile::element(one_row_ ? 0 : row, column); }
  // Two elements of the thread's row, and two of the row eight below.
  static __device__ __forceinline__ void add_words(TileSums& s, unsigned above, unsigned below, float scale) {
    const unsigned words[2] = {above, below};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const T x{static_cast<unsigned short>(i % 2 == 0 ? words[i / 2] : words[i / 2] >> 16)};
      s.x[i] = ::__fmaf_rn(s.x[i], scale, to_float(x));
    }
  }
  template <class F>
  static __device__ __forceinline__ void add_elements(TileSums& s, float scale, F at) {
    const int row = threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
#pragma unroll
    for (int i = 0; i < 4; ++i) s.x[i] = ::__fmaf_rn(s.x[i], scale, at(row + i / 2 * 8, column + i % 2));
  }

  bool one_row_;
};

}  // namespace argand
