// Factorizations: QR by reflections and Cholesky, and ops that use them.
#include "argand/base/linalg_error.h"
#include "argand/exec/has_values.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/linalg/args.h"
#include "argand/ops/linalg/matrices.h"
#include "argand/ops/maybe.h"
#include "argand/ops/node_name.h"

namespace argand::ops {
namespace {

// Zeroes the elements of a dense tensor that are not in the triangle.
void keep_triangle(const Tensor& t, bool upper) {
  if (t.numel() == 0) return;
  blocks::zero_outside.on(t.device())(address(t), {batches_of(t), rows_of(t), columns_of(t)}, t.itemsize(), 0, !upper);
}

// The lower triangle and its reflection on the diagonal.
Tensor mirrored(const Tensor& t) {
  const Tensor below = t.tril(-1), diagonal = t.diagonal(0, -2, -1);
  return below + mH(below) + diag_embed(diagonal.is_complex() ? real(diagonal) : diagonal);
}

// X R^-H for an upper triangle R.
Tensor over_adjoint(const Tensor& x, const Tensor& R) { return linalg_solve_triangular(mH(R), x, false, false); }

// The gradient of A = Q R with no more columns than rows; either gradient may be undefined.
Tensor qr_gradient(const Tensor& gQ, const Tensor& gR, const Tensor& Q, const Tensor& R) {
  Tensor M;
  if (gR.defined()) M = R.matmul(mH(gR));
  if (gQ.defined()) M = M.defined() ? M - mH(gQ).matmul(Q) : -mH(gQ).matmul(Q);
  return over_adjoint(add_defined(gQ, Q.matmul(mirrored(M))), R);
}

}  // namespace

struct LinalgQr : Kernel<LinalgQrArgs> {
  static constexpr auto schema = "linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "A = Q R with orthonormal columns of Q and a triangle R; mode: reduced, complete (Q square), or r (R alone).";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static int64_t width_of(const Args& a) {
    return a.mode == "complete" ? rows_of(a.A) : std::min(rows_of(a.A), columns_of(a.A));
  }
  static TensorMetas infer(const Args& a) {
    check_matrices("linalg_qr", a.A, false);
    ARGAND_CHECK(ValueError, a.mode == "reduced" || a.mode == "complete" || a.mode == "r",
                 "linalg_qr: qr received unrecognized mode '", a.mode,
                 "' but expected one of 'reduced' (default), 'r', or 'complete'");
    const int64_t width = width_of(a);
    return {{a.mode == "r" ? Dims{0} : batch_and(a.A, {rows_of(a.A), width}), a.A.dtype()},
            {batch_and(a.A, {width, columns_of(a.A)}), a.A.dtype()}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const Tensor columns = in_columns(a.A);
    const int64_t m = rows_of(a.A), n = columns_of(a.A), k = std::min(m, n), width = width_of(a);
    const Tensor tau = exec::new_tensor({batch_and(a.A, {k}), a.A.dtype()}, a.A.device());
    const Device device = a.A.device();
    blocks::factor_qr.on(device)({a.A.dtype(), m, n, batches_of(a.A), address(columns), address(tau)});
    // R with zeros below the diagonal, and below A's last row.
    exec::copy_elements(outs[1].narrow(-2, 0, k), transposed(columns).narrow(-2, 0, k));
    if (width > k) outs[1].narrow(-2, k, width - k).zero_();
    keep_triangle(outs[1], true);
    if (a.mode == "r") return;
    Tensor Q = columns;
    if (width != n) {
      Q = zeros(batch_and(a.A, {width, m}), a.A.options());
      exec::copy_elements(Q.narrow(-2, 0, k), columns.narrow(-2, 0, k));
    }
    blocks::reflections_product.on(device)({a.A.dtype(), m, width, k, batches_of(a.A), address(Q), address(tau)});
    exec::copy_elements(outs[0], transposed(Q));
  }
  static Grads grad(const Ctx& c, const Grads& g) {
    ARGAND_CHECK(GradError, c.mode != "r",
                 "linalg_qr: The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
                 "linalg.qr(A, mode='reduced') if you are going to require gradients");
    const Tensor Q = c.result(0), R = c.result(1);
    const int64_t m = Q.size(-2), n = R.size(-1);
    ARGAND_CHECK(GradError, c.mode == "reduced" || m <= n,
                 "linalg_qr: The QR decomposition is not differentiable when mode='complete' and nrows > ncols.");
    if (!g[0].defined() && !g[1].defined()) return {{}};
    if (m >= n) return {qr_gradient(g[0], g[1], Q, R)};
    // A = [X Y]: X = Q U is a factorization, and the rest of R is Q^H Y.
    const Tensor U = R.narrow(-1, 0, m);
    Tensor gQ = g[0], gU, gY;
    if (g[1].defined()) {
      const Tensor gV = g[1].narrow(-1, m, n - m), Y = Q.matmul(R.narrow(-1, m, n - m));
      gU = g[1].narrow(-1, 0, m);
      gQ = add_defined(gQ, Y.matmul(mH(gV)));
      gY = Q.matmul(gV);
    } else {
      gY = zeros(R.sizes(), R.options()).narrow(-1, m, n - m);
    }
    return {cat({qr_gradient(gQ, gU, Q, U), gY}, -1)};
  }
  static void samples(S& s) {
    s->values_differ(kFullRank);
    s.add({s->real({4, 3})});
    s.add({s->real({2, 3, 3}), "complete"});
    s.add({s->real({2, 4})});
    s.add_without_gradient({s->real({3, 2}), "complete"});
    s.add_without_gradient({s->real({3, 2}), "r"});
    s.add({s->real({0, 2})});
    s.fails({s->real({2, 2}), "full"}, "linalg_qr: qr received unrecognized mode 'full' but expected one of 'reduced'");
    s.fails({s->real({2})}, "linalg_qr: The input tensor A must have at least 2 dimensions.");
  }
};
ARGAND_OP(LinalgQr)

struct Qr : Composite<QrArgs> {
  static constexpr auto schema = "qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)";
  static constexpr auto doc = "linalg_qr: reduced if `some`, else complete.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static Result compose(const Args& a) { return linalg_qr(a.self, a.some ? "reduced" : "complete"); }
  static void samples(S& s) {
    s->values_differ(kFullRank);
    s.add({s->real({4, 3})});
  }
};
ARGAND_OP(Qr)

namespace {

std::string not_positive(int64_t order) {
  return str(
      "The factorization could not be completed because the input is not positive-definite (the leading minor of "
      "order ",
      order, " is not positive-definite).");
}

// A symmetric matrix with large numbers on the diagonal.
template <class S>
Tensor definite(S& s, IntArrayRef sizes) {
  s->values_differ(kFullRank);
  const Tensor x = s->real(sizes);
  return x.matmul(x.transpose(-2, -1)) + 20 * eye(sizes.back(), TensorOptions(kCPU).dtype(kDouble));
}

}  // namespace

struct LinalgCholeskyEx : Kernel<LinalgCholeskyExArgs> {
  static constexpr auto schema =
      "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "The triangles L with L L^H = self (upper: L^H); the other half of self is not read. info is int32: the order, "
      "from 1, of the first leading minor that is not positive-definite, or 0. With check_errors a LinAlgError.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static TensorMetas infer(const Args& a) {
    check_matrices("linalg_cholesky_ex", a.self, true);
    return {{a.self.impl().sizes, a.self.dtype()}, {batch_and(a.self, {}), kInt}};
  }
  // The lower triangle of the row-major matrix is the upper one of the column-major transposed matrix, and its factor
  // U, which is L^T, is the row-major L.
  static void run(const Args& a, std::span<Tensor> outs) {
    exec::copy_elements(outs[0], a.self);
    blocks::factor_cholesky.on(a.self.device())(
        {a.self.dtype(), rows_of(a.self), batches_of(a.self), !a.upper, address(outs[0]), address<int32_t>(outs[1])});
    keep_triangle(outs[0], a.upper);
    if (a.check_errors) check_info("linalg.cholesky_ex", outs[1], not_positive);
  }
  // The gradient covers both halves of the Hermitian matrix, although the op reads only one.
  static Grads grad(const Ctx& c, const Grads& g) {
    if (!g[0].defined()) return {{}};
    const Tensor L = c.upper ? mH(c.result(0)) : c.result(0), gL = (c.upper ? mH(g[0]) : g[0]);
    const Tensor phi = mH(L).matmul(gL), inner = (phi.tril() + mH(phi.tril(-1))) / 2;
    const Tensor half = linalg_solve_triangular(mH(L), inner, true);
    return {linalg_solve_triangular(L, half, false, false)};
  }
  static void samples(S& s) {
    s.add_without_gradient({definite(s, {3, 3})});
    s.add_without_gradient({definite(s, {2, 2, 2}), true});
    s.add_without_gradient({s->real({0, 0})});
    s.fails(
        {-definite(s, {2, 2}), false, true},
        "linalg.cholesky_ex: The factorization could not be completed because the input is not positive-definite (the "
        "leading minor of order 1 is not positive-definite).");
    s.fails({s->real({2, 3})},
            "linalg_cholesky_ex: A must be batches of square matrices, but they are 2 by 3 matrices");
  }
};
ARGAND_OP(LinalgCholeskyEx)

namespace {

Tensor checked_cholesky(const char* op, const Tensor& self, bool upper) {
  const auto [L, info] = linalg_cholesky_ex(self, upper);
  check_info(op, info, not_positive);
  return L;
}

}  // namespace

struct LinalgCholesky : Composite<LinalgCholeskyArgs> {
  static constexpr auto schema = "linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The triangles L with L L^H = self (upper: L^H); the other half of self is not read.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) { return checked_cholesky("linalg.cholesky", a.self, a.upper); }
  static void samples(S& s) {
    s.add_without_gradient({definite(s, {2, 3, 3})});
    s.fails({-definite(s, {2, 2})},
            "linalg.cholesky: The factorization could not be completed because the input is not");
  }
};
ARGAND_OP(LinalgCholesky)

struct Cholesky : Composite<CholeskyArgs> {
  static constexpr auto schema = "cholesky(Tensor self, bool upper=False) -> Tensor";
  static constexpr auto doc = "The triangles L with L L^H = self (upper: L^H); the other half of self is not read.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) { return checked_cholesky("cholesky", a.self, a.upper); }
  static void samples(S& s) { s.add_without_gradient({definite(s, {3, 3}), true}); }
};
ARGAND_OP(Cholesky)

struct CholeskySolve : Kernel<CholeskySolveArgs> {
  static constexpr auto schema = "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor";
  static constexpr auto doc = "X with A X = self, for the triangles input2 of A; batches broadcast.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto out_names = "result";
  static TensorMeta infer(const Args& a) {
    check_matrices("cholesky_solve", a.self, false, "b");
    check_matrices("cholesky_solve", a.input2, true);
    ARGAND_CHECK(DtypeError, a.self.dtype() == a.input2.dtype(), "cholesky_solve: expected b and A of one dtype, got ",
                 a.self.dtype(), " and ", a.input2.dtype());
    const int64_t n = rows_of(a.input2);
    ARGAND_CHECK(ShapeError, rows_of(a.self) == n, "cholesky_solve: Incompatible matrix sizes: each A matrix is ", n,
                 " by ", n, " but each b matrix is ", rows_of(a.self), " by ", columns_of(a.self));
    Dims sizes = broadcast_shapes(batch_and(a.self, {}), batch_and(a.input2, {}), "cholesky_solve");
    for (const int64_t size : {n, columns_of(a.self)}) sizes.push_back(size);
    return {sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const NoGradGuard values_alone;
    const Tensor first = a.upper ? mH(a.input2) : a.input2;
    exec::copy_elements(out, linalg_solve_triangular(mH(first), linalg_solve_triangular(first, a.self, false), true));
  }
  // The gradient covers both halves of input2, as in PyTorch, although the op reads only one.
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g.cholesky_solve(c.input2, c.upper); }
  static Tensor grad_input2(const Ctx& c, const Tensor& g) {
    const Tensor to_self = g.cholesky_solve(c.input2, c.upper), X = c.result();
    const Tensor to_A = -(to_self.matmul(mH(X)) + X.matmul(mH(to_self)));
    return c.upper ? c.input2.matmul(to_A) : to_A.matmul(c.input2);
  }
  static void samples(S& s) {
    s.add_without_gradient({s->real({3, 2}), definite(s, {3, 3})});
    s.add_without_gradient({s->real({2, 3, 2}), definite(s, {3, 3}), true});
    s.fails({s->real({2, 2}), s->real({2, 3})}, "cholesky_solve: A must be batches of square matrices");
    s.fails({s->real({2, 2}), s->real({3, 3})}, "cholesky_solve: Incompatible matrix sizes: each A matrix is 3 by 3");
  }
};
ARGAND_OP(CholeskySolve)

namespace {

std::string zero_on_diagonal(int64_t at) {
  return str("The diagonal element ", at,
             " is zero, the inversion could not be completed because the input matrix is singular.");
}

// For each matrix of the batch, the position of the first zero on its diagonal, counted from 1, or 0 if there is none.
Tensor first_zero(const Tensor& A) {
  const Tensor zero = A.detach().diagonal(0, -2, -1).eq(0);
  return zero.to(kInt).argmax(-1).add(1).mul(zero.any(-1)).to(kInt);
}

}  // namespace

struct CholeskyInverse : Composite<CholeskyInverseArgs> {
  static constexpr auto schema = "cholesky_inverse(Tensor self, bool upper=False) -> Tensor";
  static constexpr auto doc = "The inverses of the matrices whose triangles self holds.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto out_names = "result";
  static Tensor compose(const Args& a) {
    check_matrices("cholesky_inverse", a.self, true);
    if (exec::has_values(a.self) && a.self.numel() > 0)
      check_info("cholesky_inverse", first_zero(a.self), zero_on_diagonal);
    return eye(rows_of(a.self), a.self.options()).expand(a.self.sizes()).cholesky_solve(a.self, a.upper);
  }
  static void samples(S& s) {
    s.add_without_gradient({definite(s, {3, 3})});
    s.fails({s->real({2, 2}) * 0}, "cholesky_inverse: The diagonal element 1 is zero, the inversion could not be");
    s.fails({s->real({2, 3})}, "cholesky_inverse: A must be batches of square matrices");
  }
};
ARGAND_OP(CholeskyInverse)
ARGAND_NODE(CholeskyInverse)

}  // namespace argand::ops
