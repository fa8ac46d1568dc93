// Greatest common divisors and least common multiples.
#include "argand/ops/define.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

struct Gcd : Pointwise<GcdArgs> {
  static constexpr auto schema = "gcd(Tensor self, Tensor other) -> Tensor";
  static constexpr auto doc = "The greatest common divisors of integers, broadcast; gcd(0, 0) is 0.";
  static constexpr auto compute = kIntBody;
  static constexpr bool differentiable = false;
  ARGAND_BODY((x, y), gcd(x, y))
  static void samples(S& s) {
    s.add({s->integer({2, 3}, -30, 30), s->integer({2, 3}, -30, 30)});
    s.add({s->integer({2, 3}, 0, 30), s->integer({3}, 0, 30)});
    s.fails({s->real({2}), s->real({2})}, "gcd: not implemented for dtype float64");
  }
};
ARGAND_OP(Gcd)

struct Lcm : Pointwise<LcmArgs> {
  static constexpr auto schema = "lcm(Tensor self, Tensor other) -> Tensor";
  static constexpr auto doc = "The least common multiples of integers, broadcast; 0 where one of them is 0.";
  static constexpr auto compute = kIntBody;
  static constexpr bool differentiable = false;
  ARGAND_BODY((x, y), lcm(x, y))
  static void samples(S& s) {
    s.add({s->integer({2, 3}, -30, 30), s->integer({2, 3}, -30, 30)});
    s.add({s->integer({2, 3}, 0, 30), s->integer({3}, 0, 30)});
    s.fails({s->real({2}), s->real({2})}, "lcm: not implemented for dtype float64");
  }
};
ARGAND_OP(Lcm)

}  // namespace argand::ops
