// Tensors like another, of another size: new_empty, new_full, ...; and empty_strided, scalar_tensor.
#include "argand/ops/create/args.h"
#include "argand/ops/create/meta.h"
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
    s.fails({s->real({2}), {-1}, 1}, "new_full: sizes must be non-negative, got [-1]");
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
  // A new tensor's storage holds as many elements as it has; with gaps or overlaps it must be longer or shorter.
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ShapeError, a.size.size() == a.stride.size(),
                 "empty_strided: expected as many strides as sizes, got size ", a.size, " and stride ", a.stride);
    for (const int64_t s : a.stride)
      ARGAND_CHECK(ValueError, s >= 0, "empty_strided: strides must be non-negative, got ", a.stride);
    TensorMeta meta = meta_of(Args::kName, a.size, a.options);
    meta.strides = a.stride;
    return meta;
  }
  static void run(const Args& a, Tensor& out) {
    int64_t span = numel_of(a.size) == 0 ? 0 : 1;
    for (size_t i = 0; i < a.size.size() && span > 0; ++i) {
      int64_t reach;
      ARGAND_CHECK(
          ShapeError,
          !__builtin_mul_overflow(a.size[i] - 1, a.stride[i], &reach) && !__builtin_add_overflow(span, reach, &span),
          "empty_strided: size ", a.size, " with stride ", a.stride, " is too large");
    }
    out.storage()->resize(static_cast<size_t>(span * out.itemsize()));
  }
  static void samples(S& s) {
    s.fails({{2, 3}, {1}}, "empty_strided: expected as many strides as sizes, got size [2, 3] and stride [1]");
    s.fails({{2}, {-1}}, "empty_strided: strides must be non-negative, got [-1]");
  }
};
ARGAND_OP(EmptyStrided)

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
