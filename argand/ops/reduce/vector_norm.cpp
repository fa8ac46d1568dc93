// Norms of the elements: linalg_vector_norm, and norm under its older signature.
#include <cmath>

#include "argand/ops/define.h"
#include "argand/ops/reduce/args.h"
#include "argand/ops/reduce/reduction.h"

namespace argand::ops {
namespace {

// The dtype self is taken to before its absolute values are.
ScalarType norm_input_dtype(const Tensor& self, const std::optional<ScalarType>& dtype) {
  const char* op = "linalg_vector_norm";
  ARGAND_CHECK(DtypeError, is_differentiable(self.dtype()), op,
               ": Expected a floating point or complex tensor as input. Got ", self.dtype());
  if (!dtype) return self.dtype();
  ARGAND_CHECK(DtypeError, is_differentiable(*dtype), op, ": dtype should be floating point or complex, but got ",
               *dtype);
  ARGAND_CHECK(DtypeError, is_complex(*dtype) == self.is_complex(), op, ": dtype should be ",
               self.is_complex() ? "complex" : "real", " for ", self.is_complex() ? "complex" : "real",
               " inputs, but got ", *dtype);
  ARGAND_CHECK(DtypeError, promote_types(self.dtype(), *dtype) == *dtype, op, ": the dtype of the input (",
               self.dtype(), ") should be convertible without narrowing to the specified dtype (", *dtype, ")");
  return *dtype;
}

// The largest and the smallest of no elements do not exist, nor a negative power of nothing.
void check_has_identity(const Tensor& self, double p, const Dims& dims) {
  if (p >= 0 && !std::isinf(p)) return;
  ARGAND_CHECK(ValueError, reduced_numel(self, dims) > 0, "linalg_vector_norm: linalg.vector_norm cannot compute the ",
               p, " norm on an empty tensor because the operation does not have an identity");
}

ReduceKind kind_of(double p) {
  if (std::isinf(p)) return p > 0 ? ReduceKind::kMaxAbs : ReduceKind::kMinAbs;
  return p == 0   ? ReduceKind::kCount
         : p == 1 ? ReduceKind::kSumAbs
         : p == 2 ? ReduceKind::kSumSquares
                  : ReduceKind::kSumPowers;
}

void norm_into(const Tensor& out, const Tensor& self, double p, IntArrayRef dims) {
  const ReduceKind kind = kind_of(p);
  if (kind == ReduceKind::kCount) return reduce_into(out, kind, self, dims, {.as = kLong});
  const auto finish = p == 1 || std::isinf(p) ? ReduceFinish::kNone
                      : p == 2                ? ReduceFinish::kSqrt
                                              : ReduceFinish::kPower;
  reduce_into(out, kind, self, dims, {.parameter = p, .finish = finish, .number = 1 / p});
}

// At 0 the gradient is 0.  Where a formula divides by what may be 0, a 1 stands in for it, so that the gradient of the
// gradient is finite too.
Tensor norm_gradient(const Tensor& g, const Tensor& self, const Tensor& norm, double p, IntArrayRef dims) {
  if (p == 0 || self.numel() == 0) return zeros_like(self);
  if (p == 1) return g * self.sgn();
  if (std::isinf(p)) {
    const Tensor size = self.abs(), largest = where(norm.isnan(), size.isnan(), size == norm);
    return self.sgn() * (g / largest.sum(dims, true) * largest);
  }
  const Tensor none = norm == 0, length = norm.masked_fill(none, 1);
  if (p == 2) return self * (g / length).masked_fill(none, 0);
  const Tensor size = self.abs(), powers = size.masked_fill(self == 0, 1).pow(p - 1);
  return self.sgn() * powers * (g * length.pow(1 - p)).masked_fill(none, 0);
}

}  // namespace

struct LinalgVectorNorm : Kernel<LinalgVectorNormArgs> {
  static constexpr auto schema =
      "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) "
      "-> Tensor";
  static constexpr auto doc =
      "sum(|self|^ord)^(1/ord) over dim (all dimensions if none or empty); the largest |self| for infinity, the "
      "smallest "
      "for -infinity, the number of elements that are not 0 for 0. Real for complex numbers. The gradient at 0 is 0; "
      "equal extremes share it.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction | kOut;
  static constexpr bool out_is_exact = true;
  static TensorMeta infer(const Args& a) {
    const ScalarType type = norm_input_dtype(a.self, a.dtype);
    const Dims dims = reduced_dims(a.self, a.dim, "linalg_vector_norm");
    ARGAND_CHECK(ValueError, !a.ord.isComplex(),
                 "linalg_vector_norm: Expected a non-complex scalar as the order of norm.");
    check_has_identity(a.self, a.ord.toDouble(), dims);
    return {reduced_sizes(a.self.sizes(), dims, a.keepdim), to_real_type(type)};
  }
  static void run(const Args& a, Tensor& out) {
    const Dims dims = reduced_dims(a.self, a.dim, "linalg_vector_norm");
    const Tensor real = a.self.is_complex() ? a.self.to(norm_input_dtype(a.self, a.dtype)).abs() : a.self;
    norm_into(out, real, a.ord.toDouble(), dims);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const auto sizes = c.self.sizes();
    return norm_gradient(unreduce(g, sizes, c.dim, c.keepdim), c.self, unreduce(c.result(), sizes, c.dim, c.keepdim),
                         c.ord.toDouble(), reduced_dims(c.self, c.dim, "linalg_vector_norm"));
  }
  static void samples(S& s) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    s.add({s->real({2, 3})});
    s.add({s->real({2, 3, 4}), 2, Dims{1}});
    s.add({s->real({2, 3, 4}), 2, Dims{0, -1}, true});
    s.add({s->away_from(0, {2, 3}), 1, Dims{1}});
    s.add({s->away_from(0, {2, 3}), 3, Dims{1}});
    s.add({s->away_from(0, {2, 3}), 2.5, Dims{0}, true});
    s.add({s->away_from(0, {2, 3}), 1.5});
    s.add({s->away_from(0, {2, 3}), 0.5});
    s.add({s->away_from(0, {2, 3}), -1, Dims{1}});
    s.add({s->away_from(0, {2, 3}), 0});
    s.add({s->apart({2, 3}).abs() + s->apart({2, 3}) / 64 + 2, kInf, Dims{1}});
    s.add({s->apart({2, 3}).abs() + s->apart({2, 3}) / 64 + 2, -kInf});
    s.add({s->real({}), 2});
    s.add({s->real({0, 3}), 2, Dims{1}});
    s.add({s->real({2, 3}).to(kFloat), 2, Dims{1}, false, kDouble});
    for (const double p : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, kInf, -kInf})  // kinks: rows of zeros, zeros in a row, ties
      s.add_without_gradient({s->integer({3, 1}, 0, 2) * s->integer({3, 4}, 0, 3).to(kDouble), p, Dims{1}});
    s.fails({s->integer({2, 3}, 0, 4)},
            "linalg_vector_norm: Expected a floating point or complex tensor as input. Got int64");
    s.fails({s->real({2, 3}), 2, Dims{2}},
            "linalg_vector_norm: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
    s.fails({s->real({2, 0}), kInf, Dims{1}},
            "linalg_vector_norm: linalg.vector_norm cannot compute the inf norm on an empty tensor");
    s.fails({s->real({2, 3}), 2, {}, false, kFloat},
            "should be convertible without narrowing to the specified dtype (float32)");
    s.fails({s->real({2, 3}), 2, {}, false, kLong}, "dtype should be floating point or complex, but got int64");
  }
};
ARGAND_OP(LinalgVectorNorm)

struct Norm : Composite<NormArgs> {
  static constexpr auto schema =
      "norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType? dtype) -> Tensor";
  static constexpr const char* overloads[] = {
      "norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
      "norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor",
      "norm.Scalar(Tensor self, Scalar p=2) -> Tensor"};
  static constexpr auto doc = "linalg_vector_norm over dim (all dimensions if empty) with ord p, 2 if not given.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(DtypeError, is_differentiable(a.self.dtype()),
                 "norm: input dtype should be either floating point or complex. Got ", a.self.dtype(), " instead.");
    return linalg_vector_norm(a.self, a.p.value_or(2), a.dim, a.keepdim, a.dtype);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), 2, {1}, false});
    s.add({s->away_from(0, {2, 3}), 1, {}, true});
    s.add({s->real({2, 3}).to(kFloat), {}, {0}, false, kDouble});
    s.fails({s->integer({2, 3}, 0, 4), 2, {1}}, "norm: input dtype should be either floating point or complex");
  }
};
ARGAND_OP(Norm)

}  // namespace argand::ops
