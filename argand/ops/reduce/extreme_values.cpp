// The largest and the smallest value without a place: max, min, amax, amin, aminmax.
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/reduce/args.h"
#include "argand/ops/reduce/reduction.h"

namespace argand::ops {
namespace {

// Over `dim`, or over all dimensions if it is empty.
TensorMeta value_meta(const char* op, const Tensor& self, const Dims& dim, bool keepdim) {
  const Dims dims = wrap_dims(dim, self.dim(), op);
  if (dim.empty())
    ARGAND_CHECK(IndexError, self.numel() > 0, op,
                 ": Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
                 "'dim' argument.");
  check_not_empty(op, self, dims);
  return {reduced_sizes(self.sizes(), dims, keepdim), self.dtype()};
}

void extreme_value(ReduceKind kind, const Tensor& self, const Dims& dim, const Tensor& out) {
  reduce_into(out, kind, self, wrap_dims(dim, self.dim(), "max"));
}

}  // namespace

struct Max : Kernel<MaxArgs> {
  static constexpr auto schema = "max(Tensor self) -> Tensor";
  static constexpr auto doc = "The largest element, NaN if there is one; equal ones share the gradient.";
  static constexpr DtypeSet dtypes = kRealTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static TensorMeta infer(const Args& a) { return value_meta("max", a.self, {}, false); }
  static void run(const Args& a, Tensor& out) { extreme_value(ReduceKind::kMax, a.self, {}, out); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return share_among_equals(g, c.self, c.result()); }
  static void samples(S& s) {
    s.add({s->apart({3, 4})});
    s.add({s->apart({})});
    s.add({s->integer({4, 5}, 0, 3)});
    s.add_without_gradient({s->integer({4, 5}, 0, 3).to(kDouble)});  // ties
    s.fails({s->real({0, 3})}, "max: Expected reduction dim to be specified for input.numel() == 0");
  }
};
ARGAND_OP(Max)
ARGAND_NODE(Max, "MaxBackward1")

struct Min : Kernel<MinArgs> {
  static constexpr auto schema = "min(Tensor self) -> Tensor";
  static constexpr auto doc = "The smallest element, NaN if there is one; equal ones share the gradient.";
  static constexpr DtypeSet dtypes = kRealTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static TensorMeta infer(const Args& a) { return value_meta("min", a.self, {}, false); }
  static void run(const Args& a, Tensor& out) { extreme_value(ReduceKind::kMin, a.self, {}, out); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return share_among_equals(g, c.self, c.result()); }
  static void samples(S& s) {
    s.add({s->apart({3, 4})});
    s.add({s->integer({4, 5}, 0, 3)});
    s.add_without_gradient({s->integer({4, 5}, 0, 3).to(kDouble)});  // ties
    s.fails({s->real({0, 3})}, "min: Expected reduction dim to be specified for input.numel() == 0");
  }
};
ARGAND_OP(Min)
ARGAND_NODE(Min, "MinBackward1")

struct Amax : Kernel<AmaxArgs> {
  static constexpr auto schema = "amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor";
  static constexpr auto doc =
      "The largest elements over dim (all dimensions if empty), NaN where there is one; equal ones share the gradient.";
  static constexpr DtypeSet dtypes = kRealTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static TensorMeta infer(const Args& a) { return value_meta("amax", a.self, a.dim, a.keepdim); }
  static void run(const Args& a, Tensor& out) { extreme_value(ReduceKind::kMax, a.self, a.dim, out); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return share_among_equals(g, c.self, c.result(), c.dim, c.keepdim);
  }
  static void samples(S& s) {
    s.add({s->apart({3, 4}), {1}});
    s.add({s->apart({2, 3, 4}), {0, -1}, true});
    s.add({s->apart({2, 3, 4}), {1, 2}});
    s.add({s->apart({3, 4})});
    s.add({s->apart({}), {0}});
    s.add({s->apart({0, 3}), {1}});
    s.add({s->integer({4, 5}, 0, 3), {0}});
    s.add_without_gradient({s->integer({4, 5}, 0, 3).to(kDouble), {1}});  // ties
    s.fails({s->real({3, 4}), {2}}, "amax: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
    s.fails({s->real({3, 0}), {1}}, "amax: Expected reduction dim 1 to have non-zero size.");
    s.fails({s->real({3, 0})}, "amax: Expected reduction dim to be specified for input.numel() == 0");
  }
};
ARGAND_OP(Amax)

struct Amin : Kernel<AminArgs> {
  static constexpr auto schema = "amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor";
  static constexpr auto doc =
      "The smallest elements over dim (all dimensions if empty), NaN where there is one; equal ones share the "
      "gradient.";
  static constexpr DtypeSet dtypes = kRealTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static TensorMeta infer(const Args& a) { return value_meta("amin", a.self, a.dim, a.keepdim); }
  static void run(const Args& a, Tensor& out) { extreme_value(ReduceKind::kMin, a.self, a.dim, out); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return share_among_equals(g, c.self, c.result(), c.dim, c.keepdim);
  }
  static void samples(S& s) {
    s.add({s->apart({3, 4}), {1}});
    s.add({s->apart({2, 3, 4}), {0, -1}, true});
    s.add({s->integer({4, 5}, 0, 3), {0}});
    s.add_without_gradient({s->integer({4, 5}, 0, 3).to(kDouble), {1}});  // ties
    s.fails({s->real({3, 4}), {0, 0}}, "amin: dim 0 appears multiple times");
    s.fails({s->real({3, 0}), {1}}, "amin: Expected reduction dim 1 to have non-zero size.");
  }
};
ARGAND_OP(Amin)

struct Aminmax : Kernel<AminmaxArgs> {
  static constexpr auto schema =
      "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)";
  static constexpr auto doc =
      "The smallest and the largest elements along dim, or of all; gradients as in amin and amax.";
  static constexpr DtypeSet dtypes = kRealTypes;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static Dims dims_of(const std::optional<int64_t>& dim) { return dim ? Dims{*dim} : Dims{}; }
  static TensorMetas infer(const Args& a) {
    const TensorMeta meta = value_meta("aminmax", a.self, dims_of(a.dim), a.keepdim);
    return {meta, meta};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    extreme_value(ReduceKind::kMin, a.self, dims_of(a.dim), outs[0]);
    extreme_value(ReduceKind::kMax, a.self, dims_of(a.dim), outs[1]);
  }
  static Tensor grad_self(const Ctx& c, const Grads& g) {
    const Dims dim = dims_of(c.dim);
    const auto share = [&](const Tensor& gradient, const Tensor& result) {
      return share_among_equals(gradient, c.self, result, dim, c.keepdim);
    };
    if (!g[1].defined()) return share(g[0], c.result(0));
    const Tensor of_max = share(g[1], c.result(1));
    return g[0].defined() ? share(g[0], c.result(0)) + of_max : of_max;
  }
  static void samples(S& s) {
    s.add({s->apart({3, 4}), 1});
    s.add({s->apart({2, 3, 4}), -2, true});
    s.add({s->apart({3, 4})});
    s.add({s->apart({}), 0});
    s.add({s->integer({4, 5}, 0, 3), 0});
    s.fails({s->real({3, 4}), 2}, "aminmax: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
    s.fails({s->real({3, 0}), 1}, "aminmax: Expected reduction dim 1 to have non-zero size.");
    s.fails({s->real({3, 0})}, "aminmax: Expected reduction dim to be specified for input.numel() == 0");
  }
};
ARGAND_OP(Aminmax)

}  // namespace argand::ops
