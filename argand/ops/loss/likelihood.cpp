// Losses from distributions: kl_div, poisson_nll_loss.
#include <numbers>

#include "argand/ops/define.h"
#include "argand/ops/loss/args.h"
#include "argand/ops/loss/target.h"

namespace argand::ops {

struct KlDiv : Composite<KlDivArgs> {
  static constexpr auto schema =
      "kl_div(Tensor self, Tensor target, int reduction=Mean, *, bool log_target=False) -> Tensor";
  static constexpr auto doc =
      "target (log(target) - self) of log-probabilities self, 0 where target is 0; with log_target, target holds "
      "logarithms, too. The mean of all, the sum, or each.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Tensor compose(const Args& a) {
    check_reduction("kl_div", a.reduction);
    const Tensor terms =
        a.log_target ? a.target.exp() * (a.target - a.self) : xlogy(a.target, a.target) - a.target * a.self;
    return reduce_loss(terms, a.reduction);
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}, -3, 0), s->positive({3, 4})});
    s.add({s->real({3, 4}, -3, 0), s->real({3, 4}, -3, 0), Reduction::Sum, true});
    s.add({s->real({3, 4}, -3, 0), s->positive({4}), Reduction::None});
    s.fails({s->real({3}), s->real({2})}, "shapes [2] and [3] do not broadcast");
    s.fails({s->real({3}), s->real({3}), 3}, "kl_div: expected reduction 0 (none), 1 (mean) or 2 (sum), got 3");
  }
};
ARGAND_OP(KlDiv)

struct PoissonNllLoss : Composite<PoissonNllLossArgs> {
  static constexpr auto schema =
      "poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor";
  static constexpr auto doc =
      "exp(input) - target input, or without log_input: input - target log(input + eps). full adds Stirling's "
      "approximation of log(target!) where target > 1. The mean of all, the sum, or each.";
  static constexpr auto autocast = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    check_reduction("poisson_nll_loss", a.reduction);
    Tensor terms = a.log_input ? a.input.exp() - a.target * a.input : a.input - a.target * (a.input + a.eps).log();
    if (a.full) {
      const Tensor stirling = a.target * a.target.log() - a.target + 0.5 * (2 * std::numbers::pi * a.target).log();
      terms = terms + stirling.masked_fill(a.target <= 1, 0);
    }
    return reduce_loss(terms, a.reduction);
  }
  static void samples(S& s) {
    s.add({s->real({3, 4}), s->positive({3, 4}), true, false, 1e-8, Reduction::Mean});
    s.add({s->positive({3, 4}), s->positive({3, 4}), false, false, 1e-8, Reduction::Sum});
    s.add({s->real({3, 4}), s->real({3, 4}, 0.2, 0.9), true, true, 1e-8, Reduction::None});
    s.add({s->real({3, 4}), s->real({3, 4}, 1.2, 4), true, true, 1e-8, Reduction::None});
    s.fails({s->real({3}), s->real({2}), true, false, 1e-8, Reduction::Mean}, "shapes [2] and [3] do not broadcast");
    s.fails({s->real({3}), s->real({3}), true, false, 1e-8, 3}, "poisson_nll_loss: expected reduction 0 (none)");
  }
};
ARGAND_OP(PoissonNllLoss)

}  // namespace argand::ops
