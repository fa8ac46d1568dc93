// Addition, subtraction, multiplication, division, negation.
#include "argand/exec/pointwise.h"
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/number_fits.h"
#include "argand/ops/pointwise/args.h"
#include "argand/ops/wide_number.h"

namespace argand::ops {
namespace {

void check_alpha(const char* op, const Tensor& self, const Tensor& other, const Scalar& alpha) {
  const bool integers = is_integral(self.dtype(), true) && is_integral(other.dtype(), true);
  ARGAND_CHECK(ValueError, !integers || alpha.isIntegral(true), op,
               ": For integral input tensors, argument alpha must not be a floating point number.");
  ARGAND_CHECK(ValueError, !alpha.isBoolean() || (self.dtype() == kBool && other.dtype() == kBool), op,
               ": Boolean alpha only supported for Boolean results.");
  ARGAND_CHECK(ValueError, !alpha.isComplex() || self.is_complex() || other.is_complex(), op,
               ": For non-complex input tensors, argument alpha must not be a complex number.");
  check_fits(op, alpha, promote_types(self.dtype(), other.dtype()));
}

// `value` multiplies in the type in which the op computes: float32 for half precision.
void check_value(const char* op, const Scalar& value, const Tensor& self, const Tensor& tensor1,
                 const Tensor& tensor2) {
  const Tensor* operands[] = {&self, &tensor1, &tensor2};
  check_fits(op, value, op_math_type(exec::result_type(operands)));
}

void check_difference(const char* op, const Tensor& self, const Tensor& other) {
  ARGAND_CHECK(
      DtypeError, self.dtype() != kBool || other.dtype() != kBool, op,
      ": Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
      "operator instead.");
  ARGAND_CHECK(DtypeError, self.dtype() != kBool && other.dtype() != kBool, op,
               ": Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a "
               "mask, use the `~` or `logical_not()` operator instead.");
}

}  // namespace

struct Add : Pointwise<AddArgs> {
  static constexpr auto schema = "add(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor";
  static constexpr auto doc = "self + alpha * other, broadcast. On bool: logical or.";
  static constexpr auto python_numbers = "self";
  static constexpr auto python_old_orders = "self alpha other";
  // An exact alpha of one must not touch infinities or NaNs of a complex `other`.
  ARGAND_BODY((x, y, alpha), x + (alpha == T(1) ? y : alpha * y))
  static void check(const Args& a) { check_alpha("add", a.self, a.other, a.alpha); }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return g; }
  static Tensor grad_other(const Ctx& c, const Tensor& g) { return scale(g, conjugate(c.alpha)); }

  static Tensor scale(const Tensor& g, const Scalar& alpha) { return alpha.equal(1) ? g : g * alpha; }
  static Scalar conjugate(const Scalar& v) {
    return v.isComplex() ? Scalar(std::conj(v.to<std::complex<double>>())) : v;
  }

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
ARGAND_NODE(Add, [](const AddArgs& a) { return is_number(a.other) ? "AddBackward1" : nullptr; })

struct Sub : Pointwise<SubArgs> {
  static constexpr auto schema = "sub(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor";
  static constexpr const char* overloads[] = {
      "subtract(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor"};
  static constexpr auto doc = "self - alpha * other, broadcast. Not defined for bool.";
  static constexpr auto python_numbers = "self";
  static constexpr auto python_old_orders = "self alpha other";
  static constexpr auto compute = kRealBody | kComplexTypes;
  ARGAND_BODY((x, y, alpha), x - (alpha == T(1) ? y : alpha * y))
  static void check(const Args& a) {
    check_difference("sub", a.self, a.other);
    check_alpha("sub", a.self, a.other, a.alpha);
  }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return g; }
  static Tensor grad_other(const Ctx& c, const Tensor& g) {
    return c.alpha.equal(1) ? -g : g * -Add::conjugate(c.alpha);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({2, 3})});
    s.add({s->real({2, 3}), s->real({2, 1}), 3});
    s.fails({s->real({2}), s->real({3})}, "sub: shapes [2] and [3] do not broadcast");
    s.fails({s->boolean({2}), s->boolean({2})}, "sub: Subtraction, the `-` operator, with two bool tensors");
    s.fails({s->boolean({2}), s->real({2})}, "sub: Subtraction, the `-` operator, with a bool tensor");
  }
};
ARGAND_OP(Sub)
ARGAND_NODE(Sub, [](const SubArgs& a) {
  return is_number(a.self) ? "RsubBackward1" : is_number(a.other) ? "SubBackward1" : nullptr;
})

struct Rsub : Pointwise<RsubArgs> {
  static constexpr auto schema = "rsub(Tensor self, Tensor|Scalar other, Scalar alpha=1) -> Tensor";
  static constexpr auto doc = "other - alpha * self, broadcast. Not defined for bool.";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kRealBody | kComplexTypes;
  ARGAND_BODY((x, y, alpha), y - (alpha == T(1) ? x : alpha * x))
  static void check(const Args& a) {
    check_difference("rsub", a.self, a.other);
    check_alpha("rsub", a.self, a.other, a.alpha);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return c.alpha.equal(1) ? -g : g * -Add::conjugate(c.alpha);
  }
  static Tensor grad_other(const Ctx&, const Tensor& g) { return g; }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({2, 3})});
    s.add({s->real({2, 3}), exec::wrapped_number(2), 3});
    s.fails({s->real({2}), s->boolean({2})}, "rsub: Subtraction, the `-` operator, with a bool tensor");
    s.fails({s->real({2}), s->real({3})}, "rsub: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(Rsub)
ARGAND_NODE(Rsub, [](const RsubArgs& a) { return is_number(a.other) ? "RsubBackward1" : nullptr; })

struct Mul : Pointwise<MulArgs> {
  static constexpr auto schema = "mul(Tensor self, Tensor|Scalar other) -> Tensor";
  static constexpr const char* overloads[] = {"multiply(Tensor self, Tensor|Scalar other) -> Tensor"};
  static constexpr auto doc = "self * other, broadcast. On bool: logical and.";
  static constexpr auto python_numbers = "self";
  ARGAND_BODY((x, y), x* y)
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * wide_conj(c.other); }
  static Tensor grad_other(const Ctx& c, const Tensor& g) { return g * c.self.conj(); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({2, 3})});
    s.add({s->real({4, 1}), s->real({5})});
    s.fails({s->real({2, 3}), s->real({2})}, "mul: shapes [2, 3] and [2] do not broadcast");
  }
};
ARGAND_OP(Mul)
ARGAND_NODE(Mul, [](const MulArgs& a) { return is_number(a.other) ? "MulBackward1" : nullptr; })

struct Div : Pointwise<DivArgs> {
  static constexpr auto schema = "div(Tensor self, Tensor|Scalar other) -> Tensor";
  static constexpr const char* overloads[] = {"divide(Tensor self, Tensor|Scalar other) -> Tensor",
                                              "true_divide(Tensor self, Tensor|Scalar other) -> Tensor"};
  static constexpr auto doc = "self / other, broadcast; integers give floating point.";
  static constexpr auto python_numbers = "self";
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x, y), x / y)
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g / wide_conj(c.other); }
  static Tensor grad_other(const Ctx& c, const Tensor& g) {
    // Uses only the inputs, because programs write the quotient in place.
    return -g * (c.self / c.other / c.other).conj();
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->away_from(0, {2, 3})});
    s.add({s->real({2, 3}), s->away_from(0, {3})});
    s.fails({s->real({2, 3}), s->real({2})}, "div: shapes [2, 3] and [2] do not broadcast");
  }
};
ARGAND_OP(Div)
ARGAND_NODE(Div, [](const DivArgs& a) { return is_number(a.self) ? "MulBackward0" : nullptr; })

struct Addcmul : Pointwise<AddcmulArgs> {
  static constexpr auto schema = "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor";
  static constexpr auto doc = "self + value * tensor1 * tensor2, broadcast.";
  static constexpr auto python_old_orders = "self value tensor1 tensor2";
  static constexpr auto autocast = Autocast::kPromote, autocast_cpu = Autocast::kNone;
  static constexpr auto compute = kRealBody | kComplexTypes;
  ARGAND_BODY((x, a, b, value), x + (value == T(1) ? a * b : value * a * b))
  static void check(const Args& a) { check_value("addcmul", a.value, a.self, a.tensor1, a.tensor2); }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return g; }
  static Tensor grad_tensor1(const Ctx& c, const Tensor& g) { return g * (c.tensor2 * c.value).conj(); }
  static Tensor grad_tensor2(const Ctx& c, const Tensor& g) { return g * (c.tensor1 * c.value).conj(); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({2, 3}), s->real({3})});
    s.add({s->real({2, 3}), s->real({2, 1}), s->real({3}), 2});
    s.fails({s->real({2}), s->real({3}), s->real({3})}, "addcmul: shapes [2] and [3] do not broadcast");
    s.fails({s->integer({2}, 0, 3).to(kByte), s->integer({2}, 0, 3).to(kByte), s->integer({2}, 0, 3).to(kByte), -2.5},
            "addcmul: value cannot be converted to type uint8_t without overflow");
  }
};
ARGAND_OP(Addcmul)

struct Addcdiv : Pointwise<AddcdivArgs> {
  static constexpr auto schema = "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor";
  static constexpr auto doc = "self + value * tensor1 / tensor2, broadcast. Not defined for integers.";
  static constexpr auto python_old_orders = "self value tensor1 tensor2";
  static constexpr auto autocast = Autocast::kPromote, autocast_cpu = Autocast::kNone;
  static constexpr auto compute = kFloatComplexBody;
  ARGAND_BODY((x, a, b, value), x + (value == T(1) ? a / b : value * a / b))
  static void check(const Args& a) {
    ARGAND_CHECK(
        DtypeError, !(is_integral(a.tensor1.dtype(), true) && is_integral(a.tensor2.dtype(), true)),
        "Integer division with addcdiv is no longer supported, and in a future release addcdiv will perform a true "
        "division; got tensors of integers for tensor1 and tensor2.");
    check_value("addcdiv", a.value, a.self, a.tensor1, a.tensor2);
  }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return g; }
  static Tensor grad_tensor1(const Ctx& c, const Tensor& g) { return g * (c.value / c.tensor2).conj(); }
  static Tensor grad_tensor2(const Ctx& c, const Tensor& g) {
    return -g * (c.value * c.tensor1 / (c.tensor2 * c.tensor2)).conj();
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({2, 3}), s->away_from(0, {3})});
    s.add({s->real({2, 3}), s->real({2, 1}), s->away_from(0, {3}), 0.5});
    s.fails({s->integer({2}, 0, 2), s->integer({2}, 0, 2), s->integer({2}, 1, 2)},
            "Integer division with addcdiv is no longer supported");
    s.fails({s->real({2}).to(kFloat), s->real({2}).to(kFloat), s->real({2}).to(kFloat), 1e39},
            "addcdiv: value cannot be converted to type float without overflow");
  }
};
ARGAND_OP(Addcdiv)

struct Neg : Pointwise<NegArgs> {
  static constexpr auto schema = "neg(Tensor self) -> Tensor";
  static constexpr bool out_is_exact = true;
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
