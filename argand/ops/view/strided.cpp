// The two views that can express every other one: as_strided and alias.
#include "argand/ops/define.h"
#include "argand/ops/view/args.h"

namespace argand::ops {

struct Alias : View<AliasArgs> {
  static constexpr auto schema = "alias(Tensor(a) self) -> Tensor(a)";
  static constexpr auto doc = "The same elements under a new handle.";
  static ViewLayout view(const Args& a) {
    return {a.self.impl().sizes, a.self.impl().strides, a.self.storage_offset()};
  }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return g; }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(Alias)

struct AsStrided : View<AsStridedArgs> {
  static constexpr auto schema =
      "as_strided(Tensor(a) self, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a)";
  static constexpr auto doc =
      "A view of the storage of self with the given sizes, strides and offset (in elements). Every address must lie "
      "inside "
      "the storage.";
  static ViewLayout view(const Args& a) {
    ARGAND_CHECK(ShapeError, a.size.size() == a.stride.size(),
                 "as_strided: mismatch in length of strides and shape, got size ", a.size, " and stride ", a.stride);
    const int64_t offset = a.storage_offset.value_or(a.self.storage_offset());
    int64_t last = offset;
    bool empty = false, overflow = false;
    for (size_t i = 0; i < a.size.size(); ++i) {
      ARGAND_CHECK(ValueError, a.stride[i] >= 0,
                   "as_strided: Negative strides are not supported at the moment, got strides: ", a.stride);
      ARGAND_CHECK(ValueError, a.size[i] >= 0, "as_strided: sizes must be non-negative, got ", a.size);
      empty |= a.size[i] == 0;
      int64_t reach;
      overflow |=
          __builtin_mul_overflow(a.size[i] - 1, a.stride[i], &reach) || __builtin_add_overflow(last, reach, &last);
    }
    const auto capacity = static_cast<int64_t>(a.self.storage()->nbytes()) / a.self.itemsize();
    ARGAND_CHECK(ValueError, offset >= 0 && (empty || (!overflow && last < capacity)), "as_strided: size ", a.size,
                 ", stride ", a.stride, " and storage offset ", offset, " are out of bounds for a storage of ",
                 capacity, " elements");
    return {a.size, a.stride, offset};
  }
  // The view and self are regions of one storage: sum the gradient in the span that they cover, then read self's
  // region. Elements of self that share an address share its gradient equally, as in PyTorch.
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const int64_t view_offset = c.storage_offset.value_or(c.offset(kSelf));
    const int64_t first = std::min(view_offset, c.offset(kSelf));
    const int64_t last = std::max(last_address(c.size, c.stride, view_offset),
                                  last_address(c.sizes(kSelf), c.strides(kSelf), c.offset(kSelf)));
    Tensor span = g.new_zeros({last - first + 1});
    if (g.numel() > 0 && may_overlap_itself(c.size, c.stride))
      span = span.index_add(0, addresses(c.size, c.stride, view_offset - first, span), g.reshape({-1}));
    else if (g.numel() > 0)
      span.as_strided(c.size, c.stride, view_offset - first).copy_(g);
    if (may_overlap_itself(c.sizes(kSelf), c.strides(kSelf))) {
      const Tensor places = addresses(c.sizes(kSelf), c.strides(kSelf), c.offset(kSelf) - first, span);
      span = span / zeros_like(span).index_add(0, places, ones(places.sizes(), g.options())).clamp_min(1);
    }
    return span.as_strided(c.sizes(kSelf), c.strides(kSelf), c.offset(kSelf) - first);
  }
  // The positions in `span` of a layout's elements, in row-major order.
  static Tensor addresses(const Dims& sizes, const Dims& strides, int64_t offset, const Tensor& span) {
    return arange(span.numel(), span.options().dtype(kLong)).as_strided(sizes, strides, offset).reshape({-1});
  }
  static int64_t last_address(const Dims& sizes, const Dims& strides, int64_t offset) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == 0) return offset;
      offset += (sizes[i] - 1) * strides[i];
    }
    return offset;
  }
  static void samples(S& s) {
    s->strides_count("it reads the memory of its argument as it lies");
    s.add({s->real({3, 4}), {2, 2}, {1, 4}, 1});
    s.add({s->real({3, 4}), {3, 5}, {2, 1}, 1});  // overlapping windows
    s.add({s->real({3, 4}), {2, 3}, {0, 4}});     // one row twice
    s.fails({s->real({4}), {1, 1}, {2, -1}},
            "as_strided: Negative strides are not supported at the moment, got strides: [2, -1]");
    s.fails({s->real({4}), {5}, {1}}, "are out of bounds for a storage of 4 elements");
  }
};
ARGAND_OP(AsStrided)

}  // namespace argand::ops
