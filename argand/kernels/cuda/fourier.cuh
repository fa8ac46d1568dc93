// Kernels for what cuFFT does not do: scaling, transposing, and filling the half of a spectrum that mirrors the other.
#pragma once
#include "argand/kernels/cuda/complex.cuh"
#include "argand/kernels/cuda/fourier_shape.cuh"
#include "argand/kernels/cuda/types.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

template <class T>
__device__ __forceinline__ T scaled(T x, T scale) {
  return x * scale;
}
template <class T>
__device__ __forceinline__ Complex<T> scaled(const Complex<T>& z, T scale) {
  return {z.re * scale, z.im * scale};
}

// to[i] = scale * from[i]; `to` may be `from`.  Real numbers become complex, complex ones lose their imaginary part.
template <class To, class From, class T, class I>
__global__ void scale_numbers(const From* from, To* to, I n, T scale) {
  await_earlier_work();
  const I i = I(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) to[i] = static_cast<To>(scaled(from[i], scale));
}

// Matrices [rows, columns] become [columns, rows], times scale.  A block has a square.
template <class Number, class T>
__global__ void __launch_bounds__(kTransposeThreads)
    transpose_numbers(const Number* from, Number* to, int64_t rows, int64_t columns, int64_t row_tiles,
                      int64_t column_tiles, T scale) {
  await_earlier_work();
  __shared__ Number tile[kTransposeTile][kTransposeTile + 1];
  constexpr int kStep = kTransposeThreads / kTransposeTile;
  const int across = threadIdx.x % kTransposeTile, down = threadIdx.x / kTransposeTile;
  const int64_t column = blockIdx.x % column_tiles * kTransposeTile;
  const int64_t others = blockIdx.x / column_tiles;
  const int64_t row = others % row_tiles * kTransposeTile, matrix = others / row_tiles * rows * columns;
  for (int i = down; i < kTransposeTile; i += kStep)
    if (row + i < rows && column + across < columns)
      tile[i][across] = from[matrix + (row + i) * columns + column + across];
  __syncthreads();
  for (int i = down; i < kTransposeTile; i += kStep)
    if (column + i < columns && row + across < rows)
      to[matrix + (column + i) * rows + row + across] = scaled(tile[across][i], scale);
}

// Where the element lies that is as far before the origin as the one at `at` is behind it, along all `dims`.
template <class I>
__device__ __forceinline__ I mirrored(I at, const MirrorDims& dims) {
  I out = at;
  for (int d = 0; d < dims.count; ++d) {
    const I stride = static_cast<I>(dims.stride[d]), size = static_cast<I>(dims.size[d]), i = at / stride % size;
    if (i > 0) out += stride * (size - 2 * i);  // may wrap around, as the difference does
  }
  return out;
}

// Copies half spectra [..., half, inner] of real numbers, `points` along the last of the dimensions, times scale.  What
// the symmetry says about the elements that have their mirror image among them is made true: they become the mean of
// the two.
template <class T, class I>
__global__ void symmetric_half(const Complex<T>* from, Complex<T>* to, I n, I points, I inner, MirrorDims dims,
                               T scale) {
  await_earlier_work();
  const I at = I(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= n) return;
  Complex<T> z = from[at];
  const I k = at / inner % (points / 2 + 1);
  if (k == 0 || 2 * k == points) {
    const I mirror = mirrored(at, dims);
    if (mirror == at) {
      z.im = 0;
    } else {
      const Complex<T> other = from[mirror];
      z = {z.re / 2 + other.re / 2, z.im / 2 - other.im / 2};
    }
  }
  to[at] = scaled(z, scale);
}

// Scales the first `points` / 2 + 1 of the `points` elements along a dimension of spectra [..., points, inner] of real
// numbers and fills the others with their mirror images.  A thread for each of the first: n in all.
template <class T, class I>
__global__ void fill_mirrored(Complex<T>* to, I n, I points, I inner, MirrorDims dims, T scale) {
  await_earlier_work();
  const I i = I(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const I half = points / 2 + 1, line = i / inner, k = line % half;
  const I at = (line / half * points + k) * inner + i % inner;
  const Complex<T> z = scaled(to[at], scale);
  to[at] = z;
  if (k > 0 && 2 * k < points) to[mirrored(at, dims) + inner * (points - 2 * k)] = {z.re, -z.im};
}

}  // namespace argand
