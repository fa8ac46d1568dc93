// Running sums and products, and the linear recurrence their gradients are made of.
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/reduce/args.h"
#include "argand/ops/reduce/reduction.h"

namespace argand::ops {
namespace {

ScalarType summed_dtype(const char* op, const Tensor& self, const std::optional<ScalarType>& dtype) {
  ARGAND_CHECK(DtypeError, !dtype || *dtype != kBool, op, ": not implemented for dtype bool");
  return dtype.value_or(is_integral(self.dtype(), true) ? kLong : self.dtype());
}

ScanShape scan_shape(const Tensor& t, int64_t dim) {
  const DimSplit s(t.sizes(), wrap_dim(dim, t.dim(), "scan"));
  return {s.outer, s.size, s.inner};
}

// run(contiguous tensor of the compute type), whose values become those of `out`.
template <class F>
void through_compute_type(const Tensor& out, F run) {
  const ScalarType type = compute_type(out.dtype());
  if (type == out.dtype()) return run(out);
  const Tensor wide = exec::new_tensor({out.impl().sizes, type}, out.device());
  run(wide);
  exec::copy_elements(out, wide);
}

void run_scan(ScanKind kind, const Tensor& self, int64_t dim, const Tensor& out) {
  // Elements are converted to the result's dtype first, as PyTorch does: 0.5 as an integer is 0.
  const Tensor in = exec::dense(self, out.dtype());
  through_compute_type(out, [&](const Tensor& to) {
    blocks::scan.on(to.device())(kind, exec::dense(in, to.dtype()).impl().data(), to.impl().data(), to.dtype(),
                                 scan_shape(in, dim));
  });
}

Tensor reversed(const Tensor& t, int64_t dim) { return t.dim() == 0 ? t : t.flip({dim}); }

}  // namespace

struct Cumsum : Kernel<CumsumArgs> {
  static constexpr auto schema = "cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor";
  static constexpr auto doc =
      "The sums of the first elements along dim: of one, of two, ... of all. Integers and bool sum to int64.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction | kMethod | kInplace | kOut;
  static constexpr auto out_chooses_dtype = "of any dtype";
  static TensorMeta infer(const Args& a) {
    wrap_dim(a.dim, a.self.dim(), "cumsum");
    return {a.self.impl().sizes, summed_dtype("cumsum", a.self, a.dtype)};
  }
  static void run(const Args& a, Tensor& out) { run_scan(ScanKind::kSum, a.self, a.dim, out); }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return reversed(reversed(g, c.dim).cumsum(c.dim), c.dim); }
  static void samples(S& s) {
    s.add({s->real({5}), 0});
    s.add({s->real({2, 3, 4}), 1});
    s.add({s->real({2, 3, 4}), -1});
    s.add({s->real({}), -1});
    s.add({s->real({0, 3}), 0});
    s.add({s->real({3}), 0, kFloat});
    s.add({s->integer({2, 3}, -5, 6), 1});
    s.add({s->boolean({2, 3}), 0});
    s.add({s->real({3, 140}), 0});
    s.fails({s->real({2, 3}), 2}, "cumsum: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
    s.fails({s->real({2, 3}), 0, kBool}, "cumsum: not implemented for dtype bool");
  }
};
ARGAND_OP(Cumsum)

struct Cumprod : Kernel<CumprodArgs> {
  static constexpr auto schema = "cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor";
  static constexpr auto doc =
      "The products of the first elements along dim: of one, of two, ... of all. Integers and bool multiply to int64.";
  static constexpr auto autocast = Autocast::kFloat32, autocast_cpu = Autocast::kNone;
  static constexpr int variants = kFunction | kMethod | kInplace | kOut;
  static constexpr auto out_chooses_dtype = "of any dtype";
  static TensorMeta infer(const Args& a) {
    wrap_dim(a.dim, a.self.dim(), "cumprod");
    return {a.self.impl().sizes, summed_dtype("cumprod", a.self, a.dtype)};
  }
  static void run(const Args& a, Tensor& out) { run_scan(ScanKind::kProd, a.self, a.dim, out); }
  // The product of the first j depends on factor k by those before k and those in k+1 ... j; no division, so that
  // zeros need no case of their own.
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const Tensor before = shifted(c.result(), c.dim, true, 1);
    const Tensor after = shifted(c.self.to(g.scalar_type()), c.dim, false, 0);
    return before.conj() * _linear_scan(g, after.conj(), c.dim, true);
  }
  static void samples(S& s) {
    s.add({s->real({5}), 0});
    s.add({s->real({2, 3, 4}), 1});
    s.add({s->real({2, 3, 4}), -1});
    s.add({s->integer({4, 4}, 0, 2).to(kDouble), 1});  // zeros
    s.add({zeros({3}, kDouble), 0});
    s.add({s->real({}), -1});
    s.add({s->real({0, 3}), 0});
    s.add({s->real({3}), 0, kFloat});
    s.add({s->integer({2, 3}, -5, 6), 1});
    s.fails({s->real({2, 3}), 2}, "cumprod: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(Cumprod)

struct Logcumsumexp : Kernel<LogcumsumexpArgs> {
  static constexpr auto schema = "logcumsumexp(Tensor self, int dim) -> Tensor";
  static constexpr auto doc =
      "log of the running sums of exp(self) along dim, without overflow. Imaginary parts of complex results are not "
      "brought to (-pi, pi].";
  static constexpr int variants = kFunction | kMethod | kOut;
  static constexpr bool out_is_exact = true;
  static constexpr DtypeSet dtypes = kFloatingTypes | kComplexTypes;
  static TensorMeta infer(const Args& a) {
    wrap_dim(a.dim, a.self.dim(), "logcumsumexp");
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) { run_scan(ScanKind::kLogSumExp, a.self, a.dim, out); }
  // The sum over j >= k of g[j] e^(x[k] - y[j]).  As a recurrence no exponent of real numbers is > 0: y never falls.
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const double lowest = -std::numeric_limits<double>::infinity();
    const Tensor y = c.result(), finite = y.masked_fill(real(y) == lowest, 0);  // -inf - -inf would be NaN
    const Tensor decay = (shifted(y, c.dim, true, lowest) - finite).exp();      // of each element from the one before
    return (c.self - finite).exp().conj() * _linear_scan(g, shifted(decay, c.dim, false, 0).conj(), c.dim, true);
  }
  static void samples(S& s) {
    s.add({s->real({5}), 0});
    s.add({s->real({2, 3, 4}), 1});
    s.add({s->real({2, 3, 4}), -1});
    s.add({s->real({}), 0});
    s.add({s->real({0, 3}), 1});
    s.fails({s->real({2, 3}), 2},
            "logcumsumexp: Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  }
};
ARGAND_OP(Logcumsumexp)

struct LinearScan : Kernel<LinearScanArgs> {
  static constexpr auto schema = "_linear_scan(Tensor self, Tensor factor, int dim, bool reverse=False) -> Tensor";
  static constexpr auto doc =
      "out[k] = self[k] + factor[k] * out[k - 1] along dim, from the last element on (out[k + 1]) with reverse.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes | kComplexTypes;
  static TensorMeta infer(const Args& a) {
    wrap_dim(a.dim, a.self.dim(), "_linear_scan");
    ARGAND_CHECK(ShapeError, a.factor.sizes() == a.self.sizes(),
                 "_linear_scan: expected self and factor of one shape, got ", a.self.sizes(), " and ",
                 a.factor.sizes());
    ARGAND_CHECK(DtypeError, a.factor.dtype() == a.self.dtype(),
                 "_linear_scan: expected self and factor of one dtype, got ", a.self.dtype(), " and ",
                 a.factor.dtype());
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    through_compute_type(out, [&](const Tensor& to) {
      const Tensor in = exec::dense(a.self, to.dtype()), factor = exec::dense(a.factor, to.dtype());
      blocks::scan_linear.on(to.device())(in.impl().data(), factor.impl().data(), to.impl().data(), to.dtype(),
                                          a.reverse, scan_shape(in, a.dim));
    });
  }
  static Grads grad(const Ctx& c, const Tensor& g) {
    // The gradient of element k comes through all later results: the same recurrence in reverse.
    const Tensor arrived = _linear_scan(g, shifted(c.factor, c.dim, c.reverse, 0).conj(), c.dim, !c.reverse);
    Grads out{arrived, Tensor()};
    if (c.needs(1)) out[1] = arrived * shifted(c.result(), c.dim, !c.reverse, 0).conj();
    return out;
  }
  static void samples(S& s) {
    s.add({s->real({5}), s->real({5}), 0});
    s.add({s->real({2, 3, 4}), s->real({2, 3, 4}), 1, true});
    s.add({s->real({}), s->real({}), 0});
    s.fails({s->real({3}), s->real({4}), 0}, "_linear_scan: expected self and factor of one shape, got [3] and [4]");
    s.fails({s->real({3}), s->integer({3}, 0, 2), 0},
            "_linear_scan: expected self and factor of one dtype, got float64 and int64");
  }
};
ARGAND_OP(LinearScan)

}  // namespace argand::ops
