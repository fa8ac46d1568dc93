// Singular values and eigenvalues of one matrix.  Matrices are column-major.  T is double or std::complex<double>, also
// for float32, because rounding in thousands of rotations would cost digits.  Signs and phases are those that the
// algorithms produce.  Elements must be finite; they are overwritten.  The functions return false if an iteration does
// not converge; no such matrix is known.  Time is O(n^3), memory O(n^2).
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

namespace argand::cpu::linalg {

// A = U diag(s) V^H for a [m, n], m >= n, with s decreasing.  With vectors, u becomes the first `width` (n or m)
// columns of U, and v is [n, n]; without, both stay empty. Uses Householder's bidiagonal form and the QR steps of Golub
// and Kahan.
template <class T>
struct Singular {
  std::vector<double> s;
  std::vector<T> u, v;
};
template <class T>
bool decompose_singular(std::vector<T> a, int64_t m, int64_t n, bool vectors, int64_t width, Singular<T>& to);

// A = V diag(values) V^H for a Hermitian a [n, n], of which the lower half is read; values increase. Uses Householder's
// tridiagonal form and implicit QL steps.
template <class T>
struct Hermitian {
  std::vector<double> values;
  std::vector<T> vectors;
};
template <class T>
bool decompose_hermitian(std::vector<T> a, int64_t n, bool vectors, Hermitian<T>& to);

// A V = V diag(values) for any a [n, n], with vectors of length 1.  Complex eigenvalues of a real matrix come in
// conjugate pairs, the one with positive imaginary part first.  The largest element of a complex vector is real, as in
// LAPACK. Uses the Hessenberg form, Francis' QR steps to the Schur form, and substitution.
struct General {
  std::vector<std::complex<double>> values, vectors;
};
template <class T>
bool decompose_general(std::vector<T> a, int64_t n, bool vectors, General& to);

// ---- what these share

// A power of two that scales the largest element to a range in which squares neither overflow nor vanish.
template <class T>
double safe_scale(const std::vector<T>& a) {
  double largest = 0;
  for (const T& x : a) largest = std::max(largest, std::abs(x));
  if (largest == 0 || (largest > 0x1p-300 && largest < 0x1p300)) return 1;
  return std::ldexp(1.0, std::min(-std::ilogb(largest), 1000));
}

// The rotation that maps (f, g) to (r, 0).
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

}  // namespace argand::cpu::linalg
