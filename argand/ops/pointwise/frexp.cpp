// Numbers taken apart.
#include <cmath>

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
  static void cpu(const Args& a, std::span<Tensor> outs) {
    const Tensor self = exec::dense(a.self);
    dispatch<kFloatingTypes>(self.dtype(), "frexp", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* x = raw<T>(self);
      T* mantissa = raw<T>(outs[0]);
      int32_t* exponent = raw<int32_t>(outs[1]);
      for (int64_t i = 0; i < self.numel(); ++i) {
        int e = 0;
        const double m = std::frexp(static_cast<double>(x[i]), &e);
        mantissa[i] = static_cast<T>(static_cast<std::conditional_t<sizeof(T) == 8, double, float>>(m));
        exponent[i] = std::isfinite(m) ? e : 0;
      }
    });
  }
  static Grads grad(const Ctx& c, const Grads& g) { return {g[0] * (-c.result(1)).exp2()}; }
  static void samples(S& s) {
    s.add({s->away_from(0, {2, 3})});
    s.fails({s->integer({2}, 1, 5)}, "frexp: torch.frexp() only supports floating-point dtypes, got int64");
  }
};
ARGAND_OP(Frexp)

}  // namespace argand::ops
