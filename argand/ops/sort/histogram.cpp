// Counts of points in each cell of a grid: histogram, histogramdd.
#include <cmath>

#include "argand/ops/define.h"
#include "argand/ops/maybe.h"
#include "argand/ops/sort/args.h"

namespace argand::ops {
namespace {

void check_points(const char* op, const Tensor& points, size_t given, const char* what) {
  ARGAND_CHECK(ShapeError, points.dim() >= 2, op, ": input tensor should have at least 2 dimensions, got ",
               points.dim());
  ARGAND_CHECK(ShapeError, static_cast<int64_t>(given) == points.sizes().back(), op, ": expected ",
               points.sizes().back(), " ", what, " for a ", points.sizes().back(), "-dimensional histogram but got ",
               given);
}

// The minimum and maximum of each dimension in turn: of the range, or of the points (one per row).
std::vector<double> limits(const char* op, const Tensor& points, const std::optional<std::vector<double>>& range) {
  const auto ndim = static_cast<size_t>(points.sizes()[1]);
  std::vector<double> out(2 * ndim);
  if (range) {
    ARGAND_CHECK(ShapeError, range->size() == 2 * ndim, op, ": for a ", ndim,
                 "-dimensional histogram range should have ", 2 * ndim, " elements, but got ", range->size());
    out = *range;
    if (points.dtype() == kFloat)
      for (double& limit : out) limit = static_cast<float>(limit);
  }
  for (size_t d = 0; d < ndim; ++d) {
    double &low = out[2 * d], &high = out[2 * d + 1];
    if (!range && points.numel() > 0) {
      const auto [least, greatest] = points.select(1, static_cast<int64_t>(d)).aminmax();
      low = least.item().toDouble(), high = greatest.item().toDouble();
    } else if (!range) {
      high = 1;
    }
    ARGAND_CHECK(ValueError, std::isfinite(low) && std::isfinite(high), op, ": dimension ", d, "'s range [", low, ", ",
                 high, "] is not finite");
    ARGAND_CHECK(ValueError, low <= high, op, ": min should not exceed max, but got min ", low, " max ", high,
                 " for dimension ", d);
    if (low == high) low -= 0.5, high += 0.5;
  }
  return out;
}

std::vector<Tensor> equal_edges(const char* op, const Tensor& points, const Dims& bins,
                                const std::optional<std::vector<double>>& range) {
  const std::vector<double> ends = limits(op, points, range);
  std::vector<Tensor> edges;
  for (size_t d = 0; d < bins.size(); ++d) {
    ARGAND_CHECK(ValueError, bins[d] > 0, op, ": bins must be > 0, but got ", bins[d], " for dimension ", d);
    edges.push_back(linspace(ends[2 * d], ends[2 * d + 1], bins[d] + 1, points.options()));
  }
  return edges;
}

std::vector<Tensor> given_edges(const char* op, const Tensor& points, const std::vector<Tensor>& bins) {
  std::vector<Tensor> edges;
  for (size_t d = 0; d < bins.size(); ++d) {
    ARGAND_CHECK(DtypeError, bins[d].dtype() == points.dtype(), op,
                 ": input tensor and bins tensors should have the same dtype, but got input with dtype ",
                 points.dtype(), " and bins for dimension ", d, " with dtype ", bins[d].dtype());
    ARGAND_CHECK(ShapeError, bins[d].dim() == 1, op, ": bins tensor should have one dimension, but got ", bins[d].dim(),
                 " dimensions in the bins tensor for dimension ", d);
    ARGAND_CHECK(ShapeError, bins[d].numel() > 1, op, ": bins must be > 0, but got ", bins[d].numel() - 1,
                 " for dimension ", d);
    edges.push_back(bins[d].detach().clone(MemoryFormat::Contiguous));
  }
  return edges;
}

// The number of points (one per row), or their weight, in each cell between the edges.  A cell includes its lower
// edges, and the last cells also their upper edges.
Tensor counts(const char* op, const Tensor& points, const std::vector<Tensor>& edges, const Tensor& weight,
              bool density) {
  const int64_t n = points.sizes()[0];
  if (weight.defined()) {
    ARGAND_CHECK(DtypeError, weight.dtype() == points.dtype(), op,
                 ": if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got "
                 "input(",
                 points.dtype(), "), and weight(", weight.dtype(), ")");
    ARGAND_CHECK(ShapeError, weight.numel() == n, op,
                 ": if weight tensor is provided it should have the same shape as the input tensor excluding its "
                 "innermost dimension, but got input with shape ",
                 points.sizes(), " and weight with shape ", weight.sizes());
  }
  Dims sizes;
  int64_t cells = 1;
  Tensor cell = zeros({n}, points.options().dtype(kLong)),
         outside = full({n}, edges.empty(), cell.options().dtype(kBool));
  for (size_t d = 0; d < edges.size(); ++d) {
    const Tensor x = points.select(1, static_cast<int64_t>(d)).contiguous();
    const int64_t bins = edges[d].numel() - 1;
    ARGAND_CHECK(ValueError, !__builtin_mul_overflow(cells, bins, &cells), op, ": too many cells");
    sizes.push_back(bins);
    cell = cell * bins + searchsorted(edges[d], x, false, true).sub(1).clamp_max(bins - 1);
    const Tensor inside = x.ge(edges[d].select(0, 0)).logical_and(x.le(edges[d].select(0, bins)));
    outside = outside.logical_or(inside.logical_not());  // NaN is outside
  }
  // Points outside have a cell of their own.
  const Tensor all = cell.masked_fill(outside, cells).bincount(optional(weight), cells + 1);
  Tensor out = all.slice(0, 0, cells).to(points.dtype()).reshape(sizes);
  if (!density) return out;
  out = out / out.sum();
  for (size_t d = 0; d < edges.size(); ++d) {
    Dims shape(edges.size(), 1);
    shape[d] = sizes[d];
    out = out / edges[d].diff().reshape(shape);
  }
  return out;
}

// For histograms of one dimension: the values as a column, and the weights as a row.
Tensor column(const Tensor& self) { return self.detach().reshape({-1, 1}); }
Tensor row(const Tensor& weight) { return weight.defined() ? weight.detach().reshape({-1}) : weight; }
// For histograms of several dimensions: one row for each point.
Tensor rows(const Tensor& self) {
  return self.detach().reshape({numel_of(self.sizes().slice(0, self.sizes().size() - 1)), self.sizes().back()});
}

}  // namespace

struct HistogramBins : Composite<HistogramBinsArgs> {
  static constexpr auto schema =
      "histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor hist, "
      "Tensor bin_edges)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "How many elements lie between neighbours of the ascending edges `bins`, or the sum of their weights; with "
      "density, divided by the sum of all and the width. The last bin has its upper edge too.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr DtypeSet dtypes = kFloatTypes;
  static std::tuple<Tensor, Tensor> compose(const Args& a) {
    const Tensor points = column(a.self);
    const std::vector<Tensor> edges = given_edges(Args::kName, points, {a.bins});
    return {counts(Args::kName, points, edges, row(a.weight), a.density), edges[0]};
  }
  static void samples(S& s) {
    s.add({s->real({5, 4}), s->positive({4}).cumsum(0)});
    s.add({s->real({9}), s->positive({3}).cumsum(0) - 2, s->positive({9}), true});
    s.fails({s->real({4}), s->real({2, 2})}, "histogram: bins tensor should have one dimension, but got 2 dimensions");
    s.fails({s->real({4}), s->real({1})}, "histogram: bins must be > 0, but got 0 for dimension 0");
    s.fails({s->real({4}), s->integer({2}, 0, 3)}, "histogram: input tensor and bins tensors should have the same");
    s.fails({s->integer({4}, 0, 3), s->integer({2}, 0, 3)}, "histogram: not implemented for dtype int64");
  }
};
ARGAND_OP(HistogramBins)

struct Histogram : Composite<HistogramArgs> {
  static constexpr auto schema =
      "histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False) -> "
      "(Tensor hist, Tensor bin_edges)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "histogram with `bins` equal bins in the range, which is that of self if not given.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr DtypeSet dtypes = kFloatTypes;
  static std::tuple<Tensor, Tensor> compose(const Args& a) {
    const Tensor points = column(a.self);
    const std::vector<Tensor> edges = equal_edges(Args::kName, points, {a.bins}, a.range);
    return {counts(Args::kName, points, edges, row(a.weight), a.density), edges[0]};
  }
  static void samples(S& s) {
    s.add({s->real({5, 4}), 3});
    s.add({s->real({9}), 4, {{-1.0, 1.5}}, s->positive({9}), true});
    s.add({s->real({0}), 2});
    s.fails({s->real({4}), 0}, "histogram: bins must be > 0, but got 0 for dimension 0");
    s.fails({s->real({4}), 2, {{2.0, 1.0}}}, "histogram: min should not exceed max, but got min 2 max 1 for dimension");
    s.fails({s->real({4}), 2, {{1.0}}}, "histogram: for a 1-dimensional histogram range should have 2 elements, but");
    s.fails({s->real({4}), 2, {{1.0, INFINITY}}}, "histogram: dimension 0's range [1, inf] is not finite");
    s.fails({s->real({4}), 2, {}, s->real({3})}, "but got input with shape [4, 1] and weight with shape [3]");
  }
};
ARGAND_OP(Histogram)

struct Histogramdd : Composite<HistogramddArgs> {
  static constexpr auto schema =
      "histogramdd(Tensor self, int[] bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor "
      "hist, Tensor[] bin_edges)";
  static constexpr auto doc =
      "How many points, whose coordinates the last dimension of self has, lie in each cell of a grid of equal bins.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatTypes;
  static std::tuple<Tensor, std::vector<Tensor>> compose(const Args& a) {
    check_points(Args::kName, a.self, a.bins.size(), "numbers of bins");
    const Tensor points = rows(a.self);
    std::vector<Tensor> edges = equal_edges(Args::kName, points, a.bins, a.range);
    return {counts(Args::kName, points, edges, row(a.weight), a.density), std::move(edges)};
  }
  static void samples(S& s) {
    s.add({s->real({7, 2}), {2, 3}});
    s.add({s->real({2, 3, 2}), {2, 1}, {{-1.0, 1.0, -1.5, 2.0}}, s->positive({2, 3}), true});
    s.fails({s->real({4}), {2}}, "histogramdd: input tensor should have at least 2 dimensions, got 1");
    s.fails({s->real({4, 2}), {2}}, "histogramdd: expected 2 numbers of bins for a 2-dimensional histogram but got 1");
  }
};
ARGAND_OP(Histogramdd)

struct HistogramddBins : Composite<HistogramddBinsArgs> {
  static constexpr auto schema =
      "histogramdd.int_bins(Tensor self, int bins, float[]? range=None, Tensor? weight=None, bool density=False) -> "
      "(Tensor hist, Tensor[] bin_edges)";
  static constexpr auto doc = "histogramdd with as many bins in every dimension.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatTypes;
  static std::tuple<Tensor, std::vector<Tensor>> compose(const Args& a) {
    const Dims bins(a.self.dim() > 0 ? static_cast<size_t>(a.self.sizes().back()) : 0, a.bins);
    return histogramdd(a.self, bins, a.range ? std::optional<ArrayRef<double>>(*a.range) : std::nullopt,
                       optional(a.weight), a.density);
  }
  static void samples(S& s) {
    s.add({s->real({7, 2}), 2});
    s.fails({s->real({7, 2}), 0}, "histogramdd: bins must be > 0, but got 0 for dimension 0");
  }
};
ARGAND_OP(HistogramddBins)

struct HistogramddEdges : Composite<HistogramddEdgesArgs> {
  static constexpr auto schema =
      "histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? range=None, Tensor? weight=None, bool "
      "density=False) -> (Tensor hist, Tensor[] bin_edges)";
  static constexpr auto doc = "histogramdd with the ascending edges of each dimension; the range changes nothing.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatTypes;
  static std::tuple<Tensor, std::vector<Tensor>> compose(const Args& a) {
    check_points(Args::kName, a.self, a.bins.size(), "sequences of bin edges");
    const Tensor points = rows(a.self);
    std::vector<Tensor> edges = given_edges(Args::kName, points, a.bins);
    return {counts(Args::kName, points, edges, row(a.weight), a.density), std::move(edges)};
  }
  static void samples(S& s) {
    s.add({s->real({7, 2}), {s->positive({3}).cumsum(0) - 2, s->positive({4}).cumsum(0) - 2}});
    s.fails({s->real({7, 2}), {s->real({3})}}, "histogramdd: expected 2 sequences of bin edges for a 2-dimensional");
  }
};
ARGAND_OP(HistogramddEdges)

}  // namespace argand::ops
