// Shapes in terms of other shapes: flatten, unflatten, expand_as, view_as, broadcast_to, broadcast_tensors.
#include "argand/ops/define.h"
#include "argand/ops/view/args.h"

namespace argand::ops {

struct Flatten : Composite<FlattenArgs> {
  static constexpr auto schema = "flatten(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)";
  static constexpr auto doc =
      "Dimensions start_dim to end_dim as one; a 0-dim tensor becomes a vector. A view where possible.";
  static Tensor compose(const Args& a) {
    const int64_t first = wrap_dim(a.start_dim, a.self.dim(), "flatten"),
                  last = wrap_dim(a.end_dim, a.self.dim(), "flatten");
    ARGAND_CHECK(ValueError, first <= last, "flatten: has invalid args: start_dim cannot come after end_dim, got ",
                 a.start_dim, " and ", a.end_dim);
    if (a.self.dim() == 0) return a.self.reshape({1});
    if (first == last) return a.self;
    Dims sizes;
    for (int64_t d = 0; d < a.self.dim(); ++d) {
      if (d > first && d <= last)
        sizes.back() *= a.self.sizes()[d];
      else
        sizes.push_back(a.self.sizes()[d]);
    }
    return a.self.reshape(sizes);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 4})});
    s.add({s->real({2, 3, 4}), 1});
    s.add({s->real({2, 0, 4}), 0, 1});
    s.add({s->real({})});
    s.fails({s->real({2, 3}), 1, 0}, "flatten: has invalid args: start_dim cannot come after end_dim");
    s.fails({s->real({2, 3}), 2}, "flatten: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(Flatten)

struct Ravel : Composite<RavelArgs> {
  static constexpr auto schema = "ravel(Tensor(a) self) -> Tensor(a)";
  static constexpr auto doc = "All elements as a vector; a view where possible.";
  static Tensor compose(const Args& a) { return a.self.contiguous().view({-1}); }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(Ravel)

struct Unflatten : Composite<UnflattenArgs> {
  static constexpr auto schema = "unflatten(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)";
  static constexpr auto doc = "Dimension dim as several; one of their sizes may be -1.";
  static constexpr int variants = kFunction | kMethod;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() > 0, "unflatten: expects at least a 1-dimensional tensor, got a 0-dim one");
    const int64_t dim = wrap_dim(a.dim, a.self.dim(), "unflatten");
    ARGAND_CHECK(ValueError, !a.sizes.empty(), "unflatten: sizes must be non-empty");
    Dims sizes;
    for (int64_t d = 0; d < a.self.dim(); ++d) {
      if (d == dim)
        sizes.insert_all(infer_size(a.sizes, a.self.sizes()[d], "unflatten"));
      else
        sizes.push_back(a.self.sizes()[d]);
    }
    return a.self.view(sizes);
  }
  static void samples(S& s) {
    s.add({s->real({2, 6}), 1, {2, -1}});
    s.add({s->real({4, 3}), 0, {2, 2}});
    s.fails({s->real({2, 6}), 1, {4, 2}}, "unflatten: shape '[4, 2]' is invalid for input of size 6");
    s.fails({s->real({2, 6}), 1, {}}, "unflatten: sizes must be non-empty");
  }
};
ARGAND_OP(Unflatten)

struct ExpandAs : Composite<ExpandAsArgs> {
  static constexpr auto schema = "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)";
  static constexpr auto doc = "self expanded to the shape of other.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) { return a.self.expand(a.other.sizes()); }
  static void samples(S& s) {
    s.add({s->real({3, 1}), s->real({2, 3, 4})});
    s.fails({s->real({3}), s->real({4})},
            "expand: The expanded size of the tensor (4) must match the existing size (3)");
  }
};
ARGAND_OP(ExpandAs)

struct ViewAs : Composite<ViewAsArgs> {
  static constexpr auto schema = "view_as(Tensor(a) self, Tensor other) -> Tensor(a)";
  static constexpr auto doc = "self viewed in the shape of other.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) { return a.self.view(a.other.sizes()); }
  static void samples(S& s) { s.add({s->real({2, 3}), s->real({2, 1, 3})}); }
};
ARGAND_OP(ViewAs)

struct ReshapeAs : Composite<ReshapeAsArgs> {
  static constexpr auto schema = "reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)";
  static constexpr auto doc = "self reshaped to the shape of other.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) { return a.self.reshape(a.other.sizes()); }
  static void samples(S& s) { s.add({s->real({2, 3}), s->real({6})}); }
};
ARGAND_OP(ReshapeAs)

struct BroadcastTo : Composite<BroadcastToArgs> {
  static constexpr auto schema = "broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)";
  static constexpr auto doc = "self expanded to a size.";
  static Tensor compose(const Args& a) { return a.self.expand(a.size); }
  static void samples(S& s) { s.add({s->real({3, 1}), {2, 3, 4}}); }
};
ARGAND_OP(BroadcastTo)

struct BroadcastTensors : Composite<BroadcastTensorsArgs> {
  static constexpr auto schema = "broadcast_tensors(Tensor[] tensors) -> Tensor[]";
  static constexpr auto doc = "All tensors expanded to their common shape.";
  static constexpr bool python_one_by_one = true;
  static std::vector<Tensor> compose(const Args& a) {
    Dims sizes;
    for (const Tensor& t : a.tensors) sizes = broadcast_shapes(sizes, t.sizes(), "broadcast_tensors");
    std::vector<Tensor> out;
    for (const Tensor& t : a.tensors) out.push_back(t.expand(sizes));
    return out;
  }
  static void samples(S& s) {
    s.add({{s->real({3, 1}), s->real({4}), s->real({})}});
    s.fails({{s->real({3}), s->real({4})}}, "broadcast_tensors: shapes [3] and [4] do not broadcast");
  }
};
ARGAND_OP(BroadcastTensors)

struct Meshgrid : Composite<MeshgridArgs> {
  static constexpr auto schema = "meshgrid.indexing(Tensor[] tensors, *, str indexing='ij') -> Tensor[]";
  static constexpr auto doc =
      "Grids of coordinates from vectors, expanded without a copy. indexing 'ij': dimension i varies with tensor i; "
      "'xy': dimension 0 varies with the second tensor, dimension 1 with the first, as in NumPy.";
  static constexpr bool python_one_by_one = true;
  static std::vector<Tensor> compose(const Args& a) {
    ARGAND_CHECK(ValueError, !a.tensors.empty(), "meshgrid expects a non-empty TensorList");
    ARGAND_CHECK(ValueError, a.indexing == "ij" || a.indexing == "xy",
                 "meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ", a.indexing);
    std::vector<Tensor> in = a.tensors;
    const bool swap = a.indexing == "xy" && in.size() >= 2;
    if (swap) std::swap(in[0], in[1]);
    Dims sizes;
    for (const Tensor& t : in) {
      ARGAND_CHECK(ShapeError, t.dim() <= 1,
                   "meshgrid: Expected 0D or 1D tensor in the tensor list but got: ", t.sizes());
      ARGAND_CHECK(DeviceError, t.device() == in[0].device(),
                   "meshgrid expects all tensors to have the same device, got ", in[0].device(), " and ", t.device());
      ARGAND_CHECK(DtypeError, t.dtype() == in[0].dtype(), "meshgrid expects all tensors to have the same dtype, got ",
                   in[0].dtype(), " and ", t.dtype());
      sizes.push_back(t.numel());
    }
    std::vector<Tensor> out;
    for (size_t i = 0; i < in.size(); ++i) {
      Dims place(sizes.size(), 1);
      place[i] = sizes[i];
      out.push_back(in[i].view(place).expand(sizes));
    }
    if (swap) std::swap(out[0], out[1]);
    return out;
  }
  static void samples(S& s) {
    s.add({{s->real({2}), s->real({3})}});
    s.add({{s->real({2}), s->real({3}), s->real({})}, "xy"});
    s.fails({{}}, "meshgrid expects a non-empty TensorList");
    s.fails({{s->real({2, 2})}}, "meshgrid: Expected 0D or 1D tensor in the tensor list but got: [2, 2]");
    s.fails({{s->real({2})}, "yx"}, "meshgrid: indexing must be one of \"xy\" or \"ij\", but received: yx");
  }
};
ARGAND_OP(Meshgrid)

}  // namespace argand::ops
