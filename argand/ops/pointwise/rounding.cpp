// Rounding to integers; the gradient is 0 (of frac: that of self).
#include <cmath>

#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

struct Floor : Pointwise<FloorArgs> {
  static constexpr auto schema = "floor(Tensor self) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The largest integer <= self.";
  static constexpr auto compute = kRealBody;
  ARGAND_BODY((x), floor(x))
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add({s->apart({3, 4}) + 0.0625});
    s.add({s->integer({3}, -3, 3)});
    s.fails({s->boolean({2})}, "floor: not implemented for dtype bool");
  }
};
ARGAND_OP(Floor)

struct Ceil : Pointwise<CeilArgs> {
  static constexpr auto schema = "ceil(Tensor self) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The smallest integer >= self.";
  static constexpr auto compute = kRealBody;
  ARGAND_BODY((x), ceil(x))
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add({s->apart({3, 4}) + 0.0625});
    s.add({s->integer({3}, -3, 3)});
  }
};
ARGAND_OP(Ceil)

struct Trunc : Pointwise<TruncArgs> {
  static constexpr auto schema = "trunc(Tensor self) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr const char* overloads[] = {"fix(Tensor self) -> Tensor"};
  static constexpr auto doc = "self without its fraction.";
  static constexpr auto compute = kRealBody;
  ARGAND_BODY((x), trunc(x))
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add({s->apart({3, 4}) + 0.0625});
    s.add({s->integer({3}, -3, 3)});
  }
};
ARGAND_OP(Trunc)

struct Round : Pointwise<RoundArgs> {
  static constexpr auto schema = "round(Tensor self) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The nearest integer, halves to the even one.";
  static constexpr auto compute = kRealBody;
  ARGAND_BODY((x), round(x))
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add({s->apart({3, 4}) + 0.0625});
    s.add({s->integer({3}, -3, 3)});
    s.fails({s->boolean({2})}, "round: not implemented for dtype bool");
  }
};
ARGAND_OP(Round)

struct RoundDecimals : Pointwise<RoundDecimalsArgs> {
  static constexpr auto schema = "round.decimals(Tensor self, *, int decimals) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr const char* overloads[] = {"special_round(Tensor self, *, int decimals=0) -> Tensor"};
  static constexpr auto doc = "Rounded to `decimals` places after the point (before it, where negative).";
  static constexpr int num_scalars = 1;
  struct Integer : Pointwise<RoundDecimalsArgs> {
    static constexpr auto compute = kRealBody;
    static constexpr int num_scalars = 0;
    ARGAND_BODY((x), round(x))
  };
  struct After : Pointwise<RoundDecimalsArgs> {
    static constexpr auto compute = kFloatBody;
    ARGAND_BODY((x, power), round(x* power) / power)
  };
  struct Before : Pointwise<RoundDecimalsArgs> {
    static constexpr auto compute = kFloatBody;
    ARGAND_BODY((x, power), round(x / power) * power)
  };
  static const PointwiseInfo& form(const Args& a) {
    return a.decimals == 0 ? form_of<Integer> : a.decimals > 0 ? form_of<After> : form_of<Before>;
  }
  static void scalars(const Args& a, Scalar* out) { *out = std::pow(10.0, std::abs(static_cast<double>(a.decimals))); }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add_without_gradient({s->real({3, 4}), 1});
    s.add_without_gradient({s->real({3, 4}, -900, 900), -2});
    s.add_without_gradient({s->integer({3}, -3, 3), 0});
    s.fails({s->integer({2}, 0, 2), -1}, "round: not implemented for dtype int64");
  }
};
ARGAND_OP(RoundDecimals)
ARGAND_NODE(RoundDecimals, "RoundBackward1")

struct Frac : Pointwise<FracArgs> {
  static constexpr auto schema = "frac(Tensor self) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The fraction of self, with its sign.";
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((x), x - trunc(x))
  static Tensor grad_self(const Ctx&, const Tensor& g) { return g; }
  static void samples(S& s) {
    s.add({s->apart({3, 4}) + 0.0625});
    s.fails({s->integer({2}, 0, 2)}, "frac: not implemented for dtype int64");
  }
};
ARGAND_OP(Frac)

}  // namespace argand::ops
