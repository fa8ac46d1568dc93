// Sums.
#include "argand/kernels/cpu/reduce.h"
#include "argand/ops/define.h"
#include "argand/ops/reduce/args.h"

namespace argand::ops {

struct Sum : Kernel<SumArgs> {
  static constexpr auto schema = "sum(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
  static constexpr const char* overloads[] = {"sum(Tensor self, *, ScalarType? dtype=None) -> Tensor"};
  static constexpr auto doc =
      "The sum over dim (all dimensions if none or empty). Integers and bool sum to int64. float32 is added pairwise in "
      "blocks, in an order set by the shape alone.";
  static ScalarType dtype_of(const Args& a) {
    return a.dtype.value_or(is_integral(a.self.dtype(), true) ? kLong : a.self.dtype());
  }
  static Dims dims_of(const Args& a) { return wrap_dims(a.dim.value_or(Dims{}), a.self.dim(), "sum"); }
  static TensorMeta infer(const Args& a) { return {reduced_sizes(a.self.sizes(), dims_of(a), a.keepdim), dtype_of(a)}; }
  static void cpu(const Args& a, Tensor& out) {
    const Tensor in = a.self.dtype() == out.dtype() ? a.self : exec::dense_clone(a.self, out.dtype());
    cpu::sum(in.impl().data(), in.sizes(), in.strides(), dims_of(a), out.impl().data(), out.dtype());
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    if (c.sizes(kSelf).empty()) return g;
    const Dims dims = wrap_dims(c.dim.value_or(Dims{}), c.ndim(kSelf), "sum");
    return g.reshape(reduced_sizes(c.sizes(kSelf), dims, true)).expand(c.sizes(kSelf));
  }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.add({s->real({2, 3, 4}), Dims{1}});
    s.add({s->real({2, 3, 4}), Dims{0, -1}, true});
    s.add({s->real({})});
    s.add({s->real({0, 3}), Dims{0}});
    s.fails({s->real({2, 3}), Dims{2}}, "sum: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
    s.fails({s->real({2, 3}), Dims{0, 0}}, "sum: dim 0 appears multiple times");
  }
};
ARGAND_OP(Sum)

struct SumToSize : Composite<SumToSizeArgs> {
  static constexpr auto schema = "sum_to_size(Tensor self, int[] size) -> Tensor";
  static constexpr auto doc = "Sums the dimensions that broadcasting a tensor of this size to self would have expanded.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) {
    if (a.self.sizes() == IntArrayRef(a.size)) return a.self;
    const int64_t lead = a.self.dim() - static_cast<int64_t>(a.size.size());
    ARGAND_CHECK(ShapeError, lead >= 0, "sum_to_size: size ", a.size, " is not expandable to size ", a.self.sizes());
    Dims dims;
    for (int64_t i = 0; i < a.self.dim(); ++i) {
      if (i < lead || (a.size[i - lead] == 1 && a.self.sizes()[i] != 1)) dims.push_back(i);
      else ARGAND_CHECK(ShapeError, a.size[i - lead] == a.self.sizes()[i], "sum_to_size: size ", a.size, " is not expandable to size ",
                        a.self.sizes());
    }
    const Tensor t = dims.empty() ? a.self : a.self.sum(dims, true);
    return lead > 0 ? t.view(a.size) : t;
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 4}), {3, 1}});
    s.fails({s->real({2, 3}), {4}}, "sum_to_size: size [4] is not expandable to size [2, 3]");
  }
};
ARGAND_OP(SumToSize)

}  // namespace argand::ops
