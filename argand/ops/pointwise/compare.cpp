// Comparisons of two operands.  Bool results have no gradient; that of an in-place form is zero.
#include "argand/ops/define.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

struct Eq : Pointwise<EqArgs> {
  static constexpr auto schema = "eq(Tensor self, Tensor|Scalar other) -> Tensor";
  static constexpr auto doc = "self == other, broadcast, as bool. NaN equals nothing.";
  static constexpr auto promote = Promote::kCompare;
  ARGAND_BODY((x, y), x == y)
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add({s->integer({4, 3}, 0, 3), s->integer({4, 3}, 0, 3)});
    s.add({s->real({2, 3}), s->real({3})});
    s.add({s->boolean({2, 3}), exec::wrapped_number(true)});
    s.fails({s->real({2, 3}), s->real({2})}, "eq: shapes [2, 3] and [2] do not broadcast");
  }
};
ARGAND_OP(Eq)

struct Ne : Pointwise<NeArgs> {
  static constexpr auto schema = "ne(Tensor self, Tensor|Scalar other) -> Tensor";
  static constexpr const char* overloads[] = {"not_equal(Tensor self, Tensor|Scalar other) -> Tensor"};
  static constexpr auto doc = "self != other, broadcast, as bool. NaN differs from everything.";
  static constexpr auto promote = Promote::kCompare;
  ARGAND_BODY((x, y), x != y)
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add({s->integer({4, 3}, 0, 3), s->integer({3}, 0, 3)});
    s.add({s->real({2, 3}), s->real({2, 3})});
    s.fails({s->real({2, 3}), s->real({2})}, "ne: shapes [2, 3] and [2] do not broadcast");
  }
};
ARGAND_OP(Ne)

struct Lt : Pointwise<LtArgs> {
  static constexpr auto schema = "lt(Tensor self, Tensor|Scalar other) -> Tensor";
  static constexpr const char* overloads[] = {"less(Tensor self, Tensor|Scalar other) -> Tensor"};
  static constexpr auto doc = "self < other, broadcast, as bool. Not defined for complex numbers.";
  static constexpr auto promote = Promote::kCompare;
  static constexpr auto compute = kRealBoolBody;
  ARGAND_BODY((x, y), x < y)
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add({s->integer({4, 3}, 0, 3), s->integer({4, 3}, 0, 3)});
    s.add({s->real({2, 3}), exec::wrapped_number(0.5)});
    s.fails({s->real({2, 3}), s->real({2})}, "lt: shapes [2, 3] and [2] do not broadcast");
  }
};
ARGAND_OP(Lt)

struct Le : Pointwise<LeArgs> {
  static constexpr auto schema = "le(Tensor self, Tensor|Scalar other) -> Tensor";
  static constexpr const char* overloads[] = {"less_equal(Tensor self, Tensor|Scalar other) -> Tensor"};
  static constexpr auto doc = "self <= other, broadcast, as bool. Not defined for complex numbers.";
  static constexpr auto promote = Promote::kCompare;
  static constexpr auto compute = kRealBoolBody;
  ARGAND_BODY((x, y), x <= y)
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add({s->integer({4, 3}, 0, 3), s->integer({4, 3}, 0, 3)});
    s.fails({s->real({2, 3}), s->real({2})}, "le: shapes [2, 3] and [2] do not broadcast");
  }
};
ARGAND_OP(Le)

struct Gt : Pointwise<GtArgs> {
  static constexpr auto schema = "gt(Tensor self, Tensor|Scalar other) -> Tensor";
  static constexpr const char* overloads[] = {"greater(Tensor self, Tensor|Scalar other) -> Tensor"};
  static constexpr auto doc = "self > other, broadcast, as bool. Not defined for complex numbers.";
  static constexpr auto promote = Promote::kCompare;
  static constexpr auto compute = kRealBoolBody;
  ARGAND_BODY((x, y), x > y)
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add({s->integer({4, 3}, 0, 3), s->integer({4, 3}, 0, 3)});
    s.fails({s->real({2, 3}), s->real({2})}, "gt: shapes [2, 3] and [2] do not broadcast");
  }
};
ARGAND_OP(Gt)

struct Ge : Pointwise<GeArgs> {
  static constexpr auto schema = "ge(Tensor self, Tensor|Scalar other) -> Tensor";
  static constexpr const char* overloads[] = {"greater_equal(Tensor self, Tensor|Scalar other) -> Tensor"};
  static constexpr auto doc = "self >= other, broadcast, as bool. Not defined for complex numbers.";
  static constexpr auto promote = Promote::kCompare;
  static constexpr auto compute = kRealBoolBody;
  ARGAND_BODY((x, y), x >= y)
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add({s->integer({4, 3}, 0, 3), s->integer({4, 3}, 0, 3)});
    s.fails({s->real({2, 3}), s->real({2})}, "ge: shapes [2, 3] and [2] do not broadcast");
  }
};
ARGAND_OP(Ge)

}  // namespace argand::ops
