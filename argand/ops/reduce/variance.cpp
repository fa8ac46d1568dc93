// Variance and standard deviation, alone or with the mean.  Two passes: the second adds squared distances from the
// mean.
#include "argand/base/log.h"
#include "argand/ops/define.h"
#include "argand/ops/maybe.h"
#include "argand/ops/reduce/args.h"
#include "argand/ops/reduce/reduction.h"

namespace argand::ops {
namespace {

constexpr DtypeSet kVarianceTypes = kFloatingTypes | kComplexTypes;

double degrees_taken(const std::optional<Scalar>& correction) { return correction ? correction->toDouble() : 1; }

TensorMeta variance_meta(const char* op, const Tensor& self, const std::optional<Dims>& dim, bool keepdim) {
  return {reduced_sizes(self.sizes(), reduced_dims(self, dim, op), keepdim), to_real_type(self.dtype())};
}
TensorMetas variance_and_mean_metas(const char* op, const Tensor& self, const std::optional<Dims>& dim, bool keepdim) {
  const TensorMeta meta = variance_meta(op, self, dim, keepdim);
  return {meta, {meta.sizes, self.dtype()}};
}

// Real parts (0) or imaginary ones (1) of a complex tensor, as a view.
Tensor complex_part(const Tensor& t, int64_t part) {
  Dims strides = t.impl().strides;
  for (int64_t& s : strides) s *= 2;
  return exec::alias(t, t.impl().sizes, strides, 2 * t.storage_offset() + part, to_real_type(t.dtype()));
}

// The mean of real numbers, in the type of the arithmetic.
Tensor mean_of(const Tensor& self, const Dims& dims, const Dims& sizes) {
  const Tensor mean = exec::new_tensor({sizes, accumulator_type(self.dtype())}, self.device());
  reduce_into(mean, ReduceKind::kSum, self, dims,
              {.finish = ReduceFinish::kDivide, .number = static_cast<double>(reduced_numel(self, dims))});
  return mean;
}

// (sum of squared distances from the mean + `more` of them) / count, its root if asked for, into `out`; both in the
// type of the arithmetic.
void finish_variance(const Tensor& squares, const Tensor& more, double count, bool root, const Tensor& out) {
  if (!out.is_cpu()) {
    const Tensor v = squares.add(more).div(count);
    return exec::copy_elements(out, root ? v.sqrt() : v);
  }
  dispatch<kFloatTypes>(squares.dtype(), "var", [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* v = raw<T>(squares);
    const T* w = raw<T>(more);
    for (int64_t i = 0; i < squares.numel(); ++i) {
      const T variance = (v[i] + w[i]) / static_cast<T>(count);
      v[i] = root ? std::sqrt(variance) : variance;
    }
  });
  exec::copy_elements(out, squares);
}

// `mean` may be null.
void variance(const Tensor& self, const std::optional<Dims>& dim, const std::optional<Scalar>& correction, bool root,
              const Tensor& out, const Tensor* mean) {
  const Dims dims = reduced_dims(self, dim, "var"), sizes = out.impl().sizes;
  const double count = std::max(0.0, static_cast<double>(reduced_numel(self, dims)) - degrees_taken(correction));
  if (!self.is_complex()) {
    const Tensor center = mean_of(self, dims, sizes);
    if (mean) exec::copy_elements(*mean, center);
    return reduce_into(out, ReduceKind::kCenteredSquares, self, dims,
                       {.center = center.impl().data(),
                        .finish = root ? ReduceFinish::kDivideSqrt : ReduceFinish::kDivide,
                        .number = count});
  }
  Tensor squares[2];
  for (const int part : {0, 1}) {
    const Tensor x = complex_part(self, part), center = mean_of(x, dims, sizes);
    squares[part] = exec::new_tensor({sizes, center.dtype()}, self.device());
    reduce_into(squares[part], ReduceKind::kCenteredSquares, x, dims, {.center = center.impl().data()});
    if (mean) exec::copy_elements(complex_part(*mean, part), center);
  }
  finish_variance(squares[0], squares[1], count, root, out);
}

// Says so where the result is NaN or infinite for want of elements.
void warn_without_freedom(const char* op, const Tensor& self, const std::optional<Dims>& dim,
                          const std::optional<Scalar>& correction) {
  const Dims dims = reduced_dims(self, dim, op);
  if (static_cast<double>(reduced_numel(self, dims)) > degrees_taken(correction)) return;
  if (numel_of(reduced_sizes(self.sizes(), dims, false)) == 0) return;
  warn(op,
       "(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor (input numel "
       "divided by output numel).");
}

// ---- gradients

Tensor variance_gradient(const Tensor& g, const Tensor& self, const std::optional<Dims>& dim,
                         const std::optional<Scalar>& correction, bool keepdim) {
  const Dims dims = reduced_dims(self, dim, "var");
  const double count = static_cast<double>(reduced_numel(self, dims)) - degrees_taken(correction);
  return unreduce(g, self.sizes(), dim, keepdim) * (2 / count) * (self - self.mean(dim, true));
}

// The gradient of a root, as that of what it is the root of; 0 where the root is.
Tensor under_root(const Tensor& g, const Tensor& root) {
  const Tensor zero = root == 0;
  return (g / (2 * root.masked_fill(zero, 1))).masked_fill(zero, 0);
}

Tensor mean_gradient(const Tensor& g, const Tensor& self, const std::optional<Dims>& dim, bool keepdim) {
  const auto count = static_cast<double>(reduced_numel(self, reduced_dims(self, dim, "mean")));
  return expand_reduced(g / count, self.sizes(), dim, keepdim);
}

}  // namespace

struct Var : Kernel<VarArgs> {
  static constexpr auto schema =
      "var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor";
  static constexpr auto doc =
      "The variance over dim (all dimensions if none or empty): squared distances from the mean, divided by their "
      "number less correction (1 if not given). Of complex numbers the sum of that of both parts.";
  static constexpr DtypeSet dtypes = kVarianceTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static TensorMeta infer(const Args& a) {
    warn_without_freedom("var", a.self, a.dim, a.correction);
    return variance_meta("var", a.self, a.dim, a.keepdim);
  }
  static void run(const Args& a, Tensor& out) { variance(a.self, a.dim, a.correction, false, out, nullptr); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return variance_gradient(g, c.self, c.dim, c.correction, c.keepdim);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.add({s->real({2, 3, 4}), Dims{1}});
    s.add({s->real({2, 3, 4}), Dims{0, -1}, 0, true});
    s.add({s->real({4, 3}), Dims{0}, 1.5});
    s.add_without_gradient({s->real({3, 1}), Dims{1}});  // NaN: no degree of freedom
    s.add_without_gradient({s->real({0, 3}), Dims{0}});  // NaN: no element
    s.add({s->real({0, 3}), Dims{1}});
    s.fails({s->real({2, 3}), Dims{2}}, "var: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
    s.fails({s->integer({2, 3}, 0, 4)}, "var: not implemented for dtype int64");
  }
};
ARGAND_OP(Var)

struct Std : Kernel<StdArgs> {
  static constexpr auto schema =
      "std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor";
  static constexpr auto doc = "The standard deviation, the root of var; its gradient is 0 where it is 0.";
  static constexpr DtypeSet dtypes = kVarianceTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static TensorMeta infer(const Args& a) {
    warn_without_freedom("std", a.self, a.dim, a.correction);
    return variance_meta("std", a.self, a.dim, a.keepdim);
  }
  static void run(const Args& a, Tensor& out) { variance(a.self, a.dim, a.correction, true, out, nullptr); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return variance_gradient(under_root(g, c.result()), c.self, c.dim, c.correction, c.keepdim);
  }
  static void samples(S& s) {
    s.add({s->apart({2, 3})});
    s.add({s->apart({2, 3, 4}), Dims{1}});
    s.add({s->apart({2, 3, 4}), Dims{0, -1}, 0, true});
    s.add_without_gradient({ones({3, 2}, kDouble), Dims{1}});  // a kink: all equal
    s.fails({s->real({2, 3}), Dims{2}}, "std: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(Std)

struct VarMean : Kernel<VarMeanArgs> {
  static constexpr auto schema =
      "var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, "
      "Tensor)";
  static constexpr auto doc = "var and mean.";
  static constexpr DtypeSet dtypes = kVarianceTypes;
  static constexpr int variants = kFunction;
  static TensorMetas infer(const Args& a) {
    warn_without_freedom("var_mean", a.self, a.dim, a.correction);
    return variance_and_mean_metas("var_mean", a.self, a.dim, a.keepdim);
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    variance(a.self, a.dim, a.correction, false, outs[0], &outs[1]);
  }
  static Tensor grad_self(const Ctx& c, const Grads& g) {
    return add_defined(g[0].defined() ? variance_gradient(g[0], c.self, c.dim, c.correction, c.keepdim) : Tensor(),
                       g[1].defined() ? mean_gradient(g[1], c.self, c.dim, c.keepdim) : Tensor());
  }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.add({s->real({2, 3, 4}), Dims{0, -1}, 0, true});
    s.fails({s->real({2, 3}), Dims{0, 0}}, "var_mean: dim 0 appears multiple times");
  }
};
ARGAND_OP(VarMean)

struct StdMean : Kernel<StdMeanArgs> {
  static constexpr auto schema =
      "std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, "
      "Tensor)";
  static constexpr auto doc = "std and mean.";
  static constexpr DtypeSet dtypes = kVarianceTypes;
  static constexpr int variants = kFunction;
  static TensorMetas infer(const Args& a) {
    warn_without_freedom("std_mean", a.self, a.dim, a.correction);
    return variance_and_mean_metas("std_mean", a.self, a.dim, a.keepdim);
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    variance(a.self, a.dim, a.correction, true, outs[0], &outs[1]);
  }
  static Tensor grad_self(const Ctx& c, const Grads& g) {
    return add_defined(g[0].defined()
                           ? variance_gradient(under_root(g[0], c.result(0)), c.self, c.dim, c.correction, c.keepdim)
                           : Tensor(),
                       g[1].defined() ? mean_gradient(g[1], c.self, c.dim, c.keepdim) : Tensor());
  }
  static void samples(S& s) {
    s.add({s->apart({2, 3})});
    s.add({s->apart({2, 3, 4}), Dims{0, -1}, 0, true});
    s.fails({s->real({2, 3}), Dims{0, 0}}, "std_mean: dim 0 appears multiple times");
  }
};
ARGAND_OP(StdMean)

// ---- with a flag instead of a correction

namespace {

Scalar correction_of(bool unbiased) { return unbiased ? 1 : 0; }

}  // namespace

struct VarUnbiased : Composite<VarUnbiasedArgs> {
  static constexpr auto schema = "var.dim(Tensor self, int[1]? dim, bool unbiased, bool keepdim=False) -> Tensor";
  static constexpr const char* overloads[] = {"var(Tensor self, bool unbiased) -> Tensor"};
  static constexpr auto doc = "var with correction 1 if unbiased, else 0.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) { return var(a.self, a.dim, correction_of(a.unbiased), a.keepdim); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), Dims{1}, true});
    s.add({s->real({2, 3}), Dims{0}, false, true});
  }
};
ARGAND_OP(VarUnbiased)

struct StdUnbiased : Composite<StdUnbiasedArgs> {
  static constexpr auto schema = "std.dim(Tensor self, int[1]? dim, bool unbiased, bool keepdim=False) -> Tensor";
  static constexpr const char* overloads[] = {"std(Tensor self, bool unbiased) -> Tensor"};
  static constexpr auto doc = "std with correction 1 if unbiased, else 0.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) { return a.self.std(a.dim, correction_of(a.unbiased), a.keepdim); }
  static void samples(S& s) {
    s.add({s->apart({2, 3}), Dims{1}, true});
    s.add({s->apart({2, 3}), Dims{0}, false, true});
  }
};
ARGAND_OP(StdUnbiased)

struct VarMeanUnbiased : Composite<VarMeanUnbiasedArgs> {
  static constexpr auto schema =
      "var_mean.dim(Tensor self, int[1]? dim, bool unbiased, bool keepdim=False) -> (Tensor, Tensor)";
  static constexpr const char* overloads[] = {"var_mean(Tensor self, bool unbiased) -> (Tensor, Tensor)"};
  static constexpr auto doc = "var_mean with correction 1 if unbiased, else 0.";
  static constexpr int variants = kFunction;
  static std::tuple<Tensor, Tensor> compose(const Args& a) {
    return var_mean(a.self, a.dim, correction_of(a.unbiased), a.keepdim);
  }
  static void samples(S& s) { s.add({s->real({2, 3}), Dims{1}, false}); }
};
ARGAND_OP(VarMeanUnbiased)

struct StdMeanUnbiased : Composite<StdMeanUnbiasedArgs> {
  static constexpr auto schema =
      "std_mean.dim(Tensor self, int[1]? dim, bool unbiased, bool keepdim=False) -> (Tensor, Tensor)";
  static constexpr const char* overloads[] = {"std_mean(Tensor self, bool unbiased) -> (Tensor, Tensor)"};
  static constexpr auto doc = "std_mean with correction 1 if unbiased, else 0.";
  static constexpr int variants = kFunction;
  static std::tuple<Tensor, Tensor> compose(const Args& a) {
    return std_mean(a.self, a.dim, correction_of(a.unbiased), a.keepdim);
  }
  static void samples(S& s) { s.add({s->apart({2, 3}), Dims{1}, false}); }
};
ARGAND_OP(StdMeanUnbiased)

}  // namespace argand::ops
