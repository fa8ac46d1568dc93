#include "argand/ops/number_fits.h"

#include <cmath>
#include <limits>

#include "argand/core/dtype_element.h"
#include "argand/exec/invoke.h"

namespace argand::ops {
namespace {

double largest(ScalarType dtype) {
  switch (dtype) {
    case kHalf:
      return 65504;
    case kBFloat16:
      return 0x1.fep127;
    case kFloat:
    case kComplexFloat:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

bool integer_fits(int64_t v, ScalarType dtype) {
  if (dtype == kByte) return v >= -255 && v <= 255;
  if (dtype == kLong) return true;
  const int64_t beyond = int64_t{1} << (8 * element_size(dtype) - 1);
  return v >= -beyond && v < beyond;
}

bool real_fits(double v, ScalarType dtype) {
  if (!is_integral(dtype)) return !std::isfinite(v) || std::abs(v) <= largest(dtype);
  if (std::isnan(v)) return false;
  if (dtype == kByte) return v >= 0 && std::trunc(v) <= 255;
  const double beyond = std::ldexp(1.0, static_cast<int>(8 * element_size(dtype)) - 1);
  return std::trunc(v) >= -beyond && std::trunc(v) < beyond;
}

// The type's name in PyTorch's messages about numbers, which differs from dtype_element_name for most integers.
const char* number_type_name(ScalarType dtype) {
  switch (dtype) {
    case kByte:
      return "uint8_t";
    case kChar:
      return "int8_t";
    case kShort:
      return "int16_t";
    case kLong:
      return "int64_t";
    default:
      return dtype_element_name(dtype);
  }
}

[[noreturn]] void throw_does_not_fit(const char* op, const Scalar& value, ScalarType dtype) {
  ARGAND_THROW(ValueError, op, ": value cannot be converted to type ", number_type_name(dtype),
               " without overflow: expected a number of dtype ", dtype, ", got ", value);
}

}  // namespace

bool number_fits(const Scalar& value, ScalarType dtype) {
  if (dtype == kBool) return true;
  if (value.isIntegral(true)) {
    if (is_integral(dtype)) return integer_fits(value.toLong(), dtype);
    return real_fits(static_cast<double>(value.toLong()), dtype);
  }
  if (!value.isComplex()) return real_fits(value.toDouble(), dtype);
  const auto number = value.to<std::complex<double>>();
  return (is_complex(dtype) ? real_fits(number.imag(), dtype) : number.imag() == 0) && real_fits(number.real(), dtype);
}

void check_fits(const char* op, const Scalar& value, ScalarType dtype) {
  if (!number_fits(value, dtype)) throw_does_not_fit(op, value, dtype);
}

void check_fits(const char* op, const Tensor& value, ScalarType dtype) {
  if (!value.defined() || !value.impl().wrapped_number) return;
  dispatch<dtype_bit(kBool) | dtype_bit(kLong) | dtype_bit(kDouble) | dtype_bit(kComplexDouble)>(
      value.dtype(), op, [&](auto tag) {
        using T = typename decltype(tag)::type;
        check_fits(op, Scalar(*raw<T>(value)), dtype);
      });
}

void check_limits_fit(const char* op, const std::optional<Scalar>& min, const std::optional<Scalar>& max,
                      ScalarType dtype) {
  const bool is_whole = is_integral(dtype);
  if (min && (!is_whole || min->toDouble() > 0)) check_fits(op, *min, dtype);
  if (!max || (is_whole && max->toDouble() >= 0)) return;
  // A negative number fits uint8 where it is written, because it wraps around; a limit does not.
  if (dtype == kByte) throw_does_not_fit(op, *max, dtype);
  check_fits(op, *max, dtype);
}

}  // namespace argand::ops
