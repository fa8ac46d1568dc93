// Differences and sums of neighbours: diff, trapezoid, cumulative_trapezoid; trace and renorm.
#include "argand/ops/define.h"
#include "argand/ops/maybe.h"
#include "argand/ops/node_name.h"
#include "argand/ops/reduce/args.h"

namespace argand::ops {
namespace {

void check_not_bool(const char* op, const Tensor& t) {
  ARGAND_CHECK(DtypeError, t.dtype() != kBool, op, ": received a bool input for `x` or `y`, but bool is not supported");
}

// The distances of neighbours in x, as a tensor that broadcasts to those of y.
Tensor widths(const char* op, const Tensor& y, const Tensor& x, int64_t dim) {
  check_not_bool(op, x);
  const int64_t n = y.sizes()[dim];
  Dims sizes(static_cast<size_t>(y.dim()), 1);
  if (x.dim() == 1) {
    ARGAND_CHECK(ShapeError, x.sizes()[0] == n, op, ": There must be one `x` value for each sample point, got ",
                 x.sizes()[0], " for ", n);
    sizes[dim] = n;
  } else {
    const int64_t missing = y.dim() - x.dim();
    for (int64_t d = std::max<int64_t>(missing, 0); d < y.dim(); ++d) sizes[d] = x.sizes()[d - missing];
    if (missing < 0) sizes = x.impl().sizes;
  }
  const Tensor all = x.reshape(sizes);
  const int64_t at = dim - y.dim() + all.dim();  // x may have more dimensions
  return all.slice(at, 1) - all.slice(at, 0, std::max<int64_t>(all.sizes()[at] - 1, 0));
}

// y[i] + y[i + 1] along dim.
Tensor pairs(const Tensor& y, int64_t dim) {
  return y.slice(dim, 1) + y.slice(dim, 0, std::max<int64_t>(y.sizes()[dim] - 1, 0));
}

double half_step(const char* op, const Scalar& dx) {
  ARGAND_CHECK(ValueError, !dx.isComplex() && !dx.isBoolean(), op, ": Currently, we only support dx as a real number.");
  return dx.toDouble() / 2;
}

int64_t dim_of(const char* op, const Tensor& y, int64_t dim) {
  check_not_bool(op, y);
  ARGAND_CHECK(ShapeError, y.dim() > 0, op, ": expected y of at least 1 dimension, got a 0-dim one");
  return wrap_dim(dim, y.dim(), op);
}

}  // namespace

struct TrapezoidX : Composite<TrapezoidXArgs> {
  static constexpr auto schema = "trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor";
  static constexpr const char* overloads[] = {"trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor"};
  static constexpr auto doc = "The integral along dim by the trapezoidal rule, of values y at places x.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const int64_t dim = dim_of("trapezoid", a.y, a.dim);
    const Tensor parts = pairs(a.y, dim) * widths("trapezoid", a.y, a.x, dim);
    return parts.sum(dim - a.y.dim()) / 2.0;
  }
  static void samples(S& s) {
    s.add({s->positive({2, 4}), s->positive({4}).cumsum(0)});  // ascending: uint8 has no negative widths
    s.add({s->positive({3, 2}), s->positive({3, 2}).cumsum(0), 0});
    s.add({s->real({0}), s->real({0})});
    s.fails({s->real({2, 4}), s->real({3})},
            "trapezoid: There must be one `x` value for each sample point, got 3 for 4");
    s.fails({s->boolean({3}), s->real({3})}, "trapezoid: received a bool input for `x` or `y`");
  }
};
ARGAND_OP(TrapezoidX)

struct TrapezoidDx : Composite<TrapezoidDxArgs> {
  static constexpr auto schema = "trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor";
  static constexpr const char* overloads[] = {"trapz.dx(Tensor y, *, float dx=1, int dim=-1) -> Tensor"};
  static constexpr auto doc = "The integral along dim by the trapezoidal rule, of values y that are dx apart.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const double half = half_step("trapezoid", a.dx);
    const int64_t dim = dim_of("trapezoid", a.y, a.dim);
    return pairs(a.y, dim).sum(dim) * half;
  }
  static void samples(S& s) {
    s.add({s->real({2, 4})});
    s.add({s->real({3, 2}), 0.5, 0});
    s.fails({s->real({3}), std::complex<double>(0, 1)}, "trapezoid: Currently, we only support dx as a real number.");
    s.fails({s->real({})}, "trapezoid: expected y of at least 1 dimension, got a 0-dim one");
  }
};
ARGAND_OP(TrapezoidDx)

struct CumulativeTrapezoidX : Composite<CumulativeTrapezoidXArgs> {
  static constexpr auto schema = "cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor";
  static constexpr auto doc = "The integral along dim up to each place x, by the trapezoidal rule.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const int64_t dim = dim_of("cumulative_trapezoid", a.y, a.dim);
    const Tensor parts = pairs(a.y, dim) * widths("cumulative_trapezoid", a.y, a.x, dim);
    return parts.cumsum(dim - a.y.dim()) / 2.0;
  }
  static void samples(S& s) {
    s.add({s->positive({2, 4}), s->positive({4}).cumsum(0)});
    s.fails({s->real({2, 4}), s->real({3})}, "cumulative_trapezoid: There must be one `x` value for each sample point");
  }
};
ARGAND_OP(CumulativeTrapezoidX)

struct CumulativeTrapezoidDx : Composite<CumulativeTrapezoidDxArgs> {
  static constexpr auto schema = "cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor";
  static constexpr auto doc = "The integral along dim up to each value, which are dx apart, by the trapezoidal rule.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    const double half = half_step("cumulative_trapezoid", a.dx);
    const int64_t dim = dim_of("cumulative_trapezoid", a.y, a.dim);
    return pairs(a.y, dim).cumsum(dim) * half;
  }
  static void samples(S& s) {
    s.add({s->real({2, 4}), 0.5});
    s.add({s->real({3, 2}), 1, 0});
    s.fails({s->real({3}), std::complex<double>(0, 1)}, "cumulative_trapezoid: Currently, we only support dx");
  }
};
ARGAND_OP(CumulativeTrapezoidDx)

struct Diff : Composite<DiffArgs> {
  static constexpr auto schema =
      "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor";
  static constexpr auto doc = "Differences of neighbours along dim, n times; of bools, whether they differ.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() >= 1, "diff: diff expects input to be at least one-dimensional");
    const int64_t dim = wrap_dim(a.dim, a.self.dim(), "diff");
    ARGAND_CHECK(ValueError, a.n >= 0, "diff: order must be non-negative but got ", a.n);
    std::vector<Tensor> parts;
    for (const Tensor* t : {&a.prepend, &a.self, &a.append}) {
      if (!t->defined()) continue;
      ARGAND_CHECK(ShapeError, t->dim() == a.self.dim(),
                   "diff: diff expects prepend or append to be the same dimension as input, got ", t->dim(), " for ",
                   a.self.dim());
      for (int64_t d = 0; d < t->dim(); ++d)
        ARGAND_CHECK(ShapeError, d == dim || t->sizes()[d] == a.self.sizes()[d],
                     "diff: diff expects the shape of tensor to prepend or append to match that of input except along "
                     "the differencing dimension; input.size(",
                     d, ") = ", a.self.sizes()[d], ", but got tensor.size(", d, ") = ", t->sizes()[d]);
      parts.push_back(*t);
    }
    if (a.n == 0) return a.self.clone();
    Tensor t = parts.size() > 1 ? cat(parts, dim) : a.self;
    for (int64_t i = 0; i < a.n && (i == 0 || t.sizes()[dim] > 0); ++i) {
      const Tensor after = t.slice(dim, 1), before = t.slice(dim, 0, std::max<int64_t>(t.sizes()[dim] - 1, 0));
      t = t.dtype() == kBool ? after.logical_xor(before) : after - before;
    }
    return t;
  }
  static void samples(S& s) {
    s.add({s->real({2, 5})});
    s.add({s->real({4, 3}), 1, 0});
    s.add({s->real({3}), 1, -1, s->real({1}), s->real({2})});
    s.add({s->boolean({4})});
    s.add({s->real({2}), 5});
    s.fails({s->real({})}, "diff: diff expects input to be at least one-dimensional");
    s.fails({s->real({3}), -1}, "diff: order must be non-negative but got -1");
    s.fails({s->real({3, 2}), 1, -1, s->real({2, 1})},
            "diff: diff expects the shape of tensor to prepend or append to match that of input");
    s.fails({s->real({3}), 1, -1, s->real({1, 1})}, "diff: diff expects prepend or append to be the same dimension");
  }
};
ARGAND_OP(Diff)

struct Trace : Composite<TraceArgs> {
  static constexpr auto schema = "trace(Tensor self) -> Tensor";
  static constexpr auto doc = "The sum of a matrix's diagonal.";
  static constexpr auto autocast = Autocast::kAsGiven, autocast_cpu = Autocast::kFloat32;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() == 2, "trace: expected a matrix, but got tensor with dim ", a.self.dim());
    return a.self.diagonal().sum();
  }
  static void samples(S& s) {
    s.add({s->real({3, 4})});
    s.fails({s->real({3})}, "trace: expected a matrix, but got tensor with dim 1");
  }
};
ARGAND_OP(Trace)
ARGAND_NODE(Trace)

namespace {

Tensor renormed(const Tensor& self, const Scalar& p, int64_t given, const Scalar& maxnorm) {
  ARGAND_CHECK(ValueError, !p.isComplex(), "renorm: p must be real-valued");
  ARGAND_CHECK(ValueError, p.toDouble() > 0, "renorm: non-positive norm not supported");
  ARGAND_CHECK(ValueError, !maxnorm.isComplex(), "renorm: maxnorm must be real-valued");
  ARGAND_CHECK(ValueError, maxnorm.toDouble() >= 0, "renorm: expected maxnorm to be >= 0 but got ", maxnorm.toDouble());
  ARGAND_CHECK(ShapeError, self.dim() > 1, "renorm: input needs at least 2 dimensions, got ", self.dim(),
               " dimensions");
  const int64_t dim = wrap_dim(given, self.dim(), "renorm");
  Dims others;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (d != dim) others.push_back(d);
  const Tensor norms = linalg_vector_norm(self, p, others, true);
  return self * where(norms > maxnorm, maxnorm / (norms + 1e-7), ones_like(norms));
}

}  // namespace

struct Renorm : Composite<RenormArgs> {
  static constexpr auto schema = "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The slices along dim, those with a greater p-norm than maxnorm scaled down to it.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr DtypeSet dtypes = kFloatingTypes | kComplexTypes;
  static Tensor compose(const Args& a) { return renormed(a.self, a.p, a.dim, a.maxnorm); }
  static void samples(S& s) {
    s.add({s->real({3, 4}), 2, 0, 1});
    s.add({s->real({2, 3, 2}), 1, -1, 2.5});
    s.fails({s->real({3}), 2, 0, 1}, "renorm: input needs at least 2 dimensions, got 1 dimensions");
    s.fails({s->real({3, 4}), 0, 0, 1}, "renorm: non-positive norm not supported");
    s.fails({s->real({3, 4}), 2, 0, -1}, "renorm: expected maxnorm to be >= 0 but got -1");
  }
};
ARGAND_OP(Renorm)
ARGAND_NODE(Renorm)

struct RenormInplace : Composite<RenormInplaceArgs> {
  static constexpr auto schema = "renorm_(Tensor(a!) self, Scalar p, int dim, Scalar maxnorm) -> Tensor(a!)";
  static constexpr auto doc = "renorm, into self.";
  static constexpr int variants = kMethod;
  static constexpr DtypeSet dtypes = kFloatingTypes | kComplexTypes;
  static Tensor compose(const Args& a) { return a.self.copy_(renormed(a.self.clone(), a.p, a.dim, a.maxnorm)); }
  static void samples(S& s) {
    s.add({s->real({3, 4}), 2, 0, 1});
    s.fails({s->real({3}), 2, 0, 1}, "renorm: input needs at least 2 dimensions, got 1 dimensions");
  }
};
ARGAND_OP(RenormInplace)

}  // namespace argand::ops
