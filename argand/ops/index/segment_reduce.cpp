// Reductions of the segments that a dimension is cut into: segment_reduce.
#include <limits>

#include "argand/ops/define.h"
#include "argand/ops/index/args.h"
#include "argand/ops/node_name.h"

namespace argand::ops {
namespace {

struct Rule {
  const char* name;  // as index_reduce calls it; "sum": index_add
  double initial;
};
Rule rule_of(const std::string& reduce) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (reduce == "sum" || reduce == "mean") return {"sum", 0};
  if (reduce == "prod") return {"prod", 1};
  if (reduce == "max" || reduce == "amax") return {"amax", -kInfinity};
  ARGAND_CHECK(ValueError, reduce == "min" || reduce == "amin",
               "segment_reduce: reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
  return {"amin", kInfinity};
}

// The starts of segments and the end of the last: a row for each row of their lengths.
Tensor ends_of(const Tensor& lengths, int64_t size, bool unsafe) {
  const Tensor sums = lengths.to(kLong).cumsum(-1);
  Dims first = sums.impl().sizes;
  first.back() = 1;
  const Tensor ends = cat({zeros(first, sums.options()), sums}, -1);
  if (unsafe) return ends;
  ARGAND_CHECK(ValueError, !lengths.lt(0).any().item().toBool(), "segment_reduce: lengths contains negative value!");
  ARGAND_CHECK(ShapeError, ends.select(-1, -1).eq(size).all().item().toBool(),
               "segment_reduce: Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
               "!unsafe, got ",
               size, " elements");
  return ends;
}

void check_offsets(const Tensor& offsets, int64_t size) {
  ARGAND_CHECK(ValueError, !offsets.lt(0).logical_or(offsets.gt(size)).any().item().toBool(),
               "segment_reduce: expected offsets between 0 and the size ", size, " of data along axis");
  ARGAND_CHECK(ValueError, !offsets.diff().lt(0).any().item().toBool(),
               "segment_reduce: expected offsets of which none is less than the one before it");
}

}  // namespace

struct SegmentReduce : Composite<SegmentReduceArgs> {
  static constexpr auto schema =
      "segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, "
      "int "
      "axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor";
  static constexpr auto doc =
      "The sum, mean, max, min or prod of each segment along axis, which is the last dimension of `lengths`, or of "
      "`offsets`, where segments begin and the last ends; `initial` counts in every segment.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Tensor compose(const Args& a) {
    const Rule rule = rule_of(a.reduce);
    ARGAND_CHECK(NotImplementedError, !a.indices.defined(),
                 "segment_reduce: indices based reduction is not supported yet.");
    ARGAND_CHECK(ValueError, a.lengths.defined() || a.offsets.defined(),
                 "segment_reduce: Either lengths or offsets must be defined.");
    const Tensor& given = a.offsets.defined() ? a.offsets : a.lengths;
    ARGAND_CHECK(DtypeError, given.dtype() == kLong || given.dtype() == kInt,
                 "segment_reduce: expected lengths or offsets of int32 or int64, got ", given.dtype());
    const int64_t axis = wrap_dim(a.axis, a.data.dim(), Args::kName);
    ARGAND_CHECK(ShapeError, a.data.dim() > 0 && given.dim() == axis + 1,
                 "segment_reduce: Expected axis to be the last dimension of lengths but got ", axis, " for ",
                 given.dim(), " dimensions");
    Dims sizes = a.data.impl().sizes, rows = given.impl().sizes;
    const int64_t size = sizes[axis];
    for (int64_t d = 0; d < axis; ++d)
      ARGAND_CHECK(ShapeError, rows[d] == sizes[d],
                   "segment_reduce: expected lengths of the sizes of data before axis, ", "got ", given.sizes(),
                   " for ", a.data.sizes());
    ARGAND_CHECK(ShapeError, !a.offsets.defined() || rows[axis] > 0,
                 "segment_reduce: expected offsets of at least one");
    if (a.offsets.defined() && !a.unsafe) check_offsets(a.offsets, size);
    const Tensor ends = a.offsets.defined() ? a.offsets.to(kLong) : ends_of(a.lengths, size, a.unsafe);
    const int64_t segments = ends.sizes().back() - 1;
    rows[axis] = size;
    const Tensor at = arange(size, ends.options()).expand(rows);
    const Tensor segment = searchsorted(ends.contiguous(), at.contiguous(), false, true).sub(1);
    const Tensor outside = segment.lt(0).logical_or(segment.ge(segments));
    const int64_t count = numel_of(IntArrayRef(rows).slice(0, static_cast<size_t>(axis))) * segments;
    // Numbers the segments of all rows together; elements in no segment get one of their own.
    Dims lead = rows;
    lead[axis] = 1;
    const Tensor first = arange(numel_of(lead), ends.options()).mul(segments).reshape(lead);
    const Tensor index = (segment + first).masked_fill(outside, count).reshape({-1});
    Dims flat(sizes.begin() + axis, sizes.end());
    flat[0] = index.numel();
    const Tensor source = a.data.reshape(flat);
    flat[0] = count + 1;
    const Tensor start = full(flat, a.initial.value_or(rule.initial), a.data.options());
    const std::string_view name = rule.name;
    Tensor out = name == "sum" ? start.index_add(0, index, source) : start.index_reduce(0, index, source, name);
    sizes[axis] = segments;
    out = out.slice(0, 0, count).reshape(sizes);
    if (a.reduce != "mean") return out;
    // Without elements the result is the initial value, or none.
    Tensor n = ends.diff().clamp_min(a.initial ? 1 : 0);
    while (n.dim() < out.dim()) n = n.unsqueeze(-1);
    return out / n;
  }
  static void samples(S& s) {
    const Tensor lengths = full({1}, 2, kLong), cuts = arange(0, 7, 3, kLong);
    s.add({s->real({6, 2}), "sum", {}, {}, cuts});
    s.add({s->real({7}), "mean", {}, {}, cuts, 0, false, 2});
    s.add({s->apart({2, 2, 3}), "max", lengths.expand({2, 1}), {}, {}, 1});
    s.add({s->apart({6}), "min", {}, {}, cuts});
    s.add({s->positive({2, 3}), "prod", lengths, {}, {}, 0, false, 1.5});
    s.fails({s->real({2}), "other", lengths}, "must be either sum, prod, mean, amax or amin, got other");
    s.fails({s->real({2}), "sum"}, "segment_reduce: Either lengths or offsets must be defined.");
    s.fails({s->real({3}), "sum", lengths}, "segment_reduce: Expected all rows of lengths along axis to sum to");
    s.fails({s->real({3}), "sum", s->integer({2}, -2, 0)}, "segment_reduce: lengths contains negative value!");
    s.fails({s->real({2}), "sum", {}, {}, arange(0, 4, 3, kLong)},
            "segment_reduce: expected offsets between 0 and the size 2");
    s.fails({s->real({7}), "sum", {}, {}, arange(6, -1, -3, kLong)}, "none is less than the one before it");
    s.fails({s->real({2, 2}), "sum", lengths, {}, {}, 1},
            "Expected axis to be the last dimension of lengths but got 1");
  }
};
ARGAND_OP(SegmentReduce)
ARGAND_NODE(SegmentReduce)

}  // namespace argand::ops
