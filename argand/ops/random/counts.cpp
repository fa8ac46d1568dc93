// Random counts: Poisson and binomial distributions.  Their gradients are zero.
#include "argand/kernels/cpu/random.h"
#include "argand/ops/define.h"
#include "argand/ops/random/args.h"
#include "argand/ops/random/draw.h"

namespace argand::ops {

struct Poisson : Kernel<PoissonArgs> {
  static constexpr auto schema = "poisson(Tensor self, Generator? generator=None) -> Tensor";
  static constexpr auto doc =
      "Samples of Poisson distributions with the means self >= 0; on a GPU NaN for those below. The gradient is zero.";
  static constexpr int variants = kFunction;
  static constexpr auto dtypes = kFloatingTypes;
  static TensorMeta infer(const Args& a) { return {a.self.impl().sizes, a.self.dtype()}; }
  static void run(const Args& a, Tensor& out) {
    fill(out, a.self, a.generator);
  }
  static void fill(const Tensor& out, const Tensor& means, const std::optional<Generator>& g) {
    if (!out.is_cpu()) {  // the means are not checked: that would wait for the GPU
      const Tensor rates = exec::dense(means, kDouble);
      Draw draw{Draw::kPoisson};
      draw.chances = rates.impl().data();
      return draw_on_device(out, draw, g);
    }
    const Tensor rates = exec::dense(means);
    dispatch<kFloatingTypes>(out.dtype(), "poisson", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* rate = raw<T>(rates);
      for (int64_t i = 0; i < out.numel(); ++i)
        ARGAND_CHECK(ValueError, static_cast<double>(rate[i]) >= 0,
                     "poisson: invalid Poisson rate, expected rate to be "
                     "non-negative, got ",
                     static_cast<double>(rate[i]));
      cpu::poisson(generator_of(g), raw<T>(out), rate, out.numel());
    });
  }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    // A step function, whose differences are no gradient.
    s.add_without_gradient({s->real({4, 6}, 0, 30)});
    s.fails({s->real({2}, -2, -1)}, "poisson: invalid Poisson rate, expected rate to be non-negative, got -");
  }
};
ARGAND_OP(Poisson)

struct Binomial : Kernel<BinomialArgs> {
  static constexpr auto schema = "binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor";
  static constexpr auto doc =
      "How many of count trials succeed, each with the probability prob, which has the same dtype and broadcasts "
      "against it. The gradient is zero.";
  static constexpr int variants = kFunction;
  static constexpr auto dtypes = kFloatingTypes;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(DtypeError, a.count.dtype() == a.prob.dtype(), "binomial: expected count and prob of one dtype, got ",
                 a.count.dtype(), " and ", a.prob.dtype());
    return {broadcast_shapes(a.count.sizes(), a.prob.sizes(), "binomial"), a.count.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    fill(out, a.count.expand(out.sizes()), a.prob.expand(out.sizes()), a.generator);
  }
  static void fill(const Tensor& out, const Tensor& counts, const Tensor& chances, const std::optional<Generator>& g) {
    if (!out.is_cpu()) {
      const Tensor count = exec::dense(counts, kDouble), prob = exec::dense(chances, kDouble);
      Draw draw{Draw::kBinomial};
      draw.chances = count.impl().data();
      draw.chances_b = prob.impl().data();
      return draw_on_device(out, draw, g);
    }
    const Tensor count = exec::dense(counts), prob = exec::dense(chances);
    dispatch<kFloatingTypes>(out.dtype(), "binomial", [&](auto tag) {
      using T = typename decltype(tag)::type;
      cpu::binomial(generator_of(g), raw<T>(out), raw<T>(count), raw<T>(prob), out.numel());
    });
  }
  static Tensor grad_count(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static Tensor grad_prob(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add_without_gradient({s->integer({4, 6}, 0, 80).to(kDouble), s->real({4, 6}, 0, 1)});
    s.fails({s->positive({2}), s->positive({3})}, "binomial: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(Binomial)

}  // namespace argand::ops
