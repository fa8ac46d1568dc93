// Choosing between operands: where, masked_fill, lerp.
#include "argand/base/log.h"
#include "argand/exec/pointwise.h"
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/number_fits.h"
#include "argand/ops/pointwise/args.h"
#include "argand/ops/wide_number.h"

namespace argand::ops {

struct Where : Pointwise<WhereArgs> {
  static constexpr auto schema = "where(Tensor condition, Tensor|Scalar self, Tensor|Scalar other) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "self where condition (a bool tensor) holds, other elsewhere; all three broadcast.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto promote = Promote::kSkipFirst;
  ARGAND_BODY((c, x, y), c != T(0) ? x : y)
  static void check(const Args& a) {
    ARGAND_CHECK(DtypeError, a.condition.dtype() == kBool || a.condition.dtype() == kByte,
                 "where: expected condition to be a boolean tensor, but got a tensor with dtype ", a.condition.dtype());
    if (a.condition.dtype() == kByte)
      ARGAND_WARN_ONCE(
          "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future "
          "version of PyTorch. Use a boolean condition instead.");
    if (is_number(a.self) || is_number(a.other)) {
      const Tensor* operands[] = {&a.self, &a.other};
      const ScalarType dtype = exec::result_type(operands);
      check_fits("where", a.self, overflowing_type(dtype));
      check_fits("where", a.other, overflowing_type(dtype));
    }
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return where(c.condition, g, 0); }
  static Tensor grad_other(const Ctx& c, const Tensor& g) { return where(c.condition, 0, g); }
  static void samples(S& s) {
    s.add({s->boolean({2, 3}), s->real({2, 3}), s->real({2, 3})});
    s.add({s->boolean({2, 1}), s->real({3}), s->real({2, 3})});
    s.add({s->boolean({2, 1}), s->real({3}), exec::wrapped_number(1.5)});
    s.add({s->boolean({2, 3}).to(kByte) * 3, s->real({2, 3}), s->real({2, 3})});
    s.fails({s->real({2}), s->real({2}), s->real({2})},
            "where: expected condition to be a boolean tensor, but got a tensor with dtype float64");
    s.fails({s->boolean({2}), s->real({2}), s->real({3})}, "where: shapes [2] and [3] do not broadcast");
    s.fails({s->boolean({2}), exec::wrapped_number(1e39), s->real({2}).to(kFloat)},
            "where: value cannot be converted to type float without overflow");
  }
};
ARGAND_OP(Where)

struct MaskedFill : Pointwise<MaskedFillArgs> {
  static constexpr auto schema = "masked_fill(Tensor self, Tensor mask, Tensor|Scalar value) -> Tensor";
  static constexpr auto doc =
      "value (a number or 0-dim tensor) where mask (a bool tensor) holds, self elsewhere; dtype of self.";
  static constexpr int variants = kFunction | kMethod | kInplace;
  static constexpr auto promote = Promote::kFirst;
  static constexpr uint32_t number_arguments = bits(kValue);
  ARGAND_BODY((x, m, v), m != T(0) ? v : x)
  static void check(const Args& a) {
    ARGAND_CHECK(DtypeError, a.mask.dtype() == kBool,
                 "masked_fill: masked_fill_ only supports boolean masks, but got mask with dtype ", a.mask.dtype());
    ARGAND_CHECK(ShapeError, a.value.dim() == 0,
                 "masked_fill: masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
                 a.value.dim(), " dimension(s).");
    ARGAND_CHECK(DtypeError, can_cast(a.value.dtype(), a.self.dtype()) || !a.value.is_complex(),
                 "masked_fill: value of type ", a.value.dtype(), " cannot be converted to ", a.self.dtype());
    check_fits("masked_fill", a.value, a.self.dtype());
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g.masked_fill(c.mask, 0); }
  static Tensor grad_value(const Ctx& c, const Tensor& g) { return where(c.mask, g, 0); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->boolean({2, 3}), exec::wrapped_number(-1.5)});
    s.add({s->real({2, 3}), s->boolean({3}), s->real({})});
    s.fails({s->real({2}), s->real({2}), exec::wrapped_number(1)},
            "masked_fill_ only supports boolean masks, but got mask with dtype float64");
    s.fails({s->real({2}), s->boolean({2}), s->real({2})},
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with 1");
  }
};
ARGAND_OP(MaskedFill)
ARGAND_NODE(MaskedFill, [](const MaskedFillArgs& a) { return is_number(a.value) ? nullptr : "MaskedFillBackward1"; })

struct Lerp : Pointwise<LerpArgs> {
  static constexpr auto schema = "lerp(Tensor self, Tensor end, Tensor|Scalar weight) -> Tensor";
  static constexpr auto doc =
      "self + weight * (end - self), broadcast; tensors of one floating dtype. Exactly end for weight 1.";
  static constexpr auto compute = kFloatComplexBody;
  static constexpr bool only_linear = false;  // in weight: self is left without it
  // Computed from the nearer end, so that both ends are exact.
  ARGAND_BODY((x, end, w), 2 * abs(w) < 1 ? x + w * (end - x) : end - (end - x) * (T(1) - w))
  static void check(const Args& a) {
    ARGAND_CHECK(DtypeError, a.end.dtype() == a.self.dtype(), "lerp: expected dtype ", a.self.dtype(),
                 " for `end` but got dtype ", a.end.dtype());
    // One of no dimensions stands beside the others as operands do, whatever its dtype.
    ARGAND_CHECK(DtypeError, a.weight.dtype() == a.self.dtype() || a.weight.dim() == 0, "lerp: expected dtype ",
                 a.self.dtype(), " for `weight` but got dtype ", a.weight.dtype());
    if (!is_integral(a.self.dtype(), true)) check_fits("lerp", a.weight, op_math_type(a.self.dtype()));
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return g * (1 - wide(c.weight)).conj(); }
  static Tensor grad_end(const Ctx& c, const Tensor& g) { return g * wide_conj(c.weight); }
  static Tensor grad_weight(const Ctx& c, const Tensor& g) { return g * (c.end - c.self).conj(); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({2, 3}), s->away_from(0.5, {3})});
    s.add({s->real({2, 3}), s->real({3}), exec::wrapped_number(0.25)});
    s.add({s->real({2, 3}), s->real({3}), s->integer({}, 0, 2)});
    s.fails({s->real({2}), s->real({2}), s->integer({1}, 0, 2)},
            "lerp: expected dtype float64 for `weight` but got dtype int64");
    s.fails({s->real({2}), s->integer({2}, 0, 2), exec::wrapped_number(0.5)},
            "lerp: expected dtype float64 for `end` but got dtype int64");
    s.fails({s->real({2}), s->real({2}), exec::wrapped_number(std::complex<double>(0, 1))},
            "lerp: value cannot be converted to type double without overflow");
  }
};
ARGAND_OP(Lerp)
ARGAND_NODE(Lerp, [](const LerpArgs& a) { return is_number(a.weight) ? nullptr : "LerpBackward1"; })

}  // namespace argand::ops
