// Eigenvalues of any matrix: Hessenberg's form, QR steps to Schur's (Francis 1961; with one shift where elements are
// complex, two at once where they are real), and substitution for the vectors.
#include <algorithm>
#include <cmath>
#include <limits>

#include "argand/kernels/cpu/linalg_decompose.h"
#include "argand/kernels/cpu/linalg_reflections.h"

namespace argand::cpu::linalg {
namespace {

using Complex = std::complex<double>;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kMostSteps = 300;  // per eigenvalue; two or three are usual

// A = Q H Q^H, where H becomes 0 below the diagonal; for real matrices, blocks of two rows remain for complex pairs of
// eigenvalues.
template <class T>
class Schur {
 public:
  Schur(std::vector<T> a, int64_t n, bool vectors) : n_(n), h_(std::move(a)) {
    make_hessenberg(vectors);
    for (const T& x : h_) largest_ = std::max(largest_, std::abs(x));
  }
  T& h(int64_t i, int64_t j) { return h_[static_cast<size_t>(j * n_ + i)]; }
  const std::vector<T>& q() const { return q_; }
  // The substitute for a difference of eigenvalues that is 0.
  double least() const { return std::max(kEpsilon * largest_, std::numeric_limits<double>::min()); }
  bool has_pair(int64_t i) { return i + 1 < n_ && h(i + 1, i) != T(0); }

  bool iterate() {
    int steps = 0;
    for (int64_t hi = n_ - 1; hi > 0;) {
      int64_t lo = hi;
      while (lo > 0 && !is_zero_below(lo - 1)) --lo;
      if (lo > 0) h(lo, lo - 1) = T(0);
      if (lo == hi || (!is_complex_v<T> && lo + 1 == hi)) {
        if (lo != hi) split_pair(lo);
        hi = lo - 1;
        steps = 0;
        continue;
      }
      if (++steps > kMostSteps) return false;
      step(lo, hi, steps % 10 == 0);
    }
    return true;
  }

 private:
  void make_hessenberg(bool vectors) {
    std::vector<T> tau(static_cast<size_t>(at_least_one(n_) - 1));
    for (int64_t k = 0; k + 1 < n_; ++k) {
      T* v = &h(k + 1, k);
      const int64_t rest = n_ - k - 1;
      const T t = tau[static_cast<size_t>(k)] = reflection(v, rest);
      if (t == T(0)) continue;
      reflect_from_right(v, t, &h(0, k + 1), n_, n_, rest);
      for (int64_t j = k + 1; j < n_; ++j) reflect(v, conjugated(t), &h(k + 1, j), rest);
    }
    if (vectors) q_ = unroll(h_.data(), tau, n_, n_, 1);
    for (int64_t j = 0; j < n_; ++j)
      for (int64_t i = j + 2; i < n_; ++i) h(i, j) = T(0);
  }

  bool is_zero_below(int64_t k) {
    const double beside = size_of(h(k, k)) + size_of(h(k + 1, k + 1));
    return size_of(h(k + 1, k)) <= kEpsilon * (beside == 0 ? largest_ : beside);
  }

  // G H G^H and Q G^H, where G's rows (c, s) and (-conj s, conj c) act on rows and columns i and i + 1; H is 0 left of
  // column `from` and below row `to`.
  void turn(int64_t i, T c, T s, int64_t from, int64_t to) {
    for (int64_t j = from; j < n_; ++j) {
      const T x = h(i, j), y = h(i + 1, j);
      h(i, j) = c * x + s * y;
      h(i + 1, j) = conjugated(c) * y - conjugated(s) * x;
    }
    turn_columns(&h(0, i), &h(0, i + 1), to + 1, c, s);
    if (!q_.empty()) turn_columns(&q_[static_cast<size_t>(i * n_)], &q_[static_cast<size_t>((i + 1) * n_)], n_, c, s);
  }
  static void turn_columns(T* x, T* y, int64_t rows, T c, T s) {
    for (int64_t i = 0; i < rows; ++i) {
      const T a = x[i], b = y[i];
      x[i] = a * conjugated(c) + b * conjugated(s);
      y[i] = b * c - a * s;
    }
  }

  // Makes the 2x2 block at row i upper triangular if its eigenvalues are real.
  void split_pair(int64_t i) {
    const T a = h(i, i), b = h(i, i + 1), c = h(i + 1, i), d = h(i + 1, i + 1);
    if constexpr (!is_complex_v<T>) {
      const double half = (a - d) / 2, square = half * half + b * c;
      if (square < 0) return;
      const double root = std::sqrt(square), z = half + (half < 0 ? -root : root);  // an eigenvalue minus d
      const Rotation r(z, c);
      turn(i, r.c, r.s, i, i + 1);
      h(i + 1, i) = 0;
    }
  }

  // One shift: the eigenvalue of the last block that is nearer to its last element.
  void step(int64_t lo, int64_t hi, bool exceptional) requires is_complex_v<T> {
    const T a = h(hi - 1, hi - 1), d = h(hi, hi), bc = h(hi - 1, hi) * h(hi, hi - 1);
    T shift = d;
    if (exceptional) {
      shift += std::abs(h(hi, hi - 1)) * 0.75;
    } else if (bc != T(0)) {
      const T half = (a - d) / 2.0, root = std::sqrt(half * half + bc);
      const T plus = half + root, minus = half - root;
      shift -= bc / (std::abs(plus) > std::abs(minus) ? plus : minus);
    }
    T x = h(lo, lo) - shift, y = h(lo + 1, lo);
    for (int64_t k = lo; k < hi; ++k) {
      if (k > lo) x = h(k, k - 1), y = h(k + 1, k - 1);
      const double r = std::hypot(std::abs(x), std::abs(y));
      if (r == 0) continue;
      turn(k, conjugated(x) / r, conjugated(y) / r, k > lo ? k - 1 : lo, std::min(k + 2, hi));
      if (k > lo) h(k + 1, k - 1) = T(0);
    }
  }

  // Two shifts, the eigenvalues of the last block, by reflections of three rows: all stays real.
  void step(int64_t lo, int64_t hi, bool exceptional) requires(!is_complex_v<T>) {
    double sum = h(hi - 1, hi - 1) + h(hi, hi);
    double product = h(hi - 1, hi - 1) * h(hi, hi) - h(hi - 1, hi) * h(hi, hi - 1);
    if (exceptional) {
      const double size = std::abs(h(hi, hi - 1)) + std::abs(h(hi - 1, hi - 2));
      sum = 1.5 * size + 2 * h(hi, hi),
      product = (0.75 * size + h(hi, hi)) * (0.75 * size + h(hi, hi)) + 0.4375 * size * size;
    }
    T v[3] = {h(lo, lo) * (h(lo, lo) - sum) + product + h(lo, lo + 1) * h(lo + 1, lo),
              h(lo + 1, lo) * (h(lo, lo) + h(lo + 1, lo + 1) - sum), h(lo + 1, lo) * h(lo + 2, lo + 1)};
    for (int64_t k = lo; k < hi; ++k) {
      const int64_t rows = std::min<int64_t>(3, hi - k + 1);
      if (k > lo)
        for (int64_t i = 0; i < rows; ++i) v[i] = h(k + i, k - 1);
      const T t = reflection(v, rows);
      if (k > lo)
        for (int64_t i = 0; i < rows; ++i) h(k + i, k - 1) = i == 0 ? v[0] : T(0);
      if (t == T(0)) continue;
      for (int64_t j = k; j < n_; ++j) reflect(v, t, &h(k, j), rows);
      reflect_from_right(v, t, &h(0, k), std::min(k + 4, hi + 1), n_, rows);
      if (!q_.empty()) reflect_from_right(v, t, &q_[static_cast<size_t>(k * n_)], n_, n_, rows);
    }
  }

  int64_t n_;
  std::vector<T> h_, q_;
  double largest_ = 0;
};

// The first eigenvalue of the block of two rows at i.
template <class T>
Complex first_of_pair(Schur<T>& t, int64_t i) {
  if constexpr (is_complex_v<T>)
    return t.h(i, i);
  else {
    const double half = (t.h(i, i) - t.h(i + 1, i + 1)) / 2, square = half * half + t.h(i, i + 1) * t.h(i + 1, i);
    return {(t.h(i, i) + t.h(i + 1, i + 1)) / 2, std::sqrt(std::max(-square, 0.0))};
  }
}

// The x with T x = value x whose last elements that are not 0 stand in the block that ends before `end`.
template <class T>
std::vector<Complex> eigenvector(Schur<T>& t, Complex value, int64_t end) {
  std::vector<Complex> x(static_cast<size_t>(end));
  const auto at = [&](int64_t i) -> Complex& { return x[static_cast<size_t>(i)]; };
  int64_t i = end - 1;
  if (i > 0 && t.has_pair(i - 1)) {
    const T b = t.h(i - 1, i), c = t.h(i, i - 1);
    const bool upper = std::abs(b) >= std::abs(c);
    at(i - 1) = upper ? Complex(1) : (value - t.h(i, i)) / c;
    at(i) = upper ? (value - t.h(i - 1, i - 1)) / b : Complex(1);
    --i;
  } else {
    at(i) = 1;
  }
  // x(i) = -(the terms to the right of it) / (a difference of eigenvalues), from the bottom up.
  const auto rest = [&](int64_t row, int64_t from) {
    Complex sum = 0;
    for (int64_t j = from; j < end; ++j) sum -= t.h(row, j) * at(j);
    return sum;
  };
  for (--i; i >= 0; --i) {
    Complex largest = 0;
    if (i > 0 && t.has_pair(i - 1)) {
      const Complex a = t.h(i - 1, i - 1) - value, d = t.h(i, i) - value, upper = rest(i - 1, i + 1),
                    lower = rest(i, i + 1);
      const Complex b = t.h(i - 1, i), c = t.h(i, i - 1);
      Complex determinant = a * d - b * c;
      if (std::abs(determinant) < t.least() * t.least()) determinant = t.least() * t.least();
      at(i - 1) = (d * upper - b * lower) / determinant;
      at(i) = (a * lower - c * upper) / determinant;
      largest = std::abs(at(i)) > std::abs(at(i - 1)) ? at(i) : at(i - 1);
      --i;
    } else {
      Complex difference = t.h(i, i) - value;
      if (std::abs(difference) < t.least()) difference = t.least();
      at(i) = rest(i, i + 1) / difference;
      largest = at(i);
    }
    // Where eigenvalues are close, vectors grow without bound.
    if (std::abs(largest) > 0x1p200)
      for (int64_t j = i; j < end; ++j) at(j) /= std::abs(largest);
  }
  return x;
}

// Scales to length 1; a complex vector gets a real largest element.
void normalize(Complex* x, int64_t n, bool real) {
  double largest = 0, squares = 0;
  int64_t best = 0;
  for (int64_t i = 0; i < n; ++i)
    if (std::abs(x[i]) > largest) largest = std::abs(x[i]), best = i;
  if (largest == 0) return;
  for (int64_t i = 0; i < n; ++i) squares += std::norm(x[i] / largest);
  const Complex turn = real ? Complex(1) : std::conj(x[best]) / largest;
  const double length = std::sqrt(squares) * largest;
  for (int64_t i = 0; i < n; ++i) x[i] = x[i] * turn / length;
  if (!real) x[best].imag(0);
}

}  // namespace

template <class T>
bool decompose_general(std::vector<T> a, int64_t n, bool vectors, General& to) {
  const double scale = safe_scale(a);
  if (scale != 1)
    for (T& x : a) x *= scale;
  Schur<T> t(std::move(a), n, vectors);
  if (!t.iterate()) return false;
  to.values.assign(static_cast<size_t>(n), 0);
  if (vectors) to.vectors.assign(static_cast<size_t>(n * n), 0);
  for (int64_t i = 0; i < n; ++i) {
    const bool pair = t.has_pair(i);
    const Complex value = pair ? first_of_pair(t, i) : Complex(t.h(i, i));
    Complex* vector = vectors ? to.vectors.data() + i * n : nullptr;
    if (vectors) {
      const std::vector<Complex> x = eigenvector(t, value, i + (pair ? 2 : 1));
      for (size_t j = 0; j < x.size(); ++j)
        for (int64_t k = 0; k < n; ++k) vector[k] += t.q()[j * static_cast<size_t>(n) + static_cast<size_t>(k)] * x[j];
      normalize(vector, n, !is_complex_v<T> && !pair);
    }
    to.values[static_cast<size_t>(i)] = value / scale;
    if (!pair) continue;
    ++i;
    to.values[static_cast<size_t>(i)] = std::conj(value) / scale;
    for (int64_t k = 0; vectors && k < n; ++k) vector[n + k] = std::conj(vector[k]);
  }
  return true;
}

template bool decompose_general(std::vector<double>, int64_t, bool, General&);
template bool decompose_general(std::vector<Complex>, int64_t, bool, General&);

}  // namespace argand::cpu::linalg
