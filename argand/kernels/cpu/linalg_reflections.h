// Householder reflections as in LAPACK, for QR and for the Hessenberg, tridiagonal and bidiagonal forms. Matrices are
// column-major.
#pragma once
#include <cmath>
#include <vector>

#include "argand/kernels/cpu/linalg_scalar.h"

namespace argand::cpu::linalg {

// The reflection H = I - tau v v^H with v[0] = 1 and H^H x = (beta, 0), as LAPACK's larfg with a real beta.  x becomes
// (beta, the rest of v).
template <class T>
T reflection(T* x, int64_t n) {
  using R = real_of_t<T>;
  R squares = 0;
  for (int64_t i = 1; i < n; ++i) squares += std::norm(x[i]);
  R imaginary = 0;
  if constexpr (is_complex_v<T>) imaginary = x[0].imag();
  if (squares == 0 && imaginary == 0) return T(0);
  const R real = real_part(x[0]), length = std::sqrt(squares + real * real + imaginary * imaginary);
  const R beta = real > 0 || (real == 0 && !std::signbit(real)) ? -length : length;
  T tau;
  if constexpr (is_complex_v<T>)
    tau = T((beta - real) / beta, -imaginary / beta);
  else
    tau = (beta - real) / beta;
  const T divisor = x[0] - T(beta);
  for (int64_t i = 1; i < n; ++i) x[i] /= divisor;
  x[0] = T(beta);
  return tau;
}

// column -= tau (v^H column) v, where v[0] counts as 1.
template <class T>
void reflect(const T* v, T tau, T* column, int64_t n) {
  T dot = column[0];
  for (int64_t i = 1; i < n; ++i) dot += conjugated(v[i]) * column[i];
  dot *= tau;
  column[0] -= dot;
  for (int64_t i = 1; i < n; ++i) column[i] -= dot * v[i];
}

// A -= tau (A v) v^H for the first `rows` elements of the n columns at `a`, which are `distance` apart.
template <class T>
void reflect_from_right(const T* v, T tau, T* a, int64_t rows, int64_t distance, int64_t n) {
  if (tau == T(0)) return;
  std::vector<T> product(a, a + rows);
  for (int64_t j = 1; j < n; ++j)
    for (int64_t i = 0; i < rows; ++i) product[static_cast<size_t>(i)] += a[j * distance + i] * v[j];
  for (int64_t j = 0; j < n; ++j) {
    const T f = tau * (j == 0 ? T(1) : conjugated(v[j]));
    for (int64_t i = 0; i < rows; ++i) a[j * distance + i] -= product[static_cast<size_t>(i)] * f;
  }
}

// The QR factorization of a [m, n], in place: R on and above the diagonal, the reflections below.  Returns their taus.
template <class T>
std::vector<T> factor_qr(T* a, int64_t m, int64_t n) {
  std::vector<T> tau(static_cast<size_t>(std::min(m, n)));
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    T* v = a + k * m + k;
    const T t = tau[static_cast<size_t>(k)] = reflection(v, m - k);
    if (t == T(0)) continue;
    for (int64_t j = k + 1; j < n; ++j) reflect(v, conjugated(t), a + j * m + k, m - k);
  }
  return tau;
}

// The first `width` columns of the product of the reflections in a [m, ...]; reflection k starts `below` elements under
// the diagonal of column k.
template <class T>
std::vector<T> unroll(const T* a, const std::vector<T>& tau, int64_t m, int64_t width, int64_t below = 0) {
  std::vector<T> q(static_cast<size_t>(m * width));
  for (int64_t j = 0; j < std::min(m, width); ++j) q[static_cast<size_t>(j * m + j)] = T(1);
  for (auto k = static_cast<int64_t>(tau.size()) - 1; k >= 0; --k) {
    const T t = tau[static_cast<size_t>(k)];
    const int64_t first = k + below;
    if (t == T(0)) continue;
    // Columns before `first` are still columns of I, which are zero where v is not.
    for (int64_t j = first; j < width; ++j) reflect(a + k * m + first, t, q.data() + j * m + first, m - first);
  }
  return q;
}

}  // namespace argand::cpu::linalg
