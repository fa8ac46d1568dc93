// Questions about which elements are not zero.
#include "argand/ops/define.h"
#include "argand/ops/reduce/args.h"
#include "argand/ops/reduce/reduction.h"

namespace argand::ops {
namespace {

// Unlike elsewhere, an empty list of dimensions reduces none.
Dims asked_dims(const char* op, const Tensor& self, const std::optional<Dims>& dim) {
  return wrap_dims(dim ? IntArrayRef(*dim) : IntArrayRef(), self.dim(), op, !dim.has_value());
}

// bool, but uint8 for uint8: masks of older programs.
TensorMeta truth_meta(const char* op, const Tensor& self, const std::optional<Dims>& dim, bool keepdim) {
  return {reduced_sizes(self.sizes(), asked_dims(op, self, dim), keepdim), self.dtype() == kByte ? kByte : kBool};
}

}  // namespace

struct Any : Kernel<AnyArgs> {
  static constexpr auto schema = "any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor";
  static constexpr auto doc =
      "Whether any element over dim (all dimensions if not given) is not 0; NaN is not. uint8 gives uint8.";
  static constexpr bool differentiable = false;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true, out_may_be_bytes = true;
  static TensorMeta infer(const Args& a) { return truth_meta("any", a.self, a.dim, a.keepdim); }
  static void run(const Args& a, Tensor& out) {
    reduce_into(out, ReduceKind::kAny, a.self, asked_dims("any", a.self, a.dim), {.as = kBool});
  }
  static void samples(S& s) {
    s.add({s->boolean({2, 3})});
    s.add({s->boolean({2, 3, 4}), Dims{0, -1}, true});
    s.add({s->boolean({5, 2}), Dims{1}});
    s.add({s->real({2, 3}).relu(), Dims{0}});
    s.add({s->integer({2, 3}, 0, 2), Dims{1}});
    s.add({s->integer({2, 3}, 0, 2), Dims{}});
    s.add({s->boolean({}), Dims{0}});
    s.add({s->boolean({0, 3})});
    s.add({s->boolean({0, 3}), Dims{0}});
    s.fails({s->boolean({2, 3}), Dims{2}},
            "any: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(Any)

struct All : Kernel<AllArgs> {
  static constexpr auto schema = "all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor";
  static constexpr auto doc =
      "Whether no element over dim (all dimensions if not given) is 0; NaN is not. uint8 gives uint8.";
  static constexpr bool differentiable = false;
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true, out_may_be_bytes = true;
  static TensorMeta infer(const Args& a) { return truth_meta("all", a.self, a.dim, a.keepdim); }
  static void run(const Args& a, Tensor& out) {
    reduce_into(out, ReduceKind::kAll, a.self, asked_dims("all", a.self, a.dim), {.as = kBool});
  }
  static void samples(S& s) {
    s.add({s->boolean({2, 3})});
    s.add({s->boolean({2, 3, 4}), Dims{0, -1}, true});
    s.add({s->real({3, 3}).relu(), Dims{0}});
    s.add({s->integer({3, 2}, 0, 3), Dims{1}});
    s.add({s->boolean({0, 3})});
    s.fails({s->boolean({2, 3}), Dims{1, -1}}, "all: dim 1 appears multiple times");
  }
};
ARGAND_OP(All)

struct CountNonzero : Kernel<CountNonzeroArgs> {
  static constexpr auto schema = "count_nonzero(Tensor self, int[1]? dim=None) -> Tensor";
  static constexpr auto doc = "How many elements over dim (all dimensions if empty) are not 0; NaN counts.";
  static constexpr bool differentiable = false;
  static Dims dims_of(const Args& a) { return wrap_dims(a.dim.value_or(Dims{}), a.self.dim(), "count_nonzero"); }
  static TensorMeta infer(const Args& a) { return {reduced_sizes(a.self.sizes(), dims_of(a), false), kLong}; }
  static void run(const Args& a, Tensor& out) { reduce_into(out, ReduceKind::kCount, a.self, dims_of(a)); }
  static void samples(S& s) {
    s.add({s->real({2, 3}).relu()});
    s.add({s->integer({2, 3, 4}, 0, 2), Dims{1}});
    s.add({s->integer({2, 3, 4}, 0, 2), Dims{0, -1}});
    s.add({s->boolean({}), Dims{0}});
    s.add({s->boolean({0, 3}), Dims{0}});
    s.fails({s->boolean({2, 3}), Dims{2}},
            "count_nonzero: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(CountNonzero)

}  // namespace argand::ops
