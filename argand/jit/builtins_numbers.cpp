// Arithmetic, comparisons and mathematical functions of numbers, with Python's rules where TorchScript has them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "argand/jit/builtins.h"

namespace argand::jit {

namespace {

using Complex = std::complex<double>;

bool is_real(const IValue& v) { return v.isInt() || v.isDouble() || v.isBool(); }
bool is_whole(const IValue& v) { return v.isInt() || v.isBool(); }
int64_t whole(const IValue& v) { return v.isBool() ? int64_t{v.toBool()} : v.toInt(); }
double real(const IValue& v) { return v.isDouble() ? v.toDouble() : static_cast<double>(whole(v)); }
Complex complex_of(const IValue& v) { return v.toScalar().to<Complex>(); }

// int64 wraps around, as in C++'s unsigned numbers.
int64_t wrapped(uint64_t v) { return static_cast<int64_t>(v); }
uint64_t bits(int64_t v) { return static_cast<uint64_t>(v); }

bool two_numbers(const BuiltinCall& c) { return c.positional() >= 2 && c[0].isScalar() && c[1].isScalar(); }

// The function of two numbers: integers, floats, or complex numbers if one is.
template <class Int, class Float, class OfComplex>
bool arithmetic(const BuiltinCall& c, IValue& out, Int of_ints, Float of_floats, OfComplex of_complex) {
  if (!two_numbers(c)) return false;
  const IValue &a = c[0], &b = c[1];
  if (is_whole(a) && is_whole(b))
    out = of_ints(whole(a), whole(b));
  else if (is_real(a) && is_real(b))
    out = of_floats(real(a), real(b));
  else
    out = IValue(of_complex(complex_of(a), complex_of(b)));
  return true;
}

bool add(const BuiltinCall& c, IValue& out) {
  return arithmetic(
      c, out, [](int64_t a, int64_t b) { return wrapped(bits(a) + bits(b)); }, std::plus<double>(),
      std::plus<Complex>());
}
bool sub(const BuiltinCall& c, IValue& out) {
  return arithmetic(
      c, out, [](int64_t a, int64_t b) { return wrapped(bits(a) - bits(b)); }, std::minus<double>(),
      std::minus<Complex>());
}
bool mul(const BuiltinCall& c, IValue& out) {
  return arithmetic(
      c, out, [](int64_t a, int64_t b) { return wrapped(bits(a) * bits(b)); }, std::multiplies<double>(),
      std::multiplies<Complex>());
}

// Division gives infinity and NaN, as in PyTorch; where the result is an integer, there is none.
void check_divisor(bool zero) { ARGAND_CHECK(ValueError, !zero, "ZeroDivisionError: division by zero"); }

bool div(const BuiltinCall& c, IValue& out) {
  return arithmetic(
      c, out, [](int64_t a, int64_t b) { return static_cast<double>(a) / static_cast<double>(b); },
      std::divides<double>(), std::divides<Complex>());
}

int64_t floor_divided(int64_t a, int64_t b) {
  check_divisor(b == 0);
  if (b == -1) return wrapped(0 - bits(a));
  return a / b - static_cast<int64_t>(a % b != 0 && (a % b < 0) != (b < 0));
}
int64_t modulo(int64_t a, int64_t b) {
  check_divisor(b == 0);
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
double modulo(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
Complex no_complex(Complex, Complex) { ARGAND_THROW(ValueError, "expected real numbers, got complex ones"); }

bool floordiv(const BuiltinCall& c, IValue& out) {
  return arithmetic(
      c, out, floor_divided, [](double a, double b) { return std::floor(a / b); }, no_complex);
}
bool remainder(const BuiltinCall& c, IValue& out) {
  return arithmetic(
      c, out, [](int64_t a, int64_t b) { return modulo(a, b); }, [](double a, double b) { return modulo(a, b); },
      no_complex);
}
bool round_to_zero(const BuiltinCall& c, IValue& out) {
  return arithmetic(
      c, out,
      [](int64_t a, int64_t b) {
        check_divisor(b == 0);
        return b == -1 ? wrapped(0 - bits(a)) : a / b;
      },
      [](double a, double b) { return std::trunc(a / b); }, no_complex);
}
bool power(const BuiltinCall& c, IValue& out) {
  return arithmetic(
      c, out, [](int64_t a, int64_t b) { return std::pow(static_cast<double>(a), static_cast<double>(b)); },
      [](double a, double b) { return std::pow(a, b); }, [](Complex a, Complex b) { return std::pow(a, b); });
}
bool divmod(const BuiltinCall& c, IValue& out) {
  if (!two_numbers(c) || !is_real(c[0]) || !is_real(c[1])) return false;
  if (is_whole(c[0]) && is_whole(c[1]))
    out = ivalue::Tuple::create(
        {IValue(floor_divided(whole(c[0]), whole(c[1]))), IValue(modulo(whole(c[0]), whole(c[1])))});
  else {
    check_divisor(real(c[1]) == 0);
    out = ivalue::Tuple::create({IValue(std::floor(real(c[0]) / real(c[1]))), IValue(modulo(real(c[0]), real(c[1])))});
  }
  return true;
}

// ---- order

template <class Compare>
bool compare(const BuiltinCall& c, IValue& out, Compare compare) {
  if (c.size() != 2) return false;
  const IValue &a = c[0], &b = c[1];
  if (is_whole(a) && is_whole(b))
    out = compare(whole(a), whole(b));
  else if (is_real(a) && is_real(b))
    out = compare(real(a), real(b));
  else if (a.isString() && b.isString())
    out = compare(a.toStringRef(), b.toStringRef());
  else if (a.isIntList() && b.isIntList())
    out = compare(a.toIntVector(), b.toIntVector());
  else if (a.isDoubleList() && b.isDoubleList())
    out = compare(a.toDoubleVector(), b.toDoubleVector());
  else
    return false;
  return true;
}
bool lt(const BuiltinCall& c, IValue& out) { return compare(c, out, std::less<>()); }
bool gt(const BuiltinCall& c, IValue& out) { return compare(c, out, std::greater<>()); }
bool le(const BuiltinCall& c, IValue& out) { return compare(c, out, std::less_equal<>()); }
bool ge(const BuiltinCall& c, IValue& out) { return compare(c, out, std::greater_equal<>()); }

bool of_tensor(const BuiltinCall& c) { return c[0].isTensor() || c[1].isTensor(); }
bool eq(const BuiltinCall& c, IValue& out) {
  if (c.size() != 2 || of_tensor(c)) return false;
  out = equal(c[0], c[1]);
  return true;
}
bool ne(const BuiltinCall& c, IValue& out) {
  if (c.size() != 2 || of_tensor(c)) return false;
  out = !equal(c[0], c[1]);
  return true;
}

// ---- bits

template <class F>
bool bitwise(const BuiltinCall& c, IValue& out, F f) {
  if (c.size() != 2 || !is_whole(c[0]) || !is_whole(c[1])) return false;
  const uint64_t v = f(bits(whole(c[0])), bits(whole(c[1])));
  out = c[0].isBool() && c[1].isBool() ? IValue(v != 0) : IValue(wrapped(v));
  return true;
}
bool bit_and(const BuiltinCall& c, IValue& out) { return bitwise(c, out, std::bit_and<>()); }
bool bit_or(const BuiltinCall& c, IValue& out) { return bitwise(c, out, std::bit_or<>()); }
bool bit_xor(const BuiltinCall& c, IValue& out) { return bitwise(c, out, std::bit_xor<>()); }

int64_t checked_shift(const IValue& v) {
  ARGAND_CHECK(ValueError, v.toInt() >= 0, "negative shift count");
  return std::min<int64_t>(v.toInt(), 64);
}
bool shift_left(const BuiltinCall& c, IValue& out) {
  if (c.size() != 2 || !c[0].isInt() || !c[1].isInt()) return false;
  const int64_t by = checked_shift(c[1]);
  out = by == 64 ? int64_t{0} : wrapped(bits(c[0].toInt()) << by);
  return true;
}
bool shift_right(const BuiltinCall& c, IValue& out) {
  if (c.size() != 2 || !c[0].isInt() || !c[1].isInt()) return false;
  out = c[0].toInt() >> std::min<int64_t>(checked_shift(c[1]), 63);
  return true;
}
bool bit_not(const BuiltinCall& c, IValue& out) {
  if (!c[0].isInt()) return false;
  out = ~c[0].toInt();
  return true;
}

// ---- one number

bool neg(const BuiltinCall& c, IValue& out) {
  const IValue& v = c[0];
  if (!v.isScalar()) return false;
  if (v.isDouble())
    out = -v.toDouble();
  else if (is_whole(v))
    out = wrapped(0 - bits(whole(v)));
  else
    out = IValue(-complex_of(v));
  return true;
}
bool absolute(const BuiltinCall& c, IValue& out) {
  const IValue& v = c[0];
  if (!v.isScalar()) return false;
  if (v.isInt())
    out = v.toInt() < 0 ? wrapped(0 - bits(v.toInt())) : v.toInt();
  else if (is_real(v))
    out = std::abs(real(v));
  else
    out = std::abs(complex_of(v));
  return true;
}

// To an integer: of an infinity or NaN there is none.
int64_t truncated(double d) {
  ARGAND_CHECK(ValueError, d > -9223372036854775809.0 && d < 9223372036854775808.0, "the float ", d,
               " has no value as an int");
  return static_cast<int64_t>(d);
}
template <class Round>
bool rounded(const BuiltinCall& c, IValue& out, Round round) {
  if (!is_real(c[0])) return false;
  out = is_whole(c[0]) ? whole(c[0]) : truncated(round(c[0].toDouble()));
  return true;
}
bool floor_of(const BuiltinCall& c, IValue& out) {
  return rounded(c, out, [](double d) { return std::floor(d); });
}
bool ceil_of(const BuiltinCall& c, IValue& out) {
  return rounded(c, out, [](double d) { return std::ceil(d); });
}
bool trunc_of(const BuiltinCall& c, IValue& out) {
  return rounded(c, out, [](double d) { return std::trunc(d); });
}
bool round_of(const BuiltinCall& c, IValue& out) {
  if (!is_real(c[0])) return false;
  out = std::nearbyint(real(c[0]));  // halves to even
  return true;
}

bool is_nan(const BuiltinCall& c, IValue& out) { return is_real(c[0]) && (out = std::isnan(real(c[0])), true); }
bool is_inf(const BuiltinCall& c, IValue& out) { return is_real(c[0]) && (out = std::isinf(real(c[0])), true); }
bool is_finite(const BuiltinCall& c, IValue& out) { return is_real(c[0]) && (out = std::isfinite(real(c[0])), true); }

template <double (*f)(double)>
bool real_function(const BuiltinCall& c, IValue& out) {
  if (c.size() != 1 || !is_real(c[0])) return false;
  out = f(real(c[0]));
  return true;
}
template <double (*f)(double, double)>
bool real_function_of_two(const BuiltinCall& c, IValue& out) {
  if (c.size() != 2 || !is_real(c[0]) || !is_real(c[1])) return false;
  out = f(real(c[0]), real(c[1]));
  return true;
}
double degrees(double r) { return r * 180 / 3.14159265358979323846; }
double radians(double d) { return d * 3.14159265358979323846 / 180; }

bool fraction_and_whole(const BuiltinCall& c, IValue& out) {
  if (c.size() != 1 || !is_real(c[0])) return false;
  double whole_part = 0;
  const double fraction = std::modf(real(c[0]), &whole_part);
  out = ivalue::Tuple::create({IValue(fraction), IValue(whole_part)});
  return true;
}
bool mantissa_and_exponent(const BuiltinCall& c, IValue& out) {
  if (c.size() != 1 || !is_real(c[0])) return false;
  int exponent = 0;
  const double mantissa = std::frexp(real(c[0]), &exponent);
  out = ivalue::Tuple::create({IValue(mantissa), IValue(int64_t{exponent})});
  return true;
}
bool times_power_of_two(const BuiltinCall& c, IValue& out) {
  if (c.size() != 2 || !is_real(c[0]) || !c[1].isInt()) return false;
  out = std::ldexp(real(c[0]), static_cast<int>(std::clamp<int64_t>(c[1].toInt(), -100000, 100000)));
  return true;
}

bool gcd_of(const BuiltinCall& c, IValue& out) {
  if (c.size() != 2 || !c[0].isInt() || !c[1].isInt()) return false;
  uint64_t a = bits(c[0].toInt()), b = bits(c[1].toInt());
  if (c[0].toInt() < 0) a = 0 - a;
  if (c[1].toInt() < 0) b = 0 - b;
  out = wrapped(std::gcd(a, b));
  return true;
}
bool factorial(const BuiltinCall& c, IValue& out) {
  if (!c[0].isInt()) return false;
  c.need(c[0].toInt() >= 0 && c[0].toInt() <= 20, "expected a number from 0 to 20, got ", c[0].toInt());
  int64_t product = 1;
  for (int64_t i = 2; i <= c[0].toInt(); ++i) product *= i;
  out = product;
  return true;
}

// ---- conversion

bool to_int(const BuiltinCall& c, IValue& out) {
  const IValue& v = c[0];
  if (is_whole(v))
    out = whole(v);
  else if (v.isDouble())
    out = truncated(v.toDouble());
  else if (v.isTensor())
    out = v.toTensor().item().toLong();
  else if (v.isString()) {
    const std::string& text = v.toStringRef();  // spaces may stand before the number, not behind it
    size_t used = 0;
    try {
      out = static_cast<int64_t>(std::stoll(text, &used));
    } catch (const std::exception&) {
      used = std::string::npos;
    }
    c.need(!text.empty() && used == text.size(), "invalid literal for int() with base 10: '", v.toStringRef(), "'");
  } else
    return false;
  return true;
}
bool to_float(const BuiltinCall& c, IValue& out) {
  const IValue& v = c[0];
  if (is_real(v))
    out = real(v);
  else if (v.isTensor())
    out = v.toTensor().item().toDouble();
  else if (v.isString()) {
    const std::string& text = v.toStringRef();  // spaces may stand before the number, not behind it
    size_t used = 0;
    try {
      out = std::stod(text, &used);
    } catch (const std::exception&) {
      used = std::string::npos;
    }
    c.need(!text.empty() && used == text.size(), "could not convert string to float: '", v.toStringRef(), "'");
  } else
    return false;
  return true;
}
bool to_bool(const BuiltinCall& c, IValue& out) {
  out = truth(c[0]);
  return true;
}
bool to_complex(const BuiltinCall& c, IValue& out) {
  const auto part = [](const IValue& v) { return v.isTensor() ? v.toTensor().item().to<Complex>() : complex_of(v); };
  out = IValue(part(c[0]) + (c.size() > 1 ? Complex(0, 1) * part(c[1]) : Complex()));
  return true;
}

// ---- ranges and extremes

bool range_length(const BuiltinCall& c, IValue& out) {
  const int64_t first = c[0].toInt(), end = c[1].toInt(), step = c[2].toInt();
  c.need(step != 0, "range() arg 3 must not be zero");
  if (step > 0 && first < end)
    out = wrapped(1 + (bits(end) - bits(first) - 1) / bits(step));
  else if (step < 0 && first > end)
    out = wrapped(1 + (bits(first) - bits(end) - 1) / (0 - bits(step)));
  else
    out = int64_t{0};
  return true;
}
bool derive_index(const BuiltinCall& c, IValue& out) {
  out = wrapped(bits(c[1].toInt()) + bits(c[0].toInt()) * bits(c[2].toInt()));
  return true;
}

template <class Better>
bool extreme(const BuiltinCall& c, IValue& out, Better better) {
  if (c.positional() >= 2 && is_real(c[0]) && is_real(c[1])) {
    size_t best = 0;
    for (size_t i = 1; i < c.positional(); ++i)
      if (is_whole(c[i]) && is_whole(c[best]) ? better(whole(c[i]), whole(c[best])) : better(real(c[i]), real(c[best])))
        best = i;
    const bool all_ints = std::all_of(c.arguments.begin(), c.arguments.end(), is_whole);
    out = all_ints ? c[best] : IValue(real(c[best]));
    return true;
  }
  const auto of_list = [&](const auto& elements) {
    c.need(!elements.empty(), "the list is empty");
    out = *std::min_element(elements.begin(), elements.end(), better);
    return true;
  };
  if (c.size() == 1 && c[0].isIntList()) return of_list(c[0].toIntVector());
  if (c.size() == 1 && c[0].isDoubleList()) return of_list(c[0].toDoubleVector());
  if (c.size() == 2 && c[0].isIntList() && c[1].isIntList()) {
    out = better(c[1].toIntVector(), c[0].toIntVector()) ? c[1] : c[0];
    return true;
  }
  return false;
}
bool min_of(const BuiltinCall& c, IValue& out) { return extreme(c, out, std::less<>()); }
bool max_of(const BuiltinCall& c, IValue& out) { return extreme(c, out, std::greater<>()); }

constexpr NamedBuiltin kTable[] = {
    {"add", add},
    {"sub", sub},
    {"mul", mul},
    {"div", div},
    {"__old__div", div},
    {"floordiv", floordiv},
    {"remainder", remainder},
    {"__round_to_zero_floordiv", round_to_zero},
    {"pow", power},
    {"divmod", divmod},
    {"lt", lt},
    {"gt", gt},
    {"le", le},
    {"ge", ge},
    {"eq", eq},
    {"ne", ne},
    {"__and__", bit_and},
    {"__or__", bit_or},
    {"__xor__", bit_xor},
    {"__lshift__", shift_left},
    {"__rshift__", shift_right},
    {"bitwise_not", bit_not},
    {"neg", neg},
    {"abs", absolute},
    {"floor", floor_of},
    {"ceil", ceil_of},
    {"trunc", trunc_of},
    {"round", round_of},
    {"isnan", is_nan},
    {"isinf", is_inf},
    {"isfinite", is_finite},
    {"sqrt", real_function<std::sqrt>},
    {"exp", real_function<std::exp>},
    {"log", real_function<std::log>},
    {"log10", real_function<std::log10>},
    {"log2", real_function<std::log2>},
    {"log1p", real_function<std::log1p>},
    {"expm1", real_function<std::expm1>},
    {"sin", real_function<std::sin>},
    {"cos", real_function<std::cos>},
    {"tan", real_function<std::tan>},
    {"asin", real_function<std::asin>},
    {"acos", real_function<std::acos>},
    {"atan", real_function<std::atan>},
    {"sinh", real_function<std::sinh>},
    {"cosh", real_function<std::cosh>},
    {"tanh", real_function<std::tanh>},
    {"asinh", real_function<std::asinh>},
    {"acosh", real_function<std::acosh>},
    {"atanh", real_function<std::atanh>},
    {"erf", real_function<std::erf>},
    {"erfc", real_function<std::erfc>},
    {"gamma", real_function<std::tgamma>},
    {"lgamma", real_function<std::lgamma>},
    {"fabs", real_function<std::fabs>},
    {"degrees", real_function<degrees>},
    {"radians", real_function<radians>},
    {"atan2", real_function_of_two<std::atan2>},
    {"fmod", real_function_of_two<std::fmod>},
    {"copysign", real_function_of_two<std::copysign>},
    {"mathremainder", real_function_of_two<std::remainder>},
    {"log", real_function_of_two<+[](double x, double base) { return std::log(x) / std::log(base); }>},
    {"modf", fraction_and_whole},
    {"frexp", mantissa_and_exponent},
    {"ldexp", times_power_of_two},
    {"gcd", gcd_of},
    {"factorial", factorial},
    {"Int", to_int},
    {"Float", to_float},
    {"Bool", to_bool},
    {"Complex", to_complex},
    {"__range_length", range_length},
    {"__derive_index", derive_index},
    {"min", min_of},
    {"max", max_of}};

}  // namespace

std::span<const NamedBuiltin> number_builtins() { return kTable; }

}  // namespace argand::jit
