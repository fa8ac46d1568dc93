// Slopes of sampled functions by differences of neighbours: gradient.
#include "argand/ops/define.h"
#include "argand/ops/reduce/args.h"

namespace argand::ops {
namespace {

// Along a dimension whose samples are `step` apart.
Tensor slope(const Tensor& self, int64_t dim, const Scalar& step, int64_t edge_order) {
  const int64_t n = self.sizes()[dim];
  const auto at = [&](int64_t i) { return self.narrow(dim, i < 0 ? i + n : i, 1); };
  const Tensor inner = (self.slice(dim, 2) - self.slice(dim, 0, n - 2)) / step / 2;
  if (edge_order == 1) return cat({(at(1) - at(0)) / step, inner, (at(-1) - at(-2)) / step}, dim);
  const Tensor first = (2.0 * at(1) - 1.5 * at(0) - 0.5 * at(2)) / step;
  const Tensor last = (1.5 * at(-1) - 2.0 * at(-2) + 0.5 * at(-3)) / step;
  return cat({first, inner, last}, dim);
}

// Along a dimension whose samples are at the given places: the slope of the parabola through three neighbours.
Tensor slope(const Tensor& self, int64_t dim, const Tensor& places, int64_t edge_order) {
  const int64_t n = self.sizes()[dim];
  ARGAND_CHECK(ShapeError, places.dim() == 1,
               "gradient: expected each element of spacing to have one dimension, but got an element with ",
               places.dim(), " dimensions!");
  ARGAND_CHECK(ShapeError, places.numel() == n, "gradient: expected a coordinate for each of the ", n,
               " samples of dimension ", dim, ", but got ", places.numel());
  Dims sizes(static_cast<size_t>(self.dim()), 1);
  sizes[dim] = n - 1;
  const Tensor steps = places.diff().reshape(sizes);
  const auto at = [&](int64_t i) { return self.narrow(dim, i < 0 ? i + n : i, 1); };
  const auto step = [&](int64_t i) { return steps.narrow(dim, i < 0 ? i + n - 1 : i, 1); };
  const Tensor a = steps.slice(dim, 0, n - 2), b = steps.slice(dim, 1), both = a + b;
  const Tensor inner = -b / (a * both) * self.slice(dim, 0, n - 2) + (b - a) / (a * b) * self.slice(dim, 1, n - 1) +
                       a / (b * both) * self.slice(dim, 2);
  if (edge_order == 1) return cat({(at(1) - at(0)) / step(0), inner, (at(-1) - at(-2)) / step(-1)}, dim);
  // From the edge inwards, with the steps s and t; backwards the slope changes its sign.
  const auto edge = [&](const Tensor& s, const Tensor& t, const Tensor& x, const Tensor& y, const Tensor& z) {
    return (s + t) / (s * t) * y - (2 * s + t) / (s * (s + t)) * x - s / (t * (s + t)) * z;
  };
  return cat({edge(step(0), step(1), at(0), at(1), at(2)), inner, -edge(step(-1), step(-2), at(-1), at(-2), at(-3))},
             dim);
}

// Along the given dimensions, or all; `spacing` has for each a step or the places of the samples.
template <class Spacing>
std::vector<Tensor> slopes(const Tensor& self, const std::optional<Dims>& dim, int64_t edge_order,
                           const std::vector<Spacing>& spacing) {
  ARGAND_CHECK(DtypeError, self.dtype() != kByte, "gradient: does not support uint8 input.");
  ARGAND_CHECK(ShapeError, dim || spacing.size() == self.sizes().size(),
               "gradient: expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = ",
               self.dim(), "', since dim argument was not given, but got a list of length ", spacing.size());
  ARGAND_CHECK(ShapeError, !dim || spacing.size() == dim->size(),
               "gradient: expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the "
               "same length, but got a spacing argument of length ",
               spacing.size(), " and a dim argument of length ", dim ? dim->size() : 0, ".");
  ARGAND_CHECK(ValueError, edge_order == 1 || edge_order == 2,
               "gradient: only supports edge_order=1 and edge_order=2, got ", edge_order);
  Dims dims = dim.value_or(Dims());
  for (int64_t d = 0; !dim && d < self.dim(); ++d) dims.push_back(d);
  dims = wrap_dims(dims, self.dim(), "gradient", false);
  std::vector<Tensor> out;
  for (size_t i = 0; i < dims.size(); ++i) {
    ARGAND_CHECK(ShapeError, self.dim() > 0 && self.sizes()[dims[i]] > edge_order,
                 "gradient: expected each dimension size to be at least edge_order+1, got sizes ", self.sizes(),
                 " and edge_order ", edge_order);
    out.push_back(slope(self, dims[i], spacing[i], edge_order));
  }
  return out;
}

std::vector<Tensor> equal_slopes(const Tensor& self, const std::optional<Dims>& dim, int64_t edge_order,
                                 const Scalar& step) {
  return slopes(self, dim, edge_order, std::vector<Scalar>(dim ? dim->size() : self.sizes().size(), step));
}

std::optional<Dims> listed(std::optional<int64_t> dim) { return dim ? std::optional(Dims{*dim}) : std::nullopt; }

}  // namespace

struct GradientScalar : Composite<GradientScalarArgs> {
  static constexpr auto schema =
      "gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) -> Tensor[]";
  static constexpr auto doc =
      "The slope along a dimension, or each, of samples that are `spacing` apart (1 if not given): central "
      "differences, "
      "and at the edges such of order edge_order.";
  static constexpr int variants = kFunction;
  static std::vector<Tensor> compose(const Args& a) {
    return equal_slopes(a.self, listed(a.dim), a.edge_order, a.spacing.value_or(1));
  }
  static void samples(S& s) {
    s.add({s->real({5})});
    s.add({s->real({3, 4}), 2.0, 1, 2});
    s.add({s->real({2, 3}), 0.5});
    s.fails({s->real({3, 1})}, "gradient: expected each dimension size to be at least edge_order+1, got sizes [3, 1]");
    s.fails({s->real({3}), 1, 0, 3}, "gradient: only supports edge_order=1 and edge_order=2, got 3");
    s.fails({s->real({3}), 1, 1}, "gradient: Dimension out of range (expected to be in range of [-1, 0], but got 1)");
  }
};
ARGAND_OP(GradientScalar)

struct GradientScalarDims : Composite<GradientScalarDimsArgs> {
  static constexpr auto schema =
      "gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> Tensor[]";
  static constexpr auto doc = "gradient along several dimensions.";
  static constexpr int variants = kFunction;
  static std::vector<Tensor> compose(const Args& a) { return equal_slopes(a.self, a.dim, a.edge_order, a.spacing); }
  static void samples(S& s) {
    s.add({s->real({3, 2, 4}), 2.0, {0, -1}, 2});
    s.fails({s->real({3, 2}), 1, {0, 0}}, "gradient: dim 0 appears multiple times");
  }
};
ARGAND_OP(GradientScalarDims)

struct GradientDims : Composite<GradientDimsArgs> {
  static constexpr auto schema = "gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]";
  static constexpr auto doc = "gradient along several dimensions, of samples that are 1 apart.";
  static constexpr int variants = kFunction;
  static std::vector<Tensor> compose(const Args& a) { return equal_slopes(a.self, a.dim, a.edge_order, 1); }
  static void samples(S& s) {
    s.add({s->real({3, 4}), {1, 0}});
    s.add({s->real({3, 4}), {}});
    s.fails({s->real({3, 2}), {0}, 3}, "gradient: only supports edge_order=1 and edge_order=2, got 3");
  }
};
ARGAND_OP(GradientDims)

struct GradientScalars : Composite<GradientScalarsArgs> {
  static constexpr auto schema =
      "gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int edge_order=1) -> Tensor[]";
  static constexpr auto doc = "gradient with a spacing for each dimension.";
  static constexpr int variants = kFunction;
  static std::vector<Tensor> compose(const Args& a) { return slopes(a.self, listed(a.dim), a.edge_order, a.spacing); }
  static void samples(S& s) {
    s.add({s->real({3, 4}), {2.0, 0.5}});
    s.add({s->real({3, 4}), {2.0}, -1, 2});
    s.fails({s->real({3, 4}), {2.0}}, "since dim argument was not given, but got a list of length 1");
  }
};
ARGAND_OP(GradientScalars)

struct GradientScalarsDims : Composite<GradientScalarsDimsArgs> {
  static constexpr auto schema =
      "gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) -> Tensor[]";
  static constexpr auto doc = "gradient along several dimensions, with a spacing for each.";
  static constexpr int variants = kFunction;
  static std::vector<Tensor> compose(const Args& a) { return slopes(a.self, a.dim, a.edge_order, a.spacing); }
  static void samples(S& s) {
    s.add({s->real({3, 4, 2}), {2.0, 0.5}, {1, 0}, 2});
    s.fails({s->real({3, 4}), {2.0}, {0, 1}}, "got a spacing argument of length 1 and a dim argument of length 2.");
  }
};
ARGAND_OP(GradientScalarsDims)

struct GradientTensors : Composite<GradientTensorsArgs> {
  static constexpr auto schema =
      "gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int edge_order=1) -> Tensor[]";
  static constexpr auto doc = "gradient of samples at the places that `spacing` has for each dimension.";
  static constexpr int variants = kFunction;
  static std::vector<Tensor> compose(const Args& a) { return slopes(a.self, listed(a.dim), a.edge_order, a.spacing); }
  static void samples(S& s) {
    s.add({s->real({3, 4}), {s->apart({3}), s->apart({4})}});
    s.add({s->real({3, 4}), {s->apart({4})}, 1, 2});
    s.fails({s->real({3, 4}), {s->real({3, 1})}, 0}, "but got an element with 2 dimensions!");
    s.fails({s->real({3, 4}), {s->real({2})}, 0}, "gradient: expected a coordinate for each of the 3 samples of");
  }
};
ARGAND_OP(GradientTensors)

struct GradientTensorsDims : Composite<GradientTensorsDimsArgs> {
  static constexpr auto schema =
      "gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> Tensor[]";
  static constexpr auto doc = "gradient along several dimensions of samples at the places that `spacing` has for each.";
  static constexpr int variants = kFunction;
  static std::vector<Tensor> compose(const Args& a) { return slopes(a.self, a.dim, a.edge_order, a.spacing); }
  static void samples(S& s) {
    s.add({s->real({3, 2, 4}), {s->apart({4}), s->apart({3})}, {-1, 0}, 2});
    s.fails({s->real({3, 4}), {s->real({3})}, {0, 1}}, "got a spacing argument of length 1 and a dim argument of");
  }
};
ARGAND_OP(GradientTensorsDims)

}  // namespace argand::ops
