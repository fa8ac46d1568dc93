// Singular value decompositions.
#include <cmath>

#include "argand/exec/forward_mode.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/linalg/args.h"
#include "argand/ops/linalg/spectral.h"
#include "argand/ops/maybe.h"

namespace argand::ops {
namespace {

constexpr const char* kOp = "linalg.svd";

// The result for matrices [m, n] that do not have more columns than rows.
struct Values {
  Tensor u, s, v;  // u and v in column-major order, undefined without `vectors`
};
Values decompose(const Tensor& A, bool full, bool vectors) {
  const int64_t m = rows_of(A), n = columns_of(A), width = full ? m : n;
  const auto make = [&](Dims sizes, ScalarType type) { return exec::new_tensor({std::move(sizes), type}, A.device()); };
  const Tensor columns = in_columns(A), info = make(batch_and(A, {}), kInt);
  Values to;
  to.s = make(batch_and(A, {n}), to_real_type(A.dtype()));
  if (vectors) {
    to.u = make(batch_and(A, {width, m}), A.dtype());
    to.v = make(batch_and(A, {n, n}), A.dtype());
  }
  blocks::decompose_singular.on(A.device())({A.dtype(), m, n, width, batches_of(A), address(columns), address(to.s),
                                             vectors ? address(to.u) : nullptr, vectors ? address(to.v) : nullptr,
                                             address<int32_t>(info)});
  if (!A.is_cpu() && info.any().item().toBool())
    throw NotOnDevice("matrices for which Jacobi's rotations do not converge");
  check_convergence(kOp, A, info,
                    "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
                    "repeated singular values.");
  return to;
}

Tensor skew(const Tensor& x) { return x - mH(x); }

// The gradient from those of the first columns of U and rows of V^H, one per singular value; undefined ones count as 0.
Tensor svd_gradient(const Tensor& gU, const Tensor& gS, const Tensor& gVh, const Tensor& U, const Tensor& S,
                    const Tensor& Vh) {
  if (!gU.defined() && !gVh.defined()) return (U * gS.unsqueeze(-2)).matmul(Vh);
  const Tensor of_U = gU.defined() ? mH(U).matmul(gU) : Tensor(), of_V = gVh.defined() ? Vh.matmul(mH(gVh)) : Tensor();
  const Tensor across = S.unsqueeze(-2), down = S.unsqueeze(-1);
  const Tensor f = reciprocal_gaps(S, (across - down) * (across + down));
  Tensor inner;
  if (gU.defined()) inner = f * skew(of_U) * across;
  if (gVh.defined()) inner = add_defined(inner, down * (f * skew(of_V)));
  Tensor diagonal = gS;
  if (U.is_complex()) {
    const auto turns = [](const Tensor& t) { return imag(t.diagonal(0, -2, -1)); };
    check_phases("svd_backward", "singular vectors",
                 add_defined(gU.defined() ? turns(of_U) : Tensor(), gVh.defined() ? turns(of_V) : Tensor()));
    if (gU.defined()) {
      const Tensor turn = turns(of_U) / S;
      diagonal = complex(gS.defined() ? gS : zeros_like(S), turn);
    }
  }
  if (diagonal.defined()) inner = inner + diag_embed(diagonal);
  Tensor result = U.matmul(inner).matmul(Vh);
  // The part outside of the spaces that U and V span.
  if (gU.defined() && U.size(-2) > U.size(-1)) {
    const Tensor x = gU / across;
    result = result + (x - U.matmul(mH(U).matmul(x))).matmul(Vh);
  }
  if (gVh.defined() && Vh.size(-1) > Vh.size(-2)) {
    const Tensor x = gVh / down;
    result = result + U.matmul(x - x.matmul(mH(Vh)).matmul(Vh));
  }
  return result;
}

}  // namespace

struct SvdFactors : Kernel<SvdFactorsArgs> {
  static constexpr auto schema =
      "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, Tensor "
      "S, Tensor Vh)";
  static constexpr auto doc =
      "A = U diag(S) Vh with S falling; without compute_uv U and Vh are empty. A driver is refused: PyTorch has them "
      "on "
      "GPUs alone.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static TensorMetas infer(const Args& a) {
    check_matrices("linalg.svd", a.A, false);
    ARGAND_CHECK(ValueError, !a.driver, "linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with ",
                 "cuSOLVER backend.");
    const int64_t m = rows_of(a.A), n = columns_of(a.A), k = std::min(m, n);
    const auto vectors = [&](int64_t rows, int64_t columns) {
      return TensorMeta{a.compute_uv ? batch_and(a.A, {rows, columns}) : Dims{0}, a.A.dtype()};
    };
    return {vectors(m, a.full_matrices ? m : k),
            {batch_and(a.A, {k}), to_real_type(a.A.dtype())},
            vectors(a.full_matrices ? n : k, n)};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    check_finite(a.A, [&](int64_t i) {
      ARGAND_THROW(LinAlgError, kOp, ": ", of_batch(a.A, i),
                   "The algorithm failed to converge because the input matrix contained non-finite values.");
    });
    const bool wide = rows_of(a.A) < columns_of(a.A);  // by its adjoint, V S U^H
    const Values of = decompose(wide ? mH(a.A) : a.A, a.full_matrices, a.compute_uv);
    exec::copy_elements(outs[1], of.s);
    if (!a.compute_uv) return;
    // The block's column-major V is, read as a row-major tensor, V^T; so V^H is the conjugate of that tensor.
    exec::copy_elements(outs[0], transposed(wide ? of.v : of.u));
    exec::copy_elements(outs[2], (wide ? of.u : of.v).conj());
  }
  static Grads grad(const Ctx& c, const Grads& g) {
    ARGAND_CHECK(GradError, c.compute_uv,
                 "_linalg_svd: the derivative needs U and Vh, which are not computed without compute_uv");
    const Tensor S = c.result(1);
    const int64_t k = S.size(-1);
    const auto first = [&](const Tensor& t, int64_t dim) { return t.defined() ? t.narrow(dim, 0, k) : t; };
    if (!g[0].defined() && !g[1].defined() && !g[2].defined()) return {{}};
    return {svd_gradient(first(g[0], -1), g[1], first(g[2], -2), first(c.result(0), -1), S, first(c.result(2), -2))};
  }
  // Vectors are not unique: python/tests/test_decompositions.py checks gradients of what all choices have in common.
  static void samples(S& s) {
    s->values_differ(kFullRank);
    s->accuracy(up_to_phases());
    s->accuracy({16, "singular vectors are as exact as the largest of their elements", kCUDA});
    s.add_without_gradient({s->real({4, 3})});
    s.add_without_gradient({s->real({2, 3, 4}), true});
    s.add_without_gradient({s->real({3, 3}), false, false});
    s.add({s->real({0, 2})});
    s.add({s->real({2, 0})});
    s.add_without_gradient({s->real({0, 2}), true});
    s.fails({s->real({2})}, "linalg.svd: The input tensor A must have at least 2 dimensions.");
    s.fails({full({2, 2}, NAN, TensorOptions(kCPU).dtype(kDouble))},
            "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.");
    s.fails({full({2, 1, 1}, INFINITY, TensorOptions(kCPU).dtype(kDouble))}, "linalg.svd: (Batch element 0): ");
    s.fails({s->real({2, 2}), true, true, "gesvd"}, "linalg.svd: keyword argument `driver=` is only supported on CUDA");
  }
};
ARGAND_OP(SvdFactors)

struct LinalgSvd : Composite<LinalgSvdArgs> {
  static constexpr auto schema =
      "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "A = U diag(S) Vh with unitary U and Vh, or without full_matrices as many of their columns and rows as there are "
      "values, and S falling.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static Result compose(const Args& a) { return _linalg_svd(a.A, a.full_matrices, true, a.driver); }
  static void samples(S& s) {
    s->values_differ(kFullRank);
    s->accuracy(up_to_phases());
    s.add_without_gradient({s->real({3, 2})});
    s.add_without_gradient({s->real({2, 2, 3}), false});
    s.fails({s->real({2})}, "linalg.svd: The input tensor A must have at least 2 dimensions.");
  }
};
ARGAND_OP(LinalgSvd)

struct LinalgSvdvals : Composite<LinalgSvdvalsArgs> {
  static constexpr auto schema = "linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The singular values, the largest first.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  // The gradient needs vectors.
  static Tensor compose(const Args& a) {
    return std::get<1>(_linalg_svd(a.A, false, exec::is_differentiated(a.A), a.driver));
  }
  static void samples(S& s) {
    s.add({s->real({4, 3})});
    s.add({s->real({2, 3, 4})});
    s.add({s->real({3, 0})});
    s.fails({s->real({2})}, "linalg.svd: The input tensor A must have at least 2 dimensions.");
  }
};
ARGAND_OP(LinalgSvdvals)

struct Svd : Composite<SvdArgs> {
  static constexpr auto schema =
      "svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "self = U diag(S) V^H; without `some` U and V are square, without compute_uv they are zeros and square.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static Result compose(const Args& a) {
    check_matrices("linalg.svd", a.self, false);
    if (!a.compute_uv) {
      const auto none = [&](int64_t n) { return zeros(batch_and(a.self, {n, n}), a.self.options()); };
      return {none(rows_of(a.self)), linalg_svdvals(a.self), none(columns_of(a.self))};
    }
    const auto [U, S, Vh] = _linalg_svd(a.self, !a.some);
    return {U, S, mH(Vh)};
  }
  static void samples(S& s) {
    s->values_differ(kFullRank);
    s->accuracy(up_to_phases());
    s.add_without_gradient({s->real({3, 2})});
    s.add_without_gradient({s->real({2, 3}), false});
    s.add({s->real({2, 3}), true, false});
    s.fails({s->real({2})}, "linalg.svd: The input tensor A must have at least 2 dimensions.");
  }
};
ARGAND_OP(Svd)

}  // namespace argand::ops
