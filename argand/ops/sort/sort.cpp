// Sorting along a dimension, fully or the first few: sort, argsort, msort, topk.
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/index/bounds.h"
#include "argand/ops/node_name.h"
#include "argand/ops/sort/args.h"

namespace argand::ops {
namespace {

void run_rows(const Tensor& in, const DimSplit& split, int64_t count, bool descending, const Tensor& values,
              const Tensor& indices) {
  blocks::sort_first.on(in.device())({in.impl().data(), in.dtype(), split.outer, split.size, split.inner}, count,
                                     descending, values.impl().data(), static_cast<int64_t*>(indices.impl().data()));
}

void run_sort(const Tensor& self, int64_t dim, int64_t count, bool descending, std::span<Tensor> outs) {
  if (outs[0].numel() == 0) return;
  const DimSplit split(self.sizes(), dim);
  if (self.is_cpu() || split.inner == 1) return run_rows(exec::dense(self), split, count, descending, outs[0], outs[1]);
  // A GPU's rows are contiguous.
  const Tensor rows = exec::dense(self.transpose(dim, -1));
  Dims sizes = rows.impl().sizes;
  sizes.back() = count;
  const Tensor values = exec::new_tensor({sizes, self.dtype()}, self.device()),
               indices = exec::new_tensor({sizes, kLong}, self.device());
  run_rows(rows, DimSplit(rows.sizes(), rows.dim() - 1), count, descending, values, indices);
  exec::copy_elements(outs[0], values.transpose(dim, -1));
  exec::copy_elements(outs[1], indices.transpose(dim, -1));
}

}  // namespace

struct Sort : Kernel<SortArgs> {
  static constexpr auto schema =
      "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)";
  static constexpr const char* overloads[] = {
      "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)"};
  static constexpr auto doc =
      "self in ascending or descending order along dim, and where each element was. NaN counts as the largest; equal "
      "elements keep their order, whether or not stable asks for it.";
  static constexpr DtypeSet dtypes = kRealTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static TensorMetas infer(const Args& a) {
    wrap_dim(a.dim, a.self.dim(), "sort");
    return {{a.self.impl().sizes, a.self.dtype()}, {a.self.impl().sizes, kLong}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const int64_t dim = wrap_dim(a.dim, a.self.dim(), "sort");
    run_sort(a.self, dim, size_at(a.self, dim), a.descending, outs);
  }
  static Tensor grad_self(const Ctx& c, const Grads& g) {
    return zeros(c.sizes(kSelf), g[0].options()).scatter(c.dim, c.result(1), g[0]);
  }
  static void samples(S& s) {
    s.add({s->apart({3, 5}), {}, 1});
    s.add({s->apart({3, 5}), true, 0, true});
    s.add({s->apart({2, 3, 4}), {}, -2, true});
    s.add({s->integer({4, 40}, 0, 7), true, 1});
    s.add({s->integer({4, 40}, 0, 7), true, 1, true});
    s.add({s->integer({1100}, -900, 900), true, 0, true});
    s.add_without_gradient({s->real({3000}), true, 0, true});
    s.add({s->apart({}), {}, 0});
    s.add({s->apart({0, 3}), {}, 0});
    s.fails({s->real({3, 4}), {}, 2}, "sort: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(Sort)
ARGAND_NODE(Sort, [](const SortArgs& a) { return a.stable ? "SortBackward1" : nullptr; })

struct Argsort : Composite<ArgsortArgs> {
  // `bool?` where PyTorch has `bool`: argsort(x, 0) would be ambiguous in C++.
  static constexpr auto schema =
      "argsort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr const char* overloads[] = {"argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor"};
  static constexpr auto doc = "The indices of sort.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) { return std::get<1>(argand::sort(a.self, a.stable, a.dim, a.descending)); }
  static void samples(S& s) {
    s.add({s->apart({3, 5}), false, 0});
    s.add({s->apart({3, 5}), true, -1, true});
    s.fails({s->real({3, 4}), false, 2}, "sort: Dimension out of range");
  }
};
ARGAND_OP(Argsort)

struct Msort : Composite<MsortArgs> {
  static constexpr auto schema = "msort(Tensor self) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The values of sort along dimension 0.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) { return std::get<0>(argand::sort(a.self, 0)); }
  static void samples(S& s) { s.add({s->apart({5, 3})}); }
};
ARGAND_OP(Msort)

// harmless(sorted): they are in order either way
struct Topk : Kernel<TopkArgs> {
  static constexpr auto schema =
      "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)";
  static constexpr auto doc =
      "The k largest (or smallest) elements along dim, and where they were. NaN counts as the largest; of equal "
      "elements the first ones are taken, in the order of their positions. The results are in order, whether or not "
      "sorted asks for it.";
  static constexpr DtypeSet dtypes = kRealTypes & ~kBoolType;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static TensorMetas infer(const Args& a) {
    const int64_t dim = wrap_dim(a.dim, a.self.dim(), "topk");
    ARGAND_CHECK(ValueError, a.k >= 0 && a.k <= size_at(a.self, dim), "topk: selected index k out of range, expected ",
                 "0 <= k <= ", size_at(a.self, dim), ", got ", a.k);
    Dims sizes = a.self.impl().sizes;
    if (!sizes.empty()) sizes[dim] = a.k;
    return {{sizes, a.self.dtype()}, {sizes, kLong}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    // A 0-dim tensor returns its one element for k = 0, too.
    const int64_t count = a.self.dim() == 0 ? 1 : a.k;
    run_sort(a.self, wrap_dim(a.dim, a.self.dim(), "topk"), count, a.largest, outs);
  }
  static Tensor grad_self(const Ctx& c, const Grads& g) {
    return zeros(c.sizes(kSelf), g[0].options()).scatter(c.dim, c.result(1), g[0]);
  }
  static void samples(S& s) {
    s.add({s->apart({3, 7}), 3});
    s.add({s->apart({7, 3}), 2, 0, false});
    s.add({s->apart({1, 140}), 2, -1, true, false});
    s.add({s->apart({70, 3}), 1, 0, false});
    s.add_without_gradient({s->real({2, 3000}), 5});
    s.add({s->apart({3, 7}), 7});
    s.add({s->apart({3, 7}), 0});
    s.add({s->apart({}), 1});
    s.add({s->apart({0, 3}), 2});
    s.fails({s->real({3, 4}), 5}, "topk: selected index k out of range, expected 0 <= k <= 4, got 5");
    s.fails({s->real({3, 4}), 1, 2}, "topk: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(Topk)

}  // namespace argand::ops
