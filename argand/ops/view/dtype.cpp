// Views of the same bytes as another dtype: view.dtype, and complex numbers as pairs of real ones.
#include "argand/ops/define.h"
#include "argand/ops/view/args.h"

namespace argand::ops {
namespace {

// Strides and offset of elements of size `from` as counts of elements of size `to`; the last dimension apart.
// ShapeError if an element would begin inside another.
void rescale(ViewLayout& v, int64_t from, int64_t to, size_t ndim) {
  const auto scale = [&](int64_t& count, const std::string& what) {
    ARGAND_CHECK(ShapeError, count * from % to == 0, "view: ", what, " must be divisible by ", to / from,
                 " to view elements of ", from, " bytes as elements of ", to, ", but got ", count);
    count = count * from / to;
  };
  scale(v.offset, "self.storage_offset()");
  for (size_t d = 0; d < ndim; ++d) scale(v.strides[d], str("self.stride(", d, ")"));
}

}  // namespace

struct ViewDtype : View<ViewDtypeArgs> {
  static constexpr auto schema = "view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)";
  static constexpr auto doc =
      "The same bytes as elements of another dtype, without a copy; the last dimension grows or shrinks with the size "
      "of an element. ShapeError if the strides do not allow it.";
  static constexpr int variants = kMethod | kCopy;
  static constexpr bool copies_first = true;
  static constexpr bool differentiable = false;
  static ViewLayout view(const Args& a) {
    const auto& self = a.self.impl();
    ViewLayout v{self.sizes, self.strides, self.offset, a.dtype};
    const int64_t from = a.self.itemsize(), to = element_size(a.dtype);
    if (from == to) return v;
    ARGAND_CHECK(ShapeError, !v.sizes.empty(), "view: self.dim() cannot be 0 to view ", a.self.dtype(), " as ", a.dtype,
                 " (different element sizes)");
    const size_t last = v.sizes.size() - 1;
    ARGAND_CHECK(ShapeError, v.strides[last] == 1, "view: self.stride(-1) must be 1 to view ", a.self.dtype(), " as ",
                 a.dtype, " (different element sizes), but got ", v.strides[last]);
    ARGAND_CHECK(ShapeError, v.sizes[last] * from % to == 0, "view: self.size(-1) must be divisible by ", to / from,
                 " to view ", a.self.dtype(), " as ", a.dtype, " (different element sizes), but got ", v.sizes[last]);
    v.sizes[last] = v.sizes[last] * from / to;
    rescale(v, from, to, last);
    return v;
  }
  // Samples are integers only: the tests give floating-point tensors other dtypes, whose bits differ.
  static void samples(S& s) {
    s.add({s->integer({2, 4}, -5, 6), kInt});
    s.add({s->integer({2, 4}, -5, 6), kDouble});
    s.add({s->integer({3}, -5, 6), kByte});
    s.add({s->integer({2, 0}, -5, 6), kShort});
    s.fails({s->integer({}, 0, 5), kInt}, "view: self.dim() cannot be 0 to view int64 as int32");
    s.fails({s->integer({2, 3}, 0, 5), kComplexDouble},
            "view: self.size(-1) must be divisible by 2 to view int64 as complex128");
  }
};
ARGAND_OP(ViewDtype)

struct ViewAsReal : View<ViewAsRealArgs> {
  static constexpr auto schema = "view_as_real(Tensor(a) self) -> Tensor(a)";
  static constexpr auto doc = "Complex numbers as pairs of real ones in a new last dimension, without a copy.";
  static constexpr DtypeSet dtypes = kComplexTypes;
  static ViewLayout view(const Args& a) {
    const auto& self = a.self.impl();
    ViewLayout v{self.sizes, self.strides, 2 * self.offset, to_real_type(a.self.dtype())};
    for (int64_t& s : v.strides) s *= 2;
    v.sizes.push_back(2);
    v.strides.push_back(1);
    return v;
  }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return view_as_complex(g.contiguous()); }
  static void samples(S& s) {
    s.add({complex(s->real({2, 3}), s->real({2, 3}))});
    s.add({complex(s->real({}), s->real({}))});
    s.fails({s->real({2})}, "view_as_real: not implemented for dtype float64");
  }
};
ARGAND_OP(ViewAsReal)

struct ViewAsComplex : View<ViewAsComplexArgs> {
  static constexpr auto schema = "view_as_complex(Tensor(a) self) -> Tensor(a)";
  static constexpr auto doc =
      "Pairs of real numbers, which are neighbours in the last dimension, as complex ones, without a copy.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kFloatTypes;
  static constexpr bool copies_first = true;
  static ViewLayout view(const Args& a) {
    const auto& self = a.self.impl();
    ARGAND_CHECK(ShapeError, !self.sizes.empty(), "view_as_complex: Input tensor must have one or more dimensions");
    ARGAND_CHECK(ShapeError, self.sizes.back() == 2,
                 "view_as_complex: Tensor must have a last dimension of size 2, got shape ", a.self.sizes());
    ViewLayout v{self.sizes, self.strides, self.offset, to_complex_type(a.self.dtype())};
    ARGAND_CHECK(ShapeError, v.strides.back() == 1, "view_as_complex: Tensor must have a last dimension with stride 1");
    v.sizes.pop_back();
    v.strides.pop_back();
    ARGAND_CHECK(ShapeError, v.offset % 2 == 0, "view_as_complex: Tensor must have a storage_offset divisible by 2");
    v.offset /= 2;
    for (int64_t& s : v.strides) {
      ARGAND_CHECK(ShapeError, s % 2 == 0,
                   "view_as_complex: Tensor must have a stride divisible by 2 for all but last dimension");
      s /= 2;
    }
    return v;
  }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return view_as_real(g.contiguous()); }
  static void samples(S& s) {
    s.add({s->real({3, 2})});
    s.add({s->real({2, 3, 2})});
    s.add({s->real({2})});
    s.fails({s->real({2, 3})}, "view_as_complex: Tensor must have a last dimension of size 2, got shape [2, 3]");
    s.fails({s->integer({2}, 0, 3)}, "view_as_complex: not implemented for dtype int64");
  }
};
ARGAND_OP(ViewAsComplex)

struct Real : Composite<RealArgs> {
  static constexpr auto schema = "real(Tensor(a) self) -> Tensor(a)";
  static constexpr auto doc = "The real parts as a view; a real tensor itself.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return a.self.is_complex() ? view_as_real(a.self).select(-1, 0) : a.self; }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.add({complex(s->real({2, 3}), s->real({2, 3}))});
  }
};
ARGAND_OP(Real)

struct Imag : Composite<ImagArgs> {
  static constexpr auto schema = "imag(Tensor(a) self) -> Tensor(a)";
  static constexpr auto doc = "The imaginary parts of complex numbers, as a view.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kComplexTypes;
  static Tensor compose(const Args& a) { return view_as_real(a.self).select(-1, 1); }
  static void samples(S& s) {
    s.add({complex(s->real({2, 3}), s->real({2, 3}))});
    s.fails({s->real({2})}, "imag: not implemented for dtype float64");
  }
};
ARGAND_OP(Imag)

}  // namespace argand::ops
