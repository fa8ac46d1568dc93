// tensor_split along the dimension that a name stands for: hsplit, vsplit, dsplit.
#include "argand/ops/define.h"
#include "argand/ops/view/args.h"

namespace argand::ops {
namespace {

int64_t dim_to_split(const char* op, const Tensor& t, int64_t least, int64_t dim) {
  ARGAND_CHECK(ShapeError, t.dim() >= least, op, ": torch.", op, " requires a tensor with at least ", least,
               " dimension, but got a tensor with ", t.dim(), " dimensions!");
  return dim;
}

std::vector<Tensor> equal_pieces(const char* op, const Tensor& t, int64_t sections, int64_t dim) {
  const int64_t size = t.sizes()[dim];
  ARGAND_CHECK(ValueError, sections != 0 && size % sections == 0, op, ": torch.", op,
               " attempted to split along dimension ", dim, ", but the size of the dimension ", size,
               " is not divisible by the split_size ", sections, "!");
  return t.tensor_split(sections, dim);
}

// The dimension that hsplit divides: the columns, or the elements of a vector.
int64_t dim_of_columns(const char* op, const Tensor& t) { return dim_to_split(op, t, 1, t.dim() == 1 ? 0 : 1); }

}  // namespace

struct Hsplit : Composite<HsplitArgs> {
  static constexpr auto schema = "hsplit.int(Tensor(a) self, int sections) -> Tensor[]";
  static constexpr auto doc = "As many equal pieces, of columns (of elements, of a vector).";
  static std::vector<Tensor> compose(const Args& a) {
    return equal_pieces(Args::kName, a.self, a.sections, dim_of_columns(Args::kName, a.self));
  }
  static void samples(S& s) {
    s.add({s->real({2, 6}), 3});
    s.fails({s->real({2, 5}), 2}, "the size of the dimension 5 is not divisible by the split_size 2!");
    s.fails({s->real({}), 1},
            "hsplit: torch.hsplit requires a tensor with at least 1 dimension, but got a tensor with 0 dimensions!");
  }
};
ARGAND_OP(Hsplit)

struct HsplitIndices : Composite<HsplitIndicesArgs> {
  static constexpr auto schema = "hsplit.array(Tensor(a) self, int[] indices) -> Tensor[]";
  static constexpr auto doc = "Pieces between positions, of columns (of elements, of a vector).";
  static std::vector<Tensor> compose(const Args& a) {
    return a.self.tensor_split(a.indices, dim_of_columns(Args::kName, a.self));
  }
  static void samples(S& s) {
    s.add({s->real({2, 6}), {1, 4}});
    s.fails({s->real({}), {1}},
            "hsplit: torch.hsplit requires a tensor with at least 1 dimension, but got a tensor with 0 dimensions!");
  }
};
ARGAND_OP(HsplitIndices)

struct Vsplit : Composite<VsplitArgs> {
  static constexpr auto schema = "vsplit.int(Tensor(a) self, int sections) -> Tensor[]";
  static constexpr auto doc = "As many equal pieces, of rows.";
  static std::vector<Tensor> compose(const Args& a) {
    return equal_pieces(Args::kName, a.self, a.sections, dim_to_split(Args::kName, a.self, 2, 0));
  }
  static void samples(S& s) {
    s.add({s->real({6, 2}), 3});
    s.fails({s->real({5, 2}), 2}, "the size of the dimension 5 is not divisible by the split_size 2!");
    s.fails({s->real({4}), 1},
            "vsplit: torch.vsplit requires a tensor with at least 2 dimension, but got a tensor with 1 dimensions!");
  }
};
ARGAND_OP(Vsplit)

struct VsplitIndices : Composite<VsplitIndicesArgs> {
  static constexpr auto schema = "vsplit.array(Tensor(a) self, int[] indices) -> Tensor[]";
  static constexpr auto doc = "Pieces between positions, of rows.";
  static std::vector<Tensor> compose(const Args& a) {
    return a.self.tensor_split(a.indices, dim_to_split(Args::kName, a.self, 2, 0));
  }
  static void samples(S& s) {
    s.add({s->real({6, 2}), {1, 4}});
    s.fails({s->real({4}), {1}},
            "vsplit: torch.vsplit requires a tensor with at least 2 dimension, but got a tensor with 1 dimensions!");
  }
};
ARGAND_OP(VsplitIndices)

struct Dsplit : Composite<DsplitArgs> {
  static constexpr auto schema = "dsplit.int(Tensor(a) self, int sections) -> Tensor[]";
  static constexpr auto doc = "As many equal pieces, of the third dimension.";
  static std::vector<Tensor> compose(const Args& a) {
    return equal_pieces(Args::kName, a.self, a.sections, dim_to_split(Args::kName, a.self, 3, 2));
  }
  static void samples(S& s) {
    s.add({s->real({2, 1, 6}), 3});
    s.fails({s->real({2, 1, 5}), 2}, "the size of the dimension 5 is not divisible by the split_size 2!");
    s.fails({s->real({2, 4}), 1},
            "dsplit: torch.dsplit requires a tensor with at least 3 dimension, but got a tensor with 2 dimensions!");
  }
};
ARGAND_OP(Dsplit)

struct DsplitIndices : Composite<DsplitIndicesArgs> {
  static constexpr auto schema = "dsplit.array(Tensor(a) self, int[] indices) -> Tensor[]";
  static constexpr auto doc = "Pieces between positions, of the third dimension.";
  static std::vector<Tensor> compose(const Args& a) {
    return a.self.tensor_split(a.indices, dim_to_split(Args::kName, a.self, 3, 2));
  }
  static void samples(S& s) {
    s.add({s->real({2, 1, 6}), {1, 4}});
    s.fails({s->real({2, 4}), {1}},
            "dsplit: torch.dsplit requires a tensor with at least 3 dimension, but got a tensor with 2 dimensions!");
  }
};
ARGAND_OP(DsplitIndices)

}  // namespace argand::ops
