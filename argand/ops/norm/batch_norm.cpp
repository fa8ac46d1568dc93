// batch_norm, and the op with statistics and its backward that it is made of.
#include "argand/kernels/cpu/batch_norm.h"

#include <cmath>

#include "argand/exec/forward_mode.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/channel_layout.h"
#include "argand/ops/maybe.h"
#include "argand/ops/norm/args.h"
#include "argand/ops/norm/gradient.h"
#include "argand/ops/norm/parameters.h"

namespace argand::ops {
namespace {

struct Channels {
  int64_t n, c, inner = 1;
  explicit Channels(IntArrayRef sizes) : n(sizes[0]), c(sizes[1]) {
    for (size_t d = 2; d < sizes.size(); ++d) inner *= sizes[d];
  }
  int64_t count() const { return n * inner; }  // elements of a channel
  NormShape shape() const { return {{n, c, inner}, {1, c, 1}, {1, c, 1}, {0, 2}, {0, 2}}; }
  // A pass over the elements in memory order: with channels last, each position counts as a sample.
  ChannelPass pass(ScalarType type, bool last) const {
    return last ? ChannelPass{type, n * inner, c, 1} : ChannelPass{type, n, c, inner};
  }
};

void check_dim(const char* op, const Tensor& input) {
  ARGAND_CHECK(ShapeError, input.dim() >= 2, op, ": expected an input of at least 2 dimensions, [N, C, ...], got ",
               input.sizes());
}

void check_weights(const char* op, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const int64_t c = input.sizes()[1];
  check_channels(op, "weight", weight, c);
  check_channels(op, "bias", bias, c);
  check_parameter_dtype(op, "weight", weight, input);
  check_parameter_dtype(op, "bias", bias, input);
}

void check_running(const char* op, const Tensor& input, const Tensor& mean, const Tensor& var, bool training) {
  const int64_t c = input.sizes()[1];
  ARGAND_CHECK(ValueError, training || (mean.defined() && var.defined()), op,
               ": running_mean and running_var must be defined in evaluation mode");
  check_channels(op, "running_mean", mean, c);
  check_channels(op, "running_var", var, c);
  ARGAND_CHECK(NotImplementedError, !exec::has_tangent(mean) && !exec::has_tangent(var), op,
               ": batch_norm is not differentiable wrt running_mean and running_var, they cannot have a tangent");
  if (!training) return;
  for (const Tensor* t : {&mean, &var})
    ARGAND_CHECK(ValueError, !t->defined() || !may_overlap_itself(t->sizes(), t->strides()), op,
                 ": running statistics are written, and more than one element refers to a single memory location");
}

// running = (1 - momentum) * running + momentum * factor * now
template <class A>
void update_running(const Tensor& running, const A* now, double momentum, double factor) {
  if (!running.defined()) return;
  const Tensor next = exec::dense_clone(running, kDouble);
  double* r = raw<double>(next);
  for (int64_t j = 0; j < next.numel(); ++j)
    r[j] = (1 - momentum) * r[j] + momentum * factor * static_cast<double>(now[j]);
  exec::copy_elements(running, next);
  running.storage()->bump_version("batch_norm");
}

// ---- the same in ops, for a GPU

void update_running(const Tensor& running, const Tensor& now, double momentum, double factor) {
  if (!running.defined()) return;
  exec::copy_elements(running, running.to(kDouble) * (1 - momentum) + now.to(kDouble) * (momentum * factor));
  running.storage()->bump_version("batch_norm");
}
Tensor inverted(const Tensor& variance, double eps) { return (variance.to(kDouble) + eps).sqrt().reciprocal(); }
Tensor scaled_by(const Tensor& t, const Tensor& weight) { return weight.defined() ? t * weight : t; }

// 1 / sqrt(variance + eps), in place.
template <class A>
void invert(A* variance, int64_t n, double eps) {
  for (int64_t j = 0; j < n; ++j) variance[j] = static_cast<A>(1 / std::sqrt(static_cast<double>(variance[j]) + eps));
}

}  // namespace

struct NativeBatchNorm : Kernel<NativeBatchNormArgs> {
  static constexpr auto schema =
      "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
      "training, float momentum, float eps) -> (Tensor, Tensor, Tensor)";
  static constexpr auto doc =
      "batch_norm, and mean and 1 / sqrt(variance + eps) of each channel (of the batch, or the running ones); these "
      "are float32 for float16 and bfloat16. In training, running statistics are updated in place.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMetas infer(const Args& a) {
    const char* op = "native_batch_norm";
    check_dim(op, a.input);
    check_running(op, a.input, a.running_mean, a.running_var, a.training);
    check_weights(op, a.input, a.weight, a.bias);
    const TensorMeta statistic{{a.input.sizes()[1]}, op_math_type(a.input.dtype())};
    return {{a.input.impl().sizes, a.input.dtype(), channel_strides(a.input.sizes(), has_channels_last(a.input))},
            statistic,
            statistic};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    if (!outs[0].is_cpu()) return run_on_device(a, outs);
    dispatch<kFloatTypes>(op_math_type(a.input.dtype()), "native_batch_norm", [&](auto tag) {
      using A = typename decltype(tag)::type;
      const Channels channels(a.input.sizes());
      const bool last = has_channels_last(a.input);
      const ChannelLayout layout(a.input.sizes().size(), last);
      const Tensor x = layout.of(a.input), y = layout.to_write(outs[0]), w = exec::dense(a.weight, scalar_type_v<A>),
                   b = exec::dense(a.bias, scalar_type_v<A>);
      const ChannelPass pass = channels.pass(x.dtype(), last);
      A *mean = raw<A>(outs[1]), *invstd = raw<A>(outs[2]);
      if (a.training)
        batch_statistics(a, pass, x, mean, invstd);
      else
        running_statistics(a, outs);
      invert(invstd, channels.c, a.eps);
      const Tensor scale = exec::dense_clone(outs[2]);
      if (w.defined())
        for (int64_t j = 0; j < channels.c; ++j) raw<A>(scale)[j] *= raw<A>(w)[j];
      cpu::channel_scale(pass, x.impl().data(), mean, scale.impl().data(), data_or_null(b), y.impl().data());
      layout.put(outs[0], y);
    });
  }
  static void run_on_device(const Args& a, std::span<Tensor> outs) {
    const Channels channels(a.input.sizes());
    const Tensor &mean = outs[1], &invstd = outs[2];
    const Device& device = mean.device();
    const bool last = has_channels_last(a.input);
    const ChannelLayout layout(a.input.sizes().size(), last);
    const Tensor x = layout.of(a.input), y = layout.to_write(outs[0]), w = exec::dense(a.weight, mean.dtype()),
                 b = exec::dense(a.bias, mean.dtype());
    const ChannelPass pass = channels.pass(x.dtype(), last);
    const auto n = static_cast<double>(channels.count());
    Tensor variance = a.running_var;
    if (!a.training) {
      exec::copy_elements(mean, a.running_mean);
    } else if (n == 0) {
      exec::copy_elements(mean, exec::wrapped_number(0));
      variance = zeros_like(mean);
    } else {
      variance = exec::new_tensor({mean.impl().sizes, mean.dtype()}, device);
      blocks::channel_moments.on(device)(pass, x.impl().data(), mean.impl().data(), variance.impl().data());
      update_running(a.running_mean, mean, a.momentum, 1);
      update_running(a.running_var, variance, a.momentum, n / (n - 1));
    }
    exec::copy_elements(invstd, inverted(variance, a.eps));
    const Tensor scale = scaled_by(invstd, w);
    blocks::channel_scale.on(device)(pass, x.impl().data(), mean.impl().data(), scale.impl().data(), data_or_null(b),
                                     y.impl().data());
    layout.put(outs[0], y);
  }
  // Computes mean and variance of the batch and updates the running ones; the running variance is unbiased.
  template <class A>
  static void batch_statistics(const Args& a, const ChannelPass& pass, const Tensor& x, A* mean, A* variance) {
    const auto n = static_cast<double>(pass.n * pass.inner);
    if (n == 0) {
      std::fill(mean, mean + pass.channels, A(0));
      std::fill(variance, variance + pass.channels, A(0));
      return;
    }
    cpu::channel_moments(pass, x.impl().data(), mean, variance);
    update_running(a.running_mean, mean, a.momentum, 1);
    update_running(a.running_var, variance, a.momentum, n / (n - 1));
  }
  static void running_statistics(const Args& a, std::span<Tensor> outs) {
    exec::copy_elements(outs[1], a.running_mean);
    exec::copy_elements(outs[2], a.running_var);
    outs[1].impl().data();  // done before the kernel writes
    outs[2].impl().data();
  }
  static Grads grad(const Ctx& c, const Grads& g) {
    Grads out(c.num_tensors());
    if (g[0].defined()) {
      const bool x = c.needs(kInput), w = c.needs(kWeight), b = c.needs(kBias);
      auto [dx, dw, db] = native_batch_norm_backward(g[0], c.input, c.weight, {}, {}, c.result(1), c.result(2),
                                                     c.training, c.eps, {x, w, b});
      if (x) out[kInput] = dx;
      if (w) out[kWeight] = dw;
      if (b) out[kBias] = db;
    }
    if (c.training && c.needs(kInput) && (g[1].defined() || g[2].defined()))
      out[kInput] =
          add_defined(out[kInput], norm_statistics_gradient(Channels(c.sizes(kInput)).shape(), c.input, c.result(1),
                                                            c.result(2), g[1], g[2], c.sizes(kInput)));
    return out;
  }
  // Running statistics of float32 are the same in every dtype of the input, and not differentiated.
  static void samples(S& s) {
    const auto statistic = [&](const Tensor& t) { return exec::dense_clone(t, kFloat); };
    s.add({s->real({3, 2, 4}), s->positive({2}), s->real({2}), {}, {}, true, 0.1, 1e-3});
    s.add({s->real({5, 3}), {}, s->real({3}), {}, {}, true, 0.1, 1e-3});
    s.add({s->real({2, 3, 2, 2}), s->positive({3}), {}, {}, {}, true, 0.0, 1e-3});
    s.add({s->real({3, 2, 4}), s->positive({2}), s->real({2}), statistic(s->real({2})), statistic(s->positive({2})),
           false, 0.1, 1e-3});
    s.add({s->real({3, 2}), {}, {}, statistic(s->real({2})), statistic(s->positive({2})), false, 0.1, 1e-3});
    // The running statistics are no differentiable arguments.
    s.add_without_gradient(
        {s->real({3, 2, 4}), s->positive({2}), s->real({2}), s->real({2}), s->positive({2}), false, 0.1, 1e-3});
    s.add_without_gradient({s->real({0, 2, 4}), s->positive({2}), s->real({2}), {}, {}, true, 0.1, 1e-3});
    s.fails({s->real({3}), {}, {}, {}, {}, true, 0.1, 1e-5},
            "native_batch_norm: expected an input of at least 2 dimensions, [N, C, ...], got [3]");
  }
};
ARGAND_OP(NativeBatchNorm)

struct NativeBatchNormBackward : Kernel<NativeBatchNormBackwardArgs> {
  static constexpr auto schema =
      "native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? "
      "running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> (Tensor, "
      "Tensor, Tensor)";
  static constexpr auto doc =
      "The gradients of batch_norm for input, weight and bias; those that output_mask leaves out have no elements. "
      "Statistics are the saved ones in training, else the running ones if given.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static bool uses_running(const Args& a) { return !a.train && a.running_mean.defined() && a.running_var.defined(); }
  static TensorMetas infer(const Args& a) {
    const char* op = "native_batch_norm_backward";
    check_dim(op, a.input);
    check_weights(op, a.input, a.weight, Tensor());
    check_grad_out(op, a.grad_out, a.input);
    const int64_t c = a.input.sizes()[1];
    check_channels(op, "running_mean", a.running_mean, c);
    check_channels(op, "running_var", a.running_var, c);
    if (!uses_running(a)) {
      ARGAND_CHECK(ValueError, a.save_mean.defined() && a.save_invstd.defined(), op,
                   ": expected save_mean and save_invstd, got an undefined tensor");
      check_statistic(op, "save_mean", a.save_mean, {c});
      check_statistic(op, "save_invstd", a.save_invstd, {c});
    }
    const Dims channels{c};
    const bool last = a.output_mask[0] && has_channels_last(a.input);
    return {
        {a.output_mask[0] ? a.input.impl().sizes : Dims{0}, a.input.dtype(), channel_strides(a.input.sizes(), last)},
        parameter_gradient_meta(a.weight, channels, a.input, a.output_mask[1]),
        parameter_gradient_meta(a.weight, channels, a.input, a.output_mask[2])};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    if (!outs[0].is_cpu()) return run_on_device(a, outs);
    dispatch<kFloatTypes>(op_math_type(a.input.dtype()), "native_batch_norm_backward", [&](auto tag) {
      using A = typename decltype(tag)::type;
      constexpr ScalarType kType = scalar_type_v<A>;
      const Channels channels(a.input.sizes());
      const bool last = has_channels_last(a.input);
      const ChannelPass pass = channels.pass(a.input.dtype(), last);
      const ChannelLayout layout(a.input.sizes().size(), last);
      const Tensor g = layout.of(a.grad_out), x = layout.of(a.input), w = exec::dense(a.weight, kType);
      Tensor mean = exec::dense(a.save_mean, kType), invstd = exec::dense(a.save_invstd, kType);
      if (uses_running(a)) {
        mean = exec::dense(a.running_mean, kType);
        invstd = exec::dense_clone(a.running_var, kType);
        invert(raw<A>(invstd), channels.c, a.eps);
      }
      const Tensor sum = exec::new_tensor({{channels.c}, kType}, kCPU),
                   product = exec::new_tensor({{channels.c}, kType}, kCPU);
      if (a.train || a.output_mask[1] || a.output_mask[2])
        cpu::channel_products(pass, g.impl().data(), x.impl().data(), mean.impl().data(), sum.impl().data(),
                              product.impl().data());
      if (a.output_mask[0]) {
        const Tensor dx = layout.to_write(outs[0]);
        input_gradient<A>(a, pass, g, x, w, mean, invstd, sum, product, dx);
        layout.put(outs[0], dx);
      }
      const StagedResult dw(outs[1], a.output_mask[1], kType), db(outs[2], a.output_mask[2], kType);
      for (int64_t j = 0; j < channels.c; ++j) {
        if (a.output_mask[1]) static_cast<A*>(dw.data())[j] = raw<A>(product)[j] * raw<A>(invstd)[j];
        if (a.output_mask[2]) static_cast<A*>(db.data())[j] = raw<A>(sum)[j];
      }
      dw.finish();
      db.finish();
    });
  }
  static void run_on_device(const Args& a, std::span<Tensor> outs) {
    const Device& device = a.input.device();
    const ScalarType type = op_math_type(a.input.dtype());
    const Channels channels(a.input.sizes());
    const bool last = has_channels_last(a.input);
    const ChannelLayout layout(a.input.sizes().size(), last);
    const ChannelPass pass = channels.pass(a.input.dtype(), last);
    const Tensor g = layout.of(a.grad_out), x = layout.of(a.input), w = exec::dense(a.weight, type);
    const bool running = uses_running(a);
    const Tensor mean = exec::dense(running ? a.running_mean : a.save_mean, type);
    const Tensor invstd = exec::dense(running ? inverted(a.running_var, a.eps) : a.save_invstd, type);
    const Tensor sum = exec::new_tensor({{channels.c}, type}, device),
                 product = exec::new_tensor({{channels.c}, type}, device);
    if (a.train || a.output_mask[1] || a.output_mask[2])
      blocks::channel_products.on(device)(pass, g.impl().data(), x.impl().data(), mean.impl().data(), sum.impl().data(),
                                          product.impl().data());
    if (a.output_mask[0]) {
      const Tensor scale = scaled_by(invstd, w);
      Tensor slope, shift;
      if (a.train) {
        const auto n = static_cast<double>(channels.count());
        slope = -scale * invstd * invstd * (product / n);
        shift = -scale * (sum / n);
      }
      const Tensor dx = layout.to_write(outs[0]);
      blocks::channel_gradient.on(device)(pass, g.impl().data(), x.impl().data(), mean.impl().data(),
                                          scale.impl().data(), data_or_null(slope), data_or_null(shift),
                                          dx.impl().data());
      layout.put(outs[0], dx);
    }
    if (a.output_mask[1]) exec::copy_elements(outs[1], product * invstd);
    if (a.output_mask[2]) exec::copy_elements(outs[2], sum);
  }
  // grad_x = weight * invstd * (g - E[g] - (x - mean) * invstd^2 * E[g (x - mean)]); in evaluation without the means.
  template <class A>
  static void input_gradient(const Args& a, const ChannelPass& pass, const Tensor& g, const Tensor& x, const Tensor& w,
                             const Tensor& mean, const Tensor& invstd, const Tensor& sum, const Tensor& product,
                             const Tensor& out) {
    const Tensor scale = exec::dense_clone(invstd);
    if (w.defined())
      for (int64_t j = 0; j < pass.channels; ++j) raw<A>(scale)[j] *= raw<A>(w)[j];
    if (!a.train)
      return cpu::channel_gradient(pass, g.impl().data(), x.impl().data(), mean.impl().data(), scale.impl().data(),
                                   nullptr, nullptr, out.impl().data());
    const A n = static_cast<A>(pass.n * pass.inner);
    const Tensor slope = exec::new_tensor(TensorMeta{{pass.channels}, scalar_type_v<A>}, kCPU),
                 shift = exec::new_tensor(TensorMeta{{pass.channels}, scalar_type_v<A>}, kCPU);
    for (int64_t j = 0; j < pass.channels; ++j) {
      const A s = raw<A>(scale)[j], r = raw<A>(invstd)[j];
      raw<A>(slope)[j] = -s * r * r * (raw<A>(product)[j] / n);
      raw<A>(shift)[j] = -s * (raw<A>(sum)[j] / n);
    }
    cpu::channel_gradient(pass, g.impl().data(), x.impl().data(), mean.impl().data(), scale.impl().data(),
                          slope.impl().data(), shift.impl().data(), out.impl().data());
  }
  static Grads grad(const Ctx& c, const Grads& g) {
    const bool running = !c.train && c.running_mean.defined() && c.running_var.defined();
    NormTensors t{c.grad_out, c.input, c.save_mean, c.save_invstd, c.weight, !c.train};
    if (running) {
      t.mean = c.running_mean;
      t.rstd = (c.running_var + c.eps).rsqrt();
    }
    const auto& mask = c.output_mask;
    NormGradients d = norm_backward_gradient(Channels(c.sizes(kInput)).shape(), t, mask[0] ? g[0] : Tensor(),
                                             mask[1] ? g[1] : Tensor(), mask[2] ? g[2] : Tensor());
    Grads out(c.num_tensors());
    out[kGradOut] = d.grad_out;
    out[kInput] = d.input;
    out[kWeight] = d.weight;
    if (!running) {  // which are no differentiable arguments
      out[kSaveMean] = d.mean;
      out[kSaveInvstd] = d.rstd;
    }
    return out;
  }
  static void samples(S& s) {
    const auto statistic = [&](const Tensor& t) { return exec::dense_clone(t, kFloat); };
    s.add({s->real({3, 2, 4}),
           s->real({3, 2, 4}),
           s->positive({2}),
           {},
           {},
           s->real({2}),
           s->positive({2}),
           true,
           1e-3,
           {true, true, true}});
    s.add(
        {s->real({5, 3}), s->real({5, 3}), {}, {}, {}, s->real({3}), s->positive({3}), true, 1e-3, {true, true, true}});
    s.add({s->real({3, 2, 4}),
           s->real({3, 2, 4}),
           s->positive({2}),
           statistic(s->real({2})),
           statistic(s->positive({2})),
           s->real({2}),
           s->positive({2}),
           false,
           1e-3,
           {true, true, false}});
    // The running statistics are no differentiable arguments.
    s.add_without_gradient({s->real({3, 2}),
                            s->real({3, 2}),
                            s->positive({2}),
                            s->real({2}),
                            s->positive({2}),
                            s->real({2}),
                            s->positive({2}),
                            false,
                            1e-3,
                            {true, true, true}});
    s.fails({s->real({3}), s->real({3}), {}, {}, {}, s->real({1}), s->positive({1}), true, 1e-3, {true, true, true}},
            "native_batch_norm_backward: expected an input of at least 2 dimensions, [N, C, ...], got [3]");
  }
};
ARGAND_OP(NativeBatchNormBackward)

struct BatchNorm : Composite<BatchNormArgs> {
  static constexpr auto schema =
      "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
      "training, float momentum, float eps, bool cudnn_enabled) -> Tensor";
  static constexpr auto doc =
      "(input - mean) / sqrt(variance + eps) * weight + bias for each channel of [N, C, ...]. In training, mean and "
      "(biased) variance are the batch's, and running_mean and running_var move towards it (the variance unbiased) by "
      "the factor momentum; else these two are used.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Tensor compose(const Args& a) {
    const char* op = "batch_norm";
    check_dim(op, a.input);
    check_running(op, a.input, a.running_mean, a.running_var, a.training);
    check_weights(op, a.input, a.weight, a.bias);
    return std::get<0>(
        native_batch_norm(a.input, a.weight, a.bias, a.running_mean, a.running_var, a.training, a.momentum, a.eps));
  }
  static void samples(S& s) {
    const auto statistic = [&](const Tensor& t) { return exec::dense_clone(t, kFloat); };
    s.add({s->real({4, 3, 2}), s->positive({3}), s->real({3}), {}, {}, true, 0.1, 1e-3, true});
    s.add({s->real({2, 3, 2, 2}), s->positive({3}), s->real({3}), statistic(s->real({3})), statistic(s->positive({3})),
           false, 0.1, 1e-5, true});
    s.add({s->real({0, 3, 2}), s->positive({3}), s->real({3}), statistic(s->real({3})), statistic(s->positive({3})),
           false, 0.1, 1e-5, true});
    s.fails({s->real({4, 3}), s->real({4}), {}, {}, {}, true, 0.1, 1e-5, true},
            "batch_norm: weight should contain 3 elements not 4");
    s.fails({s->real({4, 3}), {}, {}, s->real({2}), s->positive({3}), false, 0.1, 1e-5, true},
            "batch_norm: running_mean should contain 3 elements not 2");
    s.fails({s->real({4, 3}), {}, {}, {}, {}, false, 0.1, 1e-5, true},
            "batch_norm: running_mean and running_var must be defined in evaluation mode");
    s.fails({s->real({4, 3}), {}, {}, s->real({1}).expand({3}), s->positive({3}), true, 0.1, 1e-5, true},
            "batch_norm: running statistics are written, and more than one element refers to a single memory location");
  }
};
ARGAND_OP(BatchNorm)

}  // namespace argand::ops
