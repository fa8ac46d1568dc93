// The larger and the smaller of two operands, and limits.
#include "argand/exec/pointwise.h"
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/number_fits.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

struct Maximum : Pointwise<MaximumArgs> {
  static constexpr auto schema = "maximum(Tensor self, Tensor other) -> Tensor";
  static constexpr const char* overloads[] = {"max.other(Tensor self, Tensor other) -> Tensor"};
  static constexpr auto doc = "The larger of two elements, NaN if either is; equal elements share the gradient.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto compute = kRealBoolBody;
  ARGAND_BODY((x, y), max(x, y))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return _maximum_backward(g, c.self, c.other); }
  static Tensor grad_other(const Ctx& c, const Tensor& g) { return _maximum_backward(g, c.other, c.self); }
  static void samples(S& s) {
    s.add({s->apart({4, 3}), s->apart({3}) + 0.0625});
    s.add_without_gradient({s->integer({4, 3}, 0, 3), s->integer({4, 3}, 0, 3)});
    s.fails({s->real({2}), s->real({3})}, "maximum: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(Maximum)

struct Minimum : Pointwise<MinimumArgs> {
  static constexpr auto schema = "minimum(Tensor self, Tensor other) -> Tensor";
  static constexpr const char* overloads[] = {"min.other(Tensor self, Tensor other) -> Tensor"};
  static constexpr auto doc = "The smaller of two elements, NaN if either is; equal elements share the gradient.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto compute = kRealBoolBody;
  ARGAND_BODY((x, y), min(x, y))
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return _maximum_backward(g, c.other, c.self); }
  static Tensor grad_other(const Ctx& c, const Tensor& g) { return _maximum_backward(g, c.self, c.other); }
  static void samples(S& s) {
    s.add({s->apart({4, 3}), s->apart({3}) + 0.0625});
    s.add_without_gradient({s->integer({4, 3}, 0, 3), s->integer({4, 3}, 0, 3)});
    s.fails({s->real({2}), s->real({3})}, "minimum: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(Minimum)

struct MaximumBackward : Pointwise<MaximumBackwardArgs> {
  static constexpr auto schema = "_maximum_backward(Tensor grad_output, Tensor larger, Tensor smaller) -> Tensor";
  static constexpr auto doc = "grad_output, half of it where larger == smaller, 0 where larger < smaller.";
  static constexpr int variants = kFunction;
  static constexpr auto compute = kFloatBody;
  ARGAND_BODY((g, x, y), x == y ? g / 2 : x < y ? T(0) : g)
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) { return _maximum_backward(g, c.larger, c.smaller); }
  static void samples(S& s) { s.add({s->real({2, 3}), s->apart({2, 3}), s->apart({2, 3}) + 0.0625}); }
};
ARGAND_OP(MaximumBackward)

struct Fmax : Pointwise<FmaxArgs> {
  static constexpr auto schema = "fmax(Tensor self, Tensor other) -> Tensor";
  static constexpr auto doc = "The larger of two elements; a NaN only if both are.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto compute = kRealBoolBody;
  ARGAND_BODY((x, y), x != x ? y : x < y ? y : x)
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return where(c.self.ge(c.other).logical_or(c.other.isnan()), where(c.self == c.other, g / 2, g), 0);
  }
  static Tensor grad_other(const Ctx& c, const Tensor& g) {
    return where(c.self.gt(c.other).logical_or(c.other.isnan()), 0, where(c.self == c.other, g / 2, g));
  }
  static void samples(S& s) { s.add({s->apart({4, 3}), s->apart({3}) + 0.0625}); }
};
ARGAND_OP(Fmax)

struct Fmin : Pointwise<FminArgs> {
  static constexpr auto schema = "fmin(Tensor self, Tensor other) -> Tensor";
  static constexpr auto doc = "The smaller of two elements; a NaN only if both are.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto compute = kRealBoolBody;
  ARGAND_BODY((x, y), x != x ? y : y < x ? y : x)
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return where(c.self.le(c.other).logical_or(c.other.isnan()), where(c.self == c.other, g / 2, g), 0);
  }
  static Tensor grad_other(const Ctx& c, const Tensor& g) {
    return where(c.self.lt(c.other).logical_or(c.other.isnan()), 0, where(c.self == c.other, g / 2, g));
  }
  static void samples(S& s) { s.add({s->apart({4, 3}), s->apart({3}) + 0.0625}); }
};
ARGAND_OP(Fmin)

// ---- limits
// Note [Gradients of clamp]
// As in PyTorch 2.15 (earlier versions gave all of it to an element at a limit): elements at a limit that is a number
// have no gradient; a limit that is a tensor takes half of it, as in maximum.

// Limits are compared as they are, but the results would wrap around where min lies above all numbers of an integer
// dtype, or max below them.  A floating-point dtype must hold both.
void check_limits(const char* op, const Tensor& self, const Tensor& min, const Tensor& max) {
  std::vector<const Tensor*> operands{&self};
  for (const Tensor* limit : {&min, &max})
    if (limit->defined()) operands.push_back(limit);
  const auto number = [](const Tensor& limit) { return is_number(limit) ? std::optional(limit.item()) : std::nullopt; };
  check_limits_fit(op, number(min), number(max), exec::result_type(operands));
}

struct Clamp : Pointwise<ClampArgs> {
  static constexpr auto schema = "clamp(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr const char* overloads[] = {"clamp(Tensor self, Scalar? min, Scalar? max=None) -> Tensor",
                                              "clip(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
                                              "clip(Tensor self, Scalar? min, Scalar? max=None) -> Tensor"};
  static constexpr auto doc =
      "self limited to min ... max, either of which may be missing; max where min > max. NaN in any operand gives NaN. "
      "Elements at a limit have no gradient if it is a number, and share it if it is a tensor.";
  struct Both : Pointwise<ClampArgs> {
    static constexpr auto compute = kRealBoolBody;
    ARGAND_BODY((x, low, high), min(max(x, low), high))
  };
  struct AtLeast : Pointwise<ClampArgs> {
    static constexpr auto compute = kRealBoolBody;
    static constexpr int num_inputs = 2;
    ARGAND_BODY((x, low), max(x, low))
  };
  struct AtMost : Pointwise<ClampArgs> {
    static constexpr auto compute = kRealBoolBody;
    static constexpr int num_inputs = 2;
    ARGAND_BODY((x, high), min(x, high))
  };
  static const PointwiseInfo& form(const Args& a) {
    return !a.min.defined() ? form_of<AtMost> : a.max.defined() ? form_of<Both> : form_of<AtLeast>;
  }
  static void check(const Args& a) {
    ARGAND_CHECK(ValueError, a.min.defined() || a.max.defined(),
                 "clamp: At least one of 'min' or 'max' must not be None");
    check_limits("clamp", a.self, a.min, a.max);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    if (is_number(c.min) || is_number(c.max)) return _clamp_backward(g, c.self, c.min, c.max);
    if (!c.max.defined()) return _maximum_backward(g, c.self, c.min);
    if (!c.min.defined()) return _maximum_backward(g, c.max, c.self);
    const Tensor edge = (c.min < c.max).logical_and((c.self == c.min).logical_or(c.self == c.max));
    return where((c.self < c.min).logical_or(c.self > c.max), 0, where(edge, g / 2, g));
  }
  static Tensor grad_min(const Ctx& c, const Tensor& g) {
    if (!c.max.defined()) return _maximum_backward(g, c.min, c.self);
    const Tensor below = (c.self < c.min).logical_and(c.min <= c.max),
                 edge = (c.self == c.min).logical_and(c.min < c.max);
    return where(below, g, where(edge, g / 2, 0));
  }
  static Tensor grad_max(const Ctx& c, const Tensor& g) {
    if (!c.min.defined()) return _maximum_backward(g, c.self, c.max);
    const Tensor above = (c.self > c.max).logical_or(c.min > c.max),
                 edge = (c.self == c.max).logical_and(c.min < c.max);
    return where(above, g, where(edge, g / 2, 0));
  }
  static void samples(S& s) {
    s.add({s->apart({4, 3}), exec::wrapped_number(-0.3), exec::wrapped_number(0.3)});
    s.add({s->apart({4, 3}), exec::wrapped_number(0.3)});
    s.add({s->apart({4, 3}), {}, exec::wrapped_number(0.3)});
    s.add({s->apart({4, 3}), s->real({3}, -1, -0.5) + 1 / 256.0, s->real({4, 1}, 0.5, 1) + 1 / 256.0});
    s.add({s->apart({4, 3}), {}, s->real({3}) + 1 / 256.0});
    s.add({s->apart({4, 3}), s->real({3}) + 1 / 256.0});
    s.fails({s->real({2})}, "clamp: At least one of 'min' or 'max' must not be None");
    s.fails({s->real({2}), s->real({3})}, "clamp: shapes [2] and [3] do not broadcast");
  }
};
ARGAND_OP(Clamp)
ARGAND_NODE(Clamp, [](const ClampArgs& a) { return is_number(a.min) || is_number(a.max) ? "ClampBackward1" : nullptr; })

struct ClampBackward : Pointwise<ClampBackwardArgs> {
  static constexpr auto schema = "_clamp_backward(Tensor grad_output, Tensor self, Tensor? min, Tensor? max) -> Tensor";
  static constexpr auto doc = "grad_output where min < self < max, 0 elsewhere.";
  static constexpr int variants = kFunction;
  struct Both : Pointwise<ClampBackwardArgs> {
    static constexpr auto compute = kFloatBody;
    ARGAND_BODY((g, x, low, high), x > low && x < high ? g : T(0))
  };
  struct AtLeast : Pointwise<ClampBackwardArgs> {
    static constexpr auto compute = kFloatBody;
    static constexpr int num_inputs = 3;
    ARGAND_BODY((g, x, low), x > low ? g : T(0))
  };
  struct AtMost : Pointwise<ClampBackwardArgs> {
    static constexpr auto compute = kFloatBody;
    static constexpr int num_inputs = 3;
    ARGAND_BODY((g, x, high), x < high ? g : T(0))
  };
  static const PointwiseInfo& form(const Args& a) {
    return !a.min.defined() ? form_of<AtMost> : a.max.defined() ? form_of<Both> : form_of<AtLeast>;
  }
  static void check(const Args& a) {
    ARGAND_CHECK(ValueError, a.min.defined() || a.max.defined(),
                 "_clamp_backward: At least one of 'min' or 'max' must not be None");
  }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) { return _clamp_backward(g, c.self, c.min, c.max); }
  static void samples(S& s) {
    s.add({s->real({4, 3}), s->apart({4, 3}), exec::wrapped_number(-0.3), exec::wrapped_number(0.3)});
    s.add({s->real({4, 3}), s->apart({4, 3}), exec::wrapped_number(-0.3), {}});
    s.add({s->real({4, 3}), s->apart({4, 3}), {}, exec::wrapped_number(0.3)});
  }
};
ARGAND_OP(ClampBackward)

struct ClampMin : Pointwise<ClampMinArgs> {
  static constexpr auto schema = "clamp_min(Tensor self, Tensor|Scalar min) -> Tensor";
  static constexpr auto doc = "self, or min where that is larger; NaN if either is. Gradients as in clamp.";
  static constexpr auto compute = kRealBoolBody;
  ARGAND_BODY((x, low), max(x, low))
  static void check(const Args& a) { check_limits("clamp_min", a.self, a.min, {}); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return is_number(c.min) ? _clamp_backward(g, c.self, c.min, {}) : _maximum_backward(g, c.self, c.min);
  }
  static Tensor grad_min(const Ctx& c, const Tensor& g) { return _maximum_backward(g, c.min, c.self); }
  static void samples(S& s) {
    s.add({s->apart({4, 3}), exec::wrapped_number(0.3)});
    s.add({s->apart({4, 3}), s->real({3}) + 1 / 256.0});
  }
};
ARGAND_OP(ClampMin)
ARGAND_NODE(ClampMin, [](const ClampMinArgs& a) { return is_number(a.min) ? nullptr : "ClampMinBackward1"; })

struct ClampMax : Pointwise<ClampMaxArgs> {
  static constexpr auto schema = "clamp_max(Tensor self, Tensor|Scalar max) -> Tensor";
  static constexpr auto doc = "self, or max where that is smaller; NaN if either is. Gradients as in clamp.";
  static constexpr auto compute = kRealBoolBody;
  ARGAND_BODY((x, high), min(x, high))
  static void check(const Args& a) { check_limits("clamp_max", a.self, {}, a.max); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return is_number(c.max) ? _clamp_backward(g, c.self, {}, c.max) : _maximum_backward(g, c.max, c.self);
  }
  static Tensor grad_max(const Ctx& c, const Tensor& g) { return _maximum_backward(g, c.self, c.max); }
  static void samples(S& s) {
    s.add({s->apart({4, 3}), exec::wrapped_number(0.3)});
    s.add({s->apart({4, 3}), s->real({3}) + 1 / 256.0});
  }
};
ARGAND_OP(ClampMax)
ARGAND_NODE(ClampMax, [](const ClampMaxArgs& a) { return is_number(a.max) ? nullptr : "ClampMaxBackward1"; })

}  // namespace argand::ops
