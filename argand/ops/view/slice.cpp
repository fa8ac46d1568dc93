// Views of a part: select, slice, narrow.
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/view/args.h"

namespace argand::ops {

struct Select : View<SelectArgs> {
  static constexpr auto schema = "select(Tensor(a) self, int dim, int index) -> Tensor(a)";
  static constexpr auto doc =
      "The slice at one index of a dimension, which is dropped. A negative index counts from the end.";
  static ViewLayout view(const Args& a) {
    ARGAND_CHECK(IndexError, a.self.dim() > 0, "select: cannot be applied to a 0-dim tensor");
    const int64_t d = wrap_dim(a.dim, a.self.dim(), "select"), size = a.self.sizes()[d];
    ARGAND_CHECK(IndexError, a.index >= -size && a.index < size, "select: index ", a.index,
                 " out of range for tensor of size ", a.self.sizes(), " at dimension ", d);
    ViewLayout v{a.self.impl().sizes, a.self.impl().strides, a.self.storage_offset()};
    v.offset += (a.index < 0 ? a.index + size : a.index) * v.strides[d];
    v.sizes.erase(v.sizes.begin() + d);
    v.strides.erase(v.strides.begin() + d);
    return v;
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Tensor out = g.new_zeros(c.sizes(kSelf));
    out.select(c.dim, c.index).copy_(g);
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), 0, 1});
    s.add({s->real({2, 3}), -1, -3});
    s.fails({s->real({2, 3}), 1, 3}, "select: index 3 out of range for tensor of size [2, 3] at dimension 1");
    s.fails({s->real({}), 0, 0}, "select: cannot be applied to a 0-dim tensor");
  }
};
ARGAND_OP(Select)

struct Slice : View<SliceArgs> {
  static constexpr auto schema =
      "slice(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)";
  static constexpr auto doc =
      "self[start:end:step] along a dimension, with Python's rules for bounds; step is positive.";
  static ViewLayout view(const Args& a) {
    ARGAND_CHECK(IndexError, a.self.dim() > 0, "slice: cannot be applied to a 0-dim tensor");
    ARGAND_CHECK(ValueError, a.step > 0, "slice: step must be positive, got ", a.step);
    const int64_t d = wrap_dim(a.dim, a.self.dim(), "slice"), size = a.self.sizes()[d];
    const auto clamp = [size](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
    const int64_t start = clamp(a.start.value_or(0)), end = std::max(clamp(a.end.value_or(size)), start);
    ViewLayout v{a.self.impl().sizes, a.self.impl().strides, a.self.storage_offset()};
    v.offset += start * v.strides[d];
    v.sizes[d] = end == start ? 0 : (end - start - 1) / a.step + 1;
    // A step that is too long for this leaves no second element.
    if (int64_t wider; !__builtin_mul_overflow(v.strides[d], a.step, &wider)) v.strides[d] = wider;
    return v;
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Tensor out = g.new_zeros(c.sizes(kSelf));
    out.slice(c.dim, c.start, c.end, c.step).copy_(g);
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({5, 3}), 0, 1, 4});
    s.add({s->real({5, 3}), 0, -4, INT64_MAX, 2});
    s.add({s->real({5, 3}), 1, 2, 1});
    s.fails({s->real({5}), 0, 0, 4, 0}, "slice: step must be positive, got 0");
  }
};
ARGAND_OP(Slice)

struct Narrow : Composite<NarrowArgs> {
  static constexpr auto schema = "narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)";
  static constexpr auto doc = "`length` entries of a dimension from `start` on.";
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(IndexError, a.self.dim() > 0, "narrow: cannot be applied to a 0-dim tensor");
    const int64_t d = wrap_dim(a.dim, a.self.dim(), "narrow"), size = a.self.sizes()[d];
    ARGAND_CHECK(ValueError, a.length >= 0, "narrow: length must be non-negative, got ", a.length);
    ARGAND_CHECK(IndexError, a.start >= -size && a.start <= size,
                 "narrow: start out of range (expected to be in range of [", -size, ", ", size, "], but got ", a.start,
                 ")");
    const int64_t start = a.start < 0 ? a.start + size : a.start;
    ARGAND_CHECK(IndexError, a.length <= size - start, "narrow: start (", start, ") + length (", a.length,
                 ") exceeds dimension size (", size, ")");
    return a.self.slice(d, start, start + a.length);
  }
  static void samples(S& s) {
    s.add({s->real({5, 3}), 0, 1, 2});
    s.fails({s->real({5, 3}), 0, 4, 2}, "narrow: start (4) + length (2) exceeds dimension size (5)");
  }
};
ARGAND_OP(Narrow)

// A method too, unlike other copies of views.
struct NarrowCopy : Composite<NarrowCopyArgs> {
  static constexpr auto schema = "narrow_copy(Tensor self, int dim, int start, int length) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "narrow() in memory of its own.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    return a.self.narrow(a.dim, a.start, a.length).clone(MemoryFormat::Contiguous);
  }
  static void samples(S& s) {
    s.add({s->real({5, 3}), 0, 1, 2});
    s.fails({s->real({5, 3}), 0, 4, 2}, "narrow: start (4) + length (2) exceeds dimension size (5)");
  }
};
ARGAND_OP(NarrowCopy)
ARGAND_NODE(NarrowCopy)

}  // namespace argand::ops
