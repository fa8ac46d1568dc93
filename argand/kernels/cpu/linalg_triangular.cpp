// Cholesky, LU with pivots from the rows, and triangular systems.
#include <algorithm>
#include <numeric>
#include <vector>

#include "argand/kernels/cpu/linalg_scalar.h"
#include "argand/kernels/cpu/linear_algebra.h"

namespace argand::cpu {
namespace {

using linalg::conjugated, linalg::each_matrix, linalg::kElements, linalg::real_of_t, linalg::real_part, linalg::size_of;

// Computes L in the lower half of the row-major a, reading only that half.  Returns the number, from 1, of the row
// where the matrix proves not positive-definite, or 0.
template <class T>
int32_t factor_rows(T* a, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    T* row = a + i * n;
    for (int64_t j = 0; j <= i; ++j) {
      const T* other = a + j * n;
      T sum = row[j];
      for (int64_t k = 0; k < j; ++k) sum -= row[k] * conjugated(other[k]);
      if (j < i) {
        row[j] = sum / other[j];
        continue;
      }
      const real_of_t<T> square = real_part(sum);
      if (!(square > 0)) return static_cast<int32_t>(i + 1);
      row[i] = T(std::sqrt(square));
    }
  }
  return 0;
}

// The same for the upper half.
template <class T>
int32_t factor_columns(T* a, int64_t n) {
  std::vector<T> low(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) low[static_cast<size_t>(i * n + j)] = a[j * n + i];
  const int32_t info = factor_rows(low.data(), n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) a[j * n + i] = low[static_cast<size_t>(i * n + j)];
  return info;
}

// Returns the number, from 1, of the first pivot that is 0, or 0.
template <class T>
int32_t factor_with_pivots(T* a, int64_t m, int64_t n, int32_t* pivots) {
  int32_t zero = 0;
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    T* column = a + k * m;
    int64_t best = k;
    for (int64_t i = k + 1; i < m; ++i)
      if (size_of(column[i]) > size_of(column[best])) best = i;
    pivots[k] = static_cast<int32_t>(best + 1);
    if (best != k)
      for (int64_t j = 0; j < n; ++j) std::swap(a[j * m + k], a[j * m + best]);
    const T pivot = column[k];
    if (pivot == T(0)) {
      if (zero == 0) zero = static_cast<int32_t>(k + 1);
      continue;
    }
    for (int64_t i = k + 1; i < m; ++i) column[i] /= pivot;
    for (int64_t j = k + 1; j < n; ++j) {
      T* other = a + j * m;
      const T f = other[k];
      if (f == T(0)) continue;
      for (int64_t i = k + 1; i < m; ++i) other[i] -= column[i] * f;
    }
  }
  return zero;
}

// One right-hand side.
template <class T>
void solve_one(const T* lu, const int32_t* pivots, int64_t n, T* x) {
  for (int64_t k = 0; k < n; ++k)
    if (pivots[k] != k + 1) std::swap(x[k], x[pivots[k] - 1]);
  const auto eliminate = [&](int64_t k, int64_t begin, int64_t end) {
    const T f = x[k];
    for (int64_t i = begin; i < end; ++i) x[i] -= lu[k * n + i] * f;
  };
  for (int64_t k = 0; k < n; ++k) eliminate(k, k + 1, n);
  for (int64_t k = n - 1; k >= 0; --k) {
    x[k] /= lu[k * n + k];
    eliminate(k, 0, k);
  }
}

// The same bits for r right-hand sides, whose elements of one row lie side by side meanwhile.
template <class T>
void solve_some(const T* lu, const int32_t* pivots, int64_t n, T* b, int64_t r) {
  if (r < 4) {
    for (int64_t j = 0; j < r; ++j) solve_one(lu, pivots, n, b + j * n);
    return;
  }
  std::vector<T> rows(static_cast<size_t>(n * r));
  T* x = rows.data();
  for (int64_t j = 0; j < r; ++j)
    for (int64_t i = 0; i < n; ++i) x[i * r + j] = b[j * n + i];
  for (int64_t k = 0; k < n; ++k)
    if (pivots[k] != k + 1) std::swap_ranges(x + k * r, x + (k + 1) * r, x + (pivots[k] - 1) * r);
  const auto eliminate = [&](int64_t k, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T f = lu[k * n + i];
      for (int64_t j = 0; j < r; ++j) x[i * r + j] -= f * x[k * r + j];
    }
  };
  for (int64_t k = 0; k < n; ++k) eliminate(k, k + 1, n);
  for (int64_t k = n - 1; k >= 0; --k) {
    for (int64_t j = 0; j < r; ++j) x[k * r + j] /= lu[k * n + k];
    eliminate(k, 0, k);
  }
  for (int64_t j = 0; j < r; ++j)
    for (int64_t i = 0; i < n; ++i) b[j * n + i] = x[i * r + j];
}

template <class T>
void solve_rows(const T* a, int64_t n, T* b, int64_t r, bool upper, bool ones) {
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = upper ? n - 1 - step : step;
    const int64_t begin = upper ? i + 1 : 0, end = upper ? n : i;
    for (int64_t k = begin; k < end; ++k) {
      const T f = a[i * n + k];
      if (f == T(0)) continue;
      for (int64_t j = 0; j < r; ++j) b[i * r + j] -= f * b[k * r + j];
    }
    if (!ones)
      for (int64_t j = 0; j < r; ++j) b[i * r + j] /= a[i * n + i];
  }
}

}  // namespace

// A column-major upper triangle is a row-major lower one.
void factor_cholesky(const CholeskyCall& c) {
  dispatch<kElements>(c.type, "factor_cholesky", [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* a = static_cast<T*>(c.a);
    each_matrix(c.batch, c.n * c.n * c.n, [&](int64_t b) {
      T* matrix = a + b * c.n * c.n;
      c.info[b] = c.upper ? factor_rows(matrix, c.n) : factor_columns(matrix, c.n);
    });
  });
}

void factor_lu(const LuCall& c) {
  const int64_t k = std::min(c.m, c.n);
  dispatch<kElements>(c.type, "factor_lu", [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* a = static_cast<T*>(c.a);
    each_matrix(c.batch, c.m * c.n * k,
                [&](int64_t b) { c.info[b] = factor_with_pivots(a + b * c.m * c.n, c.m, c.n, c.pivots + b * k); });
  });
}

void solve_lu(const LuSolveCall& c) {
  dispatch<kElements>(c.type, "solve_lu", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* lu = static_cast<const T*>(c.lu);
    T* to = static_cast<T*>(c.b);
    constexpr int64_t kTogether = 64;  // right-hand sides
    const int64_t parts = (c.columns + kTogether - 1) / kTogether;
    each_matrix(c.batch * parts, c.n * c.n * std::min(c.columns, kTogether), [&](int64_t i) {
      const int64_t b = i / parts, first = i % parts * kTogether;
      solve_some(lu + b * c.n * c.n, c.pivots + b * c.n, c.n, to + (b * c.columns + first) * c.n,
                 std::min(c.columns - first, kTogether));
    });
  });
}

void solve_triangle(const TriangleSolveCall& c) {
  dispatch<kElements>(c.type, "solve_triangle", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* a = static_cast<const T*>(c.a);
    T* to = static_cast<T*>(c.b);
    each_matrix(c.batch, c.n * c.n * c.columns, [&](int64_t b) {
      solve_rows(a + b * c.n * c.n, c.n, to + b * c.n * c.columns, c.columns, c.upper, c.ones);
    });
  });
}

void row_order(const RowOrderCall& c) {
  each_matrix(c.batch, c.rows, [&](int64_t b) {
    int64_t* order = c.order + b * c.rows;
    std::iota(order, order + c.rows, int64_t{0});
    for (int64_t k = 0; k < c.count; ++k) std::swap(order[k], order[c.pivots[b * c.count + k] - 1]);
  });
}

}  // namespace argand::cpu
