// Polar decompositions, and square roots of Hermitian matrices.
#include "argand/exec/autocast_scope.h"
#include "argand/ops/define.h"
#include "argand/ops/linalg/args.h"
#include "argand/ops/linalg/matrices.h"
#include "argand/ops/node_name.h"

namespace argand::ops {

struct LinalgPolar : Composite<LinalgPolarArgs> {
  static constexpr auto schema = "linalg_polar(Tensor A) -> (Tensor U, Tensor H)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "A = U H with orthonormal columns of U and a Hermitian H without negative eigenvalues, for no more columns than "
      "rows. The gradient wants singular values that differ.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static Result compose(const Args& a) {
    check_matrices("linalg.polar", a.A, false);
    ARGAND_CHECK(ShapeError, rows_of(a.A) >= columns_of(a.A), "linalg.polar: expected no more columns than rows, got ",
                 a.A.sizes());
    const auto [U, S, Vh] = linalg_svd(a.A, false);
    const exec::AutocastScope plain;  // the factors have the dtype of A
    return {U.matmul(Vh), mH(Vh).matmul(S.unsqueeze(-1) * Vh)};
  }
  static void samples(S& s) {
    s->values_differ(kFullRank);
    s.add({s->real({3, 2})});
    s.add({s->real({2, 2, 2})});
    s.fails({s->real({2, 3})}, "linalg.polar: expected no more columns than rows, got [2, 3]");
  }
};
ARGAND_OP(LinalgPolar)
ARGAND_NODE(LinalgPolar)

struct LinalgMatrixSqrth : Kernel<LinalgMatrixSqrthArgs> {
  static constexpr auto schema = "linalg_matrix_sqrth(Tensor self) -> Tensor";
  static constexpr auto doc =
      "The X without negative eigenvalues with X X = self, for Hermitian matrices, of which the lower half is read; "
      "NaN "
      "where self has negative ones.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static TensorMeta infer(const Args& a) {
    check_matrices("linalg.matrix_sqrth", a.self, true);
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const NoGradGuard values_alone;
    const auto [L, V] = linalg_eigh(a.self);
    exec::copy_elements(out, V.matmul(L.sqrt().unsqueeze(-1) * mH(V)));
  }
  // dA = X dX + dX X, between X's eigenvectors.
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const auto [L, V] = linalg_eigh(c.result());
    const Tensor inner = mH(V).matmul(g + mH(g)).matmul(V) / (L.unsqueeze(-1) + L.unsqueeze(-2));
    return V.matmul(inner).matmul(mH(V)) / 2;
  }
  static void samples(S& s) {
    s->accuracy({8, "eigenvectors are as exact as the largest of their elements"});
    s->accuracy({64, "and float32 ones are computed in float32 there", kCUDA});
    const Tensor A = s->real({2, 3, 3}) + 20 * eye(3, TensorOptions(kCPU).dtype(kDouble));
    s.add_without_gradient({A});
    s.fails({s->real({2, 3})}, "linalg.matrix_sqrth: A must be batches of square matrices");
  }
};
ARGAND_OP(LinalgMatrixSqrth)

}  // namespace argand::ops
