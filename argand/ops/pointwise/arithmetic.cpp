// Addition, subtraction, multiplication, division, negation.
#include "argand/ops/define.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

struct Add : Pointwise<AddArgs> {
  static constexpr auto schema = "add(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor";
  static constexpr auto doc = "self + alpha * other, broadcast. On bool: logical or.";
  // An exact alpha of one must not touch infinities or NaNs of a complex `other`.
  ARGAND_BODY((x, y, alpha), x + (alpha == T(1) ? y : alpha * y))
  static Tensor grad_self(const Ctx&, const Tensor& g) { return g; }
  static Tensor grad_other(const Ctx& c, const Tensor& g) { return scale(g, c.alpha); }

  static Tensor scale(const Tensor& g, const Scalar& alpha) { return alpha.equal(1) ? g : g * alpha; }

  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({2, 3})});
    s.add({s->real({2, 3}), s->real({3}), 2});
    s.add({s->real({2, 1, 4}), s->real({3, 1})});
    s.add({s->real({}), s->real({3})});
    s.add({s->real({0, 3}), s->real({3})});
    s.fails({s->real({2, 3}), s->real({4})}, "add: shapes [2, 3] and [4] do not broadcast");
  }
};
ARGAND_OP(Add)

struct Sub : Pointwise<SubArgs> {
  static constexpr auto schema = "sub(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor";
  static constexpr const char* overloads[] = {"subtract(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor"};
  static constexpr auto doc = "self - alpha * other, broadcast. Not defined for bool.";
  static constexpr auto compute = kRealBody | kComplexTypes;
  ARGAND_BODY((x, y, alpha), x - (alpha == T(1) ? y : alpha * y))
  static Tensor grad_self(const Ctx&, const Tensor& g) { return g; }
  static Tensor grad_other(const Ctx& c, const Tensor& g) { return g * -c.alpha; }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({2, 3})});
    s.add({s->real({2, 3}), s->real({2, 1}), 3});
    s.fails({s->real({2}), s->real({3})}, "sub: shapes [2] and [3] do not broadcast");
    s.fails({s->boolean({2}), s->boolean({2})}, "sub: not implemented for dtype bool");
  }
};
ARGAND_OP(Sub)

struct Mul : Pointwise<MulArgs> {
  static constexpr auto schema = "mul(Tensor self, Tensor|Scalar other) -> Tensor";
  static constexpr const char* overloads[] = {"multiply(Tensor self, Tensor|Scalar other) -> Tensor"};
  static constexpr auto doc = "self * other, broadcast. On bool: logical and.";
  ARGAND_BODY((x, y), x * y)
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * c.other.conj(); }
  static Tensor grad_other(const Ctx& c, const Tensor& g) { return g * c.self.conj(); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({2, 3})});
    s.add({s->real({4, 1}), s->real({5})});
    s.fails({s->real({2, 3}), s->real({2})}, "mul: shapes [2, 3] and [2] do not broadcast");
  }
};
ARGAND_OP(Mul)

struct Div : Pointwise<DivArgs> {
  static constexpr auto schema = "div(Tensor self, Tensor|Scalar other) -> Tensor";
  static constexpr const char* overloads[] = {"divide(Tensor self, Tensor|Scalar other) -> Tensor",
                                              "true_divide(Tensor self, Tensor|Scalar other) -> Tensor"};
  static constexpr auto doc = "self / other, broadcast; integers give floating point.";
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x, y), x / y)
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g / c.other.conj(); }
  static Tensor grad_other(const Ctx& c, const Tensor& g) { return -g * (c.result() / c.other).conj(); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->away_from(0, {2, 3})});
    s.add({s->real({2, 3}), s->away_from(0, {3})});
    s.fails({s->real({2, 3}), s->real({2})}, "div: shapes [2, 3] and [2] do not broadcast");
  }
};
ARGAND_OP(Div)

struct Neg : Pointwise<NegArgs> {
  static constexpr auto schema = "neg(Tensor self) -> Tensor";
  static constexpr const char* overloads[] = {"negative(Tensor self) -> Tensor"};
  static constexpr auto doc = "-self. Not defined for bool.";
  static constexpr auto compute = kRealBody | kComplexTypes;
  ARGAND_BODY((x), -x)
  static Tensor grad_self(const Ctx&, const Tensor& g) { return -g; }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.fails({s->boolean({2})}, "neg: not implemented for dtype bool");
  }
};
ARGAND_OP(Neg)

}  // namespace argand::ops
