// Logical and bitwise operations.  Bool results have no gradient; that of an in-place form is zero.
#include "argand/ops/define.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

struct LogicalAnd : Pointwise<LogicalAndArgs> {
  static constexpr auto schema = "logical_and(Tensor self, Tensor other) -> Tensor";
  static constexpr auto doc = "Where both are nonzero; any dtypes, result bool.";
  static constexpr auto promote = Promote::kLogical;
  static constexpr auto compute = kBoolType;
  ARGAND_BODY((x, y), x&& y)
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add({s->boolean({2, 3}), s->boolean({3})});
    s.add({s->integer({2, 3}, 0, 2), s->real({2, 3})});
    s.fails({s->boolean({2}), s->boolean({3})}, "logical_and: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(LogicalAnd)

struct LogicalOr : Pointwise<LogicalOrArgs> {
  static constexpr auto schema = "logical_or(Tensor self, Tensor other) -> Tensor";
  static constexpr auto doc = "Where at least one is nonzero; any dtypes, result bool.";
  static constexpr auto promote = Promote::kLogical;
  static constexpr auto compute = kBoolType;
  ARGAND_BODY((x, y), x || y)
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add({s->boolean({2, 3}), s->boolean({3})});
    s.fails({s->boolean({2}), s->boolean({3})}, "logical_or: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(LogicalOr)

struct LogicalXor : Pointwise<LogicalXorArgs> {
  static constexpr auto schema = "logical_xor(Tensor self, Tensor other) -> Tensor";
  static constexpr auto doc = "Where exactly one is nonzero; any dtypes, result bool.";
  static constexpr auto promote = Promote::kLogical;
  static constexpr auto compute = kBoolType;
  ARGAND_BODY((x, y), x != y)
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) {
    s.add({s->boolean({2, 3}), s->boolean({3})});
    s.fails({s->boolean({2}), s->boolean({3})}, "logical_xor: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(LogicalXor)

struct LogicalNot : Pointwise<LogicalNotArgs> {
  static constexpr auto schema = "logical_not(Tensor self) -> Tensor";
  static constexpr auto doc = "Where self is zero; any dtype, result bool.";
  static constexpr auto promote = Promote::kLogical;
  static constexpr auto compute = kBoolType;
  ARGAND_BODY((x), !x)
  static Tensor grad_self(const Ctx&, const Tensor& g) { return zeros_like(g); }
  static void samples(S& s) { s.add({s->boolean({2, 3})}); }
};
ARGAND_OP(LogicalNot)

struct BitwiseAnd : Pointwise<BitwiseAndArgs> {
  static constexpr auto schema = "bitwise_and(Tensor|Scalar self, Tensor|Scalar other) -> Tensor";
  static constexpr auto doc = "self & other, broadcast, on integers and bool.";
  static constexpr auto compute = kIntBody | kBoolType;
  static constexpr bool differentiable = false;
  ARGAND_BODY((x, y), x& y)
  static void samples(S& s) {
    s.add({s->integer({2, 3}, -9, 9), s->integer({3}, -9, 9)});
    s.add({s->boolean({2, 3}), s->boolean({2, 3})});
    s.add({exec::wrapped_number(1), s->integer({3}, -9, 9)});
    s.fails({s->real({2}), s->real({2})}, "bitwise_and: not implemented for dtype float64");
  }
};
ARGAND_OP(BitwiseAnd)

struct BitwiseOr : Pointwise<BitwiseOrArgs> {
  static constexpr auto schema = "bitwise_or(Tensor|Scalar self, Tensor|Scalar other) -> Tensor";
  static constexpr auto doc = "self | other, broadcast, on integers and bool.";
  static constexpr auto compute = kIntBody | kBoolType;
  static constexpr bool differentiable = false;
  ARGAND_BODY((x, y), x | y)
  static void samples(S& s) {
    s.add({s->integer({2, 3}, -9, 9), s->integer({3}, -9, 9)});
    s.add({s->boolean({2, 3}), s->boolean({2, 3})});
    s.fails({s->real({2}), s->real({2})}, "bitwise_or: not implemented for dtype float64");
  }
};
ARGAND_OP(BitwiseOr)

struct BitwiseXor : Pointwise<BitwiseXorArgs> {
  static constexpr auto schema = "bitwise_xor(Tensor|Scalar self, Tensor|Scalar other) -> Tensor";
  static constexpr auto doc = "self ^ other, broadcast, on integers and bool.";
  static constexpr auto compute = kIntBody | kBoolType;
  static constexpr bool differentiable = false;
  ARGAND_BODY((x, y), x ^ y)
  static void samples(S& s) {
    s.add({s->integer({2, 3}, -9, 9), s->integer({3}, -9, 9)});
    s.add({s->boolean({2, 3}), s->boolean({2, 3})});
    s.fails({s->real({2}), s->real({2})}, "bitwise_xor: not implemented for dtype float64");
  }
};
ARGAND_OP(BitwiseXor)

struct BitwiseNot : Pointwise<BitwiseNotArgs> {
  static constexpr auto schema = "bitwise_not(Tensor self) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "~self on integers; on bool: logical not.";
  static constexpr auto compute = kIntBody | kBoolType;
  static constexpr bool differentiable = false;
  ARGAND_BODY((x), bit_not(x))
  static void samples(S& s) {
    s.add({s->integer({2, 3}, -9, 9)});
    s.add({s->boolean({2, 3})});
    s.fails({s->real({2})}, "bitwise_not: not implemented for dtype float64");
  }
};
ARGAND_OP(BitwiseNot)

struct BitwiseLeftShift : Pointwise<BitwiseLeftShiftArgs> {
  static constexpr auto schema = "bitwise_left_shift(Tensor|Scalar self, Tensor|Scalar other) -> Tensor";
  static constexpr auto doc =
      "self * 2^other on integers, what overflows dropped; 0 for a shift that is negative or too wide.";
  static constexpr auto compute = kIntBody;
  static constexpr bool differentiable = false;
  ARGAND_BODY((x, y), shift_left(x, y))
  static void samples(S& s) {
    s.add({s->integer({2, 3}, -9, 9), s->integer({3}, 0, 5)});
    s.add({s->integer({2, 3}, -9, 9), s->integer({3}, -2, 80)});
    s.fails({s->real({2}), s->real({2})}, "bitwise_left_shift: not implemented for dtype float64");
  }
};
ARGAND_OP(BitwiseLeftShift)

struct BitwiseRightShift : Pointwise<BitwiseRightShiftArgs> {
  static constexpr auto schema = "bitwise_right_shift(Tensor|Scalar self, Tensor|Scalar other) -> Tensor";
  static constexpr auto doc =
      "self / 2^other on integers, rounded down; a shift that is negative or too wide leaves the sign: 0 or -1.";
  static constexpr auto compute = kIntBody;
  static constexpr bool differentiable = false;
  ARGAND_BODY((x, y), shift_right(x, y))
  static void samples(S& s) {
    s.add({s->integer({2, 3}, -90, 90), s->integer({3}, 0, 5)});
    s.add({s->integer({2, 3}, -90, 90), s->integer({3}, -2, 80)});
    s.fails({s->real({2}), s->real({2})}, "bitwise_right_shift: not implemented for dtype float64");
  }
};
ARGAND_OP(BitwiseRightShift)

}  // namespace argand::ops
