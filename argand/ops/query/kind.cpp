// Queries of a tensor's kind, and conjugates and negatives, which PyTorch computes lazily and Argand at once.
#include "argand/ops/define.h"
#include "argand/ops/query/args.h"

namespace argand::ops {
namespace {

// Returns the tensor itself: nothing is computed lazily.  An undefined one is an error.
const Tensor& computed(const Tensor& t) {
  t.impl();
  return t;
}

}  // namespace

struct IsSameSize : Composite<IsSameSizeArgs> {
  static constexpr auto schema = "is_same_size(Tensor self, Tensor other) -> bool";
  static constexpr auto doc = "Whether the shapes are equal.";
  static bool compose(const Args& a) { return a.self.sizes() == a.other.sizes(); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({2, 3})});
    s.add({s->real({2, 3}), s->real({3})});
  }
};
ARGAND_OP(IsSameSize)

struct IsConj : Composite<IsConjArgs> {
  static constexpr auto schema = "is_conj(Tensor self) -> bool";
  static constexpr auto doc = "false: conj() computes.";
  static bool compose(const Args& a) {
    computed(a.self);
    return false;
  }
  static void samples(S& s) { s.add({s->real({2})}); }
};
ARGAND_OP(IsConj)

struct IsNeg : Composite<IsNegArgs> {
  static constexpr auto schema = "is_neg(Tensor self) -> bool";
  static constexpr auto doc = "false: what is negative has been computed.";
  static bool compose(const Args& a) {
    computed(a.self);
    return false;
  }
  static void samples(S& s) { s.add({s->real({2})}); }
};
ARGAND_OP(IsNeg)

struct ResolveConj : Composite<ResolveConjArgs> {
  static constexpr auto schema = "resolve_conj(Tensor(a) self) -> Tensor(a)";
  static constexpr auto doc = "The tensor itself: conj() computes.";
  static Tensor compose(const Args& a) { return computed(a.self); }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(ResolveConj)

struct ResolveNeg : Composite<ResolveNegArgs> {
  static constexpr auto schema = "resolve_neg(Tensor(a) self) -> Tensor(a)";
  static constexpr auto doc = "The tensor itself: what is negative has been computed.";
  static Tensor compose(const Args& a) { return computed(a.self); }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(ResolveNeg)

struct Positive : Composite<PositiveArgs> {
  static constexpr auto schema = "positive(Tensor(a) self) -> Tensor(a)";
  static constexpr auto doc = "The tensor itself, unless it is of bools.";
  static Tensor compose(const Args& a) {
    ARGAND_CHECK(DtypeError, a.self.dtype() != kBool, "positive: The `+` operator, on a bool tensor is not supported.");
    return a.self;
  }
  static void samples(S& s) {
    s.add({s->real({2, 3})});
    s.fails({s->boolean({2})}, "positive: The `+` operator, on a bool tensor is not supported.");
  }
};
ARGAND_OP(Positive)

struct Isreal : Composite<IsrealArgs> {
  static constexpr auto schema = "isreal(Tensor self) -> Tensor";
  static constexpr auto doc = "Where elements have no imaginary part.";
  static Tensor compose(const Args& a) {
    return a.self.is_complex() ? imag(a.self) == 0 : ones_like(a.self, a.self.options().dtype(kBool));
  }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(Isreal)

}  // namespace argand::ops
