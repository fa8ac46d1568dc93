// Numbers taken apart.
#include "argand/ops/define.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

struct Frexp : Kernel<FrexpArgs> {
  static constexpr auto schema = "frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc =
      "self = mantissa * 2^exponent, the mantissa in [1/2, 1), the exponent int32; zeros, infinities and NaN are their "
      "own mantissas.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static TensorMetas infer(const Args& a) {
    ARGAND_CHECK(DtypeError, a.self.is_floating_point(),
                 "frexp: torch.frexp() only supports floating-point dtypes, got ", a.self.dtype());
    return {{a.self.impl().sizes, a.self.dtype()}, {a.self.impl().sizes, kInt}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const Tensor x = a.self.to(a.self.dtype() == kDouble ? kDouble : kFloat);
    const Tensor keeps = x.isfinite().logical_and(x != 0).logical_not();
    // log2() may round up to the next whole number, so the exponent is right or 1 too large or small; the numbers are
    // multiplied by two powers of 2, because one of them can be too large or too small for the dtype.
    const Tensor guess = where(keeps, 0, x.abs().log2().floor() + 1), half = (guess / 2).trunc();
    const Tensor part = x * (-half).exp2() * (half - guess).exp2(), size = part.abs();
    const Tensor large = (size >= 1).to(x.dtype()), small = (size < 0.5).to(x.dtype());
    exec::copy_elements(outs[0], where(keeps, x, part * (1 - 0.5 * large) * (1 + small)));
    exec::copy_elements(outs[1], where(keeps, 0, guess + large - small));
  }
  static Grads grad(const Ctx& c, const Grads& g) { return {g[0] * (-c.result(1)).exp2()}; }
  static void samples(S& s) {
    s.add({s->away_from(0, {2, 3})});
    s.fails({s->integer({2}, 1, 5)}, "frexp: torch.frexp() only supports floating-point dtypes, got int64");
  }
};
ARGAND_OP(Frexp)

}  // namespace argand::ops
