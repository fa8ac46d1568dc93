// layer_norm, and the op with statistics and its backward that it is made of.
#include "argand/kernels/blocks.h"
#include "argand/ops/maybe.h"
#include "argand/ops/norm/args.h"
#include "argand/ops/norm/gradient.h"
#include "argand/ops/norm/normalized_shape.h"
#include "argand/ops/norm/parameters.h"

namespace argand::ops {

struct NativeLayerNorm : Kernel<NativeLayerNormArgs> {
  static constexpr auto schema =
      "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, "
      "Tensor, Tensor)";
  static constexpr auto doc =
      "layer_norm, and of each normalized part its mean and 1 / sqrt(variance + eps); these are float32 for float16 "
      "and bfloat16.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMetas infer(const Args& a) {
    const char* op = "native_layer_norm";
    check_normalized_shape(op, a.input, a.normalized_shape, a.weight, a.bias);
    const TensorMeta statistic{statistics_sizes(a.input.sizes(), a.normalized_shape), op_math_type(a.input.dtype())};
    return {{a.input.impl().sizes, a.input.dtype()}, statistic, statistic};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const ScalarType type = op_math_type(a.input.dtype());
    const Tensor x = exec::dense(a.input), w = exec::dense(a.weight, type), b = exec::dense(a.bias, type);
    blocks::row_norm.on(x.device())(row_call(x, a.normalized_shape, w, true), x.impl().data(), data_or_null(b), a.eps,
                                    outs[0].impl().data(), outs[1].impl().data(), outs[2].impl().data());
  }
  static Grads grad(const Ctx& c, const Grads& g) {
    Grads out(c.num_tensors());
    if (g[0].defined()) {
      const bool x = c.needs(kInput), w = c.needs(kWeight), b = c.needs(kBias);
      auto [dx, dw, db] = native_layer_norm_backward(g[0], c.input, c.normalized_shape, c.result(1), c.result(2),
                                                     c.weight, c.bias, {x, w, b});
      if (x) out[kInput] = dx;
      if (w) out[kWeight] = dw;
      if (b) out[kBias] = db;
    }
    if (c.needs(kInput) && (g[1].defined() || g[2].defined()))
      out[kInput] = add_defined(out[kInput],
                                norm_statistics_gradient(layer_norm_shape(c.sizes(kInput), c.normalized_shape), c.input,
                                                         c.result(1), c.result(2), g[1], g[2], c.sizes(kInput)));
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), {4}, s->positive({4}), s->real({4}), 1e-5});
    s.add({s->real({2, 3, 4}), {3, 4}, {}, {}, 1e-2});
    s.add({s->real({4}), {4}, {}, s->real({4}), 1e-5});
    s.add({s->real({0, 4}), {4}, s->positive({4}), s->real({4}), 1e-5});
  }
};
ARGAND_OP(NativeLayerNorm)

struct NativeLayerNormBackward : Kernel<NativeLayerNormBackwardArgs> {
  static constexpr auto schema =
      "native_layer_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor mean, Tensor rstd, "
      "Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)";
  static constexpr auto doc =
      "The gradients of layer_norm for input, weight and bias; those that output_mask leaves out have no elements.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMetas infer(const Args& a) {
    const char* op = "native_layer_norm_backward";
    check_normalized_shape(op, a.input, a.normalized_shape, a.weight, a.bias);
    check_grad_out(op, a.grad_out, a.input);
    const Dims statistics = statistics_sizes(a.input.sizes(), a.normalized_shape);
    check_statistic(op, "mean", a.mean, statistics);
    check_statistic(op, "rstd", a.rstd, statistics);
    return {{a.output_mask[0] ? a.input.impl().sizes : Dims{0}, a.input.dtype()},
            parameter_gradient_meta(a.weight, a.normalized_shape, a.input, a.output_mask[1]),
            parameter_gradient_meta(a.bias, a.normalized_shape, a.input, a.output_mask[2])};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const ScalarType type = op_math_type(a.input.dtype());
    const Tensor g = exec::dense(a.grad_out), x = exec::dense(a.input), w = exec::dense(a.weight, type),
                 mean = exec::dense(a.mean, type), rstd = exec::dense(a.rstd, type);
    const StagedResult dw(outs[1], a.output_mask[1], type), db(outs[2], a.output_mask[2], type);
    blocks::row_norm_backward.on(x.device())(row_call(x, a.normalized_shape, w, true), g.impl().data(), x.impl().data(),
                                             mean.impl().data(), rstd.impl().data(),
                                             a.output_mask[0] ? outs[0].impl().data() : nullptr, dw.data(), db.data());
    dw.finish();
    db.finish();
  }
  static Grads grad(const Ctx& c, const Grads& g) {
    const NormTensors t{c.grad_out, c.input, c.mean, c.rstd, c.weight};
    const auto& mask = c.output_mask;
    NormGradients d =
        norm_backward_gradient(layer_norm_shape(c.sizes(kInput), c.normalized_shape), t, mask[0] ? g[0] : Tensor(),
                               mask[1] ? g[1] : Tensor(), mask[2] ? g[2] : Tensor());
    return {d.grad_out, d.input, d.mean, d.rstd, d.weight, Tensor()};
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}),
           s->real({3, 4}),
           {4},
           s->real({3, 1}),
           s->positive({3, 1}),
           s->positive({4}),
           s->real({4}),
           {true, true, true}});
    s.add({s->real({2, 3, 4}),
           s->real({2, 3, 4}),
           {3, 4},
           s->real({2, 1, 1}),
           s->positive({2, 1, 1}),
           {},
           {},
           {true, true, true}});
    s.add({s->real({3, 4}),
           s->real({3, 4}),
           {4},
           s->real({3, 1}),
           s->positive({3, 1}),
           s->positive({4}),
           {},
           {true, false, false}});
    s.add({s->real({0, 4}),
           s->real({0, 4}),
           {4},
           s->real({0, 1}),
           s->positive({0, 1}),
           s->positive({4}),
           {},
           {true, true, true}});
    s.fails({s->real({3, 5}), s->real({3, 4}), {4}, s->real({3, 1}), s->positive({3, 1}), {}, {}, {true, true, true}},
            "native_layer_norm_backward: expected grad_out of shape [3, 4], got [3, 5]");
    s.fails({s->real({3, 4}), s->real({3, 4}), {4}, s->real({3}), s->positive({3, 1}), {}, {}, {true, true, true}},
            "native_layer_norm_backward: expected mean of shape [3, 1], got [3]");
  }
};
ARGAND_OP(NativeLayerNormBackward)

// harmless(cudnn_enable): one kernel computes it, with cuDNN or without
struct LayerNorm : Composite<LayerNormArgs> {
  static constexpr auto schema =
      "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool "
      "cudnn_enable=True) -> Tensor";
  static constexpr auto doc =
      "(input - mean) / sqrt(variance + eps) * weight + bias, with mean and (biased) variance over the last "
      "dimensions, whose sizes are normalized_shape. weight and bias have that shape.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Tensor compose(const Args& a) {
    check_normalized_shape("layer_norm", a.input, a.normalized_shape, a.weight, a.bias);
    return std::get<0>(native_layer_norm(a.input, a.normalized_shape, a.weight, a.bias, a.eps));
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), {4}, s->positive({4}), s->real({4})});
    s.add({s->real({2, 3, 4, 5}), {4, 5}, s->positive({4, 5}), {}, 1e-3});
    s.add({s->real({2, 3}), {2, 3}});
    s.add({s->real({2, 0, 3}), {3}, s->positive({3}), s->real({3})});
    s.fails(
        {s->real({2, 3}), Dims{}},
        "layer_norm: Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
        "but got normalized_shape = []");
    s.fails({s->real({2, 3}), {4}},
            "layer_norm: Given normalized_shape=[4], expected input with shape [*, 4], but got input of size[2, 3]");
    s.fails({s->real({2, 3}), {3}, s->real({2})},
            "layer_norm: Expected weight to be of same shape as normalized_shape, but got weight of shape [2] and "
            "normalized_shape = [3]");
    s.fails({s->real({2, 3}), {3}, {}, s->real({2, 3})},
            "layer_norm: Expected bias to be of same shape as normalized_shape, but got bias of shape [2, 3] and "
            "normalized_shape = [3]");
    s.fails({s->real({2, 3}), {3}, s->integer({3}, 0, 4)},
            "layer_norm: expected weight of dtype float64 for an input of float64, got int64");
  }
};
ARGAND_OP(LayerNorm)

}  // namespace argand::ops
