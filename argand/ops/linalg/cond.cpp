// Condition numbers.
#include <cmath>

#include "argand/ops/define.h"
#include "argand/ops/linalg/args.h"
#include "argand/ops/linalg/matrices.h"

namespace argand::ops {
namespace {

// The norm of A times the norm of its inverse.
template <class Order>
Tensor by_inverse(const Tensor& A, const Order& p) {
  check_matrices("linalg.cond", A, true);
  if (A.numel() == 0) return zeros(batch_and(A, {}), A.options().dtype(to_real_type(A.dtype())));
  const auto [inverse, info] = linalg_inv_ex(A);
  return (linalg_matrix_norm(A, p) * linalg_matrix_norm(inverse, p)).masked_fill(info > 0, INFINITY);
}

Tensor singular_values(const Tensor& A) {
  const Tensor S = linalg_svdvals(A);
  return S.size(-1) == 0 ? zeros(batch_and(A, {1}), S.options()) : S;
}

}  // namespace

struct LinalgCond : Composite<LinalgCondArgs> {
  static constexpr auto schema = "linalg_cond(Tensor self, Scalar? p=None) -> Tensor";
  static constexpr auto doc =
      "The largest singular value over the smallest (p None or 2) or the reverse (-2); for p 1, -1, inf and -inf the "
      "norm times that of the inverse, inf where there is none. 0 of empty matrices.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static constexpr auto out_names = "result";
  static Tensor compose(const Args& a) {
    check_matrices("linalg.cond", a.self, false);
    const double p = a.p ? a.p->toDouble() : 2, size = std::abs(p);
    ARGAND_CHECK(ValueError, size == 1 || size == 2 || std::isinf(size), "linalg.cond got an invalid norm type: ", p);
    if (size != 2) return by_inverse(a.self, Scalar(p));
    const Tensor S = singular_values(a.self), largest = S.select(-1, 0), least = S.select(-1, S.size(-1) - 1);
    if (a.self.numel() == 0) return largest;
    return p > 0 ? largest / least : least / largest;
  }
  static void samples(S& s) {
    s->values_differ(kFullRank);
    s->accuracy({4, "singular values are as exact as the largest one", kCUDA});
    const Tensor A = s->real({2, 3, 3}) + 5 * eye(3, TensorOptions(kCPU).dtype(kDouble));
    s.add({A});
    s.add({s->real({3, 2}), -2});
    for (const double p : {1.0, -1.0, static_cast<double>(INFINITY), -static_cast<double>(INFINITY)}) s.add({A, p});
    s.add({s->real({0, 0}), 1});
    s.add({s->real({2, 0, 3})});
    s.fails({s->real({3})}, "linalg.cond: The input tensor A must have at least 2 dimensions.");
    s.fails({s->real({3, 3}), 3}, "linalg.cond got an invalid norm type: 3");
    s.fails({s->real({2, 3}), 1}, "linalg.cond: A must be batches of square matrices, but they are 2 by 3 matrices");
  }
};
ARGAND_OP(LinalgCond)

struct LinalgCondNamed : Composite<LinalgCondNamedArgs> {
  static constexpr auto schema = "linalg_cond.p_str(Tensor self, str p) -> Tensor";
  static constexpr auto doc = "The norm of that name, fro or nuc, times that of the inverse.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static constexpr auto out_names = "result";
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ValueError, a.p == "fro" || a.p == "nuc", "linalg.cond got an invalid norm type: ", a.p);
    check_matrices("linalg.cond", a.self, true);
    if (a.p == "fro" || a.self.numel() == 0) return by_inverse(a.self, a.p);
    const Tensor S = linalg_svdvals(a.self);
    return S.sum(-1) * S.reciprocal().sum(-1);
  }
  static void samples(S& s) {
    s->values_differ(kFullRank);
    s->accuracy({4, "singular values are as exact as the largest one", kCUDA});
    const Tensor A = s->real({2, 3, 3}) + 5 * eye(3, TensorOptions(kCPU).dtype(kDouble));
    s.add({A, "fro"});
    s.add({A, "nuc"});
    s.fails({s->real({3, 3}), "f"}, "linalg.cond got an invalid norm type: f");
  }
};
ARGAND_OP(LinalgCondNamed)

}  // namespace argand::ops
