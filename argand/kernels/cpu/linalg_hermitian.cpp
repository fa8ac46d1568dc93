// Eigenvalues of Hermitian matrices: Householder's tridiagonal form, then implicit QL steps (Wilkinson and Reinsch
// 1971).
#include <algorithm>
#include <cmath>
#include <limits>

#include "argand/kernels/cpu/linalg_decompose.h"
#include "argand/kernels/cpu/linalg_reflections.h"

namespace argand::cpu::linalg {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMostSteps = 100;  // per eigenvalue; two are usual

// Q^H A Q = the diagonal d with e beside it; the reflections are stored in the columns of a, from the second row on.
template <class T>
std::vector<T> make_tridiagonal(T* a, int64_t n, double* d, double* e) {
  std::vector<T> tau(static_cast<size_t>(at_least_one(n) - 1)), product(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) {
    d[k] = real_part(a[k * n + k]);
    const int64_t rest = n - k - 1;
    if (rest == 0) break;
    T* v = a + k * n + k + 1;
    const T t = tau[static_cast<size_t>(k)] = reflection(v, rest);
    e[k] = real_part(*v);
    if (t == T(0)) continue;
    T* below = a + (k + 1) * n + k + 1;  // only its lower half is used
    const T first = *v;
    *v = T(1);
    std::fill_n(product.begin(), rest, T(0));
    for (int64_t j = 0; j < rest; ++j) {
      const T* column = below + j * n;
      product[static_cast<size_t>(j)] += real_part(column[j]) * v[j];
      for (int64_t i = j + 1; i < rest; ++i) {
        product[static_cast<size_t>(i)] += column[i] * v[j];
        product[static_cast<size_t>(j)] += conjugated(column[i]) * v[i];
      }
    }
    T dot = T(0);
    for (int64_t i = 0; i < rest; ++i) {
      product[static_cast<size_t>(i)] *= t;
      dot += conjugated(product[static_cast<size_t>(i)]) * v[i];
    }
    const T half = t * dot * -0.5;
    for (int64_t i = 0; i < rest; ++i) product[static_cast<size_t>(i)] += half * v[i];
    for (int64_t j = 0; j < rest; ++j) {
      const T of_v = conjugated(product[static_cast<size_t>(j)]), of_product = conjugated(v[j]);
      for (int64_t i = j; i < rest; ++i) below[j * n + i] -= v[i] * of_v + product[static_cast<size_t>(i)] * of_product;
    }
    *v = first;
  }
  return tau;
}

// One step that makes e[lo] smaller, where e is 0 after hi.
template <class T>
void step(double* d, double* e, int64_t lo, int64_t hi, std::vector<T>& vectors, int64_t n) {
  double g = (d[lo + 1] - d[lo]) / (2 * e[lo]);
  const double root = std::hypot(g, 1.0);
  g = d[hi] - d[lo] + e[lo] / (g + (g < 0 ? -root : root));
  double s = 1, c = 1, p = 0;
  for (int64_t i = hi - 1; i >= lo; --i) {
    const double f = s * e[i], b = c * e[i];
    double r = std::hypot(f, g);
    e[i + 1] = r;
    if (r == 0) {  // the matrix splits here
      d[i + 1] -= p;
      e[hi] = 0;
      return;
    }
    s = f / r, c = g / r;
    g = d[i + 1] - p;
    r = (d[i] - g) * s + 2 * c * b;
    p = s * r;
    d[i + 1] = g + p;
    g = c * r - b;
    if (!vectors.empty()) rotate(vectors.data() + (i + 1) * n, vectors.data() + i * n, n, c, s);
  }
  d[lo] -= p;
  e[lo] = g;
  e[hi] = 0;
}

template <class T>
bool diagonalize(double* d, double* e, int64_t n, std::vector<T>& vectors) {
  for (int64_t lo = 0; lo < n; ++lo)
    for (int steps = 0;; ++steps) {
      int64_t hi = lo;
      while (hi + 1 < n &&
             std::abs(e[hi]) > std::numeric_limits<double>::min() + kEpsilon * (std::abs(d[hi]) + std::abs(d[hi + 1])))
        ++hi;
      if (hi == lo) break;
      if (steps == kMostSteps) return false;
      step(d, e, lo, hi, vectors, n);
    }
  return true;
}

}  // namespace

template <class T>
bool decompose_hermitian(std::vector<T> a, int64_t n, bool vectors, Hermitian<T>& to) {
  const double scale = safe_scale(a);
  if (scale != 1)
    for (T& x : a) x *= scale;
  to.values.assign(static_cast<size_t>(n), 0);
  std::vector<double> beside(static_cast<size_t>(n));
  const std::vector<T> tau = make_tridiagonal(a.data(), n, to.values.data(), beside.data());
  if (vectors) to.vectors = unroll(a.data(), tau, n, n, 1);
  if (!diagonalize(to.values.data(), beside.data(), n, to.vectors)) return false;
  for (int64_t k = 0; k < n; ++k) {
    const int64_t best = std::min_element(to.values.begin() + k, to.values.end()) - to.values.begin();
    if (best == k) continue;
    std::swap(to.values[static_cast<size_t>(k)], to.values[static_cast<size_t>(best)]);
    if (vectors)
      std::swap_ranges(to.vectors.begin() + k * n, to.vectors.begin() + (k + 1) * n, to.vectors.begin() + best * n);
  }
  for (double& x : to.values) x /= scale;
  return true;
}

template bool decompose_hermitian(std::vector<double>, int64_t, bool, Hermitian<double>&);
template bool decompose_hermitian(std::vector<std::complex<double>>, int64_t, bool, Hermitian<std::complex<double>>&);

}  // namespace argand::cpu::linalg
