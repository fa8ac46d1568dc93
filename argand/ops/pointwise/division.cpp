// Rounded quotients and their remainders.
#include <algorithm>

#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/pointwise/args.h"
#include "argand/ops/wide_number.h"

namespace argand::ops {
namespace {

// Integer division by 0 is an error, found before anything is computed.  A GPU does not wait for that check: the result
// is 0.
void check_integer_divisor(const char* op, const Tensor& self, const Tensor& other) {
  if (!is_integral(self.dtype(), true) || !is_integral(other.dtype(), true) || !other.is_cpu()) return;
  const Tensor divisor = exec::dense(other);
  const bool zero = dispatch<kIntTypes | kBoolType>(other.dtype(), op, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* p = raw<T>(divisor);
    return std::find(p, p + divisor.numel(), T(0)) != p + divisor.numel();
  });
  ARGAND_CHECK(ValueError, !zero, op, ": ZeroDivisionError");
}

}  // namespace

struct DivMode : Pointwise<DivModeArgs> {
  static constexpr auto schema = "div.Tensor_mode(Tensor self, Tensor|Scalar other, *, str? rounding_mode) -> Tensor";
  static constexpr const char* overloads[] = {
      "divide.Tensor_mode(Tensor self, Tensor|Scalar other, *, str? rounding_mode) -> Tensor"};
  static constexpr auto doc =
      "self / other, broadcast. rounding_mode 'trunc' rounds towards 0, 'floor' down (both keep integers, and an "
      "integer "
      "divisor of 0 is a ValueError); none divides as floating point.";
  static constexpr auto python_numbers = "self";
  struct Exact : Pointwise<DivModeArgs> {
    static constexpr auto compute = kFloatComplexBody;
    static constexpr auto promote = Promote::kFloat;
    ARGAND_BODY((x, y), x / y)
  };
  struct Trunc : Pointwise<DivModeArgs> {
    static constexpr auto compute = kRealBody;
    ARGAND_BODY((x, y), trunc_div(x, y))
  };
  struct Floor : Pointwise<DivModeArgs> {
    static constexpr auto compute = kRealBody;
    ARGAND_BODY((x, y), floor_div(x, y))
  };
  static const PointwiseInfo& form(const Args& a) {
    return !a.rounding_mode ? form_of<Exact> : *a.rounding_mode == "trunc" ? form_of<Trunc> : form_of<Floor>;
  }
  static void check(const Args& a) {
    if (!a.rounding_mode) return;
    ARGAND_CHECK(ValueError, *a.rounding_mode == "trunc" || *a.rounding_mode == "floor",
                 "div: expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", *a.rounding_mode,
                 "'");
    check_integer_divisor("div", a.self, a.other);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return c.rounding_mode ? zeros_like(g) : g / wide_conj(c.other);
  }
  static Tensor grad_other(const Ctx& c, const Tensor& g) {
    return c.rounding_mode ? zeros_like(g) : -g * (c.self / c.other / c.other).conj();
  }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->away_from(0, {2, 3}), std::nullopt});
    s.add_without_gradient({s->real({2, 3}), s->away_from(0, {2, 3}), "trunc"});
    s.add_without_gradient({s->real({2, 3}), s->away_from(0, {3}), "floor"});
    s.add_without_gradient({s->integer({4, 3}, -9, 9), s->integer({3}, 1, 4), "floor"});
    s.fails({s->real({2}), s->real({2}), "up"},
            "div: expected rounding_mode to be one of None, 'trunc', or 'floor' but found 'up'");
    s.fails({s->integer({2}, 0, 2), exec::wrapped_number(0), "floor"}, "div: ZeroDivisionError");
  }
};
ARGAND_OP(DivMode)
ARGAND_NODE(DivMode, "DivBackward2")

struct FloorDivide : Pointwise<FloorDivideArgs> {
  static constexpr auto schema = "floor_divide(Tensor self, Tensor|Scalar other) -> Tensor";
  static constexpr auto doc = "The quotient rounded down, as Python's //. An integer divisor of 0 is a ValueError.";
  static constexpr auto python_numbers = "self";
  static constexpr auto compute = kRealBody;
  ARGAND_BODY((x, y), floor_div(x, y))
  static void check(const Args& a) { check_integer_divisor("floor_divide", a.self, a.other); }
  static void samples(S& s) {
    s.add_without_gradient({s->real({2, 3}), s->away_from(0, {3})});
    s.add_without_gradient({s->integer({4, 3}, -9, 9), s->integer({3}, -4, 0)});
    s.fails({s->integer({2}, 0, 2), exec::wrapped_number(0)}, "floor_divide: ZeroDivisionError");
  }
};
ARGAND_OP(FloorDivide)

struct Remainder : Pointwise<RemainderArgs> {
  static constexpr auto schema = "remainder(Tensor|Scalar self, Tensor|Scalar other) -> Tensor";
  static constexpr auto doc =
      "self - floor(self / other) * other, with the sign of other, as Python's %. An integer divisor of 0 is a "
      "ValueError.";
  static constexpr auto compute = kRealBody;
  ARGAND_BODY((x, y), remainder(x, y))
  static void check(const Args& a) { check_integer_divisor("remainder", a.self, a.other); }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return g; }
  static Tensor grad_other(const Ctx& c, const Tensor& g) { return -g * div(c.self, c.other, "floor"); }
  static void samples(S& s) {
    s.add({s->real({2, 3}, 3.1, 3.9), s->real({2, 3}, 1.1, 1.4)});
    s.add({s->real({2, 3}, -0.9, -0.6), exec::wrapped_number(0.5)});
    s.add_without_gradient({s->integer({4, 3}, -9, 9), s->integer({3}, -4, 0)});
    s.fails({s->integer({2}, 0, 2), exec::wrapped_number(0)}, "remainder: ZeroDivisionError");
  }
};
ARGAND_OP(Remainder)
ARGAND_NODE(Remainder, [](const RemainderArgs& a) { return is_number(a.other) ? nullptr : "RemainderBackward1"; })

struct Fmod : Pointwise<FmodArgs> {
  static constexpr auto schema = "fmod(Tensor self, Tensor|Scalar other) -> Tensor";
  static constexpr auto doc =
      "self - trunc(self / other) * other, with the sign of self, as C's fmod. An integer divisor of 0 is a "
      "ValueError.";
  static constexpr auto compute = kRealBody;
  ARGAND_BODY((x, y), fmod(x, y))
  static void check(const Args& a) { check_integer_divisor("fmod", a.self, a.other); }
  static Tensor grad_self(const Ctx&, const Tensor& g) { return g; }
  static Tensor grad_other(const Ctx& c, const Tensor& g) { return -g * div(c.self, c.other, "trunc"); }
  static void samples(S& s) {
    s.add({s->real({2, 3}, 3.1, 3.9), s->real({2, 3}, 1.1, 1.4)});
    s.add({s->real({2, 3}, -0.9, -0.6), exec::wrapped_number(0.5)});
    s.add_without_gradient({s->integer({4, 3}, -9, 9), s->integer({3}, -4, 0)});
    s.fails({s->integer({2}, 0, 2), exec::wrapped_number(0)}, "fmod: ZeroDivisionError");
  }
};
ARGAND_OP(Fmod)
ARGAND_NODE(Fmod, [](const FmodArgs& a) { return is_number(a.other) ? nullptr : "FmodBackward1"; })

}  // namespace argand::ops
