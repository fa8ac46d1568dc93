// Composite products: addbmm, kron, matrix powers, products of several matrices.
#include "argand/exec/autocast_scope.h"
#include "argand/ops/define.h"
#include "argand/ops/linalg/matrices.h"
#include "argand/ops/matmul/args.h"
#include "argand/ops/matmul/product.h"
#include "argand/ops/node_name.h"

namespace argand::ops {
namespace {

Tensor sum_of_products(const char* op, const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta,
                       const Scalar& alpha) {
  ARGAND_CHECK(ShapeError, a.dim() == 3 && b.dim() == 3, op, ": batch1 and batch2 must be 3D tensors, got ", a.sizes(),
               " and ", b.sizes());
  ARGAND_CHECK(ShapeError, a.sizes()[0] == b.sizes()[0], op,
               ": batch1 and batch2 must have same number of batches, got ", a.sizes()[0], " and ", b.sizes()[0]);
  ARGAND_CHECK(ShapeError, a.sizes()[2] == b.sizes()[1], op, ": Incompatible matrix sizes for bmm (", a.sizes()[1], "x",
               a.sizes()[2], " and ", b.sizes()[1], "x", b.sizes()[2], ")");
  // One product over batch and inner dimension together.
  const int64_t inner = a.sizes()[0] * a.sizes()[2];
  return self.addmm(a.transpose(0, 1).reshape({a.sizes()[1], inner}), b.reshape({inner, b.sizes()[2]}), beta, alpha);
}

// No inverse has to be computed for n >= 0.
Tensor power(const char* op, const Tensor& self, int64_t n) {
  check_matrices(op, self, true);
  if (n == 0) return self.clone(MemoryFormat::Contiguous).copy_(eye(self.sizes().back(), self.options()));
  Tensor result, square = n < 0 ? linalg_inv(self) : self;
  auto left = static_cast<uint64_t>(n);
  if (n < 0) left = 0 - left;  // -n does not fit int64 for the smallest n
  for (;; square = square.matmul(square)) {
    if (left & 1) result = result.defined() ? result.matmul(square) : square;
    left >>= 1;
    if (left == 0) break;
  }
  return result.is_same(self) ? self.clone() : result;
}

}  // namespace

struct Addbmm : Composite<AddbmmArgs> {
  static constexpr auto schema =
      "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "beta * self + alpha * the sum of batch1 @ batch2 over the batch; self is broadcast.";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto python_old_orders = "beta self alpha batch1 batch2; beta self batch1 batch2";
  static Tensor compose(const Args& a) {
    return sum_of_products("addbmm", a.self, a.batch1, a.batch2, a.beta, a.alpha);
  }
  static void samples(S& s) {
    s.add({s->real({2, 4}), s->real({3, 2, 5}), s->real({3, 5, 4})});
    s.add({s->real({4}), s->real({3, 2, 5}), s->real({3, 5, 4}), 2, 3});
    s.fails({s->real({4}), s->real({3, 2, 5}), s->real({2, 5, 4})},
            "addbmm: batch1 and batch2 must have same number of batches, got 3 and 2");
    s.fails({s->real({4}), s->real({3, 2, 5}), s->real({3, 4, 4})},
            "addbmm: Incompatible matrix sizes for bmm (2x5 and 4x4)");
    s.fails({s->real({4}), s->real({2, 5}), s->real({5, 4})}, "addbmm: batch1 and batch2 must be 3D tensors");
  }
};
ARGAND_OP(Addbmm)
ARGAND_NODE(Addbmm)

struct AddbmmInplace : Composite<AddbmmInplaceArgs> {
  static constexpr auto schema =
      "addbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)";
  static constexpr auto doc = "addbmm, into self.";
  static constexpr int variants = kMethod;
  static constexpr auto python_old_orders = "beta self alpha batch1 batch2; beta self batch1 batch2";
  static Tensor compose(const Args& a) {
    const exec::AutocastScope plain;  // the written values have self's dtype
    const Tensor result = sum_of_products("addbmm_", a.self, a.batch1, a.batch2, a.beta, a.alpha);
    ARGAND_CHECK(ShapeError, result.sizes() == a.self.sizes(), "addbmm_: expected self of shape ", result.sizes(),
                 ", got ", a.self.sizes());
    return a.self.copy_(result);
  }
  static void samples(S& s) {
    s.add({s->real({2, 4}), s->real({3, 2, 5}), s->real({3, 5, 4}), 2, 3});
    s.fails({s->real({4}), s->real({3, 2, 5}), s->real({3, 5, 4})}, "addbmm_: expected self of shape [2, 4], got [4]");
  }
};
ARGAND_OP(AddbmmInplace)

struct Kron : Composite<KronArgs> {
  static constexpr auto schema = "kron(Tensor self, Tensor other) -> Tensor";
  static constexpr auto doc = "The Kronecker product: other times each element of self, side by side.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    const int64_t ndim = std::max(a.self.dim(), a.other.dim());
    Dims sizes, spread, repeated;
    for (int64_t d = 0; d < ndim; ++d) {
      const auto size = [&](const Tensor& t) {
        const int64_t at = d - ndim + t.dim();
        return at < 0 ? 1 : t.sizes()[at];
      };
      for (const int64_t n : {size(a.self), int64_t{1}}) spread.push_back(n);
      for (const int64_t n : {int64_t{1}, size(a.other)}) repeated.push_back(n);
      sizes.push_back(size(a.self) * size(a.other));
    }
    return (a.self.reshape(spread) * a.other.reshape(repeated)).reshape(sizes);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({3, 2})});
    s.add({s->real({3}), s->real({2, 1, 2})});
    s.add({s->real({}), s->real({2})});
  }
};
ARGAND_OP(Kron)
ARGAND_NODE(Kron, "UnsafeViewBackward0")

struct MatrixPower : Composite<MatrixPowerArgs> {
  static constexpr auto schema = "matrix_power(Tensor self, int n) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The matrices n times with themselves; the inverses, if n is negative.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto out_names = "result";
  static Tensor compose(const Args& a) { return power("matrix_power", a.self, a.n); }
  static void samples(S& s) {
    s->values_differ(kFullRank);
    s.add({s->real({2, 3, 3}), 3});
    s.add({s->real({3, 3}), 0});
    s.add({s->real({2, 2}) + eye(2, TensorOptions(kCPU).dtype(kDouble)) * 5, -2});
    s.fails({s->real({2, 3}), 2}, "matrix_power: A must be batches of square matrices, but they are 2 by 3 matrices");
    s.fails({s->real({3}), 2}, "matrix_power: The input tensor A must have at least 2 dimensions.");
  }
};
ARGAND_OP(MatrixPower)

struct LinalgMatrixPower : Composite<LinalgMatrixPowerArgs> {
  static constexpr auto schema = "linalg_matrix_power(Tensor self, int n) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The matrices n times with themselves; the inverses, if n is negative.";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) { return power("linalg_matrix_power", a.self, a.n); }
  static void samples(S& s) {
    s->values_differ(kFullRank);
    s.add({s->real({2, 3, 3}), 5});
    s.fails({s->real({2, 3}), 2}, "linalg_matrix_power: A must be batches of square matrices");
  }
};
ARGAND_OP(LinalgMatrixPower)

struct LinalgMultiDot : Composite<LinalgMultiDotArgs> {
  static constexpr auto schema = "linalg_multi_dot(Tensor[] tensors) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The product of two or more matrices, from left to right; the ends may be vectors.";
  static constexpr auto autocast = Autocast::kLowerPrecision, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const size_t n = a.tensors.size();
    ARGAND_CHECK(ValueError, n >= 2, "linalg_multi_dot: expected at least 2 tensors but got ", n);
    Tensor product;
    for (size_t i = 0; i < n; ++i) {
      const Tensor& t = a.tensors[i];
      const bool end = i == 0 || i + 1 == n;
      const std::string which = i == 0 ? "the first tensor" : end ? "the last tensor" : str("tensor ", i);
      ARGAND_CHECK(ShapeError, t.dim() == 2 || (end && t.dim() == 1), "linalg_multi_dot: ", which, " must be ",
                   end ? "1D or 2D" : "2D", " but got ", t.dim(), "D");
      ARGAND_CHECK(DtypeError, t.dtype() == a.tensors[0].dtype(),
                   "linalg_multi_dot: all tensors must have be the same dtype but tensor 0 is ", a.tensors[0].dtype(),
                   " and tensor ", i, " ", t.dtype());
      ARGAND_CHECK(ShapeError, i == 0 || product.sizes().back() == t.sizes()[0], "linalg_multi_dot: tensors ", i - 1,
                   " and ", i, " with shapes ", a.tensors[i ? i - 1 : 0].sizes(), " and ", t.sizes(),
                   " cannot be multiplied");
      product = i == 0 ? t : product.matmul(t);
    }
    return product;
  }
  static void samples(S& s) {
    s.add({{s->real({2, 3}), s->real({3, 4}), s->real({4, 2})}});
    s.add({{s->real({3}), s->real({3, 4}), s->real({4})}});
    s.fails({{s->real({2, 3})}}, "linalg_multi_dot: expected at least 2 tensors but got 1");
    s.fails({{s->real({2, 3}), s->real({2, 3})}}, "linalg_multi_dot: tensors 0 and 1 with shapes [2, 3] and [2, 3]");
    s.fails({{s->real({2, 3}), s->real({3}), s->real({3, 2})}}, "linalg_multi_dot: tensor 1 must be 2D but got 1D");
  }
};
ARGAND_OP(LinalgMultiDot)

struct ChainMatmul : Composite<ChainMatmulArgs> {
  static constexpr auto schema = "chain_matmul(Tensor[] matrices) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The product of one or more matrices.";
  static constexpr auto autocast = Autocast::kLowerPrecision, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction | kOut;
  static constexpr bool python_one_by_one = true;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ValueError, !a.matrices.empty(), "chain_matmul(): Expected one or more matrices");
    for (const Tensor& t : a.matrices)
      ARGAND_CHECK(ShapeError, t.dim() == 2, "chain_matmul: Tensor dimension is ", t.dim(), ", expected 2 instead");
    return a.matrices.size() == 1 ? a.matrices[0] : linalg_multi_dot(a.matrices);
  }
  static void samples(S& s) {
    s.add({{s->real({2, 3}), s->real({3, 4})}});
    s.add({{s->real({2, 3})}});
    s.fails({{}}, "chain_matmul(): Expected one or more matrices");
    s.fails({{s->real({2})}}, "chain_matmul: Tensor dimension is 1, expected 2 instead");
  }
};
ARGAND_OP(ChainMatmul)

struct LinalgVecdot : Composite<LinalgVecdotArgs> {
  static constexpr auto schema = "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The sum of conj(x) * y along dim, broadcast.";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction | kOut;
  static constexpr DtypeSet dtypes = kFloatingTypes | kComplexTypes;
  static Tensor compose(const Args& a) {
    check_same_dtype("linalg_vecdot", "x", a.x, "y", a.y);
    return (a.x.conj() * a.y).sum(a.dim);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({3})});
    s.add({s->real({3, 2}), s->real({3, 2}), 0});
    s.fails({s->real({3}), s->integer({3}, 0, 2)}, "linalg_vecdot: expected x and y to have the same dtype");
  }
};
ARGAND_OP(LinalgVecdot)

}  // namespace argand::ops
