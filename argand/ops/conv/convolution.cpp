// Convolution and its two adjoints.
//
// y = conv(x, w), gx = input_grad(gy, w) and gw = weight_grad(gy, x) are bilinear, and the gradient of each is the
// other two: so gradients of any order exist, and a transposed convolution is input_grad under another name.
#include "argand/kernels/api/conv_parameter_grads.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/conv/args.h"
#include "argand/ops/conv/conv_layout.h"
#include "argand/ops/conv/conv_shape.h"
#include "argand/ops/define.h"
#include "argand/ops/matmul/product.h"
#include "argand/ops/node_name.h"
#include "argand/ops/reduce/reduction.h"

namespace argand::ops {
namespace {

constexpr DtypeSet kConvTypes = kFloatingTypes | kComplexTypes;

Dims all_but_channels(int64_t ndim) {
  Dims dims{0};
  for (int64_t d = 2; d < ndim; ++d) dims.push_back(d);
  return dims;
}

}  // namespace

struct ConvolutionNd : Kernel<ConvolutionNdArgs> {
  static constexpr auto schema =
      "_convolution_nd(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int "
      "groups) -> Tensor";
  static constexpr auto doc =
      "Convolution of [N, C, spatial...] with [O, C / groups, kernel...], one to three spatial dimensions.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kConvTypes;
  static ConvShape shape(const Args& a) {
    return conv_shape("conv", a.input.sizes(), a.weight.sizes(), {a.stride, a.padding, a.dilation, a.groups});
  }
  static TensorMeta infer(const Args& a) {
    const ConvShape s = shape(a);
    const char* op = "convolution";
    check_same_dtype(op, "input", a.input, "weight", a.weight);
    if (a.bias.defined()) {
      check_same_dtype(op, "bias", a.bias, "weight", a.weight);
      ARGAND_CHECK(ShapeError, a.bias.dim() == 1 && a.bias.sizes()[0] == s.o, op, ": expected bias [", s.o,
                   "] (weight is ", a.weight.sizes(), "), got ", a.bias.sizes());
    }
    const Dims sizes = conv_output_sizes(s, a.weight.sizes().size() - 2);
    return {sizes, a.input.dtype(), conv_strides(sizes, a.input, a.weight)};
  }
  static void run(const Args& a, Tensor& out) {
    ConvShape s = shape(a);
    const ChannelLayout layout = conv_layout(s, a.input, a.weight);
    const Tensor x = layout.of(a.input), w = layout.of(a.weight), b = exec::dense(a.bias), y = layout.to_write(out);
    blocks::conv_forward.on(out.device())(s, out.dtype(), x.impl().data(), w.impl().data(),
                                          b.defined() ? b.impl().data() : nullptr, y.impl().data());
    layout.put(out, y);
  }
  static Grads grad(const Ctx& c, const Tensor& g) {
    Grads out(c.num_tensors());
    if (c.needs(kWeight))
      std::tie(out[kWeight], out[kBias]) = _conv_weight_grad(g, c.input.conj(), c.sizes(kWeight), c.stride, c.padding,
                                                             c.dilation, c.groups, c.needs(kBias));
    else if (c.needs(kBias))
      out[kBias] = g.sum(all_but_channels(g.dim()));
    if (c.needs(kInput))  // last, as in linear
      out[kInput] = _conv_input_grad(g, c.weight.conj(), c.sizes(kInput), c.stride, c.padding, c.dilation, c.groups);
    return out;
  }
  static void samples(S& s) {
    s->accuracy({.ulps = 2,
                 .reason = "the bias is added to cuDNN's result, which is rounded",
                 .device = kCUDA,
                 .rounds_parts = true});
    s.add({s->real({2, 3, 6, 5}), s->real({4, 3, 3, 3}), s->real({4}), {1, 1}, {1, 1}, {1, 1}, 1});
    s.add({s->real({2, 4, 7, 6}), s->real({6, 2, 3, 2}), s->real({6}), {2, 1}, {0, 1}, {1, 2}, 2});
    s.add({s->real({2, 3, 8}), s->real({2, 3, 3}), Tensor(), {2}, {1}, {1}, 1});
    s.add({s->real({1, 2, 4, 4, 4}), s->real({3, 2, 2, 2, 2}), s->real({3}), {1, 2, 1}, {0, 1, 0}, {1, 1, 2}, 1});
    s.add({s->real({2, 3, 4, 4}), s->real({5, 3, 1, 1}), Tensor(), {1, 1}, {0, 0}, {1, 1}, 1});
    s.add({s->real({0, 3, 4, 4}), s->real({5, 3, 3, 3}), s->real({5}), {1, 1}, {0, 0}, {1, 1}, 1});
    s.fails({s->real({64, 1, 28, 28}), s->real({16, 3, 3, 3}), Tensor(), {1, 1}, {0, 0}, {1, 1}, 1},
            "conv2d: expected input with 3 channels (weight is [16, 3, 3, 3]), got [64, 1, 28, 28]");
    s.fails({s->real({1, 3, 2, 2}), s->real({4, 3, 3, 3}), Tensor(), {1, 1}, {0, 0}, {1, 1}, 1},
            "conv2d: Calculated padded input size per channel: (2 x 2). Kernel size: (3 x 3). Kernel size can't be "
            "greater than actual input size");
    s.fails({s->real({1, 3, 8}), s->real({4, 3, 3}), Tensor(), {0}, {0}, {1}, 1},
            "conv1d: non-positive stride is not supported, got [0]");
    s.fails({s->real({1, 3, 8}), s->real({4, 3, 3}), Tensor(), {1}, {-1}, {1}, 1},
            "conv1d: negative padding is not supported, got [-1]");
    s.fails({s->real({1, 4, 8}), s->real({3, 2, 3}), Tensor(), {1}, {0}, {1}, 2},
            "conv1d: the output channels (3) must be divisible by groups (2)");
    s.fails({s->real({1, 3, 8}), s->real({4, 3, 3}), s->real({3}), {1}, {0}, {1}, 1},
            "convolution: expected bias [4] (weight is [4, 3, 3]), got [3]");
  }
};
ARGAND_OP(ConvolutionNd)
ARGAND_NODE(ConvolutionNd, "ConvolutionBackward0")

struct ConvInputGrad : Kernel<ConvInputGradArgs> {
  static constexpr auto schema =
      "_conv_input_grad(Tensor grad_output, Tensor weight, int[] input_size, int[] stride, int[] padding, int[] "
      "dilation, int groups) -> Tensor";
  static constexpr auto doc = "The gradient of a convolution with respect to its input; a transposed convolution.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kConvTypes;
  static ConvShape shape(const Args& a) {
    return conv_shape("conv", a.input_size, a.weight.sizes(), {a.stride, a.padding, a.dilation, a.groups});
  }
  static TensorMeta infer(const Args& a) {
    check_same_dtype("_conv_input_grad", "grad_output", a.grad_output, "weight", a.weight);
    const Dims expected = conv_output_sizes(shape(a), a.weight.sizes().size() - 2);
    ARGAND_CHECK(ShapeError, a.grad_output.sizes() == IntArrayRef(expected),
                 "_conv_input_grad: expected grad_output of shape ", expected, ", got ", a.grad_output.sizes());
    return {a.input_size, a.grad_output.dtype(), conv_strides(a.input_size, a.grad_output, a.weight)};
  }
  static void run(const Args& a, Tensor& out) {
    ConvShape s = shape(a);
    const ChannelLayout layout = conv_layout(s, a.grad_output, a.weight);
    const Tensor g = layout.of(a.grad_output), w = layout.of(a.weight), x = layout.to_write(out);
    blocks::conv_input_grad.on(out.device())(s, out.dtype(), g.impl().data(), w.impl().data(), x.impl().data());
    layout.put(out, x);
  }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) {
    return _convolution_nd(g, c.weight.conj(), {}, c.stride, c.padding, c.dilation, c.groups);
  }
  static Tensor grad_weight(const Ctx& c, const Tensor& g) {
    const auto [weight, bias] =
        _conv_weight_grad(c.grad_output.conj(), g, c.sizes(kWeight), c.stride, c.padding, c.dilation, c.groups, false);
    return weight;
  }
  static void samples(S& s) {
    s.add({s->real({2, 4, 3, 5}), s->real({4, 3, 3, 3}), {2, 3, 6, 5}, {2, 1}, {1, 1}, {1, 1}, 1});
    s.fails({s->real({2, 4, 3, 4}), s->real({4, 3, 3, 3}), {2, 3, 6, 5}, {2, 1}, {1, 1}, {1, 1}, 1},
            "_conv_input_grad: expected grad_output of shape [2, 4, 3, 5], got [2, 4, 3, 4]");
  }
};
ARGAND_OP(ConvInputGrad)
ARGAND_NODE(ConvInputGrad, "ConvolutionBackward0")

struct ConvWeightGrad : Kernel<ConvWeightGradArgs> {
  static constexpr auto schema =
      "_conv_weight_grad(Tensor grad_output, Tensor input, int[] weight_size, int[] stride, int[] padding, int[] "
      "dilation, int groups, bool bias) -> (Tensor, Tensor)";
  static constexpr auto doc =
      "The gradients of a convolution with respect to its weight and its bias: of the latter without elements unless "
      "asked for.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kConvTypes;
  static ConvShape shape(const Args& a) {
    return conv_shape("conv", a.input.sizes(), a.weight_size, {a.stride, a.padding, a.dilation, a.groups});
  }
  static TensorMetas infer(const Args& a) {
    check_same_dtype("_conv_weight_grad", "grad_output", a.grad_output, "input", a.input);
    const ConvShape s = shape(a);
    const Dims expected = conv_output_sizes(s, a.weight_size.size() - 2);
    ARGAND_CHECK(ShapeError, a.grad_output.sizes() == IntArrayRef(expected),
                 "_conv_weight_grad: expected grad_output of shape ", expected, ", got ", a.grad_output.sizes());
    return {{a.weight_size, a.grad_output.dtype(), conv_strides(a.weight_size, a.grad_output, a.input)},
            {{a.bias ? s.o : 0}, a.grad_output.dtype()}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    ConvShape s = shape(a);
    const ChannelLayout layout = conv_layout(s, a.grad_output, a.input);
    const Tensor g = layout.of(a.grad_output), x = layout.of(a.input), w = layout.to_write(outs[0]);
    const void *gy = g.impl().data(), *in = x.impl().data();
    const bool both =
        a.bias && !g.is_cpu() &&
        blocks::conv_parameter_grads.on(g.device())(s, g.dtype(), gy, in, w.impl().data(), outs[1].impl().data());
    if (!both) blocks::conv_weight_grad.on(g.device())(s, g.dtype(), gy, in, w.impl().data());
    layout.put(outs[0], w);
    if (a.bias && !both) reduce_into(outs[1], ReduceKind::kSum, g, all_but_channels(g.dim()));
  }
  static Grads grad(const Ctx& c, const Grads& g) {
    Grads out(c.num_tensors());
    const Tensor bias = c.bias ? g[1] : Tensor();
    if (c.needs(kGradOutput)) {
      if (g[0].defined()) {
        out[kGradOutput] = _convolution_nd(c.input.conj(), g[0], bias, c.stride, c.padding, c.dilation, c.groups);
      } else if (bias.defined()) {
        Dims channels(c.sizes(kGradOutput).size(), 1);
        channels[1] = bias.numel();
        out[kGradOutput] = bias.reshape(channels).expand(c.sizes(kGradOutput));
      }
    }
    if (c.needs(kInput) && g[0].defined())
      out[kInput] =
          _conv_input_grad(c.grad_output.conj(), g[0], c.sizes(kInput), c.stride, c.padding, c.dilation, c.groups);
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({2, 4, 3, 5}), s->real({2, 3, 6, 5}), {4, 3, 3, 3}, {2, 1}, {1, 1}, {1, 1}, 1, true});
    s.add({s->real({2, 2, 6}), s->real({2, 4, 8}), {2, 2, 3}, {1}, {0}, {1}, 2, false});
    s.add({s->real({0, 2, 6}), s->real({0, 4, 8}), {2, 4, 3}, {1}, {0}, {1}, 1, true});
    s.fails({s->real({2, 4, 3, 4}), s->real({2, 3, 6, 5}), {4, 3, 3, 3}, {2, 1}, {1, 1}, {1, 1}, 1, true},
            "_conv_weight_grad: expected grad_output of shape [2, 4, 3, 5], got [2, 4, 3, 4]");
  }
};
ARGAND_OP(ConvWeightGrad)

}  // namespace argand::ops
