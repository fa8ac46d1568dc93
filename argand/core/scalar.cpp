#include "argand/core/scalar.h"

#include "argand/base/error.h"
#include "argand/core/dispatch.h"

namespace argand {

Scalar Scalar::operator-() const {
  if (isComplex()) return Scalar(-to<std::complex<double>>());
  if (isFloatingPoint()) return Scalar(-toDouble());
  return Scalar(-toLong());
}

void Scalar::check_real() const {
  ARGAND_CHECK(ValueError, type_ != kComplexDouble || value_.d[1] == 0,
               "value cannot be converted without loss: the complex number ", *this,
               " has an imaginary part and a real number is expected");
}

void Scalar::throw_beyond_int64(unsigned long long v) {
  ARGAND_THROW(ValueError, "Scalar: expected an integer that int64 holds, up to 2^63 - 1, got ", v,
               "; give a double where a floating-point number is meant");
}

void append(std::string& out, const Scalar& s) {
  if (s.isBoolean()) return append(out, s.toBool());
  if (s.isIntegral(false)) return append(out, s.toLong());
  if (s.isFloatingPoint()) return append(out, s.toDouble());
  const auto v = s.to<std::complex<double>>();
  append(out, str("(", v.real(), v.imag() < 0 ? "" : "+", v.imag(), "j)"));
}

void throw_unsupported_dtype(const char* op, ScalarType t) {
  ARGAND_THROW(DtypeError, op, ": not implemented for dtype ", t);
}

}  // namespace argand
