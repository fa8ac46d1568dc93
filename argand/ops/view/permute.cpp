// Views that reorder dimensions: permute, transpose, t.
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/view/args.h"

namespace argand::ops {

struct Permute : View<PermuteArgs> {
  static constexpr auto schema = "permute(Tensor(a) self, int[] dims) -> Tensor(a)";
  static constexpr auto doc = "Dimension i of the result is dimension dims[i] of self.";
  static ViewLayout view(const Args& a) {
    ARGAND_CHECK(ShapeError, static_cast<int64_t>(a.dims.size()) == a.self.dim(), "permute: expected ", a.self.dim(),
                 " dims for a tensor of sizes ", a.self.sizes(), ", got ", a.dims);
    ViewLayout v{{}, {}, a.self.storage_offset()};
    for (const int64_t d : wrap_dims(a.dims, a.self.dim(), "permute", false)) {
      v.sizes.push_back(a.self.sizes()[d]);
      v.strides.push_back(a.self.strides()[d]);
    }
    return v;
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    Dims inverse(c.dims.size());
    for (size_t i = 0; i < c.dims.size(); ++i)
      inverse[wrap_dim(c.dims[i], g.dim(), "permute")] = static_cast<int64_t>(i);
    return g.permute(inverse);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 4}), {2, 0, 1}});
    s.add({s->real({2, 3}), {-1, 0}});
    s.fails({s->real({2, 3}), {0}}, "permute: expected 2 dims");
    s.fails({s->real({2, 3}), {0, 0}}, "permute: dim 0 appears multiple times");
  }
};
ARGAND_OP(Permute)

struct Transpose : View<TransposeArgs> {
  static constexpr auto schema = "transpose(Tensor(a) self, int dim0, int dim1) -> Tensor(a)";
  static constexpr const char* overloads[] = {"swapaxes(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
                                              "swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)"};
  static constexpr auto doc = "With two dimensions exchanged.";
  static ViewLayout view(const Args& a) {
    const int64_t i = wrap_dim(a.dim0, a.self.dim(), "transpose"), j = wrap_dim(a.dim1, a.self.dim(), "transpose");
    ViewLayout v{a.self.impl().sizes, a.self.impl().strides, a.self.storage_offset()};
    if (!v.sizes.empty()) {
      std::swap(v.sizes[i], v.sizes[j]);
      std::swap(v.strides[i], v.strides[j]);
    }
    return v;
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g.transpose(c.dim0, c.dim1); }
  static void samples(S& s) {
    s.add({s->real({2, 3, 4}), 0, -1});
    s.add({s->real({}), 0, 0});
    s.fails({s->real({2, 3}), 0, 2},
            "transpose: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(Transpose)

struct T : Composite<TArgs> {
  static constexpr auto schema = "t(Tensor(a) self) -> Tensor(a)";
  static constexpr auto doc = "The transpose of a matrix; a tensor of fewer dimensions as it is.";
  static constexpr int variants = kFunction | kMethod | kCopy;
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() <= 2, "t: expects a tensor with <= 2 dimensions, but self is ", a.self.dim(),
                 "D");
    return a.self.dim() < 2 ? alias(a.self) : a.self.transpose(0, 1);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.add({s->real({3})});
    s.fails({s->real({2, 3, 4})}, "t: expects a tensor with <= 2 dimensions, but self is 3D");
  }
};
ARGAND_OP(T)
ARGAND_NODE(T)

}  // namespace argand::ops
