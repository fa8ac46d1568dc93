// Singular values and eigenvalues of one matrix.  Matrices stand column after column, T is double or
// std::complex<double>: of float32, too, since rounding at each of thousands of rotations would cost digits.  Signs and
// phases are those the algorithms end with.  Elements must be finite; they are overwritten.  False where an iteration
// does not converge, which nobody has seen.  Time is O(n^3), memory O(n^2).
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

namespace argand::ops {

// A = U diag(s) V^H for a [m, n], m >= n, and s falling.  With vectors, u becomes the first `width` (n, or m) columns
// of U, v [n, n]; without, both stay empty. By Householder's bidiagonal form and the QR steps of Golub and Kahan.
template <class T>
struct Singular {
  std::vector<double> s;
  std::vector<T> u, v;
};
template <class T>
bool decompose_singular(std::vector<T> a, int64_t m, int64_t n, bool vectors, int64_t width, Singular<T>& to);

// A = V diag(values) V^H for a Hermitian a [n, n], of which the lower half is read, and values rising.
// By Householder's tridiagonal form and implicit QL steps.
template <class T>
struct Hermitian {
  std::vector<double> values;
  std::vector<T> vectors;
};
template <class T>
bool decompose_hermitian(std::vector<T> a, int64_t n, bool vectors, Hermitian<T>& to);

// A V = V diag(values) for any a [n, n], with vectors of length 1.  Of a real matrix, values that are not real come in
// conjugate pairs, the one above the axis first.  A vector that is not real has a real largest element, as LAPACK's.
// By Hessenberg's form, Francis' QR steps to Schur's, and substitution.
struct General {
  std::vector<std::complex<double>> values, vectors;
};
template <class T>
bool decompose_general(std::vector<T> a, int64_t n, bool vectors, General& to);

// ---- what these share

// A power of two that brings the largest element into a range in which squares neither overflow nor vanish.
template <class T>
double safe_scale(const std::vector<T>& a) {
  double largest = 0;
  for (const T& x : a) largest = std::max(largest, std::abs(x));
  if (largest == 0 || (largest > 0x1p-300 && largest < 0x1p300)) return 1;
  return std::ldexp(1.0, std::min(-std::ilogb(largest), 1000));
}

// That makes (r, 0) of (f, g).
struct Rotation {
  double c = 1, s = 0, r = 0;
  Rotation(double f, double g) : r(std::hypot(f, g)) {
    if (r != 0) c = f / r, s = g / r;
  }
};
// (x, y) = (c x + s y, c y - s x), element by element.
template <class T>
void rotate(T* x, T* y, int64_t n, double c, double s) {
  for (int64_t i = 0; i < n; ++i) {
    const T a = x[i], b = y[i];
    x[i] = c * a + s * b;
    y[i] = c * b - s * a;
  }
}

}  // namespace argand::ops
