// Norms of matrices, and views under the names of torch.linalg.
#include <cmath>

#include "argand/ops/define.h"
#include "argand/ops/linalg/args.h"
#include "argand/ops/linalg/matrices.h"
#include "argand/ops/maybe.h"

namespace argand::ops {
namespace {

Dims two_dims(const char* op, const Tensor& self, const Dims& dim) {
  check_matrices(op, self, false);
  ARGAND_CHECK(ValueError, dim.size() == 2, op, ": dim must be a 2-tuple of ints, got ", dim);
  const Dims dims{wrap_dim(dim[0], self.dim(), op), wrap_dim(dim[1], self.dim(), op)};
  ARGAND_CHECK(ValueError, dims[0] != dims[1], op, ": dims must be different, got ", dim);
  return dims;
}

double order(const Scalar& ord) {
  ARGAND_CHECK(ValueError, !ord.isComplex(), "linalg_matrix_norm: Expected a non-complex scalar as the order of norm.");
  return ord.toDouble();
}

// The result of `reduce` on the singular values of the matrices in two dimensions.
template <class F>
Tensor of_singular_values(const Tensor& self, const Dims& dims, bool keepdim, std::optional<ScalarType> dtype,
                          F reduce) {
  const Tensor typed = dtype ? self.to(*dtype) : self;
  const Tensor result = reduce(linalg_svdvals(typed.movedim(dims, {-2, -1})));
  if (!keepdim) return result;
  return result.unsqueeze(std::min(dims[0], dims[1])).unsqueeze(std::max(dims[0], dims[1]));
}

Tensor matrix_norm(const char* op, const Tensor& self, double ord, const Dims& given, bool keepdim,
                   std::optional<ScalarType> dtype) {
  const Dims dims = two_dims(op, self, given);
  const double size = std::abs(ord);
  if (size == 2)
    return of_singular_values(self, dims, keepdim, dtype, [&](const Tensor& S) {
      if (ord > 0 && S.size(-1) == 0) return S.sum(-1);  // as below
      return ord > 0 ? S.amax(-1) : S.amin(-1);
    });
  ARGAND_CHECK(ValueError, size == 1 || std::isinf(size), op, ": Order ", ord, " not supported.");
  const int64_t summed = size == 1 ? dims[0] : dims[1], over = size == 1 ? dims[1] : dims[0];
  const Tensor sums = linalg_vector_norm(self, 1, summed, true, dtype);
  Tensor result;
  if (ord > 0 && sums.sizes()[over] == 0)
    result = sums.sum(over, true);  // 0 without rows or columns, although there is no maximum
  else
    result = ord > 0 ? sums.amax(over, true) : sums.amin(over, true);
  return keepdim ? result : result.squeeze(std::max(dims[0], dims[1])).squeeze(std::min(dims[0], dims[1]));
}

Tensor matrix_norm(const char* op, const Tensor& self, const std::string& ord, const Dims& given, bool keepdim,
                   std::optional<ScalarType> dtype) {
  const Dims dims = two_dims(op, self, given);
  if (ord == "nuc") return of_singular_values(self, dims, keepdim, dtype, [](const Tensor& S) { return S.sum(-1); });
  ARGAND_CHECK(ValueError, ord == "fro", op, ": Order ", ord, " not supported.");
  return linalg_vector_norm(self, 2, dims, keepdim, dtype);
}

}  // namespace

struct LinalgMatrixNorm : Composite<LinalgMatrixNormArgs> {
  static constexpr auto schema =
      "linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? dtype=None) "
      "-> "
      "Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "Of matrices in two dimensions, the largest (1) or smallest (-1) sum of absolute values of a column, or of a row "
      "(inf, -inf); the largest (2) or smallest (-2) singular value.";
  static constexpr int variants = kFunction | kOut;
  static constexpr DtypeSet dtypes = kFloatingTypes | kComplexTypes;
  static Tensor compose(const Args& a) {
    return matrix_norm("linalg_matrix_norm", a.self, order(a.ord), a.dim, a.keepdim, a.dtype);
  }
  static void samples(S& s) {
    for (const double ord : {1.0, -1.0, 2.0, -2.0, static_cast<double>(INFINITY), -static_cast<double>(INFINITY)})
      s.add({s->real({3, 4}), ord});
    s.add({s->real({2, 3, 4}), 1, {2, 0}, true});
    s.add({s->real({2, 3, 4}), 2, {2, 0}, true});
    s.fails({s->real({3}), 1}, "linalg_matrix_norm: The input tensor A must have at least 2 dimensions.");
    s.fails({s->real({3, 4}), 3}, "linalg_matrix_norm: Order 3 not supported.");
    s.fails({s->real({3, 4}), 1, {0, 0}}, "linalg_matrix_norm: dims must be different, got [0, 0]");
  }
};
ARGAND_OP(LinalgMatrixNorm)

struct LinalgMatrixNormNamed : Composite<LinalgMatrixNormNamedArgs> {
  static constexpr auto schema =
      "linalg_matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? "
      "dtype=None) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "Of matrices in two dimensions, the Frobenius norm (fro), or the sum of the singular values (nuc).";
  static constexpr int variants = kFunction | kOut;
  static constexpr DtypeSet dtypes = kFloatingTypes | kComplexTypes;
  static Tensor compose(const Args& a) {
    return matrix_norm("linalg_matrix_norm", a.self, a.ord, a.dim, a.keepdim, a.dtype);
  }
  static void samples(S& s) {
    s.add({s->real({3, 4})});
    s.add({s->real({2, 3, 4}), "fro", {0, 1}, true});
    s.add({s->real({2, 3, 4}), "nuc", {0, 1}, true});
    s.fails({s->real({3, 4}), "f"}, "linalg_matrix_norm: Order f not supported.");
  }
};
ARGAND_OP(LinalgMatrixNormNamed)

namespace {

// The dimensions of a matrix norm among those given.
Dims matrix_dims(const Tensor& self, const std::optional<Dims>& dim) {
  ARGAND_CHECK(ShapeError, dim || self.dim() == 2 || self.dim() == 1,
               "linalg_norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ", self.dim(), "D.");
  ARGAND_CHECK(ValueError, !dim || dim->size() == 1 || dim->size() == 2,
               "linalg_norm: If dim is specified, it must be of length 1 or 2. Got ", dim ? *dim : Dims{});
  return dim ? *dim : self.dim() == 2 ? Dims{0, 1} : Dims{0};
}

}  // namespace

struct LinalgNorm : Composite<LinalgNormArgs> {
  static constexpr auto schema =
      "linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> "
      "Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "With an order, linalg_vector_norm over one dimension or linalg_matrix_norm over two (of all, without dim); "
      "without, "
      "the root of the sum of squares.";
  static constexpr int variants = kFunction | kOut;
  static constexpr DtypeSet dtypes = kFloatingTypes | kComplexTypes;
  static Tensor compose(const Args& a) {
    if (!a.ord) return linalg_vector_norm(a.self, 2, a.dim, a.keepdim, a.dtype);
    const Dims dims = matrix_dims(a.self, a.dim);
    if (dims.size() == 2)
      return matrix_norm("linalg_norm: linalg.matrix_norm", a.self, order(*a.ord), dims, a.keepdim, a.dtype);
    return linalg_vector_norm(a.self, *a.ord, dims, a.keepdim, a.dtype);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 4})});
    s.add({s->real({3, 4}), 1});
    s.add({s->real({2, 3}), 3, Dims{1}, true});
    s.fails({s->real({2, 3, 4}), 1},
            "linalg_norm: If dim is not specified but ord is, the input must be 1D or 2D. Got 3D.");
    s.fails({s->real({2, 3, 4}), 1, Dims{0, 1, 2}}, "linalg_norm: If dim is specified, it must be of length 1 or 2.");
  }
};
ARGAND_OP(LinalgNorm)

struct LinalgNormNamed : Composite<LinalgNormNamedArgs> {
  static constexpr auto schema =
      "linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> "
      "Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "linalg_matrix_norm of that name: fro or nuc.";
  static constexpr int variants = kFunction | kOut;
  static constexpr DtypeSet dtypes = kFloatingTypes | kComplexTypes;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.dim || a.self.dim() == 2 || a.self.dim() == 1,
                 "linalg_norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ", a.self.dim(),
                 "D.");
    return matrix_norm("linalg_norm: linalg.matrix_norm", a.self, a.ord, a.dim.value_or(Dims{0, 1}), a.keepdim,
                       a.dtype);
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), "fro"});
    s.add({s->real({2, 3, 4}), "nuc", Dims{0, 2}});
    s.fails({s->real({2, 3, 4}), "fro"}, "linalg_norm: If dim is not specified but ord is, the input must be 1D or 2D");
  }
};
ARGAND_OP(LinalgNormNamed)

struct NuclearNorm : Composite<NuclearNormArgs> {
  static constexpr auto schema = "nuclear_norm(Tensor self, bool keepdim=False) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The sums of the singular values of matrices.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static Tensor compose(const Args& a) {
    return matrix_norm("nuclear_norm", a.self, std::string("nuc"), {-2, -1}, a.keepdim, {});
  }
  static void samples(S& s) { s.add({s->real({3, 4}), true}); }
};
ARGAND_OP(NuclearNorm)

struct NuclearNormDim : Composite<NuclearNormDimArgs> {
  static constexpr auto schema = "nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The sums of the singular values of matrices in two dimensions.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static Tensor compose(const Args& a) {
    return matrix_norm("nuclear_norm", a.self, std::string("nuc"), a.dim, a.keepdim, {});
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 4}), {0, 2}});
    s.fails({s->real({3, 4}), {0, 0}}, "nuclear_norm: dims must be different, got [0, 0]");
  }
};
ARGAND_OP(NuclearNormDim)

struct LinalgDiagonal : Composite<LinalgDiagonalArgs> {
  static constexpr auto schema = "linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)";
  static constexpr auto doc = "diagonal() of the last two dimensions, if no others are named.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return a.A.diagonal(a.offset, a.dim1, a.dim2); }
  static void samples(S& s) {
    s.add({s->real({2, 3, 4})});
    s.add({s->real({3, 4}), 1});
  }
};
ARGAND_OP(LinalgDiagonal)

}  // namespace argand::ops
