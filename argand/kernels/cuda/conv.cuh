// Convolution and its two adjoints as products of matrices that are never stored: each tile is gathered when it is
// used.
#pragma once
#include "argand/kernels/cuda/product_tile.cuh"
#include "argand/kernels/cuda/store_result.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// ConvShape: contiguous [n, c, in], [o, c / groups, kernel] and [n, o, out].
struct ConvShape {
  int64_t n, c, o, groups;
  int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
  bool channels_last;  // is false here
  __device__ __forceinline__ int64_t in_size() const { return in[0] * in[1] * in[2]; }
  __device__ __forceinline__ int64_t out_size() const { return out[0] * out[1] * out[2]; }
  __device__ __forceinline__ int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
};

// q = n / d, and n becomes the remainder.  Uses 32 bits if they are enough, which is several times faster.
__device__ __forceinline__ int64_t divide(int64_t& n, int64_t d) {
  const int64_t q = (n | d) >> 32 ? n / d : static_cast<unsigned>(n) / static_cast<unsigned>(d);
  n -= q * d;
  return q;
}

// Note [Convolution as a product]
// For each group, each of the three is C [rows, columns] = A [rows, depth] * B [depth, columns]:
//
//                  rows      columns             depth               A   B          C
//   forward        o         (n, out)            (c, kernel)         w   x          y
//   input grad     c         (n, in)             (o, kernel)         w   grad y     grad x
//   weight grad    o         (c, kernel)         (n, out)            gy  x          grad w
//
// An element of B is the element of x (of grad y) at the sum of two positions, one given by its column and one by its
// depth, and zero if that is outside.  For the input grad, input i and tap k meet at output (i + padding - k *
// dilation) / stride if that is a whole number.
inline constexpr int kForward = 0, kInputGrad = 1, kWeightGrad = 2;

// A part of an element's address and of its spatial position.
struct ConvPlace {
  int64_t a, b;
  int at[3];
  bool inside;
};

template <int kKind>
struct ConvProduct {
  const ConvShape& s;
  int64_t rows, columns, depth;

  __device__ __forceinline__ explicit ConvProduct(const ConvShape& shape) : s(shape) {
    const int64_t c = s.c / s.groups, o = s.o / s.groups;
    rows = kKind == kInputGrad ? c : o;
    columns = kKind == kForward ? s.n * s.out_size() : kKind == kInputGrad ? s.n * s.in_size() : c * s.kernel_size();
    depth = kKind == kForward ? c * s.kernel_size() : kKind == kInputGrad ? o * s.kernel_size() : s.n * s.out_size();
  }

  __device__ __forceinline__ const int64_t* limits() const { return kKind == kInputGrad ? s.out : s.in; }
  __device__ __forceinline__ int64_t a_row_stride() const {
    return kKind == kForward ? depth : kKind == kInputGrad ? s.kernel_size() : s.out_size();
  }
  __device__ __forceinline__ int64_t a_of_group(int64_t g) const {
    return kKind == kWeightGrad ? g * rows * s.out_size() : g * (s.o / s.groups) * (s.c / s.groups) * s.kernel_size();
  }

  static __device__ __forceinline__ void split(int64_t i, const int64_t (&size)[3], int64_t (&at)[3]) {
    at[0] = divide(i, size[1] * size[2]);
    at[1] = divide(i, size[2]);
    at[2] = i;
  }

  __device__ __forceinline__ ConvPlace column_place(int64_t group, int64_t column) const {
    ConvPlace p{};
    p.inside = column < columns;
    if (!p.inside) return p;
    int64_t at[3];
    if (kKind == kForward) {
      const int64_t n = divide(column, s.out_size());
      p.b = (n * s.c + group * (s.c / s.groups)) * s.in_size();
      split(column, s.out, at);
      for (int d = 0; d < 3; ++d) p.at[d] = static_cast<int>(at[d] * s.stride[d] - s.padding[d]);
    } else if (kKind == kInputGrad) {
      const int64_t n = divide(column, s.in_size());
      p.b = (n * s.o + group * (s.o / s.groups)) * s.out_size();
      split(column, s.in, at);
      for (int d = 0; d < 3; ++d) p.at[d] = static_cast<int>(at[d] + s.padding[d]);
    } else {
      const int64_t c = divide(column, s.kernel_size());
      p.b = (group * (s.c / s.groups) + c) * s.in_size();
      split(column, s.kernel, at);
      for (int d = 0; d < 3; ++d) p.at[d] = static_cast<int>(at[d] * s.dilation[d] - s.padding[d]);
    }
    return p;
  }

  __device__ __forceinline__ ConvPlace depth_place(int64_t k, int64_t end) const {
    ConvPlace p{};
    p.inside = k < end;
    if (!p.inside) return p;
    int64_t at[3];
    if (kKind == kWeightGrad) {
      const int64_t n = divide(k, s.out_size());
      p.a = n * s.o * s.out_size() + k;
      p.b = n * s.c * s.in_size();
      split(k, s.out, at);
      for (int d = 0; d < 3; ++d) p.at[d] = static_cast<int>(at[d] * s.stride[d]);
    } else {
      const int64_t channel = divide(k, s.kernel_size());
      p.a = channel * (kKind == kForward ? 1 : s.c / s.groups) * s.kernel_size() + k;
      p.b = channel * (kKind == kForward ? s.in_size() : s.out_size());
      split(k, s.kernel, at);
      for (int d = 0; d < 3; ++d) {
        const int tap = static_cast<int>(at[d] * s.dilation[d]);
        p.at[d] = kKind == kForward ? tap : -tap;
      }
    }
    return p;
  }

  // The element's offset in B, or -1.
  __device__ __forceinline__ int64_t b_offset(const ConvPlace& column, const ConvPlace& k) const {
    if (!column.inside || !k.inside) return -1;
    int64_t offset = 0;
#pragma unroll
    for (int d = 0; d < 3; ++d) {
      int at = column.at[d] + k.at[d];
      if (kKind == kInputGrad && s.stride[d] != 1) {
        const int stride = static_cast<int>(s.stride[d]);
        if (at % stride != 0) return -1;
        at /= stride;
      }
      if (at < 0 || at >= limits()[d]) return -1;
      offset = offset * limits()[d] + at;
    }
    return column.b + k.b + offset;
  }

  __device__ __forceinline__ int64_t c_offset(int64_t group, int64_t row, int64_t column) const {
    row += group * rows;
    if (kKind == kWeightGrad) return row * columns + column;
    const int64_t size = kKind == kForward ? s.out_size() : s.in_size();
    const int64_t n = divide(column, size);
    return (n * (kKind == kForward ? s.o : s.c) + row) * size + column;
  }
};

// The output: the result, or for the weight grad the sums over parts of the depth, one after the other.
template <class T, int kKind>
struct ConvResult {
  using type = T;
};
template <class T>
struct ConvResult<T, kWeightGrad> {
  using type = op_math_t<T>;
};

// Block x counts row tiles, column tiles, groups, and parts of `part_depth` (a multiple of kTileDepth) of the depth.
template <class T, int kKind, int R>
__global__ void conv_product(const T* a, const T* b, const T* bias, typename ConvResult<T, kKind>::type* c, ConvShape s,
                             int64_t part_depth) {
  await_earlier_work();
  using Math = ProductMath<T>;
  using Tile = ProductTile<Math, R>;
  using Sum = typename Math::Sum;
  __shared__ Tile tile;
  __shared__ ConvPlace places[kTileDepth];
  const ConvProduct<kKind> product(s);
  int64_t part = blockIdx.x;
  const int64_t row_tiles = (product.rows + Tile::kRows - 1) / Tile::kRows;
  const int64_t column_tiles = (product.columns + kTileColumns - 1) / kTileColumns;
  int64_t row0 = part, column0, group;
  part = divide(row0, row_tiles);
  column0 = part;
  part = divide(column0, column_tiles);
  group = part;
  part = divide(group, s.groups);
  row0 *= Tile::kRows;
  column0 *= kTileColumns;
  const int64_t begin = part * part_depth,
                end = begin + part_depth < product.depth ? begin + part_depth : product.depth;
  a += product.a_of_group(group);
  const int64_t a_row = product.a_row_stride();
  const int column = threadIdx.x % kTileColumns;
  const ConvPlace column_place = product.column_place(group, column0 + column);
  Sum sums[R][4] = {};
  for (int64_t k0 = begin; k0 < end; k0 += kTileDepth) {
    if (threadIdx.x < kTileDepth) places[threadIdx.x] = product.depth_place(k0 + threadIdx.x, end);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < R; ++i) {
      const int k = threadIdx.x % kTileDepth, row = threadIdx.x / kTileDepth + i * kTileSide;
      const bool inside = row0 + row < product.rows && places[k].inside;
      tile.a[k][row] = inside ? convert<Sum>(a[(row0 + row) * a_row + places[k].a]) : Sum(0);
    }
#pragma unroll
    for (int i = 0; i < kTileColumns * kTileDepth / kTileThreads; ++i) {
      const int k = threadIdx.x / kTileColumns + i * (kTileThreads / kTileColumns);
      const int64_t at = product.b_offset(column_place, places[k]);
      tile.b[k][column] = at >= 0 ? convert<Sum>(b[at]) : Sum(0);
    }
    __syncthreads();
    tile.multiply_add(sums);
    __syncthreads();
  }
  if (kKind == kWeightGrad) c += part * s.groups * product.rows * product.columns;
  const int64_t row = row0 + Tile::row(), first = column0 + Tile::column();
  for (int j = 0; j < 4 && first + j < product.columns; ++j)
    for (int i = 0; i < R && row + i < product.rows; ++i) {
      Sum x = sums[i][j];
      if (bias) x += convert<Sum>(bias[group * product.rows + row + i]);
      c[product.c_offset(group, row + i, first + j)] = convert<typename ConvResult<T, kKind>::type>(x);
    }
}

// out[i], and behind its `size` elements those of `more` up to `all` in all, = the sum of parts[p * all + i]: of each
// eighth of the parts in their order, then of these.  A block has 32 elements.
template <class T>
__global__ void __launch_bounds__(256)
    add_parts(const op_math_t<T>* parts, int64_t count, T* out, int64_t size, T* more, int64_t all) {
  await_earlier_work();
  constexpr int kStretches = 8, kColumns = 32;
  __shared__ op_math_t<T> sums[kStretches][kColumns];
  const int column = static_cast<int>(threadIdx.x) % kColumns, stretch = static_cast<int>(threadIdx.x) / kColumns;
  const int64_t i = int64_t{blockIdx.x} * kColumns + column;
  const int64_t begin = stretch * count / kStretches, end = (stretch + 1) * count / kStretches;
  op_math_t<T> sum = 0;
  if (i < all) {
#pragma unroll 8
    for (int64_t p = begin; p < end; ++p) sum += parts[p * all + i];
  }
  sums[stretch][column] = sum;
  __syncthreads();
  if (stretch != 0 || i >= all) return;
  for (int k = 1; k < kStretches; ++k) sum += sums[k][column];
  (i < size ? out[i] : more[i - size]) = convert<T>(sum);
}

// out[c, o, k] = w[o, c, last k - k]: with it, the gradient for the input of a convolution with stride 1 is a
// convolution.
template <class T>
__global__ void turn_weight(const T* w, T* out, int64_t o, int64_t c, int64_t taps) {
  await_earlier_work();
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= o * c * taps) return;
  int64_t tap = i, row = divide(tap, taps), column = row;
  row = divide(column, c);
  out[(column * o + row) * taps + taps - 1 - tap] = w[i];
}

// y[n, o, i] += bias[o]: for kernels that have no bias of their own.
template <class T>
__global__ void add_channel_bias(const T* bias, T* y, int64_t channels, int64_t plane, int64_t total,
                                 Epilogue<T> epilogue) {
  await_earlier_work();
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= total) return;
  int64_t place = i, channel = divide(place, plane);
  divide(channel, channels);  // leaves the remainder
  store_result(epilogue, y, i, convert<T>(convert<op_math_t<T>>(y[i]) + convert<op_math_t<T>>(bias[channel])));
}

}  // namespace argand
