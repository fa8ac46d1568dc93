// Tensors as matrices: their first and their last dimensions are rows and columns.
#include "argand/ops/define.h"
#include "argand/ops/linalg/args.h"
#include "argand/ops/linalg/matrices.h"

namespace argand::ops {

struct LinalgTensorinv : Composite<LinalgTensorinvArgs> {
  static constexpr auto schema = "linalg_tensorinv(Tensor self, int ind=2) -> Tensor";
  static constexpr auto doc = "The inverse of the matrix whose rows are the first `ind` dimensions.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr int variants = kFunction | kOut;
  static constexpr auto out_names = "result";
  static constexpr DtypeSet dtypes = kFloatTypes | kComplexTypes;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ValueError, a.ind > 0, "linalg_tensorinv: Expected a strictly positive integer for 'ind', but got ",
                 a.ind);
    const size_t first = static_cast<size_t>(std::min(a.ind, a.self.dim()));
    const Dims rows(a.self.sizes().slice(0, first));
    Dims sizes(a.self.sizes().slice(first));
    const int64_t n = numel_of(sizes), m = numel_of(rows);
    ARGAND_CHECK(ShapeError, n == m,
                 "linalg_tensorinv: Expected self to satisfy the requirement prod(self.shape[ind:]) == "
                 "prod(self.shape[:ind]), but got ",
                 n, " != ", m);
    for (const int64_t size : rows) sizes.push_back(size);
    return linalg_inv(a.self.reshape({n, n})).reshape(sizes);
  }
  static void samples(S& s) {
    s->values_differ(kFullRank);
    const Tensor one = eye(4, TensorOptions(kCPU).dtype(kDouble));
    s.add({(s->real({4, 4}) + 5 * one).reshape({2, 2, 4})});
    s.add({(s->real({4, 4}) + 5 * one).reshape({4, 2, 2}), 1});
    s.fails({s->real({2, 3}), 1}, "linalg_tensorinv: Expected self to satisfy the requirement prod(self.shape[ind:])");
    s.fails({s->real({2, 2}), 0}, "linalg_tensorinv: Expected a strictly positive integer for 'ind', but got 0");
  }
};
ARGAND_OP(LinalgTensorinv)

struct LinalgTensorsolve : Composite<LinalgTensorsolveArgs> {
  static constexpr auto schema = "linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor";
  static constexpr auto doc =
      "X with tensordot(self, X, X.dim()) = other; the dimensions `dims` of self are first moved behind the others.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr int variants = kFunction | kOut;
  static constexpr auto out_names = "result";
  static constexpr DtypeSet dtypes = kFloatTypes | kComplexTypes;
  static Tensor compose(const Args& a) {
    Tensor A = a.self;
    if (a.dims) {
      Dims last;
      for (size_t i = 0; i < a.dims->size(); ++i) last.push_back(A.dim() - static_cast<int64_t>(a.dims->size() - i));
      A = A.movedim(*a.dims, last);
    }
    const size_t first = static_cast<size_t>(std::min(a.other.dim(), A.dim()));
    const Dims sizes(A.sizes().slice(first));
    const int64_t n = numel_of(sizes), rows = numel_of(A.sizes().slice(0, first));
    const int64_t m = rows == n ? a.other.numel() : rows;
    ARGAND_CHECK(ShapeError, n == m,
                 "linalg_tensorsolve: Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
                 "prod(self.shape[:other.ndim]), but got ",
                 n, " != ", m);
    return linalg_solve(A.reshape({n, n}), a.other.flatten()).reshape(sizes);
  }
  static void samples(S& s) {
    const Tensor one = eye(4, TensorOptions(kCPU).dtype(kDouble));
    s.add({(s->real({4, 4}) + 5 * one).reshape({2, 2, 4}), s->real({2, 2})});
    s.add({(s->real({4, 4}) + 5 * one).reshape({4, 2, 2}), s->real({2, 2}), Dims{0}});
    s.fails({s->real({2, 3}), s->real({2})},
            "linalg_tensorsolve: Expected self to satisfy the requirement prod(self.shape[other.ndim:])");
    s.fails({s->real({2, 3, 6}), s->real({2, 2})}, "but got 6 != 4");
  }
};
ARGAND_OP(LinalgTensorsolve)

}  // namespace argand::ops
