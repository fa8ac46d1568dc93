// Symmetric indefinite matrices: L D L^T by Bunch and Kaufman's pivots (1977), in LAPACK's form.
#include <cmath>

#include "argand/base/linalg_error.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/define.h"
#include "argand/ops/linalg/args.h"
#include "argand/ops/linalg/matrices.h"

namespace argand::ops {
namespace {

std::string singular_block(int64_t at) {
  return str("The factorization could not be completed because D[", at, ",", at, "] is zero");
}

// One row-major matrix [n, n], of which the lower half is read.
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

  // b [n, r] = the solution of A x = b.
  void solve(const int32_t* pivots, T* b, int64_t r) {
    for (int64_t k = 0; k < n_;) {
      const int64_t rows = pivots[k] > 0 ? 1 : 2;
      swap_rows(b, r, k + rows - 1, std::abs(pivots[k]) - 1);
      for (int64_t i = k + rows; i < n_; ++i)
        for (int64_t j = k; j < k + rows; ++j) subtract(b, r, i, at(i, j), j);
      for (int64_t j = 0; j < r; ++j) divide(k, rows, b + k * r + j, b + (k + rows - 1) * r + j);
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
  T& at(int64_t i, int64_t j) { return a_[i * n_ + j]; }
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

  static void swap_rows(T* b, int64_t r, int64_t i, int64_t j) {
    if (i != j) std::swap_ranges(b + i * r, b + (i + 1) * r, b + j * r);
  }
  // Row i less f times row j.
  static void subtract(T* b, int64_t r, int64_t i, T f, int64_t j) {
    for (int64_t l = 0; l < r; ++l) b[i * r + l] -= f * b[j * r + l];
  }

  T* a_;
  int64_t n_;
  bool hermitian_;
};

}  // namespace

struct LinalgLdlFactorEx : Kernel<LinalgLdlFactorExArgs> {
  static constexpr auto schema =
      "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor "
      "pivots, Tensor info)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "A = P L D L^T P^T (hermitian: L^H) of symmetric matrices, of which the lower half is read, with blocks of one "
      "or "
      "two rows in D. LD and pivots (int32) are as LAPACK's sytrf and hetrf give them. info is the number, from 1, of "
      "the "
      "first row of D that is 0, or 0, and with check_errors a LinAlgError.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr bool differentiable = false;
  static constexpr int variants = kFunction | kOut;
  static TensorMetas infer(const Args& a) {
    check_matrices("linalg.ldl_factor_ex", a.self, true);
    return {{a.self.impl().sizes, a.self.dtype()},
            {batch_and(a.self, {rows_of(a.self)}), kInt},
            {batch_and(a.self, {}), kInt}};
  }
  static void cpu(const Args& a, std::span<Tensor> outs) {
    exec::copy_elements(outs[0], a.self);
    const int64_t n = rows_of(a.self);
    dispatch<kMatrixTypes>(a.self.dtype(), Args::kName, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* to = raw<T>(outs[0]);
      auto *pivots = raw<int32_t>(outs[1]), *info = raw<int32_t>(outs[2]);
      each_matrix(batches_of(a.self), n * n * n, [&](int64_t b) {
        T* matrix = to + b * n * n;
        info[b] = static_cast<int32_t>(SymmetricFactors<T>(matrix, n, a.hermitian).factor(pivots + b * n));
        for (int64_t i = 0; i < n; ++i) std::fill(matrix + i * n + i + 1, matrix + (i + 1) * n, T(0));
      });
    });
    if (a.check_errors) check_info("linalg.ldl_factor_ex", outs[2], singular_block);
  }
  static void samples(S& s) {
    s.add({s->real({4, 4})});
    s.add({s->real({2, 3, 3}), true});
    s.add({s->real({0, 0})});
    s.fails({s->real({2, 3})},
            "linalg.ldl_factor_ex: A must be batches of square matrices, but they are 2 by 3 matrices");
    s.fails({s->real({2, 2}) * 0, false, true}, "linalg.ldl_factor_ex: The factorization could not be completed");
  }
};
ARGAND_OP(LinalgLdlFactorEx)

struct LinalgLdlFactor : Composite<LinalgLdlFactorArgs> {
  static constexpr auto schema =
      "linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "linalg_ldl_factor_ex, and a LinAlgError where a row of D is 0.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static Result compose(const Args& a) {
    const auto [LD, pivots, info] = linalg_ldl_factor_ex(a.self, a.hermitian);
    check_info("linalg.ldl_factor", info, singular_block);
    return {LD, pivots};
  }
  static void samples(S& s) {
    s.add({s->real({3, 3})});
    s.fails({s->real({2, 2}) * 0},
            "linalg.ldl_factor: The factorization could not be completed because D[1,1] is zero");
  }
};
ARGAND_OP(LinalgLdlFactor)

namespace {

// ValueError unless they are rows, and negative ones come in pairs.
void check_pivots(const int32_t* pivots, int64_t n) {
  for (int64_t k = 0; k < n; ++k) {
    const bool pair = pivots[k] < 0;
    ARGAND_CHECK(
        ValueError, pivots[k] != 0 && std::abs(int64_t{pivots[k]}) <= n && (!pair || (k + 1 < n && pivots[k + 1] < 0)),
        "linalg.ldl_solve: expected pivots as linalg.ldl_factor gives them, got ", pivots[k], " for row ", k + 1);
    if (!pair) continue;
    ++k;
    ARGAND_CHECK(ValueError, std::abs(int64_t{pivots[k]}) <= n,
                 "linalg.ldl_solve: expected pivots as linalg.ldl_factor gives them, got ", pivots[k], " for row ",
                 k + 1);
  }
}

}  // namespace

struct LdlSolveBatch : Kernel<LdlSolveBatchArgs> {
  static constexpr auto schema = "_linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, bool hermitian) -> Tensor";
  static constexpr auto doc = "linalg_ldl_solve of one batch.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr bool differentiable = false;
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    check_matrices(Args::kName, a.LD, true);
    check_matrices(Args::kName, a.B, false, "B");
    ARGAND_CHECK(DtypeError, a.LD.dtype() == a.B.dtype(), Args::kName, ": expected B of dtype ", a.LD.dtype(), ", got ",
                 a.B.dtype());
    ARGAND_CHECK(DtypeError, a.pivots.dtype() == kInt, Args::kName, ": expected pivots of dtype int32, got ",
                 a.pivots.dtype());
    const Dims pivots = batch_and(a.LD, {rows_of(a.LD)}), B = batch_and(a.LD, {rows_of(a.LD), columns_of(a.B)});
    ARGAND_CHECK(ShapeError, a.pivots.impl().sizes == pivots && a.B.impl().sizes == B, Args::kName,
                 ": expected pivots of shape ", pivots, " and B of shape ", B, ", got ", a.pivots.sizes(), " and ",
                 a.B.sizes());
    return {a.B.impl().sizes, a.B.dtype()};
  }
  static void cpu(const Args& a, Tensor& out) {
    const Tensor LD = exec::dense_clone(a.LD), pivots = exec::dense(a.pivots);
    exec::copy_elements(out, a.B);
    const int64_t n = rows_of(LD), r = columns_of(out);
    const auto* rows = raw<int32_t>(pivots);
    for (int64_t b = 0; b < batches_of(LD); ++b) check_pivots(rows + b * n, n);
    dispatch<kMatrixTypes>(LD.dtype(), Args::kName, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T *factors = raw<T>(LD), *to = raw<T>(out);
      each_matrix(batches_of(LD), n * n * r, [&](int64_t b) {
        SymmetricFactors<T>(factors + b * n * n, n, a.hermitian).solve(rows + b * n, to + b * n * r, r);
      });
    });
  }
  static void samples(S& s) {
    const auto pivots = [](const std::vector<int64_t>& p) { return tensor(p, TensorOptions(kCPU).dtype(kInt)); };
    const Tensor one = 5 * eye(3, TensorOptions(kCPU).dtype(kDouble));
    s.add({s->real({3, 3}) + one, pivots({3, 2, 3}), s->real({3, 2}), false});
    s.add({s->real({3, 3}) + one, pivots({1, -3, -3}), s->real({3, 2}), true});
    s.fails({s->real({3, 3}), pivots({1, -3, 3}), s->real({3, 2}), true}, "linalg.ldl_solve: expected pivots as");
    s.fails({s->real({3, 3}), pivots({1, 2, 4}), s->real({3, 2}), true}, "linalg.ldl_solve: expected pivots as");
    s.fails({s->real({3, 3}), pivots({1, 2}), s->real({3, 2}), true},
            "_linalg_ldl_solve: expected pivots of shape [3] and B of shape [3, 2], got [2] and [3, 2]");
  }
};
ARGAND_OP(LdlSolveBatch)

struct LinalgLdlSolve : Composite<LinalgLdlSolveArgs> {
  static constexpr auto schema =
      "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "X with A X = B for what linalg_ldl_factor made of A, batches broadcast; no gradient.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    constexpr const char* op = "linalg.ldl_solve";
    check_matrices(op, a.LD, true);
    check_matrices(op, a.B, false, "B");
    ARGAND_CHECK(ShapeError, a.pivots.dim() + 1 == a.LD.dim(), op,
                 ": Expected LD.shape[:-1] and pivots.shape to be the ", "same, but got pivots with shape ",
                 a.pivots.sizes());
    const Dims batch = broadcast_shapes(batch_and(a.LD, {}), batch_and(a.B, {}), op);
    return _linalg_ldl_solve(with_batch(a.LD, batch, 2), with_batch(a.pivots, batch, 1), with_batch(a.B, batch, 2),
                             a.hermitian);
  }
  static void samples(S& s) {
    const Tensor pivots = tensor(std::vector<int64_t>{2, 2}, TensorOptions(kCPU).dtype(kInt));
    s.add({s->real({2, 2}) + 5 * eye(2, TensorOptions(kCPU).dtype(kDouble)), pivots, s->real({3, 2, 1})});
    s.fails({s->real({2, 2}), pivots.unsqueeze(0), s->real({2, 1})}, "linalg.ldl_solve: Expected LD.shape[:-1]");
  }
};
ARGAND_OP(LinalgLdlSolve)

}  // namespace argand::ops
