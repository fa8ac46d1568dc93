// The convolutions users call: conv1d/2d/3d, their "same" and "valid" padding, and the transposed ones.
#include <algorithm>

#include "argand/ops/conv/args.h"
#include "argand/ops/conv/conv_shape.h"
#include "argand/ops/conv/integer_conv.h"
#include "argand/ops/define.h"
#include "argand/ops/matmul/product.h"

namespace argand::ops {
namespace {

// An input without a batch dimension gets one for the call.
template <class F>
Tensor with_batch(const Tensor& input, const Tensor& weight, F call) {
  if (input.dim() + 1 == weight.dim()) return call(input.unsqueeze(0)).squeeze(0);
  return call(input);
}

void check_weight(const char* op, const Tensor& weight, size_t spatial) {
  ARGAND_CHECK(ShapeError, weight.sizes().size() == spatial + 2, op, ": expected a weight of ", spatial + 2,
               " dimensions, got ", weight.sizes());
}

Tensor conv(const char* op, const Tensor& input, const Tensor& weight, const Tensor& bias, const Dims& stride,
            const Dims& padding, const Dims& dilation, int64_t groups) {
  check_weight(op, weight, dilation.size());
  return with_batch(input, weight, [&](const Tensor& x) {
    if (x.dtype() == kLong && weight.dtype() == kLong)
      return integer_conv(x, weight, bias, {stride, padding, dilation, groups});
    check_same_dtype("convolution", "input", x, "weight", weight);
    return _convolution_nd(x, weight, bias, stride, padding, dilation, groups);
  });
}

// The total padding of "same" keeps the size at stride 1; if it is odd, the extra element is on the right.
Tensor conv_padded(const char* op, const Tensor& input, const Tensor& weight, const Tensor& bias, const Dims& stride,
                   const std::string& padding, const Dims& dilation, int64_t groups) {
  const size_t spatial = dilation.size();
  if (padding == "valid") return conv(op, input, weight, bias, stride, Dims(spatial, 0), dilation, groups);
  ARGAND_CHECK(ValueError, padding == "same", op, ": expected padding 'same' or 'valid', got '", padding, "'");
  check_weight(op, weight, spatial);
  ARGAND_CHECK(ShapeError, input.sizes().size() == spatial + 2 || input.sizes().size() == spatial + 1, op,
               ": expected an input of ", spatial + 1, " or ", spatial + 2, " dimensions, got ", input.sizes());
  Dims symmetric;
  Tensor x = input;
  for (size_t i = 0; i < spatial; ++i) {
    ARGAND_CHECK(ValueError, stride[i] == 1, op, ": padding='same' is not supported for strided convolutions");
    const int64_t total = dilation[i] * (weight.sizes()[2 + i] - 1);
    symmetric.push_back(total / 2);
    if (total % 2 == 0) continue;
    const int64_t d = x.dim() - static_cast<int64_t>(spatial - i);
    Dims sizes(x.sizes());
    const int64_t size = sizes[d]++;
    const Tensor wider = zeros(sizes, x.options());
    wider.narrow(d, 0, size).copy_(x);
    x = wider;
  }
  return conv(op, x, weight, bias, stride, symmetric, dilation, groups);
}

// An output padding of at least the stride (dilation allows it) equals that of a longer input that ends with zeros.
Tensor with_zeros_after(const Tensor& x, const Dims& stride, const Dims& output_padding) {
  Dims amounts;
  for (size_t i = stride.size(); i-- > 0;) {
    amounts.push_back(0);
    amounts.push_back(output_padding[i] / stride[i]);
  }
  const bool none = std::all_of(amounts.begin(), amounts.end(), [](int64_t n) { return n == 0; });
  return none ? x : constant_pad_nd(x, amounts);
}

Tensor conv_transpose(const char* op, const Tensor& input, const Tensor& weight, const Tensor& bias, const Dims& stride,
                      const Dims& padding, const Dims& output_padding, int64_t groups, const Dims& dilation) {
  return with_batch(input, weight, [&](const Tensor& x) {
    const Dims sizes =
        conv_transpose_sizes(op, x.sizes(), weight.sizes(), {stride, padding, dilation, groups}, output_padding);
    const Tensor y = x.dtype() == kLong && weight.dtype() == kLong
                         ? integer_conv_transpose(x, weight, sizes, {stride, padding, dilation, groups})
                         : _conv_input_grad(with_zeros_after(x, stride, output_padding), weight, sizes, stride, padding,
                                            dilation, groups);
    if (!bias.defined()) return y;
    ARGAND_CHECK(ShapeError, bias.dim() == 1 && bias.sizes()[0] == sizes[1], op, ": expected bias [", sizes[1],
                 "] (weight is ", weight.sizes(), "), got ", bias.sizes());
    Dims shape(x.sizes().size(), 1);
    shape[1] = sizes[1];
    return y + bias.view(shape);
  });
}

}  // namespace

struct Conv1d : Composite<Conv1dArgs> {
  static constexpr auto schema =
      "conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] dilation=1, "
      "int groups=1) -> Tensor";
  static constexpr auto doc =
      "Convolution of [N, C, 1 spatial] or [C, 1 spatial] with weight [O, C / groups, 1 kernel] and bias [O].";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return conv("conv1d", a.input, a.weight, a.bias, a.stride, a.padding, a.dilation, a.groups);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 8}), s->real({4, 3, 3}), s->real({4})});
    s.add({s->real({3, 8}), s->real({4, 3, 3}), Tensor()});
    s.fails({s->real({3}), s->real({4, 3, 3}), Tensor()},
            "conv1d: Expected 2D (unbatched) or 3D (batched) input to conv1d, but got input of size: [3]");
    s.fails({s->real({2, 3, 4}), s->real({4, 3}), Tensor()}, "conv1d: expected a weight of 3 dimensions, got [4, 3]");
  }
};
ARGAND_OP(Conv1d)

struct Conv1dPadding : Composite<Conv1dPaddingArgs> {
  static constexpr auto schema =
      "conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, str padding='valid', int[1] "
      "dilation=1, int groups=1) -> Tensor";
  static constexpr auto python_defaults = "bias stride padding";
  static constexpr auto doc =
      "conv1d with padding 'valid' (none) or 'same' (the output has the input's size; stride 1 only).";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return conv_padded("conv1d", a.input, a.weight, a.bias, a.stride, a.padding, a.dilation, a.groups);
  }
  static void samples(S& s) {
    const Dims one(1, 1), two(1, 2);
    s.add({s->real({2, 3, 8}), s->real({4, 3, 3}), s->real({4}), one, "same"});
    s.add({s->real({2, 3, 8}), s->real({4, 3, 3}), Tensor(), two, "valid"});
    s.fails({s->real({2, 3, 8}), s->real({4, 3, 3}), Tensor(), two, "same"},
            "conv1d: padding='same' is not supported for strided convolutions");
    s.fails({s->real({2, 3, 8}), s->real({4, 3, 3}), Tensor(), one, "full"},
            "conv1d: expected padding 'same' or 'valid', got 'full'");
  }
};
ARGAND_OP(Conv1dPadding)

struct ConvTranspose1d : Composite<ConvTranspose1dArgs> {
  static constexpr auto schema =
      "conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] "
      "output_padding=0, int "
      "groups=1, int[1] dilation=1) -> Tensor";
  static constexpr auto doc =
      "Transposed convolution of [N, C, 1 spatial] with weight [C, O / groups, 1 kernel] and bias [O].";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return conv_transpose("conv_transpose1d", a.input, a.weight, a.bias, a.stride, a.padding, a.output_padding,
                          a.groups, a.dilation);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 8}), s->real({3, 4, 3}), s->real({4})});
    s.add({s->real({2, 4, 8}), s->real({4, 2, 3}), Tensor(), Dims(1, 2), Dims(1, 1), Dims(1, 1), 2});
    s.fails({s->real({2, 3, 8}), s->real({4, 4, 3}), Tensor()}, "conv_transpose1d: expected input with 4 channels");
  }
};
ARGAND_OP(ConvTranspose1d)

struct Conv2d : Composite<Conv2dArgs> {
  static constexpr auto schema =
      "conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] dilation=1, "
      "int groups=1) -> Tensor";
  static constexpr auto doc =
      "Convolution of [N, C, 2 spatial] or [C, 2 spatial] with weight [O, C / groups, 2 kernel] and bias [O].";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return conv("conv2d", a.input, a.weight, a.bias, a.stride, a.padding, a.dilation, a.groups);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 6, 5}), s->real({4, 3, 3, 2}), s->real({4})});
    s.add({s->real({3, 6, 5}), s->real({4, 3, 3, 2}), Tensor()});
    s.add({s->integer({2, 4, 6, 5}, -5, 6), s->integer({6, 2, 3, 2}, -5, 6), s->integer({6}, -5, 6), Dims{2, 1},
           Dims{1, 0}, Dims{1, 2}, 2});
    s.fails({s->real({3}), s->real({4, 3, 3, 2}), Tensor()},
            "conv2d: Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [3]");
    s.fails({s->real({2, 3, 4}), s->real({4, 3}), Tensor()}, "conv2d: expected a weight of 4 dimensions, got [4, 3]");
  }
};
ARGAND_OP(Conv2d)

struct Conv2dPadding : Composite<Conv2dPaddingArgs> {
  static constexpr auto schema =
      "conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, str padding='valid', int[2] "
      "dilation=1, int groups=1) -> Tensor";
  static constexpr auto python_defaults = "bias stride padding";
  static constexpr auto doc =
      "conv2d with padding 'valid' (none) or 'same' (the output has the input's size; stride 1 only).";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return conv_padded("conv2d", a.input, a.weight, a.bias, a.stride, a.padding, a.dilation, a.groups);
  }
  static void samples(S& s) {
    const Dims one(2, 1), two(2, 2);
    s.add({s->real({2, 3, 6, 5}), s->real({4, 3, 3, 2}), s->real({4}), one, "same"});
    s.add({s->real({2, 3, 6, 5}), s->real({4, 3, 3, 2}), Tensor(), two, "valid"});
    s.fails({s->real({2, 3, 6, 5}), s->real({4, 3, 3, 2}), Tensor(), two, "same"},
            "conv2d: padding='same' is not supported for strided convolutions");
    s.fails({s->real({2, 3, 6, 5}), s->real({4, 3, 3, 2}), Tensor(), one, "full"},
            "conv2d: expected padding 'same' or 'valid', got 'full'");
  }
};
ARGAND_OP(Conv2dPadding)

struct ConvTranspose2d : Composite<ConvTranspose2dArgs> {
  static constexpr auto schema =
      "conv_transpose2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] "
      "output_padding=0, int "
      "groups=1, int[2] dilation=1) -> Tensor";
  static constexpr auto doc =
      "Transposed convolution of [N, C, 2 spatial] with weight [C, O / groups, 2 kernel] and bias [O].";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return conv_transpose("conv_transpose2d", a.input, a.weight, a.bias, a.stride, a.padding, a.output_padding,
                          a.groups, a.dilation);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 6, 5}), s->real({3, 4, 3, 2}), s->real({4})});
    s.add({s->real({2, 4, 6, 5}), s->real({4, 2, 3, 2}), Tensor(), Dims(2, 2), Dims(2, 1), Dims(2, 1), 2});
    s.add({s->real({1, 2, 4, 3}), s->real({2, 2, 3, 2}), s->real({2}), Dims(2, 2), Dims(2, 1), Dims{1, 3}, 1,
           Dims(2, 4)});
    s.add({s->integer({2, 4, 6, 5}, -5, 6), s->integer({4, 2, 3, 2}, -5, 6), s->integer({4}, -5, 6), Dims{2, 1},
           Dims{1, 2}, Dims{1, 0}, 2, Dims{1, 2}});
    s.fails({s->real({2, 3, 6, 5}), s->real({4, 4, 3, 2}), Tensor()},
            "conv_transpose2d: expected input with 4 channels");
  }
};
ARGAND_OP(ConvTranspose2d)

struct Conv3d : Composite<Conv3dArgs> {
  static constexpr auto schema =
      "conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] dilation=1, "
      "int groups=1) -> Tensor";
  static constexpr auto doc =
      "Convolution of [N, C, 3 spatial] or [C, 3 spatial] with weight [O, C / groups, 3 kernel] and bias [O].";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return conv("conv3d", a.input, a.weight, a.bias, a.stride, a.padding, a.dilation, a.groups);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 4, 4, 3}), s->real({4, 3, 2, 2, 2}), s->real({4})});
    s.add({s->real({3, 4, 4, 3}), s->real({4, 3, 2, 2, 2}), Tensor()});
    s.fails({s->real({3}), s->real({4, 3, 2, 2, 2}), Tensor()},
            "conv3d: Expected 4D (unbatched) or 5D (batched) input to conv3d, but got input of size: [3]");
    s.fails({s->real({2, 3, 4}), s->real({4, 3}), Tensor()}, "conv3d: expected a weight of 5 dimensions, got [4, 3]");
  }
};
ARGAND_OP(Conv3d)

struct Conv3dPadding : Composite<Conv3dPaddingArgs> {
  static constexpr auto schema =
      "conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, str padding='valid', int[3] "
      "dilation=1, int groups=1) -> Tensor";
  static constexpr auto python_defaults = "bias stride padding";
  static constexpr auto doc =
      "conv3d with padding 'valid' (none) or 'same' (the output has the input's size; stride 1 only).";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return conv_padded("conv3d", a.input, a.weight, a.bias, a.stride, a.padding, a.dilation, a.groups);
  }
  static void samples(S& s) {
    const Dims one(3, 1), two(3, 2);
    s.add({s->real({2, 3, 4, 4, 3}), s->real({4, 3, 2, 2, 2}), s->real({4}), one, "same"});
    s.add({s->real({2, 3, 4, 4, 3}), s->real({4, 3, 2, 2, 2}), Tensor(), two, "valid"});
    s.fails({s->real({2, 3, 4, 4, 3}), s->real({4, 3, 2, 2, 2}), Tensor(), two, "same"},
            "conv3d: padding='same' is not supported for strided convolutions");
    s.fails({s->real({2, 3, 4, 4, 3}), s->real({4, 3, 2, 2, 2}), Tensor(), one, "full"},
            "conv3d: expected padding 'same' or 'valid', got 'full'");
  }
};
ARGAND_OP(Conv3dPadding)

struct ConvTranspose3d : Composite<ConvTranspose3dArgs> {
  static constexpr auto schema =
      "conv_transpose3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] "
      "output_padding=0, int "
      "groups=1, int[3] dilation=1) -> Tensor";
  static constexpr auto doc =
      "Transposed convolution of [N, C, 3 spatial] with weight [C, O / groups, 3 kernel] and bias [O].";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return conv_transpose("conv_transpose3d", a.input, a.weight, a.bias, a.stride, a.padding, a.output_padding,
                          a.groups, a.dilation);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 4, 4, 3}), s->real({3, 4, 2, 2, 2}), s->real({4})});
    s.add({s->real({2, 4, 4, 4, 3}), s->real({4, 2, 2, 2, 2}), Tensor(), Dims(3, 2), Dims(3, 1), Dims(3, 1), 2});
    s.fails({s->real({2, 3, 4, 4, 3}), s->real({4, 4, 2, 2, 2}), Tensor()},
            "conv_transpose3d: expected input with 4 channels");
  }
};
ARGAND_OP(ConvTranspose3d)

}  // namespace argand::ops
