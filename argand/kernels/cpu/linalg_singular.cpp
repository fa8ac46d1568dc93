// Singular values: Householder's bidiagonal form, then QR steps (Golub and Kahan 1965; Golub and Reinsch 1970).
#include <algorithm>
#include <cmath>
#include <limits>

#include "argand/kernels/cpu/linalg_decompose.h"
#include "argand/kernels/cpu/linalg_reflections.h"

namespace argand::cpu::linalg {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kTiny = std::numeric_limits<double>::min() / kEpsilon;
constexpr int kMostSteps = 100;  // per singular value; two or three are usual

// The diagonal d and what stands above it, e, while it becomes zero; rotations go to the columns of u and v.
template <class T>
class Bidiagonal {
 public:
  Bidiagonal(Singular<T>& to, int64_t m, int64_t n) : to_(to), d_(to.s.data()), e_(at_least_one(n)), m_(m), n_(n) {}
  double& above(int64_t k) { return e_[static_cast<size_t>(k)]; }

  bool diagonalize() {
    int steps = 0;
    for (int64_t hi = n_ - 1; hi > 0;) {
      if (is_zero_above(hi - 1)) {
        above(hi - 1) = 0;
        --hi;
        steps = 0;
        continue;
      }
      int64_t lo = hi - 1;
      while (lo > 0 && !is_zero_above(lo - 1)) --lo;
      if (lo > 0) above(lo - 1) = 0;
      if (++steps > kMostSteps) return false;
      if (!clear_zeros(lo, hi)) step(lo, hi);
    }
    return true;
  }

 private:
  bool is_zero_above(int64_t k) {
    return std::abs(above(k)) <= kTiny + kEpsilon * (std::abs(d_[k]) + std::abs(d_[k + 1]));
  }
  void turn(std::vector<T>& of, int64_t rows, int64_t i, int64_t j, const Rotation& r) {
    if (!of.empty()) rotate(of.data() + i * rows, of.data() + j * rows, rows, r.c, r.s);
  }

  // If a diagonal element is 0, the element beside it can be rotated away at once.
  bool clear_zeros(int64_t lo, int64_t hi) {
    for (int64_t k = hi; k >= lo; --k) {
      const double beside = (k < hi ? std::abs(above(k)) : 0) + (k > lo ? std::abs(above(k - 1)) : 0);
      if (std::abs(d_[k]) > kTiny + kEpsilon * beside) continue;
      d_[k] = 0;
      if (k == hi)
        clear_column(lo, hi);
      else
        clear_row(k, hi);
      return true;
    }
    return false;
  }
  void clear_column(int64_t lo, int64_t hi) {
    double f = above(hi - 1);
    above(hi - 1) = 0;
    for (int64_t j = hi - 1; j >= lo; --j) {
      const Rotation r(d_[j], f);
      d_[j] = r.r;
      if (j > lo) {
        f = -r.s * above(j - 1);
        above(j - 1) *= r.c;
      }
      turn(to_.v, n_, j, hi, r);
    }
  }
  void clear_row(int64_t k, int64_t hi) {
    double f = above(k);
    above(k) = 0;
    for (int64_t j = k + 1; j <= hi; ++j) {
      const Rotation r(d_[j], f);
      d_[j] = r.r;
      if (j < hi) {
        f = -r.s * above(j);
        above(j) *= r.c;
      }
      turn(to_.u, m_, j, k, r);
    }
  }

  // The eigenvalue of the last two rows and columns of B^T B that is nearer to the last element; B scaled.
  double shift(int64_t hi, double scale) {
    const double last = d_[hi] / scale, before = d_[hi - 1] / scale, corner = above(hi - 1) / scale;
    const double b = ((before + last) * (before - last) + corner * corner) / 2, c = last * corner * (last * corner);
    if (b == 0 && c == 0) return 0;
    const double root = std::sqrt(b * b + c);
    return c / (b + (b < 0 ? -root : root));
  }

  void step(int64_t lo, int64_t hi) {
    const double scale = std::max(
        {std::abs(d_[hi]), std::abs(d_[hi - 1]), std::abs(above(hi - 1)), std::abs(d_[lo]), std::abs(above(lo))});
    const double first = d_[lo] / scale, last = d_[hi] / scale;
    double f = (first + last) * (first - last) + shift(hi, scale), g = first * (above(lo) / scale);
    for (int64_t j = lo; j < hi; ++j) {
      const Rotation right(f, g);
      if (j > lo) above(j - 1) = right.r;
      f = right.c * d_[j] + right.s * above(j);
      above(j) = right.c * above(j) - right.s * d_[j];
      g = right.s * d_[j + 1];
      d_[j + 1] *= right.c;
      turn(to_.v, n_, j, j + 1, right);
      const Rotation left(f, g);
      d_[j] = left.r;
      f = left.c * above(j) + left.s * d_[j + 1];
      d_[j + 1] = left.c * d_[j + 1] - left.s * above(j);
      if (j + 1 < hi) {
        g = left.s * above(j + 1);
        above(j + 1) *= left.c;
      }
      turn(to_.u, m_, j, j + 1, left);
    }
    above(hi - 1) = f;
  }

  Singular<T>& to_;
  double* d_;
  std::vector<double> e_;
  int64_t m_, n_;
};

// Makes all values non-negative and sorts them, the largest first.
template <class T>
void sort(Singular<T>& to, int64_t m, int64_t n) {
  for (int64_t k = 0; k < n; ++k) {
    double& s = to.s[static_cast<size_t>(k)];
    if (!std::signbit(s)) continue;
    s = -s;
    if (!to.v.empty())
      for (int64_t i = 0; i < n; ++i) to.v[static_cast<size_t>(k * n + i)] *= -1.0;
  }
  for (int64_t k = 0; k < n; ++k) {
    const int64_t best = std::max_element(to.s.begin() + k, to.s.end()) - to.s.begin();
    if (best == k) continue;
    std::swap(to.s[static_cast<size_t>(k)], to.s[static_cast<size_t>(best)]);
    if (to.v.empty()) continue;
    std::swap_ranges(to.u.begin() + k * m, to.u.begin() + (k + 1) * m, to.u.begin() + best * m);
    std::swap_ranges(to.v.begin() + k * n, to.v.begin() + (k + 1) * n, to.v.begin() + best * n);
  }
}

}  // namespace

template <class T>
bool decompose_singular(std::vector<T> a, int64_t m, int64_t n, bool vectors, int64_t width, Singular<T>& to) {
  const double scale = safe_scale(a);
  if (scale != 1)
    for (T& x : a) x *= scale;
  to.s.assign(static_cast<size_t>(n), 0);
  Bidiagonal<T> b(to, m, n);
  std::vector<T> left(static_cast<size_t>(n)), right(static_cast<size_t>(at_least_one(n) - 1)), rows;
  rows.resize(static_cast<size_t>(n * n));  // the reflections from the right, of row k as column k
  for (int64_t k = 0; k < n; ++k) {
    T* v = a.data() + k * m + k;
    const T t = left[static_cast<size_t>(k)] = reflection(v, m - k);
    to.s[static_cast<size_t>(k)] = real_part(*v);
    if (t != T(0))
      for (int64_t j = k + 1; j < n; ++j) reflect(v, conjugated(t), a.data() + j * m + k, m - k);
    if (k + 1 == n) break;
    T* w = rows.data() + k * n + k + 1;
    for (int64_t j = k + 1; j < n; ++j) w[j - k - 1] = conjugated(a[static_cast<size_t>(j * m + k)]);
    const T t_right = right[static_cast<size_t>(k)] = reflection(w, n - k - 1);
    b.above(k) = real_part(*w);
    reflect_from_right(w, t_right, a.data() + (k + 1) * m + k + 1, m - k - 1, m, n - k - 1);
  }
  if (vectors) {
    to.u = unroll(a.data(), left, m, width);
    to.v = unroll(rows.data(), right, n, n, 1);
  }
  if (!b.diagonalize()) return false;
  sort(to, m, n);
  for (double& s : to.s) s /= scale;
  return true;
}

template bool decompose_singular(std::vector<double>, int64_t, int64_t, bool, int64_t, Singular<double>&);
template bool decompose_singular(std::vector<std::complex<double>>, int64_t, int64_t, bool, int64_t,
                                 Singular<std::complex<double>>&);

}  // namespace argand::cpu::linalg
