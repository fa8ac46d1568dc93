// Parts of complex numbers.
#include "argand/ops/define.h"
#include "argand/ops/pointwise/args.h"

namespace argand::ops {

// A real tensor is its own conjugate and real part: no copy, no node.
struct Conj : Composite<ConjArgs> {
  static constexpr auto schema = "conj(Tensor self) -> Tensor";
  static constexpr auto doc = "The complex conjugate; a real tensor itself.";
  static Tensor compose(const Args& a) { return a.self.is_complex() ? a.self.conj_physical() : a.self; }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(Conj)

struct ConjPhysical : Pointwise<ConjPhysicalArgs> {
  static constexpr auto schema = "conj_physical(Tensor self) -> Tensor";
  static constexpr auto doc = "The complex conjugate, always as a new tensor.";
  ARGAND_BODY((x), conjugate(x))
  static Tensor grad_self(const Ctx&, const Tensor& g) { return g.conj(); }
  static void samples(S& s) { s.add({s->real({2, 3})}); }

  template <class T>
  [[gnu::always_inline]] static inline T conjugate(T x) {
    if constexpr (is_complex_v<T>) return T(x.real(), -x.imag());
    else return x;
  }
};
ARGAND_OP(ConjPhysical)

}  // namespace argand::ops
