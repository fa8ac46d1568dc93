// The exponential of matrices.
#include <cmath>

#include "argand/exec/autocast_scope.h"
#include "argand/ops/define.h"
#include "argand/ops/linalg/args.h"
#include "argand/ops/linalg/matrices.h"
#include "argand/ops/node_name.h"

namespace argand::ops {
namespace {

// exp(A) = exp(A / 2^k)^(2^k); a matrix of norm at most 1/2 takes the series, whose remainder is below 2^-15 / 15!.
constexpr int kTerms = 14;
constexpr double kMostHalvings = 1100;  // more than there are binary exponents

int halvings(const Tensor& A) {
  if (A.is_meta() || A.numel() == 0) return 0;
  const double norm = A.detach().abs().sum(-2).amax().to(kDouble).item().toDouble();
  if (!std::isfinite(norm) || norm <= 0.5) return 0;
  return static_cast<int>(std::min(std::ceil(std::log2(norm)) + 1, kMostHalvings));
}

Tensor exponential(const Tensor& A) {
  check_matrices("linalg.matrix_exp", A, true);
  const exec::AutocastScope plain;  // products of half precision would lose what squaring multiplies
  if (contains(kHalfTypes, A.dtype())) return exponential(A.to(kFloat)).to(A.dtype());
  const int k = halvings(A);
  const Tensor x = k > 0 ? A * std::ldexp(1.0, -k) : A;
  const Tensor one = eye(rows_of(A), A.options());
  Tensor result = one + x / kTerms;
  for (int i = kTerms - 1; i > 0; --i) result = one + x.matmul(result) / i;
  for (int i = 0; i < k; ++i) result = result.matmul(result);
  return result;
}

}  // namespace

struct LinalgMatrixExp : Composite<LinalgMatrixExpArgs> {
  static constexpr auto schema = "linalg_matrix_exp(Tensor self) -> Tensor";
  static constexpr auto doc = "The sum of self^k / k!, by the series of a small part of self, squared again and again.";
  static constexpr DtypeSet dtypes = kFloatingTypes | kComplexTypes;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return exponential(a.self); }
  static void samples(S& s) {
    s->accuracy({4, "powers of the matrix are products of rounded products"});
    s.add({s->real({2, 3, 3}, -0.5, 0.5)});
    s.add({s->real({2, 2}, 0, 0.1)});
    s.add({s->real({0, 0})});
    s.fails({s->real({2, 3})}, "linalg.matrix_exp: A must be batches of square matrices, but they are 2 by 3 matrices");
  }
};
ARGAND_OP(LinalgMatrixExp)
ARGAND_NODE(LinalgMatrixExp)

struct MatrixExp : Composite<MatrixExpArgs> {
  static constexpr auto schema = "matrix_exp(Tensor self) -> Tensor";
  static constexpr auto doc = "linalg_matrix_exp.";
  static constexpr DtypeSet dtypes = kFloatingTypes | kComplexTypes;
  static Tensor compose(const Args& a) { return exponential(a.self); }
  static void samples(S& s) { s.add({s->real({3, 3}, -0.5, 0.5)}); }
};
ARGAND_OP(MatrixExp)
ARGAND_NODE(MatrixExp, "LinalgMatrixExpBackward0")

}  // namespace argand::ops
