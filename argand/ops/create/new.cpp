// Tensors like another, of another size: new_empty, new_full, ...; and empty_strided, empty_permuted, scalar_tensor.
#include "argand/base/checked.h"
#include "argand/ops/create/args.h"
#include "argand/ops/create/meta.h"
#include "argand/ops/create/uninitialized.h"
#include "argand/ops/define.h"

namespace argand::ops {

struct NewEmpty : Composite<NewEmptyArgs> {
  static constexpr auto schema =
      "new_empty(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None) -> Tensor";
  static constexpr auto doc = "An unset tensor of a size, with the dtype and device of self.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) {
    check_sizes(Args::kName, a.size);
    return empty(a.size, options_like(a.self, a.options));
  }
  static void samples(S& s) {
    s->values_unset();
    s.add({s->real({2}), {2, 3}});
  }
};
ARGAND_OP(NewEmpty)

struct NewFull : Composite<NewFullArgs> {
  static constexpr auto schema =
      "new_full(Tensor self, int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto doc = "A tensor of one value, with the dtype and device of self.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) {
    check_sizes(Args::kName, a.size);
    return full(a.size, a.fill_value, options_like(a.self, a.options));
  }
  static void samples(S& s) {
    s.add({s->real({2}), {2, 3}, 1.5});
    s.fails({s->real({2}), {-1}, 1}, "new_full: Trying to create tensor with negative dimension -1: [-1]");
  }
};
ARGAND_OP(NewFull)

struct NewZeros : Composite<NewZerosArgs> {
  static constexpr auto schema =
      "new_zeros(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None) -> Tensor";
  static constexpr auto doc = "Zeros of a size, with the dtype and device of self.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) {
    check_sizes(Args::kName, a.size);
    return zeros(a.size, options_like(a.self, a.options));
  }
  static void samples(S& s) { s.add({s->real({2}), {2, 3}}); }
};
ARGAND_OP(NewZeros)

struct NewOnes : Composite<NewOnesArgs> {
  static constexpr auto schema =
      "new_ones(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None) -> Tensor";
  static constexpr auto doc = "Ones of a size, with the dtype and device of self.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) {
    check_sizes(Args::kName, a.size);
    return ones(a.size, options_like(a.self, a.options));
  }
  static void samples(S& s) { s.add({s->real({2}), {2, 3}}); }
};
ARGAND_OP(NewOnes)

struct EmptyStrided : Kernel<EmptyStridedArgs> {
  static constexpr auto schema =
      "empty_strided(int[] size, int[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? "
      "pin_memory=None) -> Tensor";
  static constexpr auto doc = "An unset tensor with the given strides, in elements.";
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ShapeError, a.size.size() == a.stride.size(), "empty_strided: dimensionality of sizes (",
                 a.size.size(), ") must match dimensionality of strides (", a.stride.size(), ")");
    for (const int64_t s : a.stride)
      ARGAND_CHECK(ValueError, s >= 0, "empty_strided: strides must be non-negative, got ", a.stride);
    TensorMeta meta = meta_of(Args::kName, a.size, a.options);
    meta.strides = a.stride;
    return meta;
  }
  static void run(const Args&, Tensor& out) { fill_uninitialized(out); }  // the strides are those of `infer`
  static void samples(S& s) {
    s->values_unset();
    s.fails({{2, 3}, {1}}, "empty_strided: dimensionality of sizes (2) must match dimensionality of strides (1)");
    s.fails({{2}, {-1}}, "empty_strided: strides must be non-negative, got [-1]");
  }
};
ARGAND_OP(EmptyStrided)

struct NewEmptyStrided : Composite<NewEmptyStridedArgs> {
  static constexpr auto schema =
      "new_empty_strided(Tensor self, int[] size, int[] stride, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto doc = "An unset tensor with the given strides, in elements, and the dtype and device of self.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) {
    check_sizes(Args::kName, a.size);
    return empty_strided(a.size, a.stride, options_like(a.self, a.options));
  }
  static void samples(S& s) {
    s->values_unset();
    s.add({s->real({2}), {2, 3}, {1, 4}});
    s.fails({s->real({2}), {-1}, {1}}, "new_empty_strided: Trying to create tensor with negative dimension -1: [-1]");
    s.fails({s->real({2}), {2, 3}, {1}},
            "empty_strided: dimensionality of sizes (2) must match dimensionality of strides (1)");
  }
};
ARGAND_OP(NewEmptyStrided)

struct EmptyPermuted : Composite<EmptyPermutedArgs> {
  static constexpr auto schema =
      "empty_permuted(int[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto doc =
      "An unset tensor without gaps whose dimensions lie in memory in the given order, the outermost first.";
  static Tensor compose(const Args& a) {
    check_sizes(Args::kName, a.size);
    const auto ndim = static_cast<int64_t>(a.size.size());
    ARGAND_CHECK(ShapeError, a.physical_layout.size() == a.size.size(),
                 "empty_permuted: Number of dimensions in size does not match the length of the physical_layout; i.e. "
                 "len(size) = ",
                 ndim, " is not equal to len(physical_layout) = ", a.physical_layout.size());
    Dims strides(a.size.size(), 0);  // 0: not met yet, for no stride is
    CheckedSize stride(1, Args::kName);
    for (int64_t i = ndim - 1; i >= 0; --i) {
      const int64_t d = a.physical_layout[i];
      ARGAND_CHECK(IndexError, d >= 0 && d < ndim,
                   "empty_permuted: Dimension out of range (expected to be between 0 and ", ndim - 1, ", but got ", d,
                   " at index ", i, ")");
      ARGAND_CHECK(ValueError, strides[d] == 0, "empty_permuted: Duplicate dim not allowed, got ", a.physical_layout);
      strides[d] = stride.value();
      stride.mul(std::max<int64_t>(a.size[d], 1));
    }
    return empty_strided(a.size, strides, a.options);
  }
  static void samples(S& s) {
    s->values_unset();
    s.add({{2, 3, 4}, {2, 0, 1}});
    s.add({{2, 0}, {1, 0}});
    s.fails({{2, 3}, {0}}, "empty_permuted: Number of dimensions in size does not match the length of");
    s.fails({{2, 3}, {0, 2}}, "(expected to be between 0 and 1, but got 2 at index 1)");
    s.fails({{2, 3}, {0, 0}}, "empty_permuted: Duplicate dim not allowed, got [0, 0]");
    s.fails({{int64_t{1} << 40, int64_t{1} << 40}, {0, 1}}, "does not fit in 64 bits");
  }
};
ARGAND_OP(EmptyPermuted)

struct ScalarTensor : Composite<ScalarTensorArgs> {
  static constexpr auto schema =
      "scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None) -> Tensor";
  static constexpr auto doc = "A 0-dim tensor of one value, of the default float dtype unless another is given.";
  static Tensor compose(const Args& a) { return full({}, a.s, a.options.dtype(a.options.dtype())); }
  static void samples(S& s) {
    s.add({2});
    s.add({1.5, kLong});
  }
};
ARGAND_OP(ScalarTensor)

}  // namespace argand::ops
