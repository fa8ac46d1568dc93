// Powers and roots.
#include "argand/exec/pointwise.h"
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/number_fits.h"
#include "argand/ops/pointwise/args.h"
#include "argand/ops/wide_number.h"
#include "argand/ops/write_into.h"

namespace argand::ops {

struct Pow : Pointwise<PowArgs> {
  static constexpr auto schema = "pow(Tensor|Scalar self, Tensor|Scalar exponent) -> Tensor";
  static constexpr auto doc =
      "self^exponent, broadcast. Integers stay integers: a negative exponent gives 0 but for the bases 1 and -1, and "
      "is a "
      "ValueError as a number.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  struct General : Pointwise<PowArgs> {
    static constexpr auto compute = kRealBody | kComplexTypes;
    ARGAND_BODY((x, y), pow(x, y))
  };
  // Number exponents with a cheaper form; results are bit-identical to PyTorch's.
  template <class A>
  struct Unary : Pointwise<A> {
    static constexpr auto compute = kRealBody;
    static constexpr int num_inputs = 1;
  };
  struct Square : Unary<PowArgs> {
    ARGAND_BODY((x), x* x)
  };
  struct Cube : Unary<PowArgs> {
    ARGAND_BODY((x), x* x* x)
  };
  struct Root : Unary<PowArgs> {
    static constexpr auto compute = kFloatBody;
    ARGAND_BODY((x), sqrt(x))
  };
  struct InverseRoot : Unary<PowArgs> {
    static constexpr auto compute = kFloatBody;
    ARGAND_BODY((x), rsqrt(x))
  };
  struct Inverse : Unary<PowArgs> {
    static constexpr auto compute = kFloatBody;
    ARGAND_BODY((x), T(1) / x)
  };
  struct InverseSquare : Unary<PowArgs> {
    static constexpr auto compute = kFloatBody;
    ARGAND_BODY((x), T(1) / (x * x))
  };
  static const PointwiseInfo& form(const Args& a) {
    if (!a.exponent.impl().wrapped_number || a.exponent.is_complex() || a.self.is_complex() || a.self.dtype() == kBool)
      return form_of<General>;
    const double y = a.exponent.item().toDouble();
    if (y == 2) return form_of<Square>;
    if (y == 3) return form_of<Cube>;
    if (!a.self.is_floating_point()) return form_of<General>;
    if (y == 0.5) return form_of<Root>;
    if (y == -0.5) return form_of<InverseRoot>;
    if (y == -1) return form_of<Inverse>;
    return y == -2 ? form_of<InverseSquare> : form_of<General>;
  }
  static void check(const Args& a) {
    if (!is_number(a.exponent)) return;
    ARGAND_CHECK(
        ValueError,
        !is_integral(a.exponent.dtype()) || !is_integral(a.self.dtype(), true) || a.exponent.item().toLong() >= 0,
        "pow: Integers to negative integer powers are not allowed.");
    // The wider types take an exponent beyond their range as infinite.
    const Tensor* operands[] = {&a.self, &a.exponent};
    const ScalarType dtype = exec::result_type(operands);
    if (is_integral(dtype) || op_math_type(dtype) != dtype) check_fits("pow", a.exponent, dtype);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    if (!c.exponent.impl().wrapped_number)
      return where(c.exponent == 0, 0, g * (c.exponent * c.self.pow(c.exponent - 1)).conj());
    const Scalar y = c.exponent.item();
    if (y == Scalar(0)) return zeros_like(g);
    if (y == Scalar(2)) return g * (c.self * 2).conj();
    return y.isComplex() ? g * (y * c.self.pow(y.to<std::complex<double>>() - 1.0)).conj()
                         : g * (y * c.self.pow(y.toDouble() - 1)).conj();
  }
  static Tensor grad_exponent(const Ctx& c, const Tensor& g) {
    // The logarithm of a negative real number is complex.
    const bool widens = c.exponent.is_complex() && !c.self.is_complex();
    const Tensor base = widens ? c.self.to(promote_types(c.self.dtype(), c.exponent.dtype())) : wide(c.self);
    const Tensor slope = g * (c.self.pow(c.exponent) * base.log()).conj();
    if (c.self.is_complex() || c.exponent.is_complex())
      return where((c.self == 0).logical_and(c.exponent == 0), 0, slope);
    return where((c.self == 0).logical_and(c.exponent >= 0), 0, slope);  // log(0) * 0
  }
  static void samples(S& s) {
    s.add({s->positive({2, 3}), s->real({2, 3})});
    s.add({s->positive({2, 3}), s->real({3})});
    for (const double y : {0.0, 1.0, 2.0, 3.0, 0.5, -0.5, -1.0, -2.0, 2.5})
      s.add({s->positive({2, 3}), exec::wrapped_number(y)});
    s.add({exec::wrapped_number(1.5), s->real({2, 3})});
    s.add({s->integer({2, 3}, -3, 4), s->integer({2, 3}, -3, 4)});
    s.fails({s->integer({2}, 1, 3), exec::wrapped_number(-1)},
            "pow: Integers to negative integer powers are not allowed.");
    s.fails({s->integer({2}, 1, 3).to(kByte), exec::wrapped_number(300)},
            "pow: value cannot be converted to type uint8_t without overflow");
    s.fails({s->real({2}).to(kHalf), exec::wrapped_number(70000)},
            "pow: value cannot be converted to type c10::Half without overflow");
    s.fails({s->real({2}), s->real({3})}, "pow: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(Pow)
ARGAND_NODE(Pow, [](const PowArgs& a) {
  return is_number(a.exponent) ? nullptr : is_number(a.self) ? "PowBackward2" : "PowBackward1";
})

struct FloatPower : Composite<FloatPowerArgs> {
  static constexpr auto schema = "float_power(Tensor|Scalar self, Tensor|Scalar exponent) -> Tensor";
  static constexpr auto doc = "self^exponent, computed and returned in float64 or complex128.";
  static Tensor compose(const Args& a) {
    const ScalarType t = a.self.is_complex() || a.exponent.is_complex() ? kComplexDouble : kDouble;
    const Tensor exponent = a.exponent.impl().wrapped_number ? a.exponent : a.exponent.to(t);
    return pow(a.self.impl().wrapped_number ? a.self : a.self.to(t), exponent);
  }
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static void samples(S& s) {
    s.add({s->positive({2, 3}), s->real({3})});
    s.add({s->integer({2, 3}, 1, 4), exec::wrapped_number(2)});
  }
};
ARGAND_OP(FloatPower)

struct FloatPowerInplace : Composite<FloatPowerInplaceArgs> {
  static constexpr auto schema = "float_power_(Tensor(a!) self, Tensor|Scalar exponent) -> Tensor(a!)";
  static constexpr auto doc = "float_power, into self, which has the dtype of its results.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) {
    const ScalarType t = a.self.is_complex() || a.exponent.is_complex() ? kComplexDouble : kDouble;
    ARGAND_CHECK(DtypeError, a.self.dtype() == t, "float_power_: the base given to float_power_ has dtype ",
                 dtype_cpp_name(a.self.dtype()), " but the operation's result requires dtype ", dtype_cpp_name(t));
    return write_into("float_power_", a.self, [&](const Tensor& self) { return float_power(self, a.exponent); });
  }
  static void samples(S& s) {
    s->one_dtype("results are float64 or complex128, and are written into the first tensor");
    s.add({s->positive({2, 3}), s->positive({3})});
    s.fails({s->integer({2}, 1, 4), s->positive({2})},
            "the base given to float_power_ has dtype Long but the operation's result requires dtype Double");
  }
};
ARGAND_OP(FloatPowerInplace)

namespace {
// Computes integer exponents in self's own dtype, so that half precision is kept.
Tensor power_of_two(const Tensor& self, const Tensor& other) {
  const bool own = is_floating_point(self.dtype()) && is_integral(other.dtype(), true);
  return own ? pow(2.0, other.to(self.dtype())).to(self.dtype()) : pow(2.0, other);  // the second for autocast
}
}  // namespace

struct Ldexp : Composite<LdexpArgs> {
  static constexpr auto schema = "ldexp(Tensor self, Tensor other) -> Tensor";
  static constexpr auto doc = "self * 2^other";
  static constexpr int variants = kFunction | kMethod | kOut;
  static Tensor compose(const Args& a) { return a.self * power_of_two(a.self, a.other); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->integer({3}, -3, 4)});
    s.add({s->real({2, 3}), s->real({2, 3})});
    s.fails({s->real({2}), s->real({3})}, "mul: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(Ldexp)
ARGAND_NODE(Ldexp)

struct LdexpInplace : Composite<LdexpInplaceArgs> {
  static constexpr auto schema = "ldexp_(Tensor(a!) self, Tensor other) -> Tensor(a!)";
  static constexpr auto doc = "self * 2^other, into self.";
  static constexpr int variants = kMethod;
  static Tensor compose(const Args& a) { return a.self.mul_(power_of_two(a.self, a.other)); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->integer({3}, -3, 4)});
    s.fails({s->real({2}), s->real({3})}, "mul: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(LdexpInplace)

struct Sqrt : Pointwise<SqrtArgs> {
  static constexpr auto schema = "sqrt(Tensor self) -> Tensor";
  static constexpr auto doc = "The square root; NaN for negative numbers.";
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), sqrt(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g / (2 * c.result().conj()); }
  static void samples(S& s) { s.add({s->positive({2, 3})}); }
};
ARGAND_OP(Sqrt)

struct Rsqrt : Pointwise<RsqrtArgs> {
  static constexpr auto schema = "rsqrt(Tensor self) -> Tensor";
  static constexpr auto doc = "1 / sqrt(self).";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), rsqrt(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return -0.5 * g * c.result().pow(3).conj(); }
  static void samples(S& s) { s.add({s->positive({2, 3})}); }
};
ARGAND_OP(Rsqrt)

struct Square : Composite<SquareArgs> {
  static constexpr auto schema = "square(Tensor self) -> Tensor";
  static constexpr auto doc = "self * self; of bools int64.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static Tensor compose(const Args& a) { return a.self.pow(2); }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.add({s->boolean({3})});
  }
};
ARGAND_OP(Square)

struct SquareInplace : Composite<SquareInplaceArgs> {
  static constexpr auto schema = "square_(Tensor(a!) self) -> Tensor(a!)";
  static constexpr auto doc = "self * self, into self.";
  static Tensor compose(const Args& a) { return a.self.pow_(2); }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.fails({s->boolean({2})}, "pow_: result type Long can't be cast to the desired output type Bool");
  }
};
ARGAND_OP(SquareInplace)

struct Reciprocal : Pointwise<ReciprocalArgs> {
  static constexpr auto schema = "reciprocal(Tensor self) -> Tensor";
  static constexpr auto doc = "1 / self; integers give floating point.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kFloat;
  ARGAND_BODY((x), T(1) / x)
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return -g * (c.result() * c.result()).conj(); }
  static void samples(S& s) { s.add({s->away_from(0, {2, 3})}); }
};
ARGAND_OP(Reciprocal)

struct Hypot : Pointwise<HypotArgs> {
  static constexpr auto schema = "hypot(Tensor self, Tensor other) -> Tensor";
  static constexpr auto doc = "sqrt(self^2 + other^2), without overflow.";
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((x, y), hypot(x, y))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * (c.self / c.result()); }
  static Tensor grad_other(const Ctx& c, const Tensor& g) { return g * (c.other / c.result()); }
  static void samples(S& s) {
    s.add({s->away_from(0, {2, 3}), s->away_from(0, {3})});
    s.fails({s->real({2}), s->real({3})}, "hypot: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(Hypot)

}  // namespace argand::ops
