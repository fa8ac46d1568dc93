// Views that change the shape: view, reshape, expand, squeeze, unsqueeze.
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/view/args.h"

namespace argand::ops {

struct ViewOp : View<ViewOpArgs> {
  static constexpr auto schema = "view(Tensor(a) self, int[] size) -> Tensor(a)";
  static constexpr auto doc =
      "The same elements in another shape, without a copy; one size may be -1. ShapeError if the strides do not allow "
      "it.";
  static constexpr int variants = kMethod | kCopy;
  static constexpr bool copies_first = true;
  static ViewLayout view(const Args& a) {
    const Dims to = infer_size(a.size, a.self.numel(), "view");
    const auto strides = view_strides(a.self.sizes(), a.self.strides(), to);
    ARGAND_CHECK(ShapeError, strides, "view: size ", to, " is not compatible with input tensor's size ", a.self.sizes(),
                 " and stride ", a.self.strides(),
                 " (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.");
    return {to, *strides, a.self.storage_offset()};
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g.reshape(c.sizes(kSelf)); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), {6}});
    s.add({s->real({2, 6}), {2, -1, 3}});
    s.add({s->real({}), {1, 1}});
    s.add({s->real({0, 3}), {3, 0}});
    s.fails({s->real({2, 3}), {4}}, "view: shape '[4]' is invalid for input of size 6");
    s.fails({s->real({2, 3}), {-1, -1}}, "view: only one dimension can be inferred");
  }
};
ARGAND_OP(ViewOp)

struct Reshape : Composite<ReshapeArgs> {
  static constexpr auto schema = "reshape(Tensor(a) self, int[] shape) -> Tensor(a)";
  static constexpr auto doc = "The same elements in another shape: a view where possible, else a copy.";
  static Tensor compose(const Args& a) {
    const Dims to = infer_size(a.shape, a.self.numel(), "reshape");
    if (view_strides(a.self.sizes(), a.self.strides(), to)) return a.self.view(to);
    const Tensor copy = a.self.clone(MemoryFormat::Contiguous).view(to);
    // Nobody else holds the copy, so it is no view for programs, and writes need not look for other views.
    if (AutogradMeta* meta = autograd_meta_or_null(copy)) meta->base = Tensor();
    autograd::label_node(copy, "UnsafeViewBackward0", 0);
    return copy;
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), {3, -1}});
    s.fails({s->real({2, 3}), {5}}, "reshape: shape '[5]' is invalid for input of size 6");
  }
};
ARGAND_OP(Reshape)

// harmless(implicit): it tells traces whether a program asked for it
struct Expand : View<ExpandArgs> {
  static constexpr auto schema = "expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)";
  static constexpr auto doc = "Broadcasts dimensions of size 1 (and new leading ones) without a copy; -1 keeps a size.";
  static constexpr int variants = kMethod | kCopy;
  static ViewLayout view(const Args& a) {
    const auto from = a.self.sizes();
    ARGAND_CHECK(ShapeError, a.size.size() >= from.size(), "expand: the number of sizes provided (", a.size.size(),
                 ") must be greater or equal to the number of dimensions in the tensor (", from.size(), ")");
    Dims to = a.size;
    const size_t lead = to.size() - from.size();
    for (size_t i = 0; i < to.size(); ++i) {
      if (i < lead) {
        ARGAND_CHECK(ShapeError, to[i] >= 0, "expand: a new dimension needs a size, got ", to[i], " in ", a.size);
        continue;
      }
      const int64_t size = from[i - lead];
      if (to[i] == -1) to[i] = size;
      ARGAND_CHECK(ShapeError, to[i] >= 0, "expand: sizes must be -1 or non-negative, got ", to[i], " in ", a.size);
      ARGAND_CHECK(ShapeError, to[i] == size || size == 1, "expand: The expanded size of the tensor (", to[i],
                   ") must match the existing size (", size, ") at non-singleton dimension ", i,
                   ". Target sizes: ", a.size, ". Tensor sizes: ", from);
    }
    return {to, strides(a.self, to), a.self.storage_offset()};
  }
  // A new dimension of size 1 has a stride, that of what lies below it, so that the layout stays contiguous.
  static Dims strides(const Tensor& self, const Dims& to) {
    Dims out = expanded_strides(self.sizes(), self.strides(), to);
    for (size_t i = to.size() - self.sizes().size(); i-- > 0;)
      if (to[i] == 1) out[i] = i + 1 < to.size() ? to[i + 1] * out[i + 1] : 1;
    return out;
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g.sum_to_size(c.sizes(kSelf)); }
  static void samples(S& s) {
    s.add({s->real({3, 1}), {3, 4}});
    s.add({s->real({3}), {2, -1}});
    s.fails({s->real({3, 1}), {3, -5}}, "expand: sizes must be -1 or non-negative, got -5 in [3, -5]");
    s.fails({s->real({3}), {4}}, "expand: The expanded size of the tensor (4) must match the existing size (3)");
  }
};
ARGAND_OP(Expand)

struct Squeeze : View<SqueezeArgs> {
  static constexpr auto schema = "squeeze(Tensor(a) self) -> Tensor(a)";
  static constexpr auto doc = "Without the dimensions of size 1.";
  static ViewLayout view(const Args& a) {
    ViewLayout v{{}, {}, a.self.storage_offset()};
    for (size_t i = 0; i < a.self.sizes().size(); ++i) {
      if (a.self.sizes()[i] == 1) continue;
      v.sizes.push_back(a.self.sizes()[i]);
      v.strides.push_back(a.self.strides()[i]);
    }
    return v;
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g.reshape(c.sizes(kSelf)); }
  static void samples(S& s) { s.add({s->real({1, 3, 1})}); }
};
ARGAND_OP(Squeeze)

struct SqueezeDim : View<SqueezeDimArgs> {
  static constexpr auto schema = "squeeze.dim(Tensor(a) self, int[1] dim) -> Tensor(a)";
  static constexpr auto doc = "Without those of the given dimensions that have size 1.";
  static ViewLayout view(const Args& a) {
    const Dims dims = wrap_dims(a.dim, a.self.dim(), "squeeze", false);
    ViewLayout v{{}, {}, a.self.storage_offset()};
    for (int64_t i = 0; i < a.self.dim(); ++i) {
      if (a.self.sizes()[i] == 1 && std::find(dims.begin(), dims.end(), i) != dims.end()) continue;
      v.sizes.push_back(a.self.sizes()[i]);
      v.strides.push_back(a.self.strides()[i]);
    }
    return v;
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g.reshape(c.sizes(kSelf)); }
  static void samples(S& s) {
    s.add({s->real({1, 3, 1}), {-1}});
    s.add({s->real({2, 3}), {0}});
    s.fails({s->real({2, 3}), {2}}, "squeeze: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(SqueezeDim)
ARGAND_NODE(SqueezeDim,
            [](const SqueezeDimArgs& a) { return a.dim.size() == 1 ? "SqueezeBackward1" : "SqueezeBackward2"; })

struct Unsqueeze : View<UnsqueezeArgs> {
  static constexpr auto schema = "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)";
  static constexpr auto doc = "With a new dimension of size 1 at dim.";
  static ViewLayout view(const Args& a) {
    const int64_t d = wrap_dim(a.dim, a.self.dim() + 1, "unsqueeze");
    ViewLayout v{a.self.impl().sizes, a.self.impl().strides, a.self.storage_offset()};
    const int64_t stride = d < a.self.dim() ? v.sizes[d] * v.strides[d] : 1;
    v.sizes.insert(v.sizes.begin() + d, 1);
    v.strides.insert(v.strides.begin() + d, stride);
    return v;
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g.reshape(c.sizes(kSelf)); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), 1});
    s.add({s->real({2, 3}), -1});
    s.fails({s->real({2, 3}), 4}, "unsqueeze: Dimension out of range (expected to be in range of [-3, 2], but got 4)");
  }
};
ARGAND_OP(Unsqueeze)

}  // namespace argand::ops
