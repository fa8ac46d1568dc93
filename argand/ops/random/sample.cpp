// Samples whose parameters are tensors: bernoulli, normal, multinomial.
#include "argand/core/no_draws.h"
#include "argand/exec/forward_mode.h"
#include "argand/exec/has_values.h"
#include "argand/kernels/cpu/random.h"
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/random/args.h"
#include "argand/ops/random/draw.h"

namespace argand::ops {
namespace {

// Samples are drawn in the order of the elements, whatever the layout of the parameters, as PyTorch does.
Tensor new_sample(const Tensor& parameter) { return empty_like(parameter, {}, MemoryFormat::Contiguous); }

}  // namespace

struct Bernoulli : Composite<BernoulliArgs> {
  static constexpr auto schema = "bernoulli(Tensor self, *, Generator? generator=None) -> Tensor";
  static constexpr auto doc = "1 with the probability at the same place of self, else 0. The gradient is zero.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_may_be_any = true;
  static Tensor compose(const Args& a) { return new_sample(a.self).bernoulli_(a.self, a.generator); }
  static void samples(S& s) { s.fails({s->real({2}, 2, 3)}, "bernoulli_: expects p to be in [0, 1], but got p="); }
};
ARGAND_OP(Bernoulli)

struct BernoulliP : Composite<BernoulliPArgs> {
  static constexpr auto schema = "bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor";
  static constexpr auto doc = "A tensor like self: 1 with probability p, else 0.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_may_be_any = true;
  static Tensor compose(const Args& a) { return new_sample(a.self).bernoulli_(a.p, a.generator); }
  static void samples(S& s) { s.fails({s->real({2}), 1.5}, "bernoulli_: expects p to be in [0, 1], but got p=1.5"); }
};
ARGAND_OP(BernoulliP)

namespace {

// Samples are recorded in the graph, with gradient 0 for the parameters.
Tensor with_parameters(Tensor sample, const Tensor& parameter) {
  if (!exec::is_differentiated(parameter)) return sample;
  return where(full({}, true, sample.options().dtype(kBool)), sample, parameter);
}

template <class Draw>
auto without_grad(Draw draw) {
  const NoGradGuard no_grad;
  return draw();
}

}  // namespace

struct NormalTensorFloat : Composite<NormalTensorFloatArgs> {
  static constexpr auto schema =
      "normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor";
  static constexpr auto doc = "Normal samples around the elements of mean.";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    check_draws_allowed();
    ARGAND_CHECK(ValueError, a.std >= 0, "normal expects std >= 0.0, but found std ", a.std);
    return with_parameters(without_grad([&] { return new_sample(a.mean).normal_(0, a.std, a.generator).add_(a.mean); }),
                           a.mean);
  }
  static void samples(S& s) { s.fails({s->real({2}), -1}, "normal expects std >= 0.0, but found std -1"); }
};
ARGAND_OP(NormalTensorFloat)
ARGAND_NODE(NormalTensorFloat, "NormalBackward1")

namespace {

void check_std(const Tensor& std) {
  ARGAND_CHECK(DtypeError, !std.is_complex(), "normal: expects standard deviation to be non-complex");
  if (std.numel() == 0 || !exec::has_values(std)) return;
  const double least = without_grad([&] { return std.min().item().toDouble(); });
  ARGAND_CHECK(ValueError, least >= 0, "normal expects all elements of std >= 0.0, but found ", least);
}

}  // namespace

struct NormalFloatTensor : Composite<NormalFloatTensorArgs> {
  static constexpr auto schema = "normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor";
  static constexpr auto doc = "Normal samples with the elements of std as standard deviations.";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    check_draws_allowed();
    check_std(a.std);
    return with_parameters(
        without_grad([&] { return new_sample(a.std).normal_(0, 1, a.generator).mul_(a.std).add_(a.mean); }), a.std);
  }
  static void samples(S& s) {
    s.fails({0, s->real({2}, -2, -1)}, "normal expects all elements of std >= 0.0, but found -");
  }
};
ARGAND_OP(NormalFloatTensor)
ARGAND_NODE(NormalFloatTensor, "NormalBackward2")

struct NormalTensorTensor : Composite<NormalTensorTensorArgs> {
  static constexpr auto schema =
      "normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor";
  static constexpr auto doc = "Normal samples with means and standard deviations from two tensors, broadcast.";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    check_draws_allowed();
    check_std(a.std);
    const Dims sizes = broadcast_shapes(a.mean.sizes(), a.std.sizes(), "normal");
    const Tensor sample = without_grad(
        [&] { return empty(sizes, a.mean.options()).normal_(0, 1, a.generator).mul_(a.std).add_(a.mean); });
    return with_parameters(with_parameters(sample, a.mean), a.std);
  }
  static void samples(S& s) {
    s.fails({s->real({2}), s->positive({3})}, "normal: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(NormalTensorTensor)
ARGAND_NODE(NormalTensorTensor, "NormalBackward3")

struct NormalFloatFloat : Composite<NormalFloatFloatArgs> {
  static constexpr auto schema =
      "normal.float_float(float mean, float std, int[] size, *, Generator? generator=None, ScalarType? dtype=None, "
      "Layout? "
      "layout=None, Device? device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto doc = "Normal samples of one mean and standard deviation.";
  static Tensor compose(const Args& a) {
    return empty(a.size, a.options.requires_grad(false)).normal_(a.mean, a.std, a.generator);
  }
  static void samples(S& s) { s.fails({0, -1, {2}}, "normal expects std >= 0.0, but found std -1"); }
};
ARGAND_OP(NormalFloatFloat)

struct Multinomial : Kernel<MultinomialArgs> {
  static constexpr auto schema =
      "multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "num_samples category numbers (int64) for each row of weights, a vector or a matrix; without replacement, each "
      "category "
      "at most once. ValueError for a weight that is negative or not finite, and for rows of zeros.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool differentiable = false;
  static constexpr auto dtypes = kFloatingTypes;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ShapeError, a.self.dim() == 1 || a.self.dim() == 2, "multinomial: prob_dist must be 1 or 2 dim, got ",
                 a.self.dim());
    const int64_t categories = a.self.sizes().back();
    ARGAND_CHECK(ValueError, a.num_samples > 0, "multinomial: cannot sample n_sample <= 0 samples, got ",
                 a.num_samples);
    ARGAND_CHECK(ValueError, a.replacement || a.num_samples <= categories,
                 "multinomial: cannot sample n_sample > prob_dist.size(-1) samples without replacement, got ",
                 a.num_samples, " of ", categories);
    ARGAND_CHECK(ValueError, categories <= int64_t{1} << 24,
                 "multinomial: number of categories cannot exceed 2^24, got ", categories);
    if (a.self.dim() == 1) return {{a.num_samples}, kLong};
    return {{a.self.sizes()[0], a.num_samples}, kLong};
  }
  static void run(const Args& a, Tensor& out) { fill(a, exec::dense(a.self), out); }
  static void fill(const Args& a, const Tensor& weights, const Tensor& out) {
    if (!out.is_cpu()) return fill_on_device(a, weights, out);
    const int64_t categories = weights.sizes().back(), rows = out.numel() / a.num_samples;
    dispatch<kFloatingTypes>(weights.dtype(), "multinomial", [&](auto tag) {
      cpu::multinomial(generator_of(a.generator), raw<typename decltype(tag)::type>(weights), rows, categories,
                       a.num_samples, a.replacement, raw<int64_t>(out));
    });
  }
  // The weights are not checked: that would wait for the GPU.
  static void fill_on_device(const Args& a, const Tensor& weights, const Tensor& out) {
    if (!a.replacement || a.num_samples == 1) {
      // The first events of Poisson processes whose rates are the weights.
      const Tensor waits = exec::new_tensor({weights.impl().sizes, weights.dtype()}, out.device());
      draw_on_device(waits, {Draw::kExponential, 1}, a.generator);
      return exec::copy_elements(out, std::get<1>(weights.div(waits).topk(a.num_samples)));
    }
    const Tensor sums = weights.to(op_math_type(weights.dtype())).cumsum(-1);
    const Tensor fractions = exec::new_tensor({out.impl().sizes, kDouble}, out.device());
    draw_on_device(fractions, {Draw::kUniform, 0, 1}, a.generator);
    // In (0, 1], so that a category of weight 0 is never drawn.
    exec::copy_elements(out, searchsorted(sums.div(sums.slice(-1, -1)), fractions.neg().add(1)));
  }
  static void samples(S& s) {
    // The four cases (some of few, few of many, one, with replacement) are drawn in different ways.
    s.add({s->positive({2, 40}), 7});
    s.add({s->positive({300}), 3});
    s.add({s->positive({2, 9}), 1});
    s.add({s->positive({2, 9}), 12, true});
    s.fails({s->positive({3}), 4},
            "multinomial: cannot sample n_sample > prob_dist.size(-1) samples without replacement");
    s.fails({s->positive({3}), 0}, "multinomial: cannot sample n_sample <= 0 samples");
    s.fails({s->positive({}), 1}, "multinomial: prob_dist must be 1 or 2 dim, got 0");
    s.fails({s->real({3}, -2, -1), 1}, "multinomial: probability tensor contains either `inf`, `nan` or element < 0");
  }
};
ARGAND_OP(Multinomial)

}  // namespace argand::ops
