// Symmetric indefinite matrices: L D L^T by Bunch and Kaufman's pivots (1977), in LAPACK's form.
#include <cmath>
#include <utility>

#include "argand/kernels/cpu/linalg_scalar.h"
#include "argand/kernels/cpu/linear_algebra.h"

namespace argand::cpu {
namespace {

using linalg::conjugated, linalg::each_matrix, linalg::kElements, linalg::real_of_t, linalg::real_part, linalg::size_of;

// One column-major matrix [n, n], of which the lower half is read.
template <class T>
class SymmetricFactors {
 public:
  SymmetricFactors(T* a, int64_t n, bool hermitian) : a_(a), n_(n), hermitian_(hermitian && is_complex_v<T>) {}

  // L below the diagonal, D on it and, where a block has two rows, beside it; pivots[k] as LAPACK's: the row, from 1,
  // that row k changed places with, negative for both rows of a block.  Returns the first k, from 1, with D[k, k] = 0.
  int64_t factor(int32_t* pivots) {
    int64_t zero = 0;
    for (int64_t k = 0; k < n_;) {
      const auto [other, rows] = choose(k);
      if (other < 0) {
        if (zero == 0) zero = k + 1;
        pivots[k] = static_cast<int32_t>(k + 1);
        ++k;
        continue;
      }
      exchange(k, k + rows - 1, other);
      for (int64_t i = 0; i < rows; ++i) pivots[k + i] = static_cast<int32_t>(rows == 1 ? other + 1 : -(other + 1));
      if (rows == 1)
        eliminate_row(k);
      else
        eliminate_block(k);
      k += rows;
    }
    return zero;
  }

  // b, column-major [n, r], becomes the solutions of A x = b.
  void solve(const int32_t* pivots, T* b, int64_t r) {
    for (int64_t k = 0; k < n_;) {
      const int64_t rows = pivots[k] > 0 ? 1 : 2;
      swap_rows(b, r, k + rows - 1, std::abs(pivots[k]) - 1);
      for (int64_t i = k + rows; i < n_; ++i)
        for (int64_t j = k; j < k + rows; ++j) subtract(b, r, i, at(i, j), j);
      for (int64_t j = 0; j < r; ++j) divide(k, rows, b + j * n_ + k, b + j * n_ + k + rows - 1);
      k += rows;
    }
    for (int64_t k = n_ - 1; k >= 0;) {
      const int64_t rows = pivots[k] > 0 ? 1 : 2;
      for (int64_t j = k - rows + 1; j <= k; ++j)
        for (int64_t i = k + 1; i < n_; ++i) subtract(b, r, j, turned(at(i, j)), i);
      swap_rows(b, r, k, std::abs(pivots[k]) - 1);
      k -= rows;
    }
  }

 private:
  T& at(int64_t i, int64_t j) { return a_[j * n_ + i]; }
  T turned(T x) const { return hermitian_ ? conjugated(x) : x; }
  T diagonal(int64_t k) { return hermitian_ ? T(real_part(at(k, k))) : at(k, k); }

  // Chooses the row that becomes row k, or the second of two, and the number of rows in the block; -1 if column k is 0.
  std::pair<int64_t, int64_t> choose(int64_t k) {
    using R = real_of_t<T>;
    const R alpha = (1 + std::sqrt(R(17))) / 8, own = size_of(diagonal(k));
    int64_t best = k;
    R largest = 0;
    for (int64_t i = k + 1; i < n_; ++i)
      if (size_of(at(i, k)) > largest) largest = size_of(at(i, k)), best = i;
    if (!(own > 0) && !(largest > 0)) return {-1, 1};
    if (own >= alpha * largest) return {k, 1};
    R in_row = 0;
    for (int64_t j = k; j < best; ++j) in_row = std::max(in_row, size_of(at(best, j)));
    for (int64_t i = best + 1; i < n_; ++i) in_row = std::max(in_row, size_of(at(i, best)));
    if (own >= alpha * largest * (largest / in_row)) return {k, 1};
    if (size_of(diagonal(best)) >= alpha * in_row) return {best, 1};
    return {best, 2};
  }

  // Rows and columns i and j >= i of what column k and those behind it hold.
  void exchange(int64_t k, int64_t i, int64_t j) {
    if (i == j) return;
    for (int64_t l = j + 1; l < n_; ++l) std::swap(at(l, i), at(l, j));
    for (int64_t l = i + 1; l < j; ++l) {
      const T x = turned(at(l, i));
      at(l, i) = turned(at(j, l));
      at(j, l) = x;
    }
    at(j, i) = turned(at(j, i));
    std::swap(at(i, i), at(j, j));
    if (i > k) std::swap(at(i, k), at(j, k));
  }

  void eliminate_row(int64_t k) {
    const T d = at(k, k) = diagonal(k);
    for (int64_t j = k + 1; j < n_; ++j) {
      const T f = turned(at(j, k)) / d;
      for (int64_t i = j; i < n_; ++i) at(i, j) -= at(i, k) * f;
    }
    for (int64_t i = k + 1; i < n_; ++i) at(i, k) /= d;
  }
  void eliminate_block(int64_t k) {
    at(k, k) = diagonal(k), at(k + 1, k + 1) = diagonal(k + 1);
    for (int64_t j = k + 2; j < n_; ++j) {
      // Row j of L; the rows below it still are what they were before the division by D.
      T x = turned(at(j, k)), y = turned(at(j, k + 1));
      divide(k, 2, &x, &y);
      for (int64_t i = j; i < n_; ++i) at(i, j) -= at(i, k) * x + at(i, k + 1) * y;
      at(j, k) = turned(x), at(j, k + 1) = turned(y);
    }
  }

  // The block of D at k: D (x, y) = (x, y).
  void divide(int64_t k, int64_t rows, T* x, T* y) {
    if (rows == 1) {
      *x /= diagonal(k);
      return;
    }
    const T a = diagonal(k), d = diagonal(k + 1), c = at(k + 1, k), b = turned(c), det = a * d - b * c;
    const T first = (d * *x - b * *y) / det;
    *y = (a * *y - c * *x) / det;
    *x = first;
  }

  void swap_rows(T* b, int64_t r, int64_t i, int64_t j) {
    if (i == j) return;
    for (int64_t l = 0; l < r; ++l) std::swap(b[l * n_ + i], b[l * n_ + j]);
  }
  // Row i less f times row j.
  void subtract(T* b, int64_t r, int64_t i, T f, int64_t j) {
    for (int64_t l = 0; l < r; ++l) b[l * n_ + i] -= f * b[l * n_ + j];
  }

  T* a_;
  int64_t n_;
  bool hermitian_;
};

}  // namespace

void factor_ldl(const LdlCall& c) {
  dispatch<kElements>(c.type, "factor_ldl", [&](auto tag) {
    using T = typename decltype(tag)::type;
    each_matrix(c.batch, c.n * c.n * c.n, [&](int64_t b) {
      SymmetricFactors<T> matrix(static_cast<T*>(c.a) + b * c.n * c.n, c.n, c.hermitian);
      c.info[b] = static_cast<int32_t>(matrix.factor(c.pivots + b * c.n));
    });
  });
}

void solve_ldl(const LdlSolveCall& c) {
  dispatch<kElements>(c.type, "solve_ldl", [&](auto tag) {
    using T = typename decltype(tag)::type;
    each_matrix(c.batch, c.n * c.n * c.columns, [&](int64_t b) {
      // solve() does not write to the factors.
      SymmetricFactors<T> matrix(static_cast<T*>(const_cast<void*>(c.ld)) + b * c.n * c.n, c.n, c.hermitian);
      matrix.solve(c.pivots + b * c.n, static_cast<T*>(c.b) + b * c.n * c.columns, c.columns);
    });
  });
}

}  // namespace argand::cpu
