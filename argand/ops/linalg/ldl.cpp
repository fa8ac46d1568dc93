// Symmetric indefinite matrices: decompositions into L D L^T, and solving by them.
#include "argand/base/linalg_error.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/define.h"
#include "argand/ops/linalg/args.h"
#include "argand/ops/linalg/matrices.h"

namespace argand::ops {
namespace {

std::string singular_block(int64_t at) {
  return str("The factorization could not be completed because D[", at, ",", at, "] is zero");
}

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
  static void run(const Args& a, std::span<Tensor> outs) {
    const Tensor columns = in_columns(a.self);
    blocks::factor_ldl.on(columns.device())({a.self.dtype(), rows_of(a.self), batches_of(a.self), a.hermitian,
                                             address(columns), address<int32_t>(outs[1]), address<int32_t>(outs[2])});
    exec::copy_elements(outs[0], transposed(columns).tril());
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
void check_pivots_of_one(const int32_t* pivots, int64_t n) {
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
void check_pivots(const Tensor& pivots) {
  const Tensor here = exec::dense(pivots.to(Device(kCPU)));
  const int64_t n = here.sizes().back();
  if (n == 0) return;
  for (int64_t b = 0; b < here.numel() / n; ++b) check_pivots_of_one(raw<int32_t>(here) + b * n, n);
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
  static void run(const Args& a, Tensor& out) {
    check_pivots(a.pivots);
    const Tensor LD = in_columns(a.LD), pivots = exec::dense(a.pivots), columns = in_columns(a.B);
    blocks::solve_ldl.on(out.device())({LD.dtype(), rows_of(LD), columns_of(a.B), batches_of(LD), a.hermitian,
                                        address(LD), address<int32_t>(pivots), address(columns)});
    exec::copy_elements(out, transposed(columns));
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
