// rms_norm, and the op with statistics and its backward that it is made of.
#include <limits>

#include "argand/kernels/blocks.h"
#include "argand/ops/channel_layout.h"
#include "argand/ops/maybe.h"
#include "argand/ops/norm/args.h"
#include "argand/ops/norm/gradient.h"
#include "argand/ops/norm/normalized_shape.h"
#include "argand/ops/norm/parameters.h"

namespace argand::ops {
namespace {

double eps_or_default(const std::optional<double>& eps, ScalarType input) {
  if (eps) return *eps;
  return op_math_type(input) == kDouble ? std::numeric_limits<double>::epsilon()
                                        : static_cast<double>(std::numeric_limits<float>::epsilon());
}

}  // namespace

struct FusedRmsNorm : Kernel<FusedRmsNormArgs> {
  static constexpr auto schema =
      "_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)";
  static constexpr auto doc =
      "rms_norm, and of each normalized part its 1 / sqrt(mean(input^2) + eps), in float32 for float16 and bfloat16.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMetas infer(const Args& a) {
    check_normalized_shape("_fused_rms_norm", a.input, a.normalized_shape, a.weight, Tensor());
    return {{a.input.impl().sizes, a.input.dtype(), channel_strides(a.input.sizes(), has_channels_last(a.input))},
            {statistics_sizes(a.input.sizes(), a.normalized_shape), op_math_type(a.input.dtype())}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const Tensor x = exec::dense(a.input), w = exec::dense(a.weight, op_math_type(x.dtype()));
    const StagedResult y(outs[0], true, x.dtype());
    blocks::row_norm.on(x.device())(row_call(x, a.normalized_shape, w, false), x.impl().data(), nullptr,
                                    eps_or_default(a.eps, x.dtype()), y.data(), nullptr, outs[1].impl().data());
    y.finish();
  }
  static Grads grad(const Ctx& c, const Grads& g) {
    Grads out(c.num_tensors());
    if (g[0].defined()) {
      const bool x = c.needs(kInput), w = c.needs(kWeight);
      auto [dx, dw] = _fused_rms_norm_backward(g[0], c.input, c.normalized_shape, c.result(1), c.weight, {x, w});
      if (x) out[kInput] = dx;
      if (w) out[kWeight] = dw;
    }
    if (c.needs(kInput) && g[1].defined())
      out[kInput] = add_defined(out[kInput],
                                norm_statistics_gradient(layer_norm_shape(c.sizes(kInput), c.normalized_shape), c.input,
                                                         Tensor(), c.result(1), Tensor(), g[1], c.sizes(kInput)));
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), {4}, s->positive({4}), 1e-3});
    s.add({s->real({2, 3, 4}), {3, 4}, {}, {}});
    s.add({s->real({0, 4}), {4}, s->positive({4}), 1e-3});
  }
};
ARGAND_OP(FusedRmsNorm)

struct FusedRmsNormBackward : Kernel<FusedRmsNormBackwardArgs> {
  static constexpr auto schema =
      "_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, Tensor? weight, "
      "bool[2] output_mask) -> (Tensor, Tensor)";
  static constexpr auto doc =
      "The gradients of rms_norm for input and weight; those that output_mask leaves out have no elements.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMetas infer(const Args& a) {
    const char* op = "_fused_rms_norm_backward";
    check_normalized_shape(op, a.input, a.normalized_shape, a.weight, Tensor());
    check_grad_out(op, a.grad_out, a.input);
    check_statistic(op, "rstd", a.rstd, statistics_sizes(a.input.sizes(), a.normalized_shape));
    const bool last = a.output_mask[0] && has_channels_last(a.input);
    return {
        {a.output_mask[0] ? a.input.impl().sizes : Dims{0}, a.input.dtype(), channel_strides(a.input.sizes(), last)},
        parameter_gradient_meta(a.weight, a.normalized_shape, a.input, a.output_mask[1])};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const ScalarType type = op_math_type(a.input.dtype());
    const Tensor g = exec::dense(a.grad_out), x = exec::dense(a.input), w = exec::dense(a.weight, type),
                 rstd = exec::dense(a.rstd, type);
    const StagedResult dx(outs[0], a.output_mask[0], x.dtype());
    const StagedResult dw(outs[1], a.output_mask[1], type);
    blocks::row_norm_backward.on(x.device())(row_call(x, a.normalized_shape, w, false), g.impl().data(),
                                             x.impl().data(), nullptr, rstd.impl().data(), dx.data(), dw.data(),
                                             nullptr);
    dx.finish();
    dw.finish();
  }
  static Grads grad(const Ctx& c, const Grads& g) {
    const NormTensors t{c.grad_out, c.input, Tensor(), c.rstd, c.weight};
    NormGradients d =
        norm_backward_gradient(layer_norm_shape(c.sizes(kInput), c.normalized_shape), t,
                               c.output_mask[0] ? g[0] : Tensor(), c.output_mask[1] ? g[1] : Tensor(), Tensor());
    return {d.grad_out, d.input, d.rstd, d.weight};
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), s->real({3, 4}), {4}, s->positive({3, 1}), s->positive({4}), {true, true}});
    s.add({s->real({2, 3, 4}), s->real({2, 3, 4}), {3, 4}, s->positive({2, 1, 1}), {}, {true, true}});
    s.add({s->real({3, 4}), s->real({3, 4}), {4}, s->positive({3, 1}), s->positive({4}), {true, false}});
    s.fails({s->real({3, 4}), s->real({3, 4}), {4}, s->positive({3}), {}, {true, true}},
            "_fused_rms_norm_backward: expected rstd of shape [3, 1], got [3]");
  }
};
ARGAND_OP(FusedRmsNormBackward)

struct RmsNorm : Composite<RmsNormArgs> {
  static constexpr auto schema =
      "rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor";
  static constexpr auto doc =
      "input / sqrt(mean(input^2) + eps) * weight, with the mean over the last dimensions, whose sizes are "
      "normalized_shape. eps is the machine epsilon of the arithmetic if not given.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes | kComplexTypes;
  static Tensor compose(const Args& a) {
    check_normalized_shape("rms_norm", a.input, a.normalized_shape, a.weight, Tensor());
    if (a.input.is_complex()) {
      Dims dims;
      for (size_t i = 0; i < a.normalized_shape.size(); ++i) dims.push_back(-1 - static_cast<int64_t>(i));
      const double eps = eps_or_default(a.eps, to_real_type(a.input.dtype()));
      const Tensor scaled = a.input * (a.input.square().mean(dims, true) + eps).rsqrt();
      return a.weight.defined() ? scaled * a.weight : scaled;
    }
    return std::get<0>(_fused_rms_norm(a.input, a.normalized_shape, a.weight, a.eps));
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), {4}, s->positive({4})});
    s.add({s->real({2, 3, 4}), {3, 4}, {}, 1e-2});
    s.fails({s->real({2, 3}), {4}},
            "rms_norm: Given normalized_shape=[4], expected input with shape [*, 4], but got input of size[2, 3]");
  }
};
ARGAND_OP(RmsNorm)

}  // namespace argand::ops
