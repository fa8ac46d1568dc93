// Sums and means.
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/reduce/args.h"
#include "argand/ops/reduce/reduction.h"

namespace argand::ops {

struct Sum : Kernel<SumArgs> {
  static constexpr auto schema =
      "sum(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
  static constexpr const char* overloads[] = {"sum(Tensor self, *, ScalarType? dtype=None) -> Tensor"};
  static constexpr auto doc =
      "The sum over dim (all dimensions if none or empty). Integers and bool sum to int64; in dtype bool the sum is "
      "whether any element is not 0. Numbers are added pairwise in blocks, in an order set by the shape alone.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto out_chooses_dtype = "of any dtype";
  static ScalarType dtype_of(const Args& a) {
    return a.dtype.value_or(is_integral(a.self.dtype(), true) ? kLong : a.self.dtype());
  }
  static TensorMeta infer(const Args& a) {
    return {reduced_sizes(a.self.sizes(), reduced_dims(a.self, a.dim, "sum"), a.keepdim), dtype_of(a)};
  }
  static void run(const Args& a, Tensor& out) {
    const Dims dims = reduced_dims(a.self, a.dim, "sum");
    // An int64 sum of truncated or cancelling numbers would not be that of bools.
    if (out.dtype() == kBool) return reduce_into(out, ReduceKind::kAny, a.self, dims, {.as = kBool});
    reduce_into(out, ReduceKind::kSum, a.self, dims);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return expand_reduced(g, c.sizes(kSelf), c.dim, c.keepdim); }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.add({s->real({2, 3, 4}), Dims{1}});
    s.add({s->real({2, 3, 4}), Dims{0, -1}, true});
    s.add({s->real({2, 3, 4}), Dims{0, 2}, false});
    s.add({s->real({})});
    s.add({s->real({}), Dims{-1}, true});
    s.add({s->real({0, 3}), Dims{0}});
    s.add({s->real({0, 3}), Dims{1}});
    s.add({s->integer({2, 3}, -5, 6), Dims{1}});
    s.add({s->boolean({2, 3})});
    s.add({s->real({2, 3}, -0.9, 0.9), Dims{1}, false, kBool});
    s.add({s->integer({4, 2}, -1, 2), Dims{1}, false, kBool});
    s.fails({s->real({2, 3}), Dims{2}}, "sum: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
    s.fails({s->real({2, 3}), Dims{0, 0}}, "sum: dim 0 appears multiple times");
  }
};
ARGAND_OP(Sum)
ARGAND_NODE(Sum, [](const SumArgs& a) { return a.dim ? "SumBackward1" : nullptr; })

struct SumToSize : Composite<SumToSizeArgs> {
  static constexpr auto schema = "sum_to_size(Tensor self, int[] size) -> Tensor";
  static constexpr auto doc =
      "Sums the dimensions that broadcasting a tensor of this size to self would have expanded.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) {
    if (a.size.empty()) return a.self.sum();
    if (a.self.sizes() == IntArrayRef(a.size)) return a.self;
    const int64_t lead = a.self.dim() - static_cast<int64_t>(a.size.size());
    ARGAND_CHECK(ShapeError, lead >= 0, "sum_to_size: size ", a.size, " is not expandable to size ", a.self.sizes());
    Dims dims;
    for (int64_t i = 0; i < a.self.dim(); ++i) {
      if (i < lead || (a.size[i - lead] == 1 && a.self.sizes()[i] != 1))
        dims.push_back(i);
      else
        ARGAND_CHECK(ShapeError, a.size[i - lead] == a.self.sizes()[i], "sum_to_size: size ", a.size,
                     " is not expandable to size ", a.self.sizes());
    }
    const Tensor t = dims.empty() ? a.self : a.self.sum(dims, true);
    return lead > 0 ? t.view(a.size) : t;
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 4}), {3, 1}});
    s.add({s->boolean({}), {}});
    s.fails({s->real({2, 3}), {4}}, "sum_to_size: size [4] is not expandable to size [2, 3]");
  }
};
ARGAND_OP(SumToSize)

struct Mean : Kernel<MeanArgs> {
  static constexpr auto schema =
      "mean(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
  static constexpr const char* overloads[] = {"mean(Tensor self, *, ScalarType? dtype=None) -> Tensor"};
  static constexpr auto doc =
      "The mean over dim (all dimensions if none or empty), of floating-point or complex numbers.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto out_chooses_dtype = "of floating point";
  static TensorMeta infer(const Args& a) {
    const ScalarType dtype = a.dtype.value_or(a.self.dtype());
    ARGAND_CHECK(DtypeError, is_differentiable(dtype), "mean: could not infer output dtype. ",
                 a.dtype ? "Optional dtype" : "Input dtype",
                 " must be either a floating point or complex dtype. Got: ", dtype);
    return {reduced_sizes(a.self.sizes(), reduced_dims(a.self, a.dim, "mean"), a.keepdim), dtype};
  }
  static void run(const Args& a, Tensor& out) {
    const Dims dims = reduced_dims(a.self, a.dim, "mean");
    const auto count = static_cast<double>(reduced_numel(a.self, dims));
    reduce_into(out, ReduceKind::kSum, a.self, dims, {.finish = ReduceFinish::kDivide, .number = count});
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const int64_t kept = g.numel(), all = numel_of(c.sizes(kSelf));
    const int64_t count = kept == 0 ? 1 : all / kept;
    return expand_reduced(kept == 0 ? g : g / static_cast<double>(count), c.sizes(kSelf), c.dim, c.keepdim);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.add({s->real({2, 3, 4}), Dims{1}});
    s.add({s->real({2, 3, 4}), Dims{0, -1}, true});
    s.add({s->real({})});
    s.add({s->real({0, 3}), Dims{1}});
    s.add_without_gradient({s->real({0, 3}), Dims{0}});
    s.add({s->real({2, 3}), Dims{0}, false, kFloat});
    s.fails({s->integer({2, 3}, 0, 5)},
            "mean: could not infer output dtype. Input dtype must be either a floating point or complex dtype");
    s.fails({s->real({2, 3}), Dims{2}}, "mean: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(Mean)
ARGAND_NODE(Mean, [](const MeanArgs& a) { return a.dim ? "MeanBackward1" : nullptr; })

}  // namespace argand::ops
