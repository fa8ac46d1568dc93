// The largest and the smallest along a dimension, with their place: max.dim, min.dim, argmax, argmin.
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/reduce/args.h"
#include "argand/ops/reduce/reduction.h"

namespace argand::ops {
namespace {

TensorMetas extreme_metas(const char* op, const Tensor& self, int64_t dim, bool keepdim) {
  const Dims dims{wrap_dim(dim, self.dim(), op)};
  check_not_empty(op, self, dims);
  const Dims sizes = reduced_sizes(self.sizes(), dims, keepdim);
  return {{sizes, self.dtype()}, {sizes, kLong}};
}

void extreme_with_index(bool largest, const char* op, const Tensor& self, int64_t dim, std::span<Tensor> outs) {
  const Tensor in = exec::dense(self);
  const DimSplit s(in.sizes(), wrap_dim(dim, in.dim(), op));
  blocks::arg_extreme.on(in.device())(largest, in.impl().data(), in.dtype(), s.outer, s.size, s.inner,
                                      static_cast<int64_t*>(outs[1].impl().data()), outs[0].impl().data());
}

TensorMeta arg_meta(const char* op, const Tensor& self, const std::optional<int64_t>& dim, bool keepdim) {
  if (!dim) {
    ARGAND_CHECK(IndexError, self.numel() > 0, op,
                 ": Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
                 "'dim' argument.");
    return {keepdim ? Dims(static_cast<size_t>(self.dim()), 1) : Dims{}, kLong};
  }
  const Dims dims{wrap_dim(*dim, self.dim(), op)};
  check_not_empty(op, self, dims);
  return {reduced_sizes(self.sizes(), dims, keepdim), kLong};
}

void arg_extreme(bool largest, const char* op, const Tensor& self, const std::optional<int64_t>& dim,
                 const Tensor& out) {
  const Tensor in = exec::dense(self);
  const DimSplit s = dim ? DimSplit(in.sizes(), wrap_dim(*dim, in.dim(), op)) : DimSplit({in.numel()}, 0);
  blocks::arg_extreme.on(in.device())(largest, in.impl().data(), in.dtype(), s.outer, s.size, s.inner,
                                      static_cast<int64_t*>(out.impl().data()), nullptr);
}

}  // namespace

struct MaxDim : Kernel<MaxDimArgs> {
  static constexpr auto schema = "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)";
  static constexpr auto doc =
      "The largest element along dim (NaN if there is one) and its index, the first of equal ones.";
  static constexpr DtypeSet dtypes = kRealTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static TensorMetas infer(const Args& a) { return extreme_metas("max", a.self, a.dim, a.keepdim); }
  static void run(const Args& a, std::span<Tensor> outs) { extreme_with_index(true, "max", a.self, a.dim, outs); }
  static Tensor grad_self(const Ctx& c, const Grads& g) {
    return put_back(g[0], c.result(1), c.sizes(kSelf), c.dim, c.keepdim);
  }
  static void samples(S& s) {
    s.add({s->apart({3, 4}), 1});
    s.add({s->apart({2, 3, 4}), -2, true});
    s.add({s->apart({}), 0});
    s.add({s->apart({0, 3}), 1});
    s.add({s->integer({4, 5}, 0, 3), 0});
    s.fails({s->real({3, 4}), 2}, "max: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
    s.fails({s->real({3, 0}), 1}, "max: Expected reduction dim 1 to have non-zero size.");
  }
};
ARGAND_OP(MaxDim)

struct MinDim : Kernel<MinDimArgs> {
  static constexpr auto schema = "min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)";
  static constexpr auto doc =
      "The smallest element along dim (NaN if there is one) and its index, the first of equal ones.";
  static constexpr DtypeSet dtypes = kRealTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static TensorMetas infer(const Args& a) { return extreme_metas("min", a.self, a.dim, a.keepdim); }
  static void run(const Args& a, std::span<Tensor> outs) { extreme_with_index(false, "min", a.self, a.dim, outs); }
  static Tensor grad_self(const Ctx& c, const Grads& g) {
    return put_back(g[0], c.result(1), c.sizes(kSelf), c.dim, c.keepdim);
  }
  static void samples(S& s) {
    s.add({s->apart({3, 4}), 1});
    s.add({s->apart({2, 3, 4}), -2, true});
    s.add({s->integer({4, 5}, 0, 3), 0});
    s.fails({s->real({3, 4}), 2}, "min: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
    s.fails({s->real({3, 0}), 1}, "min: Expected reduction dim 1 to have non-zero size.");
  }
};
ARGAND_OP(MinDim)

struct Argmax : Kernel<ArgmaxArgs> {
  static constexpr auto schema = "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor";
  static constexpr auto doc =
      "The index of the largest element along dim, or among all; the first of equal ones, the first NaN.";
  static constexpr DtypeSet dtypes = kRealTypes & ~kBoolType;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static constexpr bool differentiable = false;
  static TensorMeta infer(const Args& a) { return arg_meta("argmax", a.self, a.dim, a.keepdim); }
  static void run(const Args& a, Tensor& out) { arg_extreme(true, "argmax", a.self, a.dim, out); }
  static void samples(S& s) {
    s.add({s->apart({3, 4})});
    s.add({s->apart({3, 4}), 0, true});
    s.add({s->integer({4, 5}, 0, 3), 1});
    s.add({s->real({}), 0});
    s.fails({s->real({3, 4}), 2}, "argmax: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
    s.fails({s->real({0, 4})}, "argmax: Expected reduction dim to be specified for input.numel() == 0");
    s.fails({s->real({0, 4}), 0}, "argmax: Expected reduction dim 0 to have non-zero size.");
  }
};
ARGAND_OP(Argmax)

struct Argmin : Kernel<ArgminArgs> {
  static constexpr auto schema = "argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor";
  static constexpr auto doc =
      "The index of the smallest element along dim, or among all; the first of equal ones, the first NaN.";
  static constexpr DtypeSet dtypes = kRealTypes & ~kBoolType;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static constexpr bool differentiable = false;
  static TensorMeta infer(const Args& a) { return arg_meta("argmin", a.self, a.dim, a.keepdim); }
  static void run(const Args& a, Tensor& out) { arg_extreme(false, "argmin", a.self, a.dim, out); }
  static void samples(S& s) {
    s.add({s->apart({3, 4})});
    s.add({s->apart({3, 4}), 0, true});
    s.fails({s->real({3, 4}), 2}, "argmin: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
    s.fails({s->real({0, 4})}, "argmin: Expected reduction dim to be specified for input.numel() == 0");
  }
};
ARGAND_OP(Argmin)

}  // namespace argand::ops
