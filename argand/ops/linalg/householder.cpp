// Householder reflections: their products, and their computation.
#include "argand/exec/forward_mode.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/linalg/args.h"
#include "argand/ops/linalg/matrices.h"
#include "argand/ops/matmul/product.h"
#include "argand/ops/maybe.h"
#include "argand/ops/node_name.h"

namespace argand::ops {

struct Geqrf : Kernel<GeqrfArgs> {
  static constexpr auto schema = "geqrf(Tensor self) -> (Tensor a, Tensor tau)";
  static constexpr auto doc =
      "QR as LAPACK gives it: R on and above the diagonal of a, below it the vectors of the reflections whose factors "
      "are tau.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr bool differentiable = false;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto out_names = "a, tau";
  static TensorMetas infer(const Args& a) {
    check_matrices(Args::kName, a.self, false, "input");
    return {{a.self.impl().sizes, a.self.dtype()},
            {batch_and(a.self, {std::min(rows_of(a.self), columns_of(a.self))}), a.self.dtype()}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const Tensor columns = in_columns(a.self);
    blocks::factor_qr.on(a.self.device())(
        {a.self.dtype(), rows_of(a.self), columns_of(a.self), batches_of(a.self), address(columns), address(outs[1])});
    exec::copy_elements(outs[0], transposed(columns));
  }
  static void samples(S& s) {
    s->values_differ(kFullRank);
    s.add({s->real({3, 2})});
    s.add({s->real({2, 2, 3})});
    s.add({s->real({0, 2})});
    s.fails({s->real({3})}, "geqrf: The input tensor input must have at least 2 dimensions.");
  }
};
ARGAND_OP(Geqrf)

namespace {

void check_factors(const char* op, const Tensor& input, const Tensor& tau) {
  check_matrices(op, input, false, "input");
  ARGAND_CHECK(DtypeError, tau.dtype() == input.dtype(), op, ": tau dtype ", dtype_cpp_name(tau.dtype()),
               " does not match input dtype ", dtype_cpp_name(input.dtype()));
  ARGAND_CHECK(ShapeError, tau.dim() + 1 == input.dim(), op,
               ": Expected tau to have one dimension less than input, but got tau.ndim equal to ", tau.dim(),
               " and input.ndim is equal to ", input.dim());
  ARGAND_CHECK(ShapeError, batch_and(tau.unsqueeze(-1), {}) == batch_and(input, {}), op,
               ": Expected batch dimensions of tau to be equal to input.shape[:-2], but got ", tau.sizes(), " and ",
               input.sizes());
}

}  // namespace

struct ReflectionsProduct : Kernel<ReflectionsProductArgs> {
  static constexpr auto schema = "_linalg_reflections_product(Tensor input, Tensor tau) -> Tensor";
  static constexpr auto doc = "linalg_householder_product without a gradient.";
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr bool differentiable = false;
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    check_factors(Args::kName, a.input, a.tau);
    ARGAND_CHECK(ShapeError, rows_of(a.input) >= columns_of(a.input) && columns_of(a.input) >= a.tau.size(-1),
                 Args::kName, ": expected no more columns than rows and no more factors than columns, got matrices ",
                 a.input.sizes(), " and factors ", a.tau.sizes());
    return {a.input.impl().sizes, a.input.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const Tensor columns = in_columns(a.input), tau = exec::dense(a.tau);
    blocks::reflections_product.on(out.device())({a.input.dtype(), rows_of(a.input), columns_of(a.input),
                                                  a.tau.size(-1), batches_of(a.input), address(columns), address(tau)});
    exec::copy_elements(out, transposed(columns));
  }
  static void samples(S& s) {
    s.add({s->real({3, 2}), s->real({2})});
    s.add({s->real({2, 3, 3}), s->real({2, 2})});
    s.add({s->real({3, 2}), s->real({0})});
    s.add({s->real({0, 2, 2}), s->real({0, 2})});
    s.fails({s->real({2, 3}), s->real({2})},
            "_linalg_reflections_product: expected no more columns than rows and no more factors than columns");
  }
};
ARGAND_OP(ReflectionsProduct)

namespace {

// (I - tau v v^H) x, for the reflection in column k of `input`.
Tensor reflected(const Tensor& input, const Tensor& tau, int64_t k, const Tensor& x) {
  const int64_t m = rows_of(input), rest = m - k - 1;
  const Tensor below = input.narrow(-1, k, 1).narrow(-2, k + 1, rest);
  const Tensor v = cat({ones(batch_and(input, {1, 1}), input.options()), below}, -2);
  const Tensor seen = x.narrow(-2, k, rest + 1);
  const Tensor changed = seen - tau.narrow(-1, k, 1).unsqueeze(-1) * v.matmul(mH(v).matmul(seen));
  return k == 0 ? changed : cat({x.narrow(-2, 0, k), changed}, -2);
}

// The product of all reflections, or its adjoint, times x.
Tensor product_times(const Tensor& input, const Tensor& tau, Tensor x, bool adjoint) {
  const int64_t n = tau.size(-1);
  const Tensor factors = adjoint ? tau.conj() : tau;
  for (int64_t i = 0; i < n; ++i) x = reflected(input, factors, adjoint ? i : n - 1 - i, x);
  return x;
}

Tensor householder_product(const char* op, const Tensor& input, const Tensor& tau) {
  check_matrices(op, input, false, "input");
  const int64_t m = rows_of(input), n = columns_of(input);
  ARGAND_CHECK(ShapeError, m >= n, op, ": input.shape[-2] must be greater than or equal to input.shape[-1]");
  ARGAND_CHECK(ShapeError, tau.dim() == 0 || n >= tau.size(-1), op,
               ": input.shape[-1] must be greater than or equal to tau.shape[-1]");
  check_factors(op, input, tau);
  const bool has_gradient = exec::is_differentiated(input) || exec::is_differentiated(tau);
  if (!has_gradient) return _linalg_reflections_product(input, tau);
  const Tensor one = eye(m, n, input.options()).expand(input.sizes());
  // Without reflections the gradient is 0, as in PyTorch, rather than undefined.
  if (tau.size(-1) == 0) return one + input.masked_fill(ones({}, input.options().dtype(kBool)), 0);
  return product_times(input, tau, one, false).contiguous();
}

}  // namespace

struct LinalgHouseholderProduct : Composite<LinalgHouseholderProductArgs> {
  static constexpr auto schema = "linalg_householder_product(Tensor input, Tensor tau) -> Tensor";
  static constexpr auto doc =
      "The first columns, as many as input has, of the product of the reflections I - tau v v^H, where v is 1 on the "
      "diagonal of input and stands below it.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kOut;
  static constexpr auto out_names = "result";
  static Tensor compose(const Args& a) { return householder_product("linalg.householder_product", a.input, a.tau); }
  static void samples(S& s) {
    s.add({s->real({3, 2}), s->real({2})});
    s.add({s->real({2, 3, 3}), s->real({2, 2})});
    s.add({s->real({3, 2}), s->real({0})});
    s.fails({s->real({2, 3}), s->real({2})},
            "linalg.householder_product: input.shape[-2] must be greater than or equal");
    s.fails({s->real({3, 2}), s->real({3})},
            "linalg.householder_product: input.shape[-1] must be greater than or equal");
    s.fails({s->real({3, 2}), s->real({1, 2})},
            "linalg.householder_product: Expected tau to have one dimension less than input");
  }
};
ARGAND_OP(LinalgHouseholderProduct)
ARGAND_NODE(LinalgHouseholderProduct)

struct Orgqr : Composite<OrgqrArgs> {
  static constexpr auto schema = "orgqr(Tensor self, Tensor input2) -> Tensor";
  static constexpr auto doc = "linalg_householder_product.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto out_names = "result";
  static Tensor compose(const Args& a) { return householder_product("orgqr", a.self, a.input2); }
  static void samples(S& s) { s.add({s->real({3, 2}), s->real({2})}); }
};
ARGAND_OP(Orgqr)

struct Ormqr : Composite<OrmqrArgs> {
  static constexpr auto schema =
      "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "The product of the reflections that self and the factors input2 hold, a square matrix, times input3; its "
      "adjoint with transpose, from the right without left.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kMatrixTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    constexpr const char* op = "ormqr";
    check_factors(op, a.self, a.input2);
    check_matrices(op, a.input3, false, "other");
    check_same_dtype(op, "self", a.self, "input3", a.input3);
    const int64_t size = a.left ? rows_of(a.input3) : columns_of(a.input3);
    ARGAND_CHECK(ShapeError, size >= a.input2.size(-1), op, ": other.shape[", a.left ? -2 : -1,
                 "] must be greater than or equal to tau.shape[-1]");
    ARGAND_CHECK(ShapeError, size == rows_of(a.self), op, ": other.shape[", a.left ? -2 : -1,
                 "] must be equal to input.shape[-2]");
    ARGAND_CHECK(ShapeError, a.input2.size(-1) == std::min(size, columns_of(a.self)), op,
                 ": tau.shape[-1] must be equal to min(other.shape[", a.left ? -2 : -1, "], input.shape[-1])");
    ARGAND_CHECK(ShapeError, batch_and(a.input3, {}) == batch_and(a.self, {}), op,
                 ": Expected batch dimensions of other to be equal to input.shape[:-2], but got ", a.input3.sizes(),
                 " and ", a.self.sizes());
    if (a.left) return product_times(a.self, a.input2, a.input3, a.transpose);
    return mH(product_times(a.self, a.input2, mH(a.input3), !a.transpose));
  }
  static void samples(S& s) {
    for (const bool transpose : {false, true}) {
      s.add({s->real({3, 2}), s->real({2}), s->real({3, 2}), true, transpose});
      s.add({s->real({2, 3, 2}), s->real({2, 2}), s->real({2, 4, 3}), false, transpose});
    }
    s.fails({s->real({3, 2}), s->real({2}), s->real({2, 3})},
            "ormqr: other.shape[-2] must be equal to input.shape[-2]");
    s.fails({s->real({3, 2}), s->real({3}), s->real({3, 3})},
            "ormqr: tau.shape[-1] must be equal to min(other.shape[-2]");
  }
};
ARGAND_OP(Ormqr)
ARGAND_NODE(Ormqr)

}  // namespace argand::ops
