// A number without a shape: bool, int64, float64 or complex128, as Python's numbers are to PyTorch.
#pragma once
#include <complex>
#include <concepts>
#include <string>

#include "argand/core/dtype.h"

namespace argand {

class Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  // Exactly bool: pointers convert to bool, and a text such as "fro" must not become a number.
  template <std::same_as<bool> B>
  Scalar(B v) : type_(kBool) {
    value_.i = v;
  }
  Scalar(int v) : Scalar(static_cast<int64_t>(v)) {}
  Scalar(unsigned v) : Scalar(static_cast<int64_t>(v)) {}
  Scalar(long v) : type_(kLong) { value_.i = v; }
  Scalar(long long v) : type_(kLong) { value_.i = v; }
  // int64 is the widest integer that a Scalar holds: from 2^63 on these throw ValueError.
  Scalar(unsigned long v) : Scalar(static_cast<unsigned long long>(v)) {}
  Scalar(unsigned long long v) : Scalar(static_cast<int64_t>(v)) {
    if (value_.i < 0) throw_beyond_int64(v);
  }
  Scalar(uint8_t v) : Scalar(static_cast<int64_t>(v)) {}
  Scalar(int8_t v) : Scalar(static_cast<int64_t>(v)) {}
  Scalar(int16_t v) : Scalar(static_cast<int64_t>(v)) {}
  Scalar(float v) : Scalar(static_cast<double>(v)) {}
  Scalar(double v) : type_(kDouble) { value_.d[0] = v, value_.d[1] = 0; }
  Scalar(Half v) : Scalar(static_cast<float>(v)) {}
  Scalar(BFloat16 v) : Scalar(static_cast<float>(v)) {}
  Scalar(std::complex<double> v) : type_(kComplexDouble) { value_.d[0] = v.real(), value_.d[1] = v.imag(); }
  Scalar(std::complex<float> v) : Scalar(std::complex<double>(v)) {}

  ScalarType type() const { return type_; }  // Bool, Long, Double or ComplexDouble
  bool isBoolean() const { return type_ == kBool; }
  bool isIntegral(bool include_bool) const { return type_ == kLong || (include_bool && type_ == kBool); }
  bool isFloatingPoint() const { return type_ == kDouble; }
  bool isComplex() const { return type_ == kComplexDouble; }

  // The value as T, rounded as C++ rounds; a complex number with an imaginary part to a real T throws ValueError.
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, std::complex<double>>) {
      return is_integer() ? T(static_cast<double>(value_.i)) : T(value_.d[0], value_.d[1]);
    } else if constexpr (std::is_same_v<T, std::complex<float>>) {
      return T(to<std::complex<double>>());
    } else {
      if (is_integer()) {
        if constexpr (std::is_same_v<T, bool>)
          return value_.i != 0;
        else if constexpr (std::is_arithmetic_v<T>)
          return static_cast<T>(value_.i);
        else
          return static_cast<T>(static_cast<float>(value_.i));
      }
      check_real();
      if constexpr (std::is_same_v<T, bool>)
        return value_.d[0] != 0;
      else if constexpr (std::is_arithmetic_v<T>)
        return static_cast<T>(value_.d[0]);
      else
        return static_cast<T>(static_cast<float>(value_.d[0]));
    }
  }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int>(); }
  bool toBool() const { return to<bool>(); }

  Scalar operator-() const;
  bool equal(double v) const { return !isComplex() && toDouble() == v; }
  friend bool operator==(const Scalar& a, const Scalar& b) {
    return a.to<std::complex<double>>() == b.to<std::complex<double>>();
  }

 private:
  bool is_integer() const { return type_ == kLong || type_ == kBool; }
  void check_real() const;
  [[noreturn]] static void throw_beyond_int64(unsigned long long v);
  union {
    int64_t i;
    double d[2];
  } value_;
  ScalarType type_;
};

void append(std::string& out, const Scalar& s);

}  // namespace argand
