// Copies with a part of them replaced: select_scatter, slice_scatter, diagonal_scatter, as_strided_scatter.  Written as
// the copy and a write to a view of it, which has the gradients.
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/view/args.h"

namespace argand::ops {
namespace {

// Returns `whole` after writing src to `part`, a view of it.
Tensor with_part(const char* op, const Tensor& whole, const Tensor& part, const Tensor& src) {
  ARGAND_CHECK(ShapeError, part.sizes() == src.sizes(), op,
               ": expected src to have a size equal to the slice of self. src size = ", src.sizes(),
               ", slice size = ", part.sizes());
  part.copy_(src);
  return whole;
}

}  // namespace

struct SelectScatter : Composite<SelectScatterArgs> {
  static constexpr auto schema = "select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor";
  static constexpr auto doc = "A copy with src at an index of dim.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    const Tensor whole = a.self.clone();
    return with_part(Args::kName, whole, whole.select(a.dim, a.index), a.src);
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), s->real({3}), 1, 2});
    s.add({s->real({3, 4}), s->real({4}), 0, -1});
    s.fails({s->real({3, 4}), s->real({4}), 1, 0}, "select_scatter: expected src to have a size equal to the slice");
    s.fails({s->real({3, 4}), s->real({4}), 0, 3}, "select: index 3 out of range");
  }
};
ARGAND_OP(SelectScatter)
ARGAND_NODE(SelectScatter)

struct SliceScatter : Composite<SliceScatterArgs> {
  static constexpr auto schema =
      "slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "A copy with src in a slice of dim.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    const Tensor whole = a.self.clone();
    return with_part(Args::kName, whole, whole.slice(a.dim, a.start, a.end, a.step), a.src);
  }
  static void samples(S& s) {
    s.add({s->real({5, 3}), s->real({2, 3}), 0, 1, 5, 2});
    s.add({s->real({2, 4}), s->real({2, 4}), 1});
    s.fails({s->real({5}), s->real({2}), 0, 1}, "slice_scatter: expected src to have a size equal to the slice");
  }
};
ARGAND_OP(SliceScatter)
ARGAND_NODE(SliceScatter)

struct DiagonalScatter : Composite<DiagonalScatterArgs> {
  static constexpr auto schema =
      "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor";
  static constexpr auto doc = "A copy with src on a diagonal.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    const Tensor whole = a.self.clone();
    return with_part(Args::kName, whole, whole.diagonal(a.offset, a.dim1, a.dim2), a.src);
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), s->real({3})});
    s.add({s->real({2, 3, 4}), s->real({3, 1}), -1, 0, 2});
    s.fails({s->real({3, 4}), s->real({4})}, "diagonal_scatter: expected src to have a size equal to the slice");
  }
};
ARGAND_OP(DiagonalScatter)
ARGAND_NODE(DiagonalScatter)

struct AsStridedScatter : Composite<AsStridedScatterArgs> {
  static constexpr auto schema =
      "as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int? storage_offset=None) -> Tensor";
  static constexpr auto doc = "A copy, in the memory order of self, with src in what as_strided makes of it.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) {
    const Tensor whole = a.self.clone();
    return with_part(Args::kName, whole, whole.as_strided(a.size, a.stride, a.storage_offset), a.src);
  }
  static void samples(S& s) {
    s->strides_count("it reads the memory of its argument as it lies");
    s.add({s->real({3, 4}), s->real({2, 2}), {2, 2}, {4, 1}, 1});
    s.add({s->real({6}), s->real({3}), {3}, {2}});
    s.fails({s->real({6}), s->real({2}), {3}, {2}},
            "as_strided_scatter: expected src to have a size equal to the slice");
  }
};
ARGAND_OP(AsStridedScatter)
ARGAND_NODE(AsStridedScatter)

}  // namespace argand::ops
