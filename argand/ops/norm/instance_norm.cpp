// instance_norm: group norm with one group per channel, or batch norm where running statistics take part.
#include "argand/ops/define.h"
#include "argand/ops/norm/args.h"
#include "argand/ops/norm/parameters.h"

namespace argand::ops {

struct InstanceNorm : Composite<InstanceNormArgs> {
  static constexpr auto schema =
      "instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
      "use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor";
  static constexpr auto doc =
      "(input - mean) / sqrt(variance + eps) * weight + bias for [N, C, ...], with mean and (biased) variance over "
      "each "
      "channel of each sample; these move running_mean and running_var as in batch_norm, averaged over the samples. "
      "Without use_input_stats the running statistics are used.";
  static constexpr auto autocast = Autocast::kAsGiven;
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Tensor compose(const Args& a) {
    const char* op = "instance_norm";
    ARGAND_CHECK(ShapeError, a.input.dim() >= 2, op, ": expected an input of at least 2 dimensions, [N, C, ...], got ",
                 a.input.sizes());
    ARGAND_CHECK(ValueError, a.use_input_stats || (a.running_mean.defined() && a.running_var.defined()), op,
                 ": Expected running_mean and running_var to be defined when use_input_stats is false");
    const int64_t c = a.input.sizes()[1];
    check_channels(op, "weight", a.weight, c);
    check_channels(op, "bias", a.bias, c);
    check_channels(op, "running_mean", a.running_mean, c);
    check_channels(op, "running_var", a.running_var, c);
    if (!a.use_input_stats)
      return batch_norm(a.input, a.weight, a.bias, a.running_mean, a.running_var, false, a.momentum, a.eps, false);
    if (!a.running_mean.defined() && !a.running_var.defined() && c > 0)
      return group_norm(a.input, c, a.weight, a.bias, a.eps);
    return with_running(a);
  }
  // Samples become channels, so that batch_norm gives each its own statistics.
  static Tensor with_running(const Args& a) {
    const int64_t n = a.input.sizes()[0], c = a.input.sizes()[1];
    const auto repeated = [n](const Tensor& t) { return t.defined() ? t.repeat({n}) : t; };
    Dims sizes(a.input.sizes());
    sizes[0] = 1;
    sizes[1] = n * c;
    const Tensor mean = repeated(a.running_mean), var = repeated(a.running_var);
    const Tensor out = batch_norm(a.input.reshape(sizes), repeated(a.weight), repeated(a.bias), mean, var, true,
                                  a.momentum, a.eps, false)
                           .view(a.input.sizes());
    const NoGradGuard no_grad;
    const auto keep = [n, c](Tensor running, const Tensor& now) {
      if (running.defined() && n > 0) running.copy_(now.view({n, c}).mean(0));
    };
    keep(a.running_mean, mean);
    keep(a.running_var, var);
    return out;
  }
  static void samples(S& s) {
    const auto statistic = [&](const Tensor& t) { return exec::dense_clone(t, kFloat); };
    s.add({s->real({2, 3, 4}), s->positive({3}), s->real({3}), {}, {}, true, 0.1, 1e-3, true});
    s.add({s->real({2, 3, 2, 2}), {}, {}, {}, {}, true, 0.1, 1e-3, true});
    s.add({s->real({2, 3, 4}), s->positive({3}), s->real({3}), statistic(s->real({3})), statistic(s->positive({3})),
           false, 0.1, 1e-5, true});
    s.fails({s->real({4, 3, 2}), {}, {}, {}, {}, false, 0.1, 1e-5, true},
            "instance_norm: Expected running_mean and running_var to be defined when use_input_stats is false");
    s.fails({s->real({4, 3, 2}), s->real({2}), {}, {}, {}, true, 0.1, 1e-5, true},
            "instance_norm: weight should contain 3 elements not 2");
  }
};
ARGAND_OP(InstanceNorm)

}  // namespace argand::ops
