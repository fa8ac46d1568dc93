// Questions about whole tensors, answered with a bool: equal, allclose, is_nonzero.
#include "argand/ops/define.h"
#include "argand/ops/query/args.h"

namespace argand::ops {
namespace {

Tensor on_cpu(const Tensor& t) { return t.is_cpu() ? t : t.to(Device(kCPU)); }

}  // namespace

struct Equal : Composite<EqualArgs> {
  static constexpr auto schema = "equal(Tensor self, Tensor other) -> bool";
  static constexpr auto doc =
      "Whether both have the same shape and elements, in the dtype that both promote to; NaN differs from NaN.";
  static bool compose(const Args& a) {
    if (!(a.self.sizes() == a.other.sizes())) return false;
    const ScalarType type = promote_types(a.self.dtype(), a.other.dtype());
    const Tensor x = exec::dense(on_cpu(a.self), type), y = exec::dense(on_cpu(a.other), type);
    return dispatch<kAllTypes>(x.dtype(), "equal", [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T *p = raw<T>(x), *q = raw<T>(y);
      for (int64_t i = 0; i < x.numel(); ++i)
        if (!(p[i] == q[i])) return false;
      return true;
    });
  }
  static void samples(S& s) {
    const Tensor x = s->real({2, 3});
    s.add({x, x.clone()});
    s.add({x, s->real({2, 3})});
    s.add({x, s->real({3})});
    s.add({ones({2}, TensorOptions(kDouble)), ones({2}, TensorOptions(kShort))});
    s.add({x, s->integer({2, 3}, 0, 2)});
  }
};
ARGAND_OP(Equal)

struct Allclose : Composite<AllcloseArgs> {
  static constexpr auto schema =
      "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool";
  static constexpr auto doc =
      "Whether |self - other| <= atol + rtol * |other| everywhere, broadcast, as isclose computes it. Infinities of "
      "one "
      "sign are close.";
  static bool compose(const Args& a) {
    ARGAND_CHECK(DtypeError, a.self.dtype() == a.other.dtype(), "allclose: ", a.self.dtype(), " did not match ",
                 a.other.dtype());
    ARGAND_CHECK(ValueError, a.rtol >= 0 && a.atol >= 0,
                 "allclose: rtol and atol must be greater than or equal to zero, but got ", a.rtol, " and ", a.atol);
    broadcast_shapes(a.self.sizes(), a.other.sizes(), "allclose");
    return isclose(a.self, a.other, a.rtol, a.atol, a.equal_nan).all().item<bool>();
  }
  static void samples(S& s) {
    const Tensor x = s->real({2, 3});
    s.add({x, x.add(1e-9)});
    s.add({x, s->real({3})});
    s.fails({x, s->real({4})}, "allclose: shapes [2, 3] and [4] do not broadcast");
    s.fails({x, x, -1.0}, "allclose: rtol and atol must be greater than or equal to zero");
  }
};
ARGAND_OP(Allclose)

struct IsNonzero : Composite<IsNonzeroArgs> {
  static constexpr auto schema = "is_nonzero(Tensor self) -> bool";
  static constexpr auto doc = "Whether the only element is not zero.";
  static bool compose(const Args& a) {
    ARGAND_CHECK(ValueError, a.self.numel() != 0,
                 "Boolean value of Tensor with no values is ambiguous: is_nonzero expected one element, got shape ",
                 a.self.sizes());
    ARGAND_CHECK(
        ValueError, a.self.numel() == 1,
        "Boolean value of Tensor with more than one value is ambiguous: is_nonzero expected one element, got shape ",
        a.self.sizes());
    return !(a.self.item() == Scalar(0));
  }
  static void samples(S& s) {
    s.add({s->real({})});
    s.add({s->boolean({1, 1})});
    s.fails({s->real({0})},
            "Boolean value of Tensor with no values is ambiguous: is_nonzero expected one element, got shape [0]");
    s.fails({s->real({2})},
            "Boolean value of Tensor with more than one value is ambiguous: is_nonzero expected one element, got shape "
            "[2]");
  }
};
ARGAND_OP(IsNonzero)

}  // namespace argand::ops
