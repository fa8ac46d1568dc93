// group_norm, and the op with statistics and its backward that it is made of.
#include "argand/kernels/blocks.h"
#include "argand/ops/channel_layout.h"
#include "argand/ops/maybe.h"
#include "argand/ops/norm/args.h"
#include "argand/ops/norm/gradient.h"
#include "argand/ops/norm/parameters.h"

namespace argand::ops {
namespace {

// The numbers that say how [N, C, ...] is cut into groups.
struct Groups {
  int64_t n, c, inner, count;
  int64_t channels() const { return c / count; }
  NormShape shape() const {
    return {{n, count, channels(), inner}, {n, count, 1, 1}, {1, count, channels(), 1}, {2, 3}, {0, 3}};
  }
  RowNormCall call(ScalarType type, const Tensor& weight) const {
    return {type, n * count, count, channels(), inner, true, data_or_null(weight)};
  }
};

void check_groups(const char* op, const Tensor& input, const Groups& g, const Tensor& weight, const Tensor& bias) {
  ARGAND_CHECK(ValueError, g.count > 0, op, ": Expected num groups to be greater than 0, got ", g.count);
  ARGAND_CHECK(ShapeError, g.c % g.count == 0, op,
               ": Expected number of channels in input to be divisible by num_groups, but got input of shape ",
               input.sizes(), " and num_groups=", g.count);
  const auto check = [&](const char* name, const Tensor& t) {
    if (!t.defined()) return;
    ARGAND_CHECK(ShapeError, t.dim() == 1 && t.numel() == g.c, op, ": Expected ", name,
                 " to be a vector of size equal to the number of channels in input, but got ", name, " of shape ",
                 t.sizes(), " and input of shape ", input.sizes());
    check_parameter_dtype(op, name, t, input);
  };
  check("weight", weight);
  check("bias", bias);
}

// N, C and HxW are arguments of the native ops, which look at the elements alone.
void check_counts(const char* op, const Tensor& input, const Groups& g) {
  const bool fits = g.n >= 0 && g.c >= 0 && g.inner >= 0 &&
                    static_cast<double>(g.n) * static_cast<double>(g.c) * static_cast<double>(g.inner) ==
                        static_cast<double>(input.numel());
  ARGAND_CHECK(ShapeError, fits, op, ": expected N * C * HxW elements, got N=", g.n, ", C=", g.c, ", HxW=", g.inner,
               " and input of shape ", input.sizes());
}

}  // namespace

struct NativeGroupNorm : Kernel<NativeGroupNormArgs> {
  static constexpr auto schema =
      "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, float eps) -> "
      "(Tensor, Tensor, Tensor)";
  static constexpr auto doc =
      "group_norm of N * C * HxW elements, and mean and 1 / sqrt(variance + eps) of each group as [N, group]; these "
      "are float32 for float16 and bfloat16.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMetas infer(const Args& a) {
    const char* op = "native_group_norm";
    const Groups groups{a.N, a.C, a.HxW, a.group};
    check_counts(op, a.input, groups);
    check_groups(op, a.input, groups, a.weight, a.bias);
    const TensorMeta statistic{{a.N, a.group}, op_math_type(a.input.dtype())};
    return {{a.input.impl().sizes, a.input.dtype(), channel_strides(a.input.sizes(), has_channels_last(a.input))},
            statistic,
            statistic};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const ScalarType type = op_math_type(a.input.dtype());
    const Tensor x = exec::dense(a.input), w = exec::dense(a.weight, type), b = exec::dense(a.bias, type);
    const StagedResult y(outs[0], true, x.dtype());
    blocks::row_norm.on(x.device())(Groups{a.N, a.C, a.HxW, a.group}.call(x.dtype(), w), x.impl().data(),
                                    data_or_null(b), a.eps, y.data(), outs[1].impl().data(), outs[2].impl().data());
    y.finish();
  }
  static Grads grad(const Ctx& c, const Grads& g) {
    Grads out(c.num_tensors());
    if (g[0].defined()) {
      const bool x = c.needs(kInput), w = c.needs(kWeight), b = c.needs(kBias);
      auto [dx, dw, db] = native_group_norm_backward(g[0], c.input, c.result(1), c.result(2), c.weight, c.N, c.C, c.HxW,
                                                     c.group, {x, w, b});
      if (x) out[kInput] = dx;
      if (w) out[kWeight] = dw;
      if (b) out[kBias] = db;
    }
    if (c.needs(kInput) && (g[1].defined() || g[2].defined()))
      out[kInput] =
          add_defined(out[kInput], norm_statistics_gradient(Groups{c.N, c.C, c.HxW, c.group}.shape(), c.input,
                                                            c.result(1), c.result(2), g[1], g[2], c.sizes(kInput)));
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({2, 4, 3}), s->positive({4}), s->real({4}), 2, 4, 3, 2, 1e-5});
    s.add({s->real({2, 4, 2, 2}), {}, s->real({4}), 2, 4, 4, 4, 1e-3});
    s.add({s->real({3, 6}), s->positive({6}), {}, 3, 6, 1, 2, 1e-3});
    s.add({s->real({0, 4, 3}), s->positive({4}), s->real({4}), 0, 4, 3, 2, 1e-5});
    s.fails({s->real({2, 4, 3}), {}, {}, 2, 4, 2, 2, 1e-5},
            "native_group_norm: expected N * C * HxW elements, got N=2, C=4, HxW=2 and input of shape [2, 4, 3]");
  }
};
ARGAND_OP(NativeGroupNorm)

struct NativeGroupNormBackward : Kernel<NativeGroupNormBackwardArgs> {
  static constexpr auto schema =
      "native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, int N, int "
      "C, int HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)";
  static constexpr auto doc =
      "The gradients of group_norm for input, weight and bias; those that output_mask leaves out have no elements.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMetas infer(const Args& a) {
    const char* op = "native_group_norm_backward";
    const Groups groups{a.N, a.C, a.HxW, a.group};
    check_counts(op, a.input, groups);
    check_groups(op, a.input, groups, a.weight, Tensor());
    check_grad_out(op, a.grad_out, a.input);
    check_statistic(op, "mean", a.mean, {a.N, a.group});
    check_statistic(op, "rstd", a.rstd, {a.N, a.group});
    const Dims channels{a.C};
    const bool last = a.output_mask[0] && has_channels_last(a.input);
    return {
        {a.output_mask[0] ? a.input.impl().sizes : Dims{0}, a.input.dtype(), channel_strides(a.input.sizes(), last)},
        parameter_gradient_meta(a.weight, channels, a.input, a.output_mask[1]),
        parameter_gradient_meta(a.weight, channels, a.input, a.output_mask[2])};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const ScalarType type = op_math_type(a.input.dtype());
    const Tensor g = exec::dense(a.grad_out), x = exec::dense(a.input), w = exec::dense(a.weight, type),
                 mean = exec::dense(a.mean, type), rstd = exec::dense(a.rstd, type);
    const StagedResult dx(outs[0], a.output_mask[0], x.dtype());
    const StagedResult dw(outs[1], a.output_mask[1], type), db(outs[2], a.output_mask[2], type);
    blocks::row_norm_backward.on(x.device())(Groups{a.N, a.C, a.HxW, a.group}.call(x.dtype(), w), g.impl().data(),
                                             x.impl().data(), mean.impl().data(), rstd.impl().data(), dx.data(),
                                             dw.data(), db.data());
    dx.finish();
    dw.finish();
    db.finish();
  }
  static Grads grad(const Ctx& c, const Grads& g) {
    const NormTensors t{c.grad_out, c.input, c.mean, c.rstd, c.weight};
    const auto& mask = c.output_mask;
    NormGradients d = norm_backward_gradient(Groups{c.N, c.C, c.HxW, c.group}.shape(), t, mask[0] ? g[0] : Tensor(),
                                             mask[1] ? g[1] : Tensor(), mask[2] ? g[2] : Tensor());
    return {d.grad_out, d.input, d.mean, d.rstd, d.weight};
  }
  static void samples(S& s) {
    s.add({s->real({2, 4, 3}),
           s->real({2, 4, 3}),
           s->real({2, 2}),
           s->positive({2, 2}),
           s->positive({4}),
           2,
           4,
           3,
           2,
           {true, true, true}});
    s.add({s->real({2, 4}), s->real({2, 4}), s->real({2, 2}), s->positive({2, 2}), {}, 2, 4, 1, 2, {true, true, true}});
    s.add({s->real({2, 4, 3}),
           s->real({2, 4, 3}),
           s->real({2, 1}),
           s->positive({2, 1}),
           {},
           2,
           4,
           3,
           1,
           {true, false, false}});
    s.fails(
        {s->real({2, 4, 3}), s->real({2, 4, 3}), s->real({2, 2}), s->positive({2}), {}, 2, 4, 3, 2, {true, true, true}},
        "native_group_norm_backward: expected rstd of shape [2, 2], got [2]");
  }
};
ARGAND_OP(NativeGroupNormBackward)

// harmless(cudnn_enabled): one kernel computes it, with cuDNN or without
struct GroupNorm : Composite<GroupNormArgs> {
  static constexpr auto schema =
      "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool "
      "cudnn_enabled=True) -> Tensor";
  static constexpr auto doc =
      "(input - mean) / sqrt(variance + eps) * weight + bias for [N, C, ...], with mean and (biased) variance over "
      "each sample's groups of C / num_groups channels; weight and bias are [C].";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Tensor compose(const Args& a) {
    const char* op = "group_norm";
    ARGAND_CHECK(ShapeError, a.input.dim() >= 2, op, ": Expected at least 2 dimensions for input tensor but received ",
                 a.input.dim());
    const int64_t n = a.input.sizes()[0], c = a.input.sizes()[1];
    int64_t inner = 1;
    for (size_t d = 2; d < a.input.sizes().size(); ++d) inner *= a.input.sizes()[d];
    check_groups(op, a.input, {n, c, inner, a.num_groups}, a.weight, a.bias);
    return std::get<0>(native_group_norm(a.input, a.weight, a.bias, n, c, inner, a.num_groups, a.eps));
  }
  static void samples(S& s) {
    s.add({s->real({2, 4, 3}), 2, s->positive({4}), s->real({4})});
    s.add({s->real({2, 6, 2, 3}), 3, s->positive({6})});
    s.add({s->real({2, 4}), 1, {}, s->real({4}), 1e-2});
    s.add({s->real({2, 4, 0}), 2});
    s.fails({s->real({2, 4, 3}), 3},
            "group_norm: Expected number of channels in input to be divisible by num_groups, but got input of shape "
            "[2, 4, 3] and num_groups=3");
    s.fails({s->real({2, 4, 3}), 0}, "group_norm: Expected num groups to be greater than 0, got 0");
    s.fails({s->real({4}), 2}, "group_norm: Expected at least 2 dimensions for input tensor but received 1");
    s.fails({s->real({2, 4, 3}), 2, s->real({3})},
            "group_norm: Expected weight to be a vector of size equal to the number of channels in input, but got "
            "weight of shape [3] and input of shape [2, 4, 3]");
  }
};
ARGAND_OP(GroupNorm)

}  // namespace argand::ops
