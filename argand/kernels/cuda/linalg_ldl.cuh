// Complex Hermitian matrices as L D L^H by Bunch and Kaufman's pivots (1977), in LAPACK's form:
// kernels/api/linear_algebra.h. One block decomposes a matrix, and one thread solves for a column.  The steps are those
// of kernels/cpu/linalg_ldl.cpp.
#pragma once
#include "argand/kernels/cuda/linalg.cuh"

namespace argand {

__global__ void widen_pivots(const int* pivots, int64_t* to, int64_t n) {
  await_earlier_work();
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) to[i] = pivots[i];
}

// The magnitude by which LAPACK chooses a pivot.
template <class T>
__device__ __forceinline__ T size_of(const Complex<T>& x) {
  return (x.re < 0 ? -x.re : x.re) + (x.im < 0 ? -x.im : x.im);
}

// The block of D at rows k and, if there are two, k + 1: D (x, y) = (x, y).
template <class C>
__device__ __forceinline__ void divide_by_block(const C* a, int64_t n, int64_t k, int rows, C& x, C& y) {
  const C d0 = C(a[k * n + k].re);
  if (rows == 1) {
    x = x / d0;
    return;
  }
  const C d1 = C(a[(k + 1) * n + k + 1].re), c = a[k * n + k + 1], b = conjugated(c), det = d0 * d1 + -(b * c);
  const C first = (d1 * x + -(b * y)) / det;
  y = (d0 * y + -(c * x)) / det;
  x = first;
}

struct Largest {
  double size;
  int64_t at;
};

// The i in [begin, end) for which find(i) is largest, the first of equal ones, and that size; the size is 0 if all are
// 0 or NaN.  All 256 threads of the block call it.
template <class F>
__device__ Largest largest_of(int64_t begin, int64_t end, F find) {
  __shared__ double sizes[256];
  __shared__ int64_t places[256];
  Largest mine{0, begin};
  for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x)
    if (const double size = find(i); size > mine.size) mine = {size, i};
  __syncthreads();
  sizes[threadIdx.x] = mine.size;
  places[threadIdx.x] = mine.at;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const unsigned other = threadIdx.x + half;
      if (sizes[other] > sizes[threadIdx.x] ||
          (sizes[other] == sizes[threadIdx.x] && places[other] < places[threadIdx.x])) {
        sizes[threadIdx.x] = sizes[other];
        places[threadIdx.x] = places[other];
      }
    }
    __syncthreads();
  }
  return {sizes[0], places[0]};
}

// a [n, n] is column-major, and its lower triangle is read.
template <class C>
__global__ void __launch_bounds__(256) factor_hermitian(C* a, int* pivots, int* info, int64_t n) {
  await_earlier_work();
  a += int64_t{blockIdx.x} * n * n;
  pivots += int64_t{blockIdx.x} * n;
  const auto at = [&](int64_t i, int64_t j) -> C& { return a[j * n + i]; };
  const int64_t tid = threadIdx.x, step = blockDim.x;
  constexpr double kAlpha = 0.6403882032022076;  // (1 + sqrt(17)) / 8
  int zero = 0;
  for (int64_t k = 0; k < n;) {
    __syncthreads();
    const double own = fabs(double(at(k, k).re));
    const Largest below = largest_of(k + 1, n, [&](int64_t i) { return double(size_of(at(i, k))); });
    if (!(own > 0) && !(below.size > 0)) {
      if (zero == 0) zero = int(k + 1);
      if (tid == 0) pivots[k] = int(k + 1);
      ++k;
      continue;
    }
    int64_t other = k;
    int rows = 1;
    if (!(own >= kAlpha * below.size)) {
      const int64_t best = below.at;
      const Largest in_row = largest_of(
          k, n, [&](int64_t i) { return i == best ? 0.0 : double(size_of(i < best ? at(best, i) : at(i, best))); });
      if (!(own >= kAlpha * below.size * (below.size / in_row.size))) {
        other = best;
        if (!(fabs(double(at(best, best).re)) >= kAlpha * in_row.size)) rows = 2;
      }
    }
    __syncthreads();
    // Rows and columns i and `other` change places.
    if (const int64_t i = k + rows - 1; i != other) {
      for (int64_t l = other + 1 + tid; l < n; l += step) {
        const C x = at(l, i);
        at(l, i) = at(l, other);
        at(l, other) = x;
      }
      for (int64_t l = i + 1 + tid; l < other; l += step) {
        const C x = conjugated(at(l, i));
        at(l, i) = conjugated(at(other, l));
        at(other, l) = x;
      }
      if (tid == 0) {
        at(other, i) = conjugated(at(other, i));
        const C x = at(i, i);
        at(i, i) = at(other, other);
        at(other, other) = x;
        if (i > k) {
          const C y = at(i, k);
          at(i, k) = at(other, k);
          at(other, k) = y;
        }
      }
    }
    __syncthreads();
    if (tid < rows) {
      pivots[k + tid] = int(rows == 1 ? other + 1 : -(other + 1));
      at(k + tid, k + tid) = C(at(k + tid, k + tid).re);
    }
    __syncthreads();
    // The rows and columns after the block lose the block's part of L D L^H.  Then its own columns become those of L.
    const int64_t first = k + rows, left = n - first;
    for (int64_t e = tid; e < left * left; e += step) {
      const int64_t i = first + e % left, j = first + e / left;
      if (i < j) continue;
      C x = conjugated(at(j, k)), y = rows == 2 ? conjugated(at(j, k + 1)) : C(0);
      divide_by_block(a, n, k, rows, x, y);
      C lost = at(i, k) * x;
      if (rows == 2) lost = lost + at(i, k + 1) * y;
      at(i, j) = at(i, j) + -lost;
    }
    __syncthreads();
    for (int64_t j = first + tid; j < n; j += step) {
      C x = conjugated(at(j, k)), y = rows == 2 ? conjugated(at(j, k + 1)) : C(0);
      divide_by_block(a, n, k, rows, x, y);
      at(j, k) = conjugated(x);
      if (rows == 2) at(j, k + 1) = conjugated(y);
    }
    k += rows;
  }
  if (tid == 0) info[blockIdx.x] = zero;
}

// One thread for each of `total` columns of b, column-major [n, columns].
template <class C>
__global__ void solve_hermitian(const C* ld, const int* pivots, C* b, int64_t n, int64_t columns, int64_t total) {
  await_earlier_work();
  const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (column >= total) return;
  ld += column / columns * n * n;
  pivots += column / columns * n;
  b += column * n;
  const auto at = [&](int64_t i, int64_t j) { return ld[j * n + i]; };
  const auto swap = [&](int64_t i, int64_t j) {
    const C x = b[i];
    b[i] = b[j];
    b[j] = x;
  };
  for (int64_t k = 0; k < n;) {
    const int rows = pivots[k] > 0 ? 1 : 2;
    swap(k + rows - 1, (rows == 1 ? pivots[k] : -pivots[k]) - 1);
    for (int64_t i = k + rows; i < n; ++i)
      for (int64_t j = k; j < k + rows; ++j) b[i] = b[i] + -(at(i, j) * b[j]);
    C second = rows == 2 ? b[k + 1] : C(0);
    divide_by_block(ld, n, k, rows, b[k], second);
    if (rows == 2) b[k + 1] = second;
    k += rows;
  }
  for (int64_t k = n - 1; k >= 0;) {
    const int rows = pivots[k] > 0 ? 1 : 2;
    for (int64_t j = k - rows + 1; j <= k; ++j)
      for (int64_t i = k + 1; i < n; ++i) b[j] = b[j] + -(conjugated(at(i, j)) * b[i]);
    swap(k, (rows == 1 ? pivots[k] : -pivots[k]) - 1);
    k -= rows;
  }
}

}  // namespace argand
