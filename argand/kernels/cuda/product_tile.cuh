// Matrix products by tiles in shared memory, for matrix_product.cuh and conv.cuh.
//
// A block of 16 x 16 threads sums a tile of 16 R rows and 64 columns, kTileDepth products at a time; a thread keeps
// R x 4 sums in registers.  Each sum is formed by one thread in the order of its products.
#pragma once
#include "argand/kernels/cuda/types.cuh"

namespace argand {

// How sums of products of T are formed.  Integers are unsigned inside, because they wrap around.
template <class Unsigned>
struct WrappingMath {
  using Sum = Unsigned;
  static __device__ __forceinline__ Sum multiply_add(Sum a, Sum b, Sum sum) { return sum + a * b; }
};
struct FloatMath {
  using Sum = float;
  static __device__ __forceinline__ Sum multiply_add(Sum a, Sum b, Sum sum) { return __fmaf_rn(a, b, sum); }
};
template <class T>
struct ProductMath : WrappingMath<unsigned> {};
template <>
struct ProductMath<long long> : WrappingMath<unsigned long long> {};
template <>
struct ProductMath<bool> {
  using Sum = unsigned;
  static __device__ __forceinline__ Sum multiply_add(Sum a, Sum b, Sum sum) { return sum | (a & b); }
};
template <>
struct ProductMath<double> {
  using Sum = double;
  static __device__ __forceinline__ Sum multiply_add(Sum a, Sum b, Sum sum) { return __fma_rn(a, b, sum); }
};
template <>
struct ProductMath<float> : FloatMath {};
template <>
struct ProductMath<Half> : FloatMath {};
template <>
struct ProductMath<BFloat16> : FloatMath {};

inline constexpr int kTileSide = 16, kTileThreads = kTileSide * kTileSide, kTileDepth = 16, kTileColumns = 64;

template <class Math, int R>
struct ProductTile {
  using Sum = typename Math::Sum;
  static constexpr int kRows = kTileSide * R, kColumnsEach = kTileColumns / kTileSide;
  // Four more than needed, so that neighbours along the depth are in different banks.
  alignas(64) Sum a[kTileDepth][kRows + 4];
  alignas(64) Sum b[kTileDepth][kTileColumns + 4];

  // The first of this thread's R rows and kColumnsEach columns in the tile.
  static __device__ __forceinline__ int row() { return threadIdx.x / kTileSide * R; }
  static __device__ __forceinline__ int column() { return threadIdx.x % kTileSide * kColumnsEach; }

  __device__ __forceinline__ void multiply_add(Sum (&sums)[R][kColumnsEach]) const {
#pragma unroll
    for (int k = 0; k < kTileDepth; ++k) {
      const auto x = *reinterpret_cast<const Vec<Sum, R>*>(&a[k][row()]);
      const auto y = *reinterpret_cast<const Vec<Sum, kColumnsEach>*>(&b[k][column()]);
#pragma unroll
      for (int i = 0; i < R; ++i)
#pragma unroll
        for (int j = 0; j < kColumnsEach; ++j) sums[i][j] = Math::multiply_add(x[i], y[j], sums[i][j]);
    }
  }
};

}  // namespace argand
