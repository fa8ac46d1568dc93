// Sums and means that leave NaN out.
#include "argand/ops/define.h"
#include "argand/ops/reduce/args.h"
#include "argand/ops/reduce/reduction.h"

namespace argand::ops {

struct Nansum : Kernel<NansumArgs> {
  static constexpr auto schema =
      "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
  static constexpr auto doc = "The sum over dim (all dimensions if none or empty), NaN counting as 0.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto out_chooses_dtype = "of any dtype";
  static constexpr DtypeSet dtypes = kRealTypes;
  static TensorMeta infer(const Args& a) {
    const ScalarType dtype = a.dtype.value_or(is_integral(a.self.dtype(), true) ? kLong : a.self.dtype());
    ARGAND_CHECK(DtypeError, !is_complex(dtype), "nansum: not implemented for dtype ", dtype);
    return {reduced_sizes(a.self.sizes(), reduced_dims(a.self, a.dim, "nansum"), a.keepdim), dtype};
  }
  static void run(const Args& a, Tensor& out) {
    const Dims dims = reduced_dims(a.self, a.dim, "nansum");
    if (is_floating_point(out.dtype())) return reduce_into(out, ReduceKind::kNanSum, a.self, dims);
    // Elements become integers (or bools) before they are added, and a NaN is none.
    const bool whole = is_integral(a.self.dtype(), true);
    const Tensor numbers = whole ? a.self : a.self.masked_fill(a.self.isnan(), 0);
    if (out.dtype() == kBool) return reduce_into(out, ReduceKind::kAny, numbers, dims, {.as = kBool});
    reduce_into(out, ReduceKind::kSum, whole ? numbers : numbers.to(kLong), dims);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return expand_reduced(g, c.self.sizes(), c.dim, c.keepdim).masked_fill(c.self.isnan(), 0);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.add({s->real({2, 3, 4}), Dims{1}});
    s.add({s->real({2, 3, 4}), Dims{0, -1}, true});
    s.add({s->real({0, 3}), Dims{0}});
    s.add({s->real({2, 3}), Dims{0}, false, kFloat});
    s.add({s->real({2, 3}), Dims{0}, false, kLong});
    s.add({s->real({2, 3}, -0.9, 0.9), Dims{1}, false, kBool});
    s.add({s->integer({2, 3}, -5, 6), Dims{1}});
    s.fails({s->real({2, 3}), Dims{2}},
            "nansum: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
    s.fails({s->real({2, 3}), {}, false, kComplexDouble}, "nansum: not implemented for dtype complex128");
  }
};
ARGAND_OP(Nansum)

struct Nanmean : Composite<NanmeanArgs> {
  static constexpr auto schema =
      "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
  static constexpr auto doc = "The mean over dim (all dimensions if none or empty) of the elements that are not NaN.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto out_chooses_dtype = "of floating point";
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(DtypeError, a.self.is_floating_point(),
                 "nanmean(): expected input to have floating point or complex dtype but got ", a.self.dtype());
    ARGAND_CHECK(DtypeError, !a.dtype || is_differentiable(*a.dtype),
                 "nanmean: could not infer output dtype. Optional dtype must be either a floating point or complex "
                 "dtype. Got: ",
                 *a.dtype);
    const Tensor count = a.self.detach().isnan().logical_not().sum(a.dim, a.keepdim);
    return nansum(a.self, a.dim, a.keepdim, a.dtype) / count;
  }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.add({s->real({2, 3, 4}), Dims{0, -1}, true});
    s.fails({s->integer({2}, 0, 3)}, "nanmean(): expected input to have floating point or complex dtype but got int64");
    s.fails({s->real({2}), {}, false, kBool}, "nanmean: could not infer output dtype. Optional dtype must be either");
  }
};
ARGAND_OP(Nanmean)

}  // namespace argand::ops
