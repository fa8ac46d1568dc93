// Sequences of numbers: arange, linspace, logspace; and eye.
#include <cmath>
#include <complex>

#include "argand/kernels/blocks.h"
#include "argand/ops/create/args.h"
#include "argand/ops/create/meta.h"
#include "argand/ops/define.h"
#include "argand/ops/number_fits.h"

namespace argand::ops {
namespace {

void run_sequence(const Sequence& s, const Tensor& out) {
  if (out.is_cpu() || !out.is_complex())
    return blocks::fill_sequence.on(out.device())(s, out.dtype(), out.impl().data(), out.numel());
  const Tensor parts = exec::new_tensor({out.impl().sizes, to_real_type(out.dtype())}, out.device());
  run_sequence(s, parts);
  exec::copy_elements(out, parts);
}

// Converts the ends to the result's dtype: integers for integer dtypes; negative ones wrap around in uint8.
Sequence line(const Scalar& from, const Scalar& to, int64_t n, ScalarType dtype) {
  const auto converted = [dtype](const Scalar& end) {
    if (!is_integral(dtype)) return end.toDouble();
    const double whole = std::trunc(end.toDouble());
    return dtype == kByte && whole < 0 ? whole + 256 : whole;
  };
  Sequence s{Sequence::kLine};
  s.start = converted(from);
  s.end = converted(to);
  s.by = n > 1 ? (s.end - s.start) / static_cast<double>(n - 1) : 0;
  return s;
}

bool has_complex_end(const Scalar& from, const Scalar& to) { return from.isComplex() || to.isComplex(); }

// The result of linspace and logspace: the default dtype, or its complex counterpart if an end is complex.
TensorMeta line_meta(const char* op, const Scalar& from, const Scalar& to, int64_t n, const TensorOptions& o) {
  ARGAND_CHECK(ValueError, n >= 0, op, ": number of steps must be non-negative, got ", n);
  if (!has_complex_end(from, to)) {
    const TensorMeta meta = meta_of(op, {n}, o);
    ARGAND_CHECK(DtypeError, meta.dtype != kBool, op, ": not implemented for dtype bool");
    check_fits(op, from, meta.dtype);
    check_fits(op, to, meta.dtype);
    return meta;
  }
  const ScalarType inferred = to_complex_type(get_default_dtype()), dtype = o.dtype_opt().value_or(inferred);
  ARGAND_CHECK(DtypeError, is_complex(dtype), "torch.", op, "(): inferred dtype ", inferred,
               " can't be safely cast to passed dtype ", dtype);
  return meta_of(op, {n}, o, dtype);
}

// The numbers, or the powers of `base`, on a line in the complex plane: from both ends, as for real ones.
void run_complex_line(const Scalar& from, const Scalar& to, const double* base, const Tensor& out) {
  const int64_t n = out.numel();
  const auto a = from.to<std::complex<double>>(), b = to.to<std::complex<double>>();
  const std::complex<double> by = n > 1 ? (b - a) / static_cast<double>(n - 1) : 0;
  const Tensor all = exec::new_tensor({out.impl().sizes, kComplexDouble}, kCPU);
  auto* const p = static_cast<std::complex<double>*>(all.impl().data());
  for (int64_t i = 0; i < n; ++i) {
    p[i] = i < n / 2 ? a + by * static_cast<double>(i) : b - by * static_cast<double>(n - 1 - i);
    if (n == 1) p[i] = a;
    if (base) p[i] = std::pow(std::complex<double>(*base), p[i]);
  }
  exec::copy_elements(out, all.to(out.device()));
}

}  // namespace

struct Arange : Kernel<ArangeArgs> {
  static constexpr auto schema =
      "arange.start_step(Scalar start, Scalar end, Scalar? step, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? "
      "device=None, bool? pin_memory=None) -> Tensor";
  static constexpr const char* overloads[] = {
      "arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) "
      "-> Tensor",
      "arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
      "bool? "
      "pin_memory=None) -> Tensor"};
  static constexpr auto doc =
      "start, start + step, ... up to but not including end. Without a dtype: int64 if all three are integers, else "
      "the "
      "default float dtype. float values are start + i * step, rounded once.";
  static constexpr bool out_is_counted = true;
  static constexpr bool out_keeps_shape = true;
  static bool integers(const Args& a) {
    return a.start.isIntegral(true) && a.end.isIntegral(true) && step_of(a).isIntegral(true);
  }
  static Scalar step_of(const Args& a) { return a.step.value_or(1); }
  static int64_t length(const Args& a, ScalarType dtype) {
    if (integers(a) && is_integral(dtype)) {
      const int64_t start = a.start.toLong(), end = a.end.toLong(), step = step_of(a).toLong();
      const uint64_t span = step > 0 ? static_cast<uint64_t>(end) - static_cast<uint64_t>(start)
                                     : static_cast<uint64_t>(start) - static_cast<uint64_t>(end);
      const uint64_t by = step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
      return static_cast<int64_t>(span / by + (span % by != 0));
    }
    const double n = std::ceil((a.end.toDouble() - a.start.toDouble()) / step_of(a).toDouble());
    ARGAND_CHECK(ValueError, n >= 0 && n < 0x1p63, "arange: invalid size, possible overflow? got ", n);
    return static_cast<int64_t>(n);
  }
  static TensorMeta infer(const Args& a) {
    const double start = a.start.toDouble(), end = a.end.toDouble(), step = step_of(a).toDouble();
    ARGAND_CHECK(ValueError, step != 0, "arange: step must be nonzero");
    ARGAND_CHECK(ValueError, std::isfinite(start) && std::isfinite(end), "arange: unsupported range: ", start, " -> ",
                 end);
    ARGAND_CHECK(ValueError, (step > 0) == (end >= start) || start == end,
                 "arange: upper bound and lower bound inconsistent with step sign: start ", start, ", end ", end,
                 ", step ", step);
    const ScalarType dtype = a.options.dtype_opt().value_or(integers(a) ? kLong : get_default_dtype());
    ARGAND_CHECK(DtypeError, dtype != kBool && !is_complex(dtype), "arange: not implemented for dtype ", dtype);
    return meta_of(Args::kName, {length(a, dtype)}, a.options, dtype);
  }
  static void run(const Args& a, Tensor& out) {
    Sequence s{Sequence::kNumbers};
    if (integers(a) || is_integral(out.dtype())) {
      s.kind = Sequence::kIntegers;
      s.first = a.start.toLong();
      s.step = step_of(a).toLong();
    } else {
      s.start = a.start.toDouble();
      s.by = step_of(a).toDouble();
    }
    run_sequence(s, out);
  }
  static void samples(S& s) {
    s.add({0, 5, {}});
    s.add({2, 11, 3});
    s.add({5, -2, -2});
    s.add({0.0, 1.0, 0.25});
    s.add({1, 1, {}});
    s.add({0, 4, {}, kFloat});
    s.fails({0, 5, 0}, "arange: step must be nonzero");
    s.fails({0, 5, -1}, "arange: upper bound and lower bound inconsistent with step sign");
    s.fails({0, INFINITY, 1}, "arange: unsupported range");
  }
};
ARGAND_OP(Arange)

struct Linspace : Kernel<LinspaceArgs> {
  static constexpr auto schema =
      "linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? "
      "device=None, bool? "
      "pin_memory=None) -> Tensor";
  static constexpr auto doc = "`steps` numbers from start to end, both included, equally far apart.";
  static constexpr auto python_tensor_numbers = "start end";
  static constexpr bool out_keeps_shape = true;
  static TensorMeta infer(const Args& a) { return line_meta(Args::kName, a.start, a.end, a.steps, a.options); }
  static void run(const Args& a, Tensor& out) {
    if (has_complex_end(a.start, a.end)) return run_complex_line(a.start, a.end, nullptr, out);
    run_sequence(line(a.start, a.end, a.steps, out.dtype()), out);
  }
  static void samples(S& s) {
    s.add({0, 1, 5});
    s.fails({0, 1, 5, kBool}, "linspace: not implemented for dtype bool");
    s.fails({0, std::complex<double>(0, 1), 3, kFloat},
            "torch.linspace(): inferred dtype complex64 can't be safely cast to passed dtype float32");
    s.add({3.5, -2, 4});
    s.add({4.3, 50, 7, kLong});
    s.add({1, 2, 1});
    s.add({1, 2, 0});
    s.fails({0, 1, -1}, "linspace: number of steps must be non-negative, got -1");
    s.fails({0, 300, 3, kByte}, "linspace: value cannot be converted to type uint8_t without overflow");
  }
};
ARGAND_OP(Linspace)

struct Logspace : Kernel<LogspaceArgs> {
  static constexpr auto schema =
      "logspace(Scalar start, Scalar end, int steps, float base=10.0, *, ScalarType? dtype=None, Layout? layout=None, "
      "Device? "
      "device=None, bool? pin_memory=None) -> Tensor";
  static constexpr auto doc = "base to the powers that linspace gives.";
  static constexpr auto python_tensor_numbers = "start end";
  static constexpr bool out_keeps_shape = true;
  static TensorMeta infer(const Args& a) { return line_meta(Args::kName, a.start, a.end, a.steps, a.options); }
  static void run(const Args& a, Tensor& out) {
    if (has_complex_end(a.start, a.end)) return run_complex_line(a.start, a.end, &a.base, out);
    Sequence s = line(a.start, a.end, a.steps, out.dtype());
    s.kind = Sequence::kPowers;
    s.base = a.base;
    run_sequence(s, out);
  }
  static void samples(S& s) {
    s.add({0, 2, 5});
    s.add({0, 4, 5, 2});
    s.add({0, 1.2, 4, 10.0, kInt});
    s.add({0, 15, 16, 10.0, kLong});
    s.add({0, 33, 34, 3.0, kLong});
    s.add({-2, 10, 13, -5.0, kLong});
    s.fails({0, 1, -1}, "logspace: number of steps must be non-negative, got -1");
    s.fails({0, 1e39, 3, 10.0, kFloat}, "logspace: value cannot be converted to type float without overflow");
  }
};
ARGAND_OP(Logspace)

struct Eye : Kernel<EyeArgs> {
  static constexpr auto schema =
      "eye.m(int n, int? m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
      "pin_memory=None) -> Tensor";
  static constexpr const char* overloads[] = {
      "eye(int n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
      "Tensor"};
  static constexpr auto doc = "The n x m matrix (m = n if not given) with ones on the diagonal and zeros elsewhere.";
  static TensorMeta infer(const Args& a) {
    const int64_t m = a.m.value_or(a.n);
    ARGAND_CHECK(ValueError, a.n >= 0, "eye: n must be greater or equal to 0, got ", a.n);
    ARGAND_CHECK(ValueError, m >= 0, "eye: m must be greater or equal to 0, got ", m);
    return meta_of(Args::kName, {a.n, m}, a.options);
  }
  static void run(const Args&, Tensor& out) {
    const int64_t n = out.sizes()[0], m = out.sizes()[1];
    exec::copy_elements(out, exec::wrapped_number(0));
    exec::copy_elements(exec::alias(out, {std::min(n, m)}, {m + 1}, 0), exec::wrapped_number(1));
  }
  static void samples(S& s) {
    s.add({3, {}});
    s.add({2, 4});
    s.add({0, 2});
    s.fails({-1, {}}, "eye: n must be greater or equal to 0, got -1");
    s.fails({1, -2}, "eye: m must be greater or equal to 0, got -2");
  }
};
ARGAND_OP(Eye)

}  // namespace argand::ops
