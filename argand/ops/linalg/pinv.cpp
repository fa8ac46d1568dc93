// Ops that depend on which singular values count as 0: pseudo-inverses, ranks and least squares.
#include <cmath>

#include "argand/base/linalg_error.h"
#include "argand/exec/has_values.h"
#include "argand/ops/define.h"
#include "argand/ops/linalg/args.h"
#include "argand/ops/linalg/matrices.h"
#include "argand/ops/maybe.h"
#include "argand/ops/node_name.h"

namespace argand::ops {
namespace {

double default_rtol(const Tensor& A) {
  const double epsilon = to_real_type(A.dtype()) == kDouble ? 0x1p-52 : 0x1p-23;
  return epsilon * static_cast<double>(std::max(rows_of(A), columns_of(A)));
}

// The threshold for singular values, which are in the last dimension of `sizes`.
Tensor threshold(const char* op, const Tensor& A, const Tensor& sizes, const Tensor& atol, const Tensor& rtol) {
  for (const auto& [name, t] : {std::pair("atol", atol), std::pair("rtol", rtol)})
    ARGAND_CHECK(DtypeError, !t.defined() || !t.is_complex(), op, ": ", name,
                 " tensor of complex type is not supported. Got ", t.dtype());
  const Tensor largest =
      sizes.size(-1) == 0 ? zeros(batch_and(sizes.unsqueeze(-1), {}), sizes.options()) : sizes.amax(-1);
  const double usual = default_rtol(A);
  Tensor relative;
  if (rtol.defined())
    relative = rtol * largest;
  else if (atol.defined())
    relative = where(atol > 0, zeros_like(largest), usual * largest);
  else
    relative = usual * largest;
  return (atol.defined() ? maximum(atol, relative) : relative).unsqueeze(-1);
}

// The tolerances as tensors.  Without rtol, atol alone applies if it is positive.
std::pair<Tensor, Tensor> tolerances(const Tensor& A, std::optional<double> atol, std::optional<double> rtol) {
  const double absolute = atol.value_or(0), relative = rtol ? *rtol : absolute > 0 ? 0 : default_rtol(A);
  const TensorOptions options = A.options().dtype(kDouble);
  return {full({}, absolute, options), full({}, relative, options)};
}

void check_rank(const Tensor& A) {
  ARGAND_CHECK(ShapeError, A.dim() >= 2, "linalg_pinv: expected a tensor with 2 or more dimensions, got ", A.sizes());
}

Tensor pseudo_inverse(const Tensor& A, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  constexpr const char* op = "linalg_pinv";
  const auto inverted = [&](const Tensor& values, const Tensor& sizes) {
    return where(sizes > threshold(op, A, sizes, atol, rtol), values.reciprocal(), zeros_like(values)).unsqueeze(-1);
  };
  if (hermitian) {
    const auto [L, V] = linalg_eigh(A);
    return V.matmul(inverted(L, L.abs()) * mH(V));
  }
  const auto [U, S, Vh] = linalg_svd(A, false);
  return mH(Vh).matmul(inverted(S, S) * mH(U));
}

}  // namespace

struct LinalgPinvTensors : Kernel<LinalgPinvTensorsArgs> {
  static constexpr auto schema =
      "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> "
      "Tensor";
  static constexpr auto doc =
      "The pseudo-inverses: inverses where singular values exceed max(atol, rtol times the largest), 0 elsewhere. rtol "
      "is by default the dtype's epsilon times the larger size, or 0 with an atol above 0. hermitian: by eigenvalues, "
      "and the lower half alone is read.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr uint32_t constant_arguments = bits(kAtol, kRtol);
  static constexpr int variants = kFunction | kOut;
  static constexpr auto out_names = "result";
  static TensorMeta infer(const Args& a) {
    check_rank(a.self);
    if (a.hermitian) check_matrices("linalg.eigh", a.self, true);
    Dims sizes = batch_and(a.self, {});
    for (const Tensor& t : {a.atol, a.rtol})
      if (t.defined()) sizes = broadcast_shapes(sizes, t.sizes(), Args::kName);
    for (const int64_t size : {columns_of(a.self), rows_of(a.self)}) sizes.push_back(size);
    return {sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const NoGradGuard values_alone;
    exec::copy_elements(out, pseudo_inverse(a.self, a.atol, a.rtol, a.hermitian));
  }
  // The gradient at constant rank (Golub and Pereyra 1973), which is finite where singular values repeat.
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Tensor P = c.result(), A = c.self, gh = mH(g), Ph = mH(P);
    const Tensor along = Ph.matmul(g).matmul(Ph);
    const Tensor x = gh.matmul(P).matmul(Ph), y = Ph.matmul(P).matmul(gh);
    return x - A.matmul(P.matmul(x)) + y - y.matmul(P).matmul(A) - along;
  }
  static void samples(S& s) {
    s->values_differ(kFullRank);
    s.add({s->real({3, 2})});
    s.add({s->real({2, 2, 4})});
    s.add({s->real({0, 3})});
    s.add_without_gradient({s->real({3, 3}), {}, {}, true});
    s.add({s->real({2, 3, 2}), s->real({2}, 1e-8, 1e-7)});
    s.add({s->real({3, 2}), {}, s->real({}, 1e-8, 1e-7)});
    s.fails({s->real({3})}, "linalg_pinv: expected a tensor with 2 or more dimensions, got [3]");
    s.fails({s->real({2, 3}), {}, {}, true}, "linalg.eigh: A must be batches of square matrices");
  }
};
ARGAND_OP(LinalgPinvTensors)

struct LinalgPinvNumbers : Composite<LinalgPinvNumbersArgs> {
  static constexpr auto schema =
      "linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor";
  static constexpr auto doc = "linalg_pinv with numbers for all matrices of a batch.";
  static constexpr auto python_defaults = "atol rtol";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static constexpr auto out_names = "result";
  static Tensor compose(const Args& a) {
    check_rank(a.self);
    const auto [atol, rtol] = tolerances(a.self, a.atol, a.rtol);
    return linalg_pinv(a.self, std::optional(atol), std::optional(rtol), a.hermitian);
  }
  static void samples(S& s) {
    s.add({s->real({3, 2}), 1e-3, 1e-4});
    s.fails({s->real({3})}, "linalg_pinv: expected a tensor with 2 or more dimensions, got [3]");
  }
};
ARGAND_OP(LinalgPinvNumbers)

struct LinalgPinv : Composite<LinalgPinvArgs> {
  static constexpr auto schema = "linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor";
  static constexpr auto doc = "linalg_pinv with rtol alone.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static constexpr auto out_names = "result";
  static Tensor compose(const Args& a) { return linalg_pinv(a.self, 0.0, a.rcond, a.hermitian); }
  static void samples(S& s) {
    s.add({s->real({3, 2}), 1e-4});
    s.fails({s->real({3}), 0}, "linalg_pinv: expected a tensor with 2 or more dimensions, got [3]");
  }
};
ARGAND_OP(LinalgPinv)

struct LinalgPinvTensor : Composite<LinalgPinvTensorArgs> {
  static constexpr auto schema = "linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor";
  static constexpr auto doc = "linalg_pinv with rtol alone, of each matrix its own.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static constexpr auto out_names = "result";
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(DtypeError, !a.rcond.is_complex(), "linalg_pinv: rcond tensor of complex type is not supported. Got ",
                 a.rcond.dtype());
    const Tensor none = zeros_like(a.rcond);
    return linalg_pinv(a.self, std::optional(none), std::optional(a.rcond), a.hermitian);
  }
  static void samples(S& s) {
    s->values_differ(kFullRank);
    s.add_without_gradient({s->real({2, 3, 2}), s->real({2}, 1e-8, 1e-7)});
    s.fails({s->real({3}), s->real({})}, "linalg_pinv: expected a tensor with 2 or more dimensions, got [3]");
  }
};
ARGAND_OP(LinalgPinvTensor)

struct Pinverse : Composite<PinverseArgs> {
  static constexpr auto schema = "pinverse(Tensor self, float rcond=1e-15) -> Tensor";
  static constexpr auto doc = "linalg_pinv with rtol alone.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static Tensor compose(const Args& a) { return linalg_pinv(a.self, a.rcond); }
  static void samples(S& s) {
    s->values_differ(kFullRank);
    s.add({s->real({2, 3})});
  }
};
ARGAND_OP(Pinverse)

// ---- ranks

namespace {

Tensor rank_of(const Tensor& A, const Tensor& atol, const Tensor& rtol, bool hermitian) {
  check_matrices("linalg.matrix_rank", A, false, "input");
  const NoGradGuard integers;
  const Tensor sizes = hermitian ? linalg_eigvalsh(A).abs() : linalg_svdvals(A);
  return (sizes > threshold("linalg.matrix_rank", A, sizes, atol, rtol)).sum(-1);
}

}  // namespace

struct LinalgMatrixRankTensors : Composite<LinalgMatrixRankTensorsArgs> {
  static constexpr auto schema =
      "linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool "
      "hermitian=False) -> Tensor";
  static constexpr auto doc =
      "How many singular values exceed max(atol, rtol times the largest). rtol is by default the dtype's epsilon times "
      "the larger size, or 0 with an atol above 0. hermitian: by eigenvalues.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static constexpr auto out_names = "result";
  static Tensor compose(const Args& a) { return rank_of(a.input, a.atol, a.rtol, a.hermitian); }
  static void samples(S& s) {
    s.add({s->real({2, 3, 4})});
    s.add({s->real({2, 3, 4}), s->real({2}, 1, 2)});
    s.add({s->real({3, 3}), {}, s->real({}, 0.5, 0.6), true});
    s.fails({s->real({3})}, "linalg.matrix_rank: The input tensor input must have at least 2 dimensions.");
  }
};
ARGAND_OP(LinalgMatrixRankTensors)

struct LinalgMatrixRankNumbers : Composite<LinalgMatrixRankNumbersArgs> {
  static constexpr auto schema =
      "linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> "
      "Tensor";
  static constexpr auto doc = "linalg_matrix_rank with numbers for all matrices of a batch.";
  static constexpr auto python_defaults = "atol rtol";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static constexpr auto out_names = "result";
  static Tensor compose(const Args& a) {
    check_matrices("linalg.matrix_rank", a.self, false, "input");
    const auto [atol, rtol] = tolerances(a.self, a.atol, a.rtol);
    return rank_of(a.self, atol, rtol, a.hermitian);
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), 1.5, {}});
    s.add({s->real({0, 4}), {}, 0.5});
    s.fails({s->real({3}), {}, {}}, "linalg.matrix_rank: The input tensor input must have at least 2 dimensions.");
  }
};
ARGAND_OP(LinalgMatrixRankNumbers)

struct LinalgMatrixRank : Composite<LinalgMatrixRankArgs> {
  static constexpr auto schema = "linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor";
  static constexpr auto doc = "linalg_matrix_rank with atol alone.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static constexpr auto out_names = "result";
  static Tensor compose(const Args& a) { return linalg_matrix_rank(a.self, a.tol, 0.0, a.hermitian); }
  static void samples(S& s) { s.add({s->real({3, 4}), 0.5}); }
};
ARGAND_OP(LinalgMatrixRank)

struct LinalgMatrixRankTensor : Composite<LinalgMatrixRankTensorArgs> {
  static constexpr auto schema =
      "linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor";
  static constexpr auto doc = "linalg_matrix_rank with atol alone, of each matrix its own.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static constexpr auto out_names = "result";
  static Tensor compose(const Args& a) { return rank_of(a.input, a.tol, zeros_like(a.tol), a.hermitian); }
  static void samples(S& s) { s.add({s->real({2, 3, 4}), s->real({2}, 0.5, 1)}); }
};
ARGAND_OP(LinalgMatrixRankTensor)

// ---- least squares

namespace {

// The fraction of the largest singular value up to which others count as 0.  As with LAPACK, an invalid value means the
// precision of the dtype.
double relative_cut(const std::string& driver, const Tensor& A, const std::optional<double>& rcond) {
  if (!rcond) return default_rtol(A);
  const bool means_precision = driver == "gelsd" ? *rcond <= 0 || *rcond >= 1 : *rcond < 0;
  return means_precision ? default_rtol(A) / static_cast<double>(std::max<int64_t>({rows_of(A), columns_of(A), 1}))
                         : *rcond;
}

}  // namespace

struct LinalgLstsq : Composite<LinalgLstsqArgs> {
  static constexpr auto schema =
      "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor "
      "residuals, "
      "Tensor rank, Tensor singular_values)";
  static constexpr auto doc =
      "X that makes |self X - b| least, and least itself where there are several. driver gels is for full rank and "
      "works by QR; gelsy (the default), gelsd and gelss take singular values up to rcond times the largest as 0. "
      "residuals, rank and singular_values are empty where LAPACK's driver of that name gives none.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static constexpr auto out_names = "solution, residuals, rank, singular_values";
  static constexpr const char* op = "linalg.lstsq";
  static Result compose(const Args& a) {
    check_matrices(op, a.self, false, "input");
    ARGAND_CHECK(DtypeError, a.b.dtype() == a.self.dtype(), op,
                 ": Expected input and other to have the same dtype, but "
                 "got input's dtype ",
                 a.self.dtype(), " and other's dtype ", a.b.dtype());
    const std::string driver = a.driver.value_or("gelsy");
    ARGAND_CHECK(ValueError, driver == "gels" || driver == "gelsy" || driver == "gelsd" || driver == "gelss", op,
                 ": parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got ", driver);
    const Tensor& A = a.self;
    ARGAND_CHECK(ShapeError, a.b.dim() >= 1, op, ": other must have at least 1 dimension, got a 0-dim tensor");
    const bool vectors = a.b.dim() == A.dim() - 1 &&
                         (a.b.dim() == 1 || a.b.sizes() == A.sizes().slice(0, static_cast<size_t>(a.b.dim())));
    const Tensor B = vectors ? a.b.unsqueeze(-1) : a.b;
    check_matrices(op, B, false, "other");
    const int64_t m = rows_of(A), n = columns_of(A);
    ARGAND_CHECK(ShapeError, rows_of(B) == m, op, ": input.size(-2) should match other.size(", vectors ? -1 : -2,
                 "), got ", A.sizes(), " and ", a.b.sizes());
    const Tensor none = empty({0}, A.options().dtype(to_real_type(A.dtype())));
    Tensor X, rank = empty({0}, A.options().dtype(kLong)), S = none;
    bool full_rank = true;
    if (driver == "gels") {
      X = by_qr(A, B);
    } else {
      const double rcond = relative_cut(driver, A, a.rcond);
      X = linalg_pinv(A, rcond).matmul(B);
      const Tensor values = linalg_svdvals(A.detach());
      rank = (values > threshold(op, A, values, Tensor(), full({}, rcond, values.options()))).sum(-1);
      if (driver != "gelsy") S = values;
      full_rank = !exec::has_values(rank) || (rank == n).all().item().toBool();
    }
    const bool has_residuals = m > n && driver != "gelsy" && full_rank;
    const Tensor residuals = has_residuals ? (A.matmul(X) - B).abs().square().sum(-2) : none;
    return {vectors ? X.squeeze(-1) : X, residuals, rank, S};
  }
  static Tensor by_qr(const Tensor& A, const Tensor& B) {
    const bool tall = rows_of(A) >= columns_of(A);
    const auto [Q, R] = linalg_qr(tall ? A : mH(A));
    if (exec::has_values(R)) {
      const Tensor diagonal = R.detach().diagonal(0, -2, -1);
      ARGAND_CHECK(LinAlgError, !(diagonal == 0).any().item().toBool(), op,
                   ": The least squares solution could not be computed because the input matrix does not have full "
                   "rank");
    }
    return tall ? linalg_solve_triangular(R, mH(Q).matmul(B), true)
                : Q.matmul(linalg_solve_triangular(mH(R), B, false));
  }
  static void samples(S& s) {
    s->values_differ(kFullRank);
    s.add({s->real({4, 2}), s->real({4, 3})});
    s.add({s->real({2, 3, 2}), s->real({2, 3}), {}, "gelsd"});
    s.add({s->real({4, 2}), s->real({4, 3}), 1.0, "gelsd"});
    s.add({s->real({4, 2}), s->real({4, 3}), -1.0, "gelss"});
    s.add({s->real({2, 3}), s->real({2, 1}), {}, "gels"});
    s.add({s->real({4, 2}), s->real({4, 1}), {}, "gels"});
    s.add({s->real({2, 3}), s->real({2, 1}), 1e-4, "gelss"});
    s.fails({s->real({3, 2}), s->real({2, 1})},
            "linalg.lstsq: input.size(-2) should match other.size(-2), got [3, 2] and [2, 1]");
    s.fails({s->real({3, 2}), s->real({3, 1}), {}, "gel"},
            "linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got gel");
    s.fails(
        {s->real({2, 2}) * 0, s->real({2, 1}), {}, "gels"},
        "linalg.lstsq: The least squares solution could not be computed because the input matrix does not have full");
  }
};
ARGAND_OP(LinalgLstsq)
ARGAND_NODE(LinalgLstsq)

}  // namespace argand::ops
