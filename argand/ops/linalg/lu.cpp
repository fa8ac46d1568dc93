// LU decompositions with pivots, and solving by them.
#include "argand/base/linalg_error.h"
#include "argand/exec/autocast_scope.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/define.h"
#include "argand/ops/linalg/args.h"
#include "argand/ops/linalg/matrices.h"
#include "argand/ops/maybe.h"
#include "argand/ops/node_name.h"

namespace argand::ops {
namespace {

std::string zero_pivot(int64_t at) {
  return str("U[", at, ",", at,
             "] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the "
             "factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)");
}

void check_pivots(const char* op, const Tensor& LU, const Tensor& pivots) {
  ARGAND_CHECK(DtypeError, pivots.dtype() == kInt, op, ": pivots should be a Tensor of torch.int32 dtype, got ",
               pivots.dtype());
  const Dims expected = batch_and(LU, {std::min(rows_of(LU), columns_of(LU))});
  ARGAND_CHECK(ShapeError, pivots.impl().sizes == expected, op, ": expected pivots of shape ", expected, ", got ",
               pivots.sizes());
}

Tensor pivots_of(std::initializer_list<int64_t> rows) {
  return tensor(std::vector<int64_t>(rows), TensorOptions(kCPU).dtype(kInt));
}

// P [m, m] with A = P (L U), of the type of LU.
Tensor permutation_matrix(const Tensor& LU, const Tensor& pivots) {
  const int64_t m = rows_of(LU);
  const Tensor order = _lu_permutation(pivots, m);
  return zeros(batch_and(LU, {m, m}), LU.options()).scatter(-2, order.unsqueeze(-2), 1);
}

Tensor lower_factor(const Tensor& LU) {
  const int64_t k = std::min(rows_of(LU), columns_of(LU));
  return LU.narrow(-1, 0, k).tril(-1) + eye(rows_of(LU), k, LU.options());
}
Tensor upper_factor(const Tensor& LU) { return LU.narrow(-2, 0, std::min(rows_of(LU), columns_of(LU))).triu(); }

// The gradient of A in P^H A = L U, from the gradient of LU.  L1 or U1 is the square, invertible part of L or U.
Tensor lu_gradient(const Tensor& g, const Tensor& LU) {
  const int64_t m = rows_of(LU), n = columns_of(LU), k = std::min(m, n);
  const Tensor square = LU.narrow(-1, 0, k).narrow(-2, 0, k), g1 = g.narrow(-1, 0, k).narrow(-2, 0, k);
  const Tensor Lh = mH(lower_factor(square)), Uh = mH(square.triu());
  Tensor low = Lh.matmul(g1.tril(-1)), high = g1.triu().matmul(Uh);
  const Tensor wide = n > m ? g.narrow(-1, m, n - m) : Tensor(), tall = m > n ? g.narrow(-2, n, m - n) : Tensor();
  if (n > m) low = low - wide.matmul(mH(LU.narrow(-1, m, n - m)));
  if (m > n) high = high - mH(LU.narrow(-2, n, m - n)).matmul(tall);
  const Tensor inner = linalg_solve_triangular(Uh, low.tril(-1) + high.triu(), false, false);
  const Tensor result = linalg_solve_triangular(Lh, inner, true, true, true);
  if (n > m) return cat({result, linalg_solve_triangular(Lh, wide, true, true, true)}, -1);
  if (m > n) return cat({result, linalg_solve_triangular(Uh, tall, false, false)}, -2);
  return result;
}

}  // namespace

struct LuPermutation : Kernel<LuPermutationArgs> {
  static constexpr auto schema = "_lu_permutation(Tensor pivots, int rows) -> Tensor";
  static constexpr auto doc = "Where each row came from (int64) after rows k changed places with rows pivots[k] - 1.";
  static constexpr DtypeSet dtypes = dtype_bit(kInt);
  static constexpr bool differentiable = false;
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ShapeError, a.pivots.dim() >= 1 && a.rows >= a.pivots.sizes().back(), Args::kName,
                 ": expected no more pivots than ", a.rows, " rows, got ", a.pivots.sizes());
    Dims sizes = a.pivots.impl().sizes;
    sizes.back() = a.rows;
    return {sizes, kLong};
  }
  static void check_range(const Tensor& pivots, int64_t rows) {
    const int32_t* p = raw<int32_t>(pivots);
    for (int64_t i = 0; i < pivots.numel(); ++i)
      ARGAND_CHECK(
          ValueError, p[i] >= 1 && p[i] <= rows, Args::kName,
          ": expected pivots between 1 and LU.size(-2) inclusive, that is greater or equal to 1 and smaller or "
          "equal to LU.size(-2), here ",
          rows, ", got ", p[i]);
  }
  static void run(const Args& a, Tensor& out) {
    const Tensor pivots = exec::dense(a.pivots);
    if (pivots.is_cpu())
      check_range(pivots, a.rows);
    else if (((pivots < 1) | (pivots > a.rows)).any().item().toBool())
      check_range(pivots.to(Device(kCPU)), a.rows);
    const int64_t k = pivots.sizes().back();
    blocks::row_order.on(out.device())({a.rows, k, numel_of(pivots.sizes().slice(0, pivots.sizes().size() - 1)),
                                        address<int32_t>(pivots), address<int64_t>(out)});
  }
  static void samples(S& s) {
    s.add({pivots_of({3, 2, 3}), 3});
    s.add({pivots_of({4, 2}), 4});
    s.fails({pivots_of({1, 2, 3}), 2}, "_lu_permutation: expected no more pivots than 2 rows, got [3]");
    s.fails({pivots_of({1, 5}), 3}, "_lu_permutation: expected pivots between 1 and LU.size(-2) inclusive");
  }
};
ARGAND_OP(LuPermutation)

struct LinalgLuFactorEx : Kernel<LinalgLuFactorExArgs> {
  static constexpr auto schema =
      "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor "
      "info)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "A = P L U: U on and above the diagonal of LU, L, whose diagonal is 1, below it. int32: row k changed places "
      "with "
      "row pivots[k] - 1; info is the number, from 1, of the first pivot that is 0, or 0, and with check_errors a "
      "LinAlgError. Without pivots (pivot=False) is not offered on the CPU.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static TensorMetas infer(const Args& a) {
    check_matrices("linalg.lu_factor", a.A, false);
    ARGAND_CHECK(ValueError, a.pivot, "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
    return {{a.A.impl().sizes, a.A.dtype()},
            {batch_and(a.A, {std::min(rows_of(a.A), columns_of(a.A))}), kInt},
            {batch_and(a.A, {}), kInt}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const Tensor columns = in_columns(a.A);
    blocks::factor_lu.on(a.A.device())({a.A.dtype(), rows_of(a.A), columns_of(a.A), batches_of(a.A), address(columns),
                                        address<int32_t>(outs[1]), address<int32_t>(outs[2])});
    exec::copy_elements(outs[0], transposed(columns));
    if (a.check_errors) check_info("linalg.lu_factor_ex", outs[2], zero_pivot);
  }
  static Grads grad(const Ctx& c, const Grads& g) {
    if (!g[0].defined()) return {{}};
    const Tensor& LU = c.result(0);
    const Tensor P = permutation_matrix(LU, c.result(1));
    return {P.matmul(lu_gradient(g[0], LU))};
  }
  static void samples(S& s) {
    s->values_differ(kFullRank);
    s.add({s->real({3, 3})});
    s.add({s->real({2, 2, 4})});
    s.add({s->real({4, 2})});
    s.add({s->real({0, 2})});
    s.fails({s->real({3})}, "linalg.lu_factor: The input tensor A must have at least 2 dimensions.");
    s.fails({s->real({2, 2}), false}, "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
    s.fails({s->real({2, 2}) * 0, true, true}, "linalg.lu_factor_ex: U[1,1] is zero");
  }
};
ARGAND_OP(LinalgLuFactorEx)

struct LinalgLuFactor : Composite<LinalgLuFactorArgs> {
  static constexpr auto schema = "linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "linalg_lu_factor_ex, and a LinAlgError where a pivot is 0.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static Result compose(const Args& a) {
    const auto [LU, pivots, info] = linalg_lu_factor_ex(a.A, a.pivot);
    check_info("linalg.lu_factor", info, zero_pivot);
    return {LU, pivots};
  }
  static void samples(S& s) {
    s.add({s->real({3, 3})});
    s.fails({s->real({2, 2}) * 0}, "linalg.lu_factor: U[1,1] is zero and using it on lu_solve would result in a");
  }
};
ARGAND_OP(LinalgLuFactor)

struct LuUnpack : Composite<LuUnpackArgs> {
  static constexpr auto schema =
      "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, "
      "Tensor "
      "L, Tensor U)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "P, L and U of what linalg_lu_factor gives; empty what is not asked for.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static Result compose(const Args& a) {
    check_matrices("lu_unpack", a.LU_data, false, "LU_data");
    check_pivots("lu_unpack", a.LU_data, a.LU_pivots);
    const Tensor none = empty({0}, a.LU_data.options());
    return {a.unpack_pivots ? permutation_matrix(a.LU_data, a.LU_pivots) : none,
            a.unpack_data ? lower_factor(a.LU_data) : none, a.unpack_data ? upper_factor(a.LU_data) : none};
  }
  static void samples(S& s) {
    s.add({s->real({3, 2}), pivots_of({3, 2})});
    s.add({s->real({2, 3}), pivots_of({2, 2}), true, false});
    s.add({s->real({2, 2}), pivots_of({2, 2}), false, true});
    s.fails({s->real({2, 2}), pivots_of({2})}, "lu_unpack: expected pivots of shape [2], got [1]");
    s.fails({s->real({2, 2}), s->integer({2}, 1, 2)},
            "lu_unpack: pivots should be a Tensor of torch.int32 dtype, got int64");
  }
};
ARGAND_OP(LuUnpack)
ARGAND_NODE(LuUnpack)

struct LinalgLu : Composite<LinalgLuArgs> {
  static constexpr auto schema = "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "A = P L U with a permutation P, a lower triangle L whose diagonal is 1, and an upper one.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static Result compose(const Args& a) {
    const auto [LU, pivots, info] = linalg_lu_factor_ex(a.A, a.pivot);
    return lu_unpack(LU, pivots);
  }
  static void samples(S& s) {
    s->values_differ(kFullRank);
    s.add({s->real({3, 3})});
    s.add({s->real({2, 2, 3})});
    s.add({s->real({3, 2})});
    s.fails({s->real({3})}, "linalg.lu_factor: The input tensor A must have at least 2 dimensions.");
  }
};
ARGAND_OP(LinalgLu)
ARGAND_NODE(LinalgLu)

namespace {

// X with A X = B, or A^H X = B, for A = P L U, where A and B have one batch.
Tensor solve_by_factors(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool adjoint) {
  const exec::AutocastScope plain;  // P's products only move rows
  const Tensor P = permutation_matrix(LU, pivots);
  if (!adjoint)
    return linalg_solve_triangular(LU, linalg_solve_triangular(LU, P.transpose(-2, -1).matmul(B), false, true, true),
                                   true);
  return P.matmul(linalg_solve_triangular(mH(LU), linalg_solve_triangular(mH(LU), B, false), true, true, true));
}

}  // namespace

struct LinalgLuSolve : Composite<LinalgLuSolveArgs> {
  static constexpr auto schema =
      "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "X with A X = B (left=False: X A = B; adjoint: A^H for A), for what linalg_lu_factor made of A, batches "
      "broadcast.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    constexpr const char* op = "linalg.lu_solve";
    check_matrices(op, a.LU, true);
    check_matrices(op, a.B, false, "B");
    check_pivots(op, a.LU, a.pivots);
    ARGAND_CHECK(DtypeError, a.LU.dtype() == a.B.dtype(), op,
                 ": Expected LU and B to have the same dtype, but found LU of type ", a.LU.dtype(), " and B of type ",
                 a.B.dtype(), " instead");
    const int64_t n = rows_of(a.LU);
    ARGAND_CHECK(ShapeError, n == (a.left ? rows_of(a.B) : columns_of(a.B)), op,
                 ": Incompatible shapes of A and B for the equation ", a.left ? "AX = B" : "XA = B", " (", n, "x", n,
                 " and ", rows_of(a.B), "x", columns_of(a.B), ")");
    const Tensor B = a.left ? a.B : mH(a.B);
    const Dims batch = broadcast_shapes(batch_and(a.LU, {}), batch_and(B, {}), op);
    const Tensor X = solve_by_factors(with_batch(a.LU, batch, 2), with_batch(a.pivots, batch, 1),
                                      with_batch(B, batch, 2), a.adjoint == a.left);
    return a.left ? X : mH(X);
  }
  static void samples(S& s) {
    const Tensor pivots = pivots_of({2, 3, 3});
    for (const bool left : {true, false})
      for (const bool adjoint : {true, false})
        s.add({s->real({3, 3}) + 5 * eye(3, TensorOptions(kCPU).dtype(kDouble)), pivots,
               s->real(left ? Dims{2, 3, 2} : Dims{2, 3}), left, adjoint});
    s.fails({s->real({3, 3}), pivots, s->real({2, 2})},
            "linalg.lu_solve: Incompatible shapes of A and B for the equation AX = B (3x3 and 2x2)");
    s.fails({s->real({2, 2}), pivots, s->real({2, 2})}, "linalg.lu_solve: expected pivots of shape [2], got [3]");
  }
};
ARGAND_OP(LinalgLuSolve)
ARGAND_NODE(LinalgLuSolve)

struct LuSolve : Composite<LuSolveArgs> {
  static constexpr auto schema = "lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "X with A X = self, for what linalg_lu_factor made of A.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) { return linalg_lu_solve(a.LU_data, a.LU_pivots, a.self); }
  static void samples(S& s) {
    s.add({s->real({2, 2}), s->real({2, 2}) + 5 * eye(2, TensorOptions(kCPU).dtype(kDouble)), pivots_of({2, 2})});
  }
};
ARGAND_OP(LuSolve)
ARGAND_NODE(LuSolve, "LinalgLuSolveBackward0")

struct TriangularSolve : Composite<TriangularSolveArgs> {
  static constexpr auto schema =
      "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> "
      "(Tensor solution, Tensor cloned_coefficient)";
  static constexpr auto doc = "X with A X = self (transpose: A^T X = self) for triangles A, and a copy of A.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kMethod;
  static Result compose(const Args& a) {
    check_matrices("triangular_solve", a.self, false, "b");
    check_matrices("triangular_solve", a.A, true);
    const Tensor A = a.transpose ? a.A.transpose(-2, -1) : a.A;
    const Tensor X = linalg_solve_triangular(A, a.self, a.upper != a.transpose, true, a.unitriangular);
    return {X, a.A.expand(batch_and(X, {rows_of(a.A), columns_of(a.A)})).clone()};
  }
  static void samples(S& s) {
    const Tensor one = 5 * eye(3, TensorOptions(kCPU).dtype(kDouble));
    s.add({s->real({3, 2}), s->real({3, 3}) + one});
    s.add({s->real({2, 3, 2}), s->real({3, 3}) + one, false, true});
    s.fails({s->real({2, 2}), s->real({2, 3})}, "triangular_solve: A must be batches of square matrices");
  }
};
ARGAND_OP(TriangularSolve)
ARGAND_NODE(TriangularSolve)

}  // namespace argand::ops
