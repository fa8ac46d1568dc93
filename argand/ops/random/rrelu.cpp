// rrelu: a leaky relu with random slopes.
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/random/args.h"

namespace argand::ops {
namespace {

Tensor random_leaky(const char* op, const Tensor& self, const Scalar& lower, const Scalar& upper, bool training,
                    const std::optional<Generator>& generator) {
  const double low = lower.to<double>(), high = upper.to<double>();
  ARGAND_CHECK(ValueError, low <= high, op, ": Lower bound should be less than or equal to the upper bound, got ", low,
               " and ", high);
  if (!training) return leaky_relu(self, (low + high) / 2);
  const Tensor falls = self.detach().le(0);
  // On a GPU one number is drawn for each element: the host would have to wait for the count of those that need one.
  if (!self.is_cpu()) {
    const TensorOptions options = self.options().dtype(self.dtype() == kDouble ? kDouble : kFloat);
    const Tensor slopes = empty(self.sizes(), options).uniform_(low, high, generator).to(self.dtype());
    return self * slopes.masked_fill(falls.logical_not(), 1);
  }
  // One number is drawn for each element that needs one, in their order, as PyTorch does.
  const Tensor drawn =
      empty({falls.sum().item<int64_t>()}, self.options().dtype(kDouble)).uniform_(low, high, generator);
  return self * ones(self.sizes(), self.options()).masked_scatter(falls, drawn.to(self.dtype()));
}

}  // namespace

struct Rrelu : Composite<RreluArgs> {
  static constexpr auto schema =
      "rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? "
      "generator=None) -> Tensor";
  static constexpr auto doc =
      "self where it is positive, else self times a number drawn between lower and upper; outside training, times "
      "their "
      "mean.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return random_leaky("rrelu", a.self, a.lower, a.upper, a.training, a.generator);
  }
  static void samples(S& s) {
    s.add({s->away_from(0, {12}), 0.1, 0.3, true});
    s.add({s->away_from(0, {3, 4})});
    s.fails({s->real({3}), 0.3, 0.1}, "rrelu: Lower bound should be less than or equal to the upper bound");
  }
};
ARGAND_OP(Rrelu)
ARGAND_NODE(Rrelu, "RreluWithNoiseBackward0")

}  // namespace argand::ops
