// One element of each row by its rank: kthvalue, median, nanmedian, mode.
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/index/bounds.h"
#include "argand/ops/node_name.h"
#include "argand/ops/reduce/reduction.h"
#include "argand/ops/sort/args.h"

namespace argand::ops {
namespace {

constexpr DtypeSet kOrderedNumbers = kRealTypes & ~kBoolType;

TensorMetas pick_metas(const char* op, const Tensor& self, int64_t dim, bool keepdim) {
  const Dims dims{wrap_dim(dim, self.dim(), op)};
  check_not_empty(op, self, dims);
  const Dims sizes = reduced_sizes(self.sizes(), dims, keepdim);
  return {{sizes, self.dtype()}, {sizes, kLong}};
}

void run_rows(Pick what, int64_t nth, const Tensor& in, const DimSplit& split, const Tensor& value,
              const Tensor& index) {
  blocks::pick.on(in.device())({in.impl().data(), in.dtype(), split.outer, split.size, split.inner}, what, nth,
                               value.impl().data(), static_cast<int64_t*>(index.impl().data()));
}

void run_pick(Pick what, int64_t nth, const Tensor& self, int64_t given_dim, std::span<Tensor> outs) {
  const int64_t dim = wrap_dim(given_dim, self.dim(), "pick");
  const DimSplit split(self.sizes(), dim);
  if (self.is_cpu() || split.inner == 1) return run_rows(what, nth, exec::dense(self), split, outs[0], outs[1]);
  // A GPU's rows are contiguous; the results are in the order of the other dimensions, whichever dim is last.
  const Tensor rows = exec::dense(self.movedim(dim, -1));
  run_rows(what, nth, rows, DimSplit(rows.sizes(), rows.dim() - 1), outs[0], outs[1]);
}

// Picks among all elements.  The result for an empty tensor is NaN, which an integer dtype cannot hold.
TensorMeta pick_of_all_meta(const char* op, const Tensor& self) {
  ARGAND_CHECK(ValueError, self.numel() > 0 || self.is_floating_point(), op,
               ": expected at least one element of dtype ", self.dtype(), ", got shape ", self.sizes());
  return {Dims{}, self.dtype()};
}
void run_pick_of_all(Pick what, const Tensor& self, const Tensor& out) {
  if (self.numel() == 0)
    return exec::copy_elements(out, exec::wrapped_number(std::numeric_limits<double>::quiet_NaN()));
  const Tensor in = exec::dense(self);
  const Tensor index = exec::new_tensor({Dims{}, kLong}, in.device());
  run_rows(what, 0, in, DimSplit({in.numel()}, 0), out, index);
}

}  // namespace

struct Kthvalue : Kernel<KthvalueArgs> {
  static constexpr auto schema =
      "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)";
  static constexpr auto doc =
      "The k-th smallest element along dim (k counts from 1) and its index: what sort has at k - 1. NaN counts as the "
      "largest.";
  static constexpr DtypeSet dtypes = kOrderedNumbers;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static TensorMetas infer(const Args& a) {
    TensorMetas metas = pick_metas("kthvalue", a.self, a.dim, a.keepdim);
    const int64_t size = size_at(a.self, wrap_dim(a.dim, a.self.dim(), "kthvalue"));
    ARGAND_CHECK(ValueError, a.k >= 1 && a.k <= size,
                 "kthvalue: selected number k out of range, expected 1 <= k <= ", size, ", got ", a.k);
    return metas;
  }
  static void run(const Args& a, std::span<Tensor> outs) { run_pick(Pick::kNth, a.k - 1, a.self, a.dim, outs); }
  static Tensor grad_self(const Ctx& c, const Grads& g) {
    return put_back(g[0], c.result(1), c.sizes(kSelf), c.dim, c.keepdim);
  }
  static void samples(S& s) {
    s.add({s->apart({3, 7}), 3});
    s.add({s->apart({4, 2, 3}), 4, 0, true});
    s.add_without_gradient({s->real({3000}), 1000});
    s.add({s->apart({}), 1});
    s.add({s->apart({0, 3}), 2});
    s.fails({s->real({3, 4}), 5}, "kthvalue: selected number k out of range, expected 1 <= k <= 4, got 5");
    s.fails({s->real({3, 4}), 0}, "kthvalue: selected number k out of range, expected 1 <= k <= 4, got 0");
    s.fails({s->real({3, 4}), 1, 2}, "kthvalue: Dimension out of range");
  }
};
ARGAND_OP(Kthvalue)

struct Median : Kernel<MedianArgs> {
  static constexpr auto schema = "median(Tensor self) -> Tensor";
  static constexpr auto doc =
      "The element in the middle of all in order, the lower of two; NaN if there is one. Elements equal to it share "
      "the gradient.";
  static constexpr DtypeSet dtypes = kOrderedNumbers;
  static TensorMeta infer(const Args& a) { return pick_of_all_meta("median", a.self); }
  static void run(const Args& a, Tensor& out) { run_pick_of_all(Pick::kMedian, a.self, out); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return share_among_equals(g, c.self, c.result()); }
  static void samples(S& s) {
    s.add({s->apart({3, 4})});
    s.add({s->apart({7})});
    s.add({s->apart({})});
    s.add({s->integer({20}, 0, 6)});
    s.fails({s->integer({0}, 0, 6)}, "median: expected at least one element of dtype int64, got shape [0]");
  }
};
ARGAND_OP(Median)

struct Nanmedian : Kernel<NanmedianArgs> {
  static constexpr auto schema = "nanmedian(Tensor self) -> Tensor";
  static constexpr auto doc = "median of the elements that are not NaN.";
  static constexpr DtypeSet dtypes = kOrderedNumbers;
  static TensorMeta infer(const Args& a) { return pick_of_all_meta("nanmedian", a.self); }
  static void run(const Args& a, Tensor& out) { run_pick_of_all(Pick::kNanMedian, a.self, out); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return share_among_equals(g, c.self, c.result()); }
  static void samples(S& s) {
    s.add({s->apart({3, 4})});
    s.add({s->apart({7})});
  }
};
ARGAND_OP(Nanmedian)

struct MedianDim : Kernel<MedianDimArgs> {
  static constexpr auto schema =
      "median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)";
  static constexpr auto doc =
      "The element in the middle along dim, the lower of two, and its index; the first NaN if there is one.";
  static constexpr DtypeSet dtypes = kOrderedNumbers;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static TensorMetas infer(const Args& a) { return pick_metas("median", a.self, a.dim, a.keepdim); }
  static void run(const Args& a, std::span<Tensor> outs) { run_pick(Pick::kMedian, 0, a.self, a.dim, outs); }
  static Tensor grad_self(const Ctx& c, const Grads& g) {
    return put_back(g[0], c.result(1), c.sizes(kSelf), c.dim, c.keepdim);
  }
  static void samples(S& s) {
    s.add({s->apart({3, 4}), 1});
    s.add({s->apart({5, 2, 3}), 0, true});
    s.add({s->apart({}), 0});
    s.fails({s->real({3, 0}), 1}, "median: Expected reduction dim 1 to have non-zero size.");
    s.fails({s->real({3, 4}), 2}, "median: Dimension out of range");
  }
};
ARGAND_OP(MedianDim)
ARGAND_NODE(MedianDim, "MedianBackward1")

struct NanmedianDim : Kernel<NanmedianDimArgs> {
  static constexpr auto schema =
      "nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)";
  static constexpr auto doc = "median along dim of the elements that are not NaN; NaN where there are none.";
  static constexpr DtypeSet dtypes = kOrderedNumbers;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static TensorMetas infer(const Args& a) { return pick_metas("nanmedian", a.self, a.dim, a.keepdim); }
  static void run(const Args& a, std::span<Tensor> outs) { run_pick(Pick::kNanMedian, 0, a.self, a.dim, outs); }
  static Tensor grad_self(const Ctx& c, const Grads& g) {
    return put_back(g[0], c.result(1), c.sizes(kSelf), c.dim, c.keepdim);
  }
  static void samples(S& s) {
    s.add({s->apart({3, 4}), 1});
    s.add({s->apart({5, 2, 3}), 0, true});
    s.fails({s->real({3, 0}), 1}, "nanmedian: Expected reduction dim 1 to have non-zero size.");
  }
};
ARGAND_OP(NanmedianDim)
ARGAND_NODE(NanmedianDim, "NanmedianBackward1")

struct Mode : Kernel<ModeArgs> {
  static constexpr auto schema = "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)";
  static constexpr auto out_names = "values, indices";
  static constexpr auto doc =
      "The most frequent element along dim, the smallest of several, and the index where it stands last.";
  static constexpr DtypeSet dtypes = kRealTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static TensorMetas infer(const Args& a) { return pick_metas("mode", a.self, a.dim, a.keepdim); }
  static void run(const Args& a, std::span<Tensor> outs) { run_pick(Pick::kMode, 0, a.self, a.dim, outs); }
  static Tensor grad_self(const Ctx& c, const Grads& g) {
    return put_back(g[0], c.result(1), c.sizes(kSelf), c.dim, c.keepdim);
  }
  static void samples(S& s) {
    s.add({s->integer({4, 9}, 0, 3)});
    s.add({s->integer({9, 4}, -2, 2), 0, true});
    s.add({s->integer({3000}, 0, 2000)});
    // The smallest change of an element can change the result: there is no derivative.
    s.add_without_gradient({s->apart({3, 4}), 1});
    s.fails({s->real({3, 0}), 1}, "mode: Expected reduction dim 1 to have non-zero size.");
  }
};
ARGAND_OP(Mode)

}  // namespace argand::ops
