// Products of vectors of three elements.
#include <algorithm>

#include "argand/ops/define.h"
#include "argand/ops/matmul/args.h"
#include "argand/ops/node_name.h"

namespace argand::ops {

struct LinalgCross : Composite<LinalgCrossArgs> {
  static constexpr auto schema = "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor";
  static constexpr auto autocast = Autocast::kAsGiven;
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The cross product of the vectors of three elements along dim, broadcast.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto dtypes = kAllTypes & ~kBoolType;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() == a.other.dim(),
                 "linalg_cross: inputs must have the same number of dimensions, got ", a.self.sizes(), " and ",
                 a.other.sizes());
    const int64_t dim = wrap_dim(a.dim, a.self.dim(), "linalg_cross");
    ARGAND_CHECK(ShapeError, a.self.size(dim) == 3 && a.other.size(dim) == 3, "linalg_cross: inputs dimension ", a.dim,
                 " must have length 3. Got ", a.self.size(dim), " and ", a.other.size(dim));
    const Dims sizes = broadcast_shapes(a.self.sizes(), a.other.sizes(), "linalg_cross");
    const Tensor x = a.self.expand(sizes), y = a.other.expand(sizes);
    return x.roll(-1, dim) * y.roll(-2, dim) - x.roll(-2, dim) * y.roll(-1, dim);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({2, 3})});
    s.add({s->real({3, 1, 2}), s->real({3, 4, 1}), 0});
    s.fails({s->real({2, 2}), s->real({2, 2})}, "linalg_cross: inputs dimension -1 must have length 3. Got 2 and 2");
    s.fails({s->real({2, 3}), s->real({3})}, "linalg_cross: inputs must have the same number of dimensions");
  }
};
ARGAND_OP(LinalgCross)
ARGAND_NODE(LinalgCross)

struct Cross : Composite<CrossArgs> {
  static constexpr auto schema = "cross(Tensor self, Tensor other, int? dim=None) -> Tensor";
  static constexpr auto autocast = Autocast::kPromote, autocast_cpu = Autocast::kAsGiven;
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "linalg_cross along dim; without one, along the first dimension of size 3.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto dtypes = kAllTypes & ~kBoolType;
  static Tensor compose(const Args& a) {
    if (a.dim) return linalg_cross(a.self, a.other, *a.dim);
    const IntArrayRef sizes = a.self.sizes();
    const auto* three = std::find(sizes.begin(), sizes.end(), 3);
    ARGAND_CHECK(ShapeError, three != sizes.end(), "cross: no dimension of size 3 in input ", sizes);
    return linalg_cross(a.self, a.other, three - sizes.begin());
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 3}), s->real({2, 3, 3})});
    s.add({s->real({3, 3}), s->real({3, 3}), -1});
    s.fails({s->real({2, 2}), s->real({2, 2})}, "cross: no dimension of size 3 in input [2, 2]");
  }
};
ARGAND_OP(Cross)
ARGAND_NODE(Cross, "LinalgCrossBackward0")

}  // namespace argand::ops
