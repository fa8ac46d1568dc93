#include "tests/conformance/compare.h"

#include <cmath>

namespace argand::conformance {
namespace {

double epsilon(ScalarType t) {
  switch (to_real_type(t)) {
    case kDouble:
      return 0x1p-52;
    case kFloat:
      return 0x1p-23;
    case kHalf:
      return 0x1p-10;
    default:
      return 0x1p-7;
  }
}

// What the reference is as a value of `t`.
std::complex<double> as(std::complex<double> v, ScalarType t) {
  const Tensor one = arranged({Dims{}, {v}}, t, Arrangement::kContiguous);
  return read(one).values[0];
}

bool near(double got, double expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return got == expected;
  return std::abs(got - expected) <= tolerance;
}

std::string text(std::complex<double> v) { return v.imag() == 0 ? str(v.real()) : str(v.real(), "+", v.imag(), "j"); }

std::string check_sizes(const Tensor& got, const Dims& sizes) {
  return got.impl().sizes == sizes ? "" : str("got shape ", got.sizes(), ", expected ", sizes);
}

}  // namespace

std::string difference(const Tensor& got, const Array& expected, const OpInfo& op) {
  if (std::string s = check_sizes(got, expected.sizes); !s.empty()) return s;
  const bool once = op.kind == OpKind::kPointwise || op.kind == OpKind::kView;
  double largest = 1;
  for (const auto v : expected.values)
    if (std::isfinite(std::abs(v))) largest = std::max(largest, std::abs(v));
  const Values values = read(got).values;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto want = as(expected.values[i], got.dtype());
    double tolerance = 0;
    if (!is_integral(got.dtype(), true))
      tolerance = (once ? 4 * std::max(1.0, std::abs(want)) : 16 * largest) * epsilon(got.dtype());
    if (near(values[i].real(), want.real(), tolerance) && near(values[i].imag(), want.imag(), tolerance)) continue;
    return str("element ", i, ": got ", text(values[i]), ", expected ", text(want), " (tolerance ", tolerance, ")");
  }
  return "";
}

std::string bit_difference(const Tensor& got, const Tensor& expected) {
  if (got.dtype() != expected.dtype()) return str("got ", got.dtype(), ", expected ", expected.dtype());
  if (std::string s = check_sizes(got, expected.impl().sizes); !s.empty()) return s;
  const Values a = read(got).values, b = read(expected).values;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto same = [](double x, double y) {
      return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
    };
    if (!same(a[i].real(), b[i].real()) || !same(a[i].imag(), b[i].imag()))
      return str("element ", i, ": got ", text(a[i]), ", expected ", text(b[i]), " bit for bit");
  }
  return "";
}

}  // namespace argand::conformance
