// Systems of equations, inverses and determinants, by elimination with pivots.
#include <cmath>
#include <limits>
#include <numeric>

#include "argand/base/linalg_error.h"
#include "argand/exec/forward_mode.h"
#include "argand/exec/has_values.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/linalg/args.h"
#include "argand/ops/linalg/matrices.h"
#include "argand/ops/maybe.h"
#include "argand/ops/node_name.h"

namespace argand::ops {

void check_matrices(const char* op, const Tensor& t, bool square, const char* name) {
  ARGAND_CHECK(ShapeError, t.dim() >= 2, op, ": The input tensor ", name, " must have at least 2 dimensions.");
  ARGAND_CHECK(ShapeError, !square || rows_of(t) == columns_of(t), op, ": ", name,
               " must be batches of square matrices, but they are ", rows_of(t), " by ", columns_of(t), " matrices");
}

void check_info(const char* op, const Tensor& info, std::string (*what)(int64_t)) {
  const Tensor list = info.to(Device(kCPU)).contiguous();
  const int32_t* p = !exec::has_values(list) ? nullptr : raw<int32_t>(list);
  for (int64_t i = 0; p && i < list.numel(); ++i)
    if (p[i] != 0)
      ARGAND_THROW(LinAlgError, op, ": ", info.dim() > 0 ? str("(Batch element ", i, "): ") : "", what(p[i]));
}

namespace {

std::string singular(int64_t at) {
  return str("The solver failed because the input matrix is singular (the diagonal element ", at, " is zero).");
}
std::string not_invertible(int64_t at) {
  return str("The diagonal element ", at,
             " is zero, the inversion could not be completed because the input matrix is "
             "singular.");
}

// The result of elimination with pivots, in memory of its own.
struct Elimination {
  Tensor columns, pivots, info;  // the matrices in column-major order

  explicit Elimination(const Tensor& A) : Elimination(A, exec::new_tensor({batch_and(A, {}), kInt}, A.device())) {}
  Elimination(const Tensor& A, Tensor to_info)
      : columns(in_columns(A)),
        pivots(exec::new_tensor({batch_and(A, {rows_of(A)}), kInt}, A.device())),
        info(std::move(to_info)) {
    blocks::factor_lu.on(A.device())({A.dtype(), rows_of(A), rows_of(A), batches_of(A), address(columns),
                                      address<int32_t>(pivots), address<int32_t>(info)});
  }
  void solve(const Tensor& b_in_columns) const {
    blocks::solve_lu.on(columns.device())({columns.dtype(), rows_of(columns), rows_of(b_in_columns),
                                           batches_of(columns), address(columns), address<int32_t>(pivots),
                                           address(b_in_columns)});
  }
  // -1 for an odd number of row swaps, else 1.
  Tensor sign() const {
    const Tensor unmoved = arange(1, rows_of(columns) + 1, pivots.options());
    const Tensor swaps = (pivots != unmoved).sum(-1);
    return 1 - 2 * swaps.remainder(2);
  }
  Tensor diagonal() const { return columns.diagonal(0, -2, -1); }

  // For matrices of the CPU, f(number of the matrix, sign, the k-th pivot as a function of k).
  template <class T, class F>
  void each(F f) const {
    const int64_t n = rows_of(columns);
    const T* lu = raw<T>(columns);
    const int32_t* rows = raw<int32_t>(pivots);
    for (int64_t b = 0; b < batches_of(columns); ++b) {
      bool odd = false;
      for (int64_t k = 0; k < n; ++k) odd ^= rows[b * n + k] != k + 1;
      f(b, odd ? T(-1) : T(1), [&, b](int64_t k) { return lu[(b * n + k) * n + k]; });
    }
  }
};

// The checks for ops that take one batch of A and B.
void check_system(const char* op, const Tensor& A, const Tensor& B) {
  check_matrices(op, A, true);
  ARGAND_CHECK(DtypeError, B.dtype() == A.dtype(), op,
               ": Expected A and B to have the same dtype, but found A of type ", A.dtype(), " and B of type ",
               B.dtype(), " instead");
  ARGAND_CHECK(ShapeError, B.dim() == A.dim() && B.impl().sizes == batch_and(A, {rows_of(A), columns_of(B)}), op,
               ": expected B of batch and rows of A ", A.sizes(), ", got ", B.sizes());
}

// Both matrices with their batches broadcast.
std::pair<Tensor, Tensor> with_one_batch(const char* op, const Tensor& A, const Tensor& B) {
  const Dims to = broadcast_shapes(batch_and(A, {}), batch_and(B, {}), op);
  return {with_batch(A, to, 2), with_batch(B, to, 2)};
}

// With a large diagonal, so that there is an inverse.
template <class S>
Tensor regular(S& s, IntArrayRef sizes) {
  s->values_differ(kFullRank);
  return s->real(sizes) + 5 * eye(sizes.back(), TensorOptions(kCPU).dtype(kDouble));
}

// B as vectors: one, or one for each matrix of A.
bool holds_vectors(const Tensor& A, const Tensor& B) {
  return B.dim() == 1 || (B.dim() == A.dim() - 1 && B.sizes() == A.sizes().slice(0, static_cast<size_t>(B.dim())));
}

}  // namespace

struct LinalgSolveSquare : Kernel<LinalgSolveSquareArgs> {
  static constexpr auto schema = "_linalg_solve_square(Tensor A, Tensor B) -> (Tensor result, Tensor info)";
  static constexpr auto doc =
      "X with A X = B for matrices of one batch. info is int32: the number, from 1, of the pivot that is 0, or 0.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction;
  static TensorMetas infer(const Args& a) {
    check_system(Args::kName, a.A, a.B);
    return {{a.B.impl().sizes, a.B.dtype()}, {batch_and(a.A, {}), kInt}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const Elimination e(a.A, outs[1]);
    const Tensor x = in_columns(a.B);
    e.solve(x);
    exec::copy_elements(outs[0], transposed(x));
  }
  static Grads grad(const Ctx& c, const Grads& g) {
    if (!g[0].defined()) return {{}, {}};
    const Tensor to_B = std::get<0>(_linalg_solve_square(mH(c.A), g[0]));
    return {-to_B.matmul(mH(c.result(0))), to_B};
  }
  static void samples(S& s) {
    s.add({regular(s, {3, 3}), s->real({3, 2})});
    s.add({regular(s, {2, 4, 4}), s->real({2, 4, 1})});
    s.add({s->real({0, 0}), s->real({0, 2})});
    s.fails({s->real({2, 3}), s->real({2, 2})},
            "_linalg_solve_square: A must be batches of square matrices, but they are 2 by 3 matrices");
    s.fails({s->real({2, 2}), s->real({3, 2})}, "_linalg_solve_square: expected B of batch and rows of A [2, 2], got");
  }
};
ARGAND_OP(LinalgSolveSquare)
ARGAND_NODE(LinalgSolveSquare, "LinalgSolveExBackward0")

namespace {

std::tuple<Tensor, Tensor> solve(const char* op, const Tensor& A, const Tensor& B, bool left) {
  check_matrices(op, A, true);
  ARGAND_CHECK(DtypeError, B.dtype() == A.dtype(), op,
               ": Expected A and B to have the same dtype, but found A of type ", A.dtype(), " and B of type ",
               B.dtype(), " instead");
  const bool vectors = holds_vectors(A, B);
  ARGAND_CHECK(ValueError, left || !vectors, op,
               ": Vector broadcasting of the left hand side is not supported for left=False");
  Tensor b = vectors ? B.unsqueeze(-1) : B;
  check_matrices(op, b, false, "B");
  if (!left) b = b.transpose(-2, -1);
  const Tensor a = left ? A : A.transpose(-2, -1);
  ARGAND_CHECK(ShapeError, rows_of(b) == rows_of(a), op, ": Incompatible shapes of A and B for the equation ",
               left ? "AX = B" : "XA = B", " (", rows_of(A), "x", columns_of(A), " and ",
               left ? rows_of(b) : columns_of(b), "x", left ? columns_of(b) : rows_of(b), ")");
  const auto [all_a, all_b] = with_one_batch(op, a, b);
  auto [x, info] = _linalg_solve_square(all_a, all_b);
  if (!left) x = x.transpose(-2, -1);
  return {vectors ? x.squeeze(-1) : x, info};
}

std::tuple<Tensor, Tensor> inverse_of(const char* op, const Tensor& A) {
  check_matrices(op, A, true);
  return _linalg_solve_square(A, eye(rows_of(A), A.options()).expand(A.sizes()));
}

}  // namespace

struct LinalgSolveEx : Composite<LinalgSolveExArgs> {
  static constexpr auto schema =
      "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "linalg_solve, and int32 numbers: of the first pivot that is 0, from 1, or 0. With check_errors a LinAlgError.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static Result compose(const Args& a) {
    auto result = solve("linalg_solve_ex", a.A, a.B, a.left);
    if (a.check_errors) check_info("linalg.solve_ex", std::get<1>(result), singular);
    return result;
  }
  static void samples(S& s) {
    s.add({regular(s, {3, 3}), s->real({3, 2})});
    s.fails(
        {s->real({2, 2}) * 0, s->real({2, 1}), true, true},
        "linalg.solve_ex: The solver failed because the input matrix is singular (the diagonal element 1 is zero).");
  }
};
ARGAND_OP(LinalgSolveEx)
ARGAND_NODE(LinalgSolveEx)

struct LinalgSolve : Composite<LinalgSolveArgs> {
  static constexpr auto schema = "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "X with A X = B (left=False: X A = B), for batches that broadcast; B holds vectors where it has one dimension "
      "less.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const auto [x, info] = solve("linalg_solve", a.A, a.B, a.left);
    check_info("linalg.solve", info, singular);
    return x;
  }
  static void samples(S& s) {
    s.add({regular(s, {3, 3}), s->real({3, 2})});
    s.add({regular(s, {2, 3, 3}), s->real({3})});
    s.add({regular(s, {2, 3, 3}), s->real({2, 3})});
    s.add({regular(s, {3, 3}), s->real({2, 4, 3}), false});
    s.fails({s->real({2, 2}) * 0, s->real({2, 1})},
            "linalg.solve: The solver failed because the input matrix is singular (the diagonal element 1 is zero).");
    s.fails({s->real({3, 2}), s->real({2, 1})},
            "linalg_solve: A must be batches of square matrices, but they are 3 by 2 matrices");
    s.fails({s->real({3, 3}), s->real({2, 1})},
            "linalg_solve: Incompatible shapes of A and B for the equation AX = B (3x3 and 2x1)");
  }
};
ARGAND_OP(LinalgSolve)
ARGAND_NODE(LinalgSolve, "LinalgSolveExBackward0")

struct LinalgInvEx : Composite<LinalgInvExArgs> {
  static constexpr auto schema = "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "The inverses, and int32 numbers: of the first pivot that is 0, from 1, or 0. With check_errors a LinAlgError.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static Result compose(const Args& a) {
    auto result = inverse_of("linalg_inv_ex", a.A);
    if (a.check_errors) check_info("linalg.inv_ex", std::get<1>(result), not_invertible);
    return result;
  }
  static void samples(S& s) {
    s.add({regular(s, {3, 3})});
    s.fails({s->real({2, 2}) * 0, true}, "linalg.inv_ex: The diagonal element 1 is zero");
  }
};
ARGAND_OP(LinalgInvEx)
ARGAND_NODE(LinalgInvEx)

struct LinalgInv : Composite<LinalgInvArgs> {
  static constexpr auto schema = "linalg_inv(Tensor A) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The inverses of matrices.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const auto [x, info] = inverse_of("linalg_inv", a.A);
    check_info("linalg.inv", info, not_invertible);
    return x;
  }
  static void samples(S& s) {
    s.add({regular(s, {2, 3, 3})});
    s.add({s->real({0, 3, 3})});
    s.fails(
        {s->real({2, 2}) * 0},
        "linalg.inv: The diagonal element 1 is zero, the inversion could not be completed because the input matrix is "
        "singular.");
    s.fails({s->real({3})}, "linalg_inv: The input tensor A must have at least 2 dimensions.");
  }
};
ARGAND_OP(LinalgInv)
ARGAND_NODE(LinalgInv, "LinalgInvExBackward0")

struct Inverse : Composite<InverseArgs> {
  static constexpr auto schema = "inverse(Tensor self) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The inverses of matrices.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) { return linalg_inv(a.self); }
  static void samples(S& s) { s.add({regular(s, {3, 3})}); }
};
ARGAND_OP(Inverse)

// ---- triangles

namespace {

Tensor triangle(const Tensor& t, bool upper, bool without_diagonal) {
  return upper ? t.triu(without_diagonal ? 1 : 0) : t.tril(without_diagonal ? -1 : 0);
}

}  // namespace

struct LinalgSolveTriangle : Kernel<LinalgSolveTriangleArgs> {
  static constexpr auto schema = "_linalg_solve_triangle(Tensor A, Tensor B, bool upper, bool unitriangular) -> Tensor";
  static constexpr auto doc = "X with A X = B for triangles A of one batch with B.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    check_system(Args::kName, a.A, a.B);
    return {a.B.impl().sizes, a.B.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const Tensor A = exec::dense(a.A);
    exec::copy_elements(out, a.B);
    blocks::solve_triangle.on(A.device())(
        {A.dtype(), rows_of(A), columns_of(a.B), batches_of(A), a.upper, a.unitriangular, address(A), address(out)});
  }
  static Grads grad(const Ctx& c, const Tensor& g) {
    const Tensor to_B = _linalg_solve_triangle(mH(c.A), g, !c.upper, c.unitriangular);
    return {triangle(-to_B.matmul(mH(c.result())), c.upper, c.unitriangular), to_B};
  }
  static void samples(S& s) {
    for (const bool upper : {true, false})
      for (const bool ones : {true, false}) s.add({regular(s, {2, 3, 3}), s->real({2, 3, 2}), upper, ones});
    s.fails({s->real({2, 3}), s->real({2, 2}), true, false},
            "_linalg_solve_triangle: A must be batches of square matrices, but they are 2 by 3 matrices");
  }
};
ARGAND_OP(LinalgSolveTriangle)
ARGAND_NODE(LinalgSolveTriangle, "LinalgSolveTriangularBackward0")

struct LinalgSolveTriangular : Composite<LinalgSolveTriangularArgs> {
  static constexpr auto schema =
      "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> "
      "Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "X with A X = B (left=False: X A = B) for triangles A, batches broadcast; what lies on the other side is not "
      "read.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    constexpr const char* op = "linalg_solve_triangular";
    check_matrices(op, a.self, true);
    check_matrices(op, a.B, false, "B");
    const int64_t n = rows_of(a.self), of_B = a.left ? rows_of(a.B) : columns_of(a.B);
    ARGAND_CHECK(ShapeError, n == of_B, op, ": Incompatible shapes of A and B for the equation ",
                 a.left ? "AX = B" : "XA = B", " (", n, "x", n, " and ", rows_of(a.B), "x", columns_of(a.B), ")");
    const auto turned = [&](const Tensor& t) { return a.left ? t : t.transpose(-2, -1); };
    const auto [A, B] = with_one_batch(op, turned(a.self), turned(a.B));
    return turned(_linalg_solve_triangle(A, B, a.upper == a.left, a.unitriangular));
  }
  static void samples(S& s) {
    s.add({regular(s, {3, 3}), s->real({2, 3, 2}), true});
    s.add({regular(s, {2, 3, 3}), s->real({4, 3}), false, false});
    s.fails({s->real({3, 3}), s->real({2, 2}), true},
            "linalg_solve_triangular: Incompatible shapes of A and B for the equation AX = B (3x3 and 2x2)");
  }
};
ARGAND_OP(LinalgSolveTriangular)
ARGAND_NODE(LinalgSolveTriangular)

// ---- determinants

namespace {

// Note [Adjugates]
// With the pivots of both rows and columns, A = P L U Q, and the pivots that are 0 come last. So with
// U = [[V, u], [0, p]] the adjugate of U is det(V) [[p V^-1, -V^-1 u], [0, 1]], or 0 if V has a pivot of 0: nothing is
// divided by p, and the result is exact where A has no inverse. That of A is det(P Q) Q^-1 adj(U) L^-1 P^-1.
template <class T>
class Adjugate {
 public:
  Adjugate(const T* matrix, int64_t n) : n_(n), lu_(matrix, matrix + n * n), rows_(static_cast<size_t>(n)) {
    std::iota(rows_.begin(), rows_.end(), int64_t{0});
    columns_ = rows_;
    for (int64_t k = 0; k + 1 < n_; ++k) eliminate(k);
  }
  void write(T* out) {
    std::fill(out, out + n_ * n_, T(0));
    if (n_ == 0) return;
    T scale = sign_;  // with det(V)
    for (int64_t i = 0; i + 1 < n_; ++i) scale *= at(i, i);
    if (scale == T(0)) return;
    std::vector<T> column(static_cast<size_t>(n_));
    for (int64_t j = 0; j < n_; ++j) {
      std::fill(column.begin(), column.end(), T(0));
      column[static_cast<size_t>(j)] = T(1);
      solve(column);
      for (int64_t i = 0; i < n_; ++i) out[columns_[i] * n_ + rows_[j]] = scale * column[static_cast<size_t>(i)];
    }
  }

 private:
  T& at(int64_t i, int64_t j) { return lu_[static_cast<size_t>(i * n_ + j)]; }

  void eliminate(int64_t k) {
    int64_t row = k, column = k;
    for (int64_t i = k; i < n_; ++i)
      for (int64_t j = k; j < n_; ++j)
        if (size_of(at(i, j)) > size_of(at(row, column))) row = i, column = j;
    if (row != k) {
      for (int64_t j = 0; j < n_; ++j) std::swap(at(row, j), at(k, j));
      std::swap(rows_[row], rows_[k]);
      sign_ = -sign_;
    }
    if (column != k) {
      for (int64_t i = 0; i < n_; ++i) std::swap(at(i, column), at(i, k));
      std::swap(columns_[column], columns_[k]);
      sign_ = -sign_;
    }
    if (at(k, k) == T(0)) return;
    for (int64_t i = k + 1; i < n_; ++i) {
      const T factor = at(i, k) /= at(k, k);
      if (factor == T(0)) continue;
      for (int64_t j = k + 1; j < n_; ++j) at(i, j) -= factor * at(k, j);
    }
  }

  // adj(U) L^-1 of a column, without det(V).
  void solve(std::vector<T>& x) {
    const int64_t last = n_ - 1;
    for (int64_t i = 1; i < n_; ++i)
      for (int64_t j = 0; j < i; ++j) x[i] -= at(i, j) * x[j];
    for (int64_t i = 0; i < last; ++i) x[i] = at(last, last) * x[i] - at(i, last) * x[last];
    for (int64_t i = last - 1; i >= 0; --i) {
      for (int64_t j = i + 1; j < last; ++j) x[i] -= at(i, j) * x[j];
      x[i] /= at(i, i);
    }
  }

  int64_t n_;
  std::vector<T> lu_;
  std::vector<int64_t> rows_, columns_;  // which of A's stand where
  T sign_ = T(1);
};

// At [i, j], the product of all values of a batch but the i-th and the j-th; 0 on the diagonal.
Tensor products_without_two(const Tensor& values) {
  const Tensor s = values.to(Device(kCPU), kDouble).contiguous();
  const int64_t n = s.size(-1);
  Dims sizes = s.impl().sizes;
  sizes.push_back(n);
  const Tensor out = zeros(sizes, s.options());
  const double* from = raw<double>(s);
  double* to = raw<double>(out);
  for (int64_t b = 0; b < numel_of(s.sizes().slice(0, static_cast<size_t>(s.dim() - 1))); ++b, from += n, to += n * n) {
    double before = 1;  // the product of those before i
    for (int64_t i = 0; i < n; before *= from[i++]) {
      double after = 1;  // the product of those after j
      for (int64_t j = n - 1; j > i; after *= from[j--]) to[i * n + j] = after;
      double between = before;
      for (int64_t j = i + 1; j < n; between *= from[j++]) to[j * n + i] = to[i * n + j] *= between;
    }
  }
  return out.to(values.device(), values.dtype());
}

// At [i], the product of all values of a batch but the i-th.
Tensor products_without_one(const Tensor& values) {
  const int64_t n = values.size(-1);
  if (n == 0) return values;
  const Tensor one = ones(batch_and(values.unsqueeze(-1), {1}), values.options());
  const Tensor before = cat({one, values.narrow(-1, 0, n - 1)}, -1).cumprod(-1);
  const Tensor after = cat({one, values.flip(-1).narrow(-1, 0, n - 1)}, -1).cumprod(-1).flip(-1);
  return before * after;
}

// With A = U S V^H, adj(A) = det(U V^H) V adj(S) U^H: Note [Adjugates] without pivots from rows and columns, which no
// library for GPUs has.
Tensor adjugate_by_values(const Tensor& A) {
  const auto [U, S, Vh] = linalg_svd(A, false);
  const Tensor phase = (linalg_det(U) * linalg_det(Vh)).unsqueeze(-1).unsqueeze(-1);
  return phase * mH(Vh).matmul(products_without_one(S).unsqueeze(-1) * mH(U));
}

// The gradient of adj(A) for g, also where A has no inverse: with A = U S V^H, adj(A) = det(U V^H) V adj(S) U^H, and a
// change E of S changes adj(S) by -P_ij E_ij beside the diagonal and by the sum over j of P_ij E_jj on it, P being the
// products of all singular values but two.
Tensor adjugate_gradient(const Tensor& A, const Tensor& g) {
  const auto [U, S, Vh] = linalg_svd(A, false);
  const Tensor phase = (linalg_det(U) * linalg_det(Vh)).conj().unsqueeze(-1).unsqueeze(-1);
  const Tensor P = products_without_two(S);
  const Tensor turned = phase * Vh.matmul(g).matmul(U);
  const Tensor diagonal = P.to(turned.dtype()).matmul(turned.diagonal(0, -2, -1).unsqueeze(-1)).squeeze(-1);
  const Tensor change = diag_embed(diagonal) - P * turned;
  return U.matmul(change).matmul(Vh);
}

}  // namespace

// The transposed cofactors, which stay finite where a matrix has no inverse.
struct LinalgAdjugate : Kernel<LinalgAdjugateArgs> {
  static constexpr auto schema = "_linalg_adjugate(Tensor A) -> Tensor";
  static constexpr auto doc = "The transposed cofactors: the determinant times the inverse where there is one.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    check_matrices("_linalg_adjugate", a.A, true);
    return {a.A.impl().sizes, a.A.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    if (!out.is_cpu()) return exec::copy_elements(out, adjugate_by_values(a.A));
    const Tensor A = exec::dense(a.A);
    const int64_t n = rows_of(A);
    dispatch<kMatrixTypes>(A.dtype(), "_linalg_adjugate", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* from = raw<T>(A);
      T* to = raw<T>(out);
      each_matrix(batches_of(A), n * n * n, [&](int64_t b) { Adjugate<T>(from + b * n * n, n).write(to + b * n * n); });
    });
  }
  // The gradient's own gradient needs an inverse.
  static Tensor grad_A(const Ctx& c, const Tensor& g) {
    if (!exec::is_differentiating()) return adjugate_gradient(c.A, g);
    const Tensor inverse = mH(std::get<0>(linalg_inv_ex(c.A)));
    const auto matrix = [](const Tensor& t) { return t.unsqueeze(-1).unsqueeze(-1); };
    const Tensor along = inverse * matrix((g * inverse.transpose(-2, -1)).sum({-2, -1}));
    return matrix(linalg_det(c.A).conj()) * (along - inverse.matmul(g).matmul(inverse));
  }
  static void samples(S& s) {
    for (const DeviceType type : {kCUDA, kPrivateUse1})
      s->accuracy({16, "it is a product of singular vectors there", type});
    s.add({regular(s, {3, 3})});
    s.add({s->real({2, 2, 2})});
    // A matrix of rank 1: its adjugate is 0, and the second derivative is not available.
    s.add_without_gradient({s->real({4, 1}).matmul(s->real({1, 4}))});
    s.fails({s->real({2, 3})}, "_linalg_adjugate: A must be batches of square matrices, but they are 2 by 3 matrices");
  }
};
ARGAND_OP(LinalgAdjugate)

struct LinalgDet : Kernel<LinalgDetArgs> {
  static constexpr auto schema = "linalg_det(Tensor A) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The determinants of matrices.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static TensorMeta infer(const Args& a) {
    check_matrices("linalg_det", a.A, true);
    return {batch_and(a.A, {}), a.A.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const Elimination e(a.A);
    if (!out.is_cpu()) return exec::copy_elements(out, e.diagonal().prod(-1) * e.sign());
    dispatch<kMatrixTypes>(a.A.dtype(), "linalg_det", [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* to = raw<T>(out);
      e.each<T>([&](int64_t b, T sign, auto pivot) {
        to[b] = sign;
        for (int64_t k = 0; k < rows_of(a.A); ++k) to[b] *= pivot(k);
      });
    });
  }
  static Tensor grad_A(const Ctx& c, const Tensor& g) {
    return g.unsqueeze(-1).unsqueeze(-1) * mH(_linalg_adjugate(c.A));
  }
  static void samples(S& s) {
    s.add({s->real({3, 3})});
    s.add({s->real({2, 2, 2})});
    s.add({s->real({0, 0})});
    s.fails({s->real({2, 3})}, "linalg_det: A must be batches of square matrices, but they are 2 by 3 matrices");
    s.fails({s->real({2})}, "linalg_det: The input tensor A must have at least 2 dimensions.");
  }
};
ARGAND_OP(LinalgDet)

struct Det : Composite<DetArgs> {
  static constexpr auto schema = "det(Tensor self) -> Tensor";
  static constexpr auto doc = "The determinants of matrices.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static Tensor compose(const Args& a) { return linalg_det(a.self); }
  static void samples(S& s) { s.add({s->real({3, 3})}); }
};
ARGAND_OP(Det)

struct LinalgSlogdet : Kernel<LinalgSlogdetArgs> {
  static constexpr auto schema = "linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The signs of the determinants, and the logarithms of their absolute values.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static TensorMetas infer(const Args& a) {
    check_matrices("linalg_slogdet", a.A, true);
    return {{batch_and(a.A, {}), a.A.dtype()}, {batch_and(a.A, {}), to_real_type(a.A.dtype())}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const Elimination e(a.A);
    if (!outs[0].is_cpu()) {
      const Tensor pivots = e.diagonal();
      exec::copy_elements(outs[0], pivots.sgn().prod(-1) * e.sign() + 0);  // not -0, whose logarithm has another phase
      exec::copy_elements(outs[1], pivots.abs().log().sum(-1));
      return;
    }
    dispatch<kMatrixTypes>(a.A.dtype(), "linalg_slogdet", [&](auto tag) {
      using T = typename decltype(tag)::type;
      using R = real_of_t<T>;
      T* signs = raw<T>(outs[0]);
      R* logs = raw<R>(outs[1]);
      e.each<T>([&](int64_t b, T sign, auto pivot) {
        R log = 0;
        for (int64_t k = 0; k < rows_of(a.A); ++k) {
          const R size = std::abs(pivot(k));
          sign *= size == R(0) ? T(0) : pivot(k) / size;
          log += std::log(size);
        }
        signs[b] = sign, logs[b] = log;
      });
    });
  }
  // For z = log(det), dz = tr(A^-1 dA).  The second result is Re z, the first e^(i Im z).
  static Grads grad(const Ctx& c, const Grads& g) {
    Tensor slope = g[1];
    if (c.A.is_complex() && g[0].defined()) {
      const Tensor turn = imag(g[0].conj() * c.result(0)) * std::complex<double>(0, -1);
      slope = add_defined(slope, turn);
    }
    if (!slope.defined()) return {Tensor()};  // the sign is constant between jumps
    const Tensor scaled = diag_embed(
        slope.to(c.A.dtype()).unsqueeze(-1).expand(c.A.sizes().slice(0, static_cast<size_t>(c.A.dim() - 1))));
    // Where there is no inverse: infinities and NaNs, and LinAlgError if the gradient is to be differentiated again, as
    // in PyTorch.
    if (!exec::is_differentiating()) return {std::get<0>(linalg_solve_ex(mH(c.A), scaled))};
    return {linalg_solve(mH(c.A), scaled)};
  }
  static void samples(S& s) {
    s.add({regular(s, {3, 3})});
    s.add({regular(s, {2, 2, 2})});
    s.fails({s->real({2, 3})}, "linalg_slogdet: A must be batches of square matrices, but they are 2 by 3 matrices");
  }
};
ARGAND_OP(LinalgSlogdet)

struct Slogdet : Composite<SlogdetArgs> {
  static constexpr auto schema = "slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The signs of the determinants, and the logarithms of their absolute values.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static Result compose(const Args& a) { return linalg_slogdet(a.self); }
  static void samples(S& s) { s.add({regular(s, {3, 3})}); }
};
ARGAND_OP(Slogdet)

struct Logdet : Composite<LogdetArgs> {
  static constexpr auto schema = "logdet(Tensor self) -> Tensor";
  static constexpr auto doc = "The logarithms of the determinants; NaN where a real one is negative.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static Tensor compose(const Args& a) {
    const auto [sign, size] = linalg_slogdet(a.self);
    return sign.is_complex() ? sign.log() + size : size.masked_fill(sign < 0, NAN);
  }
  static void samples(S& s) { s.add({regular(s, {2, 3, 3})}); }
};
ARGAND_OP(Logdet)

}  // namespace argand::ops
