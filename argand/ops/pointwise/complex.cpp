// Parts of complex numbers.
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
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
ARGAND_NODE(Conj)

struct ConjPhysical : Pointwise<ConjPhysicalArgs> {
  static constexpr auto schema = "conj_physical(Tensor self) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The complex conjugate, always as a new tensor.";
  ARGAND_BODY((x), conjugate(x))
  static Tensor grad_self(const Ctx&, const Tensor& g) { return g.conj(); }
  static void samples(S& s) { s.add({s->real({2, 3})}); }
};
ARGAND_OP(ConjPhysical)

struct Angle : Pointwise<AngleArgs> {
  static constexpr auto schema = "angle(Tensor self) -> Tensor";
  static constexpr auto doc = "The argument of a complex number, in -pi ... pi; 0 or pi for a real one.";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr auto compute = kFloatComplexBody;
  static constexpr auto promote = Promote::kRealFloat;
  ARGAND_BODY((x), angle(x))
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    if (!c.self.is_complex()) return zeros_like(g);
    const Tensor square = c.self.abs().square();
    return (g * c.self * std::complex<double>(0, 1) / square).masked_fill(square == 0, 0);
  }
  static void samples(S& s) { s.add({s->away_from(0, {2, 3})}); }
};
ARGAND_OP(Angle)

namespace {

void check_parts(const char* op, const Tensor& a, const Tensor& b) {
  ARGAND_CHECK(DtypeError, a.dtype() != kHalf || b.dtype() != kHalf, op,
               ": not implemented for dtype float16: there are no tensors of complex32");
  ARGAND_CHECK(DtypeError, contains(kFloatTypes, a.dtype()) && contains(kFloatTypes, b.dtype()), op,
               ": Expected both inputs to be Half, Float or Double tensors but got ", dtype_cpp_name(a.dtype()),
               " and ", dtype_cpp_name(b.dtype()));
  ARGAND_CHECK(DtypeError, a.dtype() == b.dtype(), op, ": Expected object of scalar type ", dtype_cpp_name(a.dtype()),
               " but got scalar type ", dtype_cpp_name(b.dtype()), " for second argument");
}

}  // namespace

struct Complex : Pointwise<ComplexArgs> {
  static constexpr auto schema = "complex(Tensor real, Tensor imag) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "The complex numbers with these parts, which have one dtype: float32 or float64.";
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kComplexTypes;
  static constexpr auto promote = Promote::kComplex;
  ARGAND_BODY((x, y), T(x.real(), y.real()))
  static void check(const Args& a) { check_parts("complex", a.real, a.imag); }
  // The engine keeps the real part of a complex gradient of a real argument.
  static Tensor grad_real(const Ctx&, const Tensor& g) { return g; }
  static Tensor grad_imag(const Ctx&, const Tensor& g) { return g * std::complex<double>(0, -1); }
  static void samples(S& s) {
    s.add({s->real({2, 3}), s->real({3})});
    s.fails({s->real({2}), s->integer({2}, 0, 2)},
            "complex: Expected both inputs to be Half, Float or Double tensors but got Double and Long");
  }
};
ARGAND_OP(Complex)

struct Polar : Pointwise<PolarArgs> {
  static constexpr auto schema = "polar(Tensor abs, Tensor angle) -> Tensor";
  static constexpr bool out_is_exact = true;
  static constexpr auto doc = "abs * (cos(angle) + i sin(angle)); both of one dtype: float32 or float64.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr int variants = kFunction | kOut;
  static constexpr auto compute = kComplexTypes;
  static constexpr auto promote = Promote::kComplex;
  ARGAND_BODY((r, a), T(r.real() * cos(a.real()), r.real() * sin(a.real())))
  static void check(const Args& a) { check_parts("polar", a.abs, a.angle); }
  static Tensor grad_abs(const Ctx& c, const Tensor& g) { return g * c.result().sgn().conj(); }
  static Tensor grad_angle(const Ctx& c, const Tensor& g) {
    return g * (c.result() * std::complex<double>(0, 1)).conj();
  }
  static void samples(S& s) { s.add({s->positive({2, 3}), s->real({3})}); }
};
ARGAND_OP(Polar)

}  // namespace argand::ops
