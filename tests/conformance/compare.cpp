#include "tests/conformance/compare.h"

#include <algorithm>
#include <cmath>

namespace argand::conformance {
namespace {

// The least normal number of `t`: below it, numbers are as far apart as above it.
double smallest(ScalarType t) {
  switch (to_real_type(t)) {
    case kDouble:
      return 0x1p-1022;
    case kHalf:
      return 0x1p-14;
    default:
      return 0x1p-126;
  }
}

// The distance of neighbours in `t` at `magnitude`.
double ulp(double magnitude, ScalarType t) {
  int exponent = 0;
  if (std::isfinite(magnitude)) std::frexp(magnitude, &exponent);
  return std::max(std::ldexp(1.0, exponent - 1), smallest(t)) * epsilon(t);
}

// What the reference is as values of `t`.
Values as(const Array& a, ScalarType t) { return read(arranged(a, t, Arrangement::kContiguous)).values; }

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

namespace {

// The definition of an op says these things about its accuracy on the device under test.
std::vector<Accuracy> accuracies_of(const OpInfo& op) {
  SampleSink sink(op.name.c_str());
  op.samples(sink);
  std::vector<Accuracy> all = sink.accuracies();
  std::erase_if(all, [](const Accuracy& a) { return a.device && *a.device != test_device().type(); });
  return all;
}

}  // namespace

double working_epsilon(const OpInfo& op, ScalarType t) {
  const std::vector<Accuracy> all = accuracies_of(op);
  const bool rounds_once = op.kind != OpKind::kComposite && epsilon(t) > epsilon(kFloat) &&
                           std::ranges::none_of(all, [](const Accuracy& a) { return a.rounds_parts; });
  return epsilon(rounds_once ? kFloat : t);
}

double ulps_of(const OpInfo& op) {
  if (op.kind == OpKind::kView) return 0;
  double ulps = kUlps;
  for (const Accuracy& a : accuracies_of(op))
    if (std::isfinite(a.ulps)) ulps = std::max(ulps, a.ulps);
  return ulps;
}

bool is_up_to_phases(const OpInfo& op) {
  return std::ranges::any_of(accuracies_of(op), [](const Accuracy& a) { return std::isinf(a.ulps); });
}

namespace {

std::vector<double> sizes_in_order(const Values& values) {
  std::vector<double> sizes;
  for (const auto& x : values) sizes.push_back(std::abs(x));
  // NaNs, which have no order, last.
  std::ranges::sort(sizes, [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; });
  return sizes;
}

std::string difference_of_sizes(const Values& got, const Values& expected, ScalarType t, const Tolerance& tolerance) {
  const std::vector<double> sizes = sizes_in_order(got), wanted = sizes_in_order(expected);
  double shift = 0;
  if (tolerance.shift)
    for (const double s : tolerance.shift()) shift = std::max(shift, s);
  for (size_t i = 0; i < sizes.size(); ++i)
    if (!near(sizes[i], wanted[i], tolerance.ulps * ulp(wanted[i], t) + shift))
      return str("absolute value ", i, " in order of size: got ", sizes[i], ", expected ", wanted[i]);
  return "";
}

}  // namespace

std::string difference(const Tensor& got, const Array& expected, const Tolerance& tolerance) {
  if (std::string s = check_sizes(got, expected.sizes); !s.empty()) return s;
  const bool exact = is_integral(got.dtype(), true);
  const Values values = read(got).values, wanted = as(expected, got.dtype());
  if (tolerance.up_to_phases) return difference_of_sizes(values, wanted, got.dtype(), tolerance);
  std::optional<std::vector<double>> shift;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto want = wanted[i];
    const double unit = exact ? 0 : ulp(std::abs(want), got.dtype());
    double limit = tolerance.ulps * unit;
    const auto is_near = [&] {
      return near(values[i].real(), want.real(), limit) && near(values[i].imag(), want.imag(), limit);
    };
    if (is_near()) continue;
    if (!exact && tolerance.shift) {
      if (!shift) shift = tolerance.shift();
      limit += shift->at(i);
      if (is_near()) continue;
    }
    return str(
        "element ", i, ": got ", text(values[i]), ", expected ", text(want), ", ",
        exact ? "exactly" : str(std::abs(values[i] - want) / unit, " ulps apart where ", limit / unit, " may be"));
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
