// Transforms along one dimension.
#include "argand/ops/define.h"
#include "argand/ops/fft/args.h"
#include "argand/ops/fft/transform.h"

namespace argand::ops {

int64_t normalization_of(const char* op, const std::optional<std::string>& norm, bool forward) {
  const std::string mode = norm.value_or("backward");
  if (mode == "ortho") return kByRootN;
  ARGAND_CHECK(ValueError, mode == "backward" || mode == "forward", op, ": Invalid normalization mode: \"", mode,
               "\"; expected backward, ortho or forward");
  return forward == (mode == "forward") ? kByN : kUnscaled;
}

Tensor spectral(const Tensor& self, bool needs_complex) {
  ScalarType type = self.dtype();
  if (is_integral(type, true)) type = get_default_dtype();
  return self.to(needs_complex ? to_complex_type(type) : type);
}

Tensor resized(const Tensor& self, const Dims& dims, const Dims& sizes) {
  Tensor t = self;
  Dims pad(static_cast<size_t>(2 * self.dim()), 0);
  bool longer = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t size = self.sizes()[dims[i]];
    if (size > sizes[i]) t = t.narrow(dims[i], 0, sizes[i]);
    if (size >= sizes[i]) continue;
    longer = true;
    pad[pad.size() - static_cast<size_t>(2 * dims[i]) - 1] = sizes[i] - size;
  }
  return longer ? constant_pad_nd(t, pad) : t;
}

void check_points(const char* op, int64_t n) {
  ARGAND_CHECK(ValueError, n >= 1, op, ": Invalid number of data points (", n, ") specified");
}

void check_any(const char* op, const Dims& dims) {
  ARGAND_CHECK(ValueError, !dims.empty(), op, ": must transform at least one axis");
}

Dims without_last(const Dims& dims) { return Dims(dims.begin(), dims.end() - 1); }

namespace {

int64_t dim_of(const LineTransform& f, const Tensor& self) {
  ARGAND_CHECK(IndexError, self.dim() > 0, f.op, ": Dimension specified as ", f.dim, " but tensor has no dimensions");
  return wrap_dim(f.dim, self.dim(), f.op);
}

// The tensor with n points along `dim`.
Tensor with_points(const LineTransform& f, const Tensor& self, int64_t dim) {
  check_points(f.op, f.n.value_or(self.sizes()[dim]));
  return f.n ? resized(self, {dim}, {*f.n}) : self;
}

template <class S>
void line_samples(S& s, const std::string& op) {
  s->accuracy(in_single_precision());
  s.add({s->real({6})});
  s.add({s->real({2, 5, 3}), 4, 1, "ortho"});
  s.add({s->real({3, 4}), 7, 0, "forward"});
  s.add({s->real({2, 53})});  // a large prime
  s.add({s->integer({5}, -3, 4)});
  s.fails({s->real({4}), 0}, op + ": Invalid number of data points (0) specified");
  s.fails({s->real({4}), {}, 1}, op + ": Dimension out of range (expected to be in range of [-1, 0], but got 1)");
  s.fails({s->real({}), {}, -1}, op + ": Dimension specified as -1 but tensor has no dimensions");
  s.fails({s->real({4}), {}, -1, "mean"}, op + ": Invalid normalization mode: \"mean\"");
}

}  // namespace

Tensor LineTransform::from_complex(const Tensor& self) const {
  const int64_t d = dim_of(*this, self);
  return _fft_c2c(with_points(*this, self, d), d, normalization_of(op, norm, forward), forward);
}

Tensor LineTransform::from_real(const Tensor& self, bool onesided) const {
  const int64_t d = dim_of(*this, self);
  const Tensor result =
      _fft_r2c(with_points(*this, spectral(self, false), d), d, normalization_of(op, norm, forward), onesided);
  return forward ? result : result.conj();
}

Tensor LineTransform::to_real(const Tensor& self) const {
  const int64_t d = dim_of(*this, self), points = n.value_or(2 * (self.sizes()[d] - 1));
  check_points(op, points);
  const Tensor half = resized(spectral(self, true), {d}, {points / 2 + 1});
  return _fft_c2r(forward ? half.conj() : half, d, normalization_of(op, norm, forward), points);
}

struct FftFft : Composite<FftFftArgs> {
  static constexpr auto schema = "fft_fft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor";
  static constexpr auto doc =
      "The discrete Fourier transform along dim, cut or filled with zeros to n points: the sums of self[j] exp(-2 pi i "
      "j "
      "k / n). norm: what is divided by n, the inverse (backward), this (forward), or both by its root (ortho).";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kSpectralTypes;
  static constexpr auto transform = "";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const LineTransform f{"fft", a.n, a.dim, a.norm, true};
    return a.self.is_complex() ? f.from_complex(a.self) : f.from_real(a.self, false);
  }
  static void samples(S& s) { line_samples(s, "fft"); }
};
ARGAND_OP(FftFft)

struct FftIfft : Composite<FftIfftArgs> {
  static constexpr auto schema = "fft_ifft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor";
  static constexpr auto doc = "The inverse of fft.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kSpectralTypes;
  static constexpr auto transform = "";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    const LineTransform f{"ifft", a.n, a.dim, a.norm, false};
    return a.self.is_complex() ? f.from_complex(a.self) : f.from_real(a.self, false);
  }
  static void samples(S& s) { line_samples(s, "ifft"); }
};
ARGAND_OP(FftIfft)

struct FftRfft : Composite<FftRfftArgs> {
  static constexpr auto schema = "fft_rfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor";
  static constexpr auto doc =
      "fft of real numbers, without the second half, which mirrors the first: n / 2 + 1 results.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kRealSpectralTypes;
  static constexpr auto transform = "rfft expects a real input tensor, but got";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    return LineTransform{"rfft", a.n, a.dim, a.norm, true}.from_real(a.self, true);
  }
  static void samples(S& s) {
    line_samples(s, "rfft");
    s.fails({complex(s->real({3}), s->real({3}))}, "rfft: not implemented for dtype complex128");
  }
};
ARGAND_OP(FftRfft)

struct FftIrfft : Composite<FftIrfftArgs> {
  static constexpr auto schema = "fft_irfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor";
  static constexpr auto doc =
      "The inverse of rfft: n real numbers, 2 (size - 1) if not given, of which an odd number cannot be guessed.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kSpectralTypes;
  static constexpr auto transform = "";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) { return LineTransform{"irfft", a.n, a.dim, a.norm, false}.to_real(a.self); }
  static void samples(S& s) { line_samples(s, "irfft"); }
};
ARGAND_OP(FftIrfft)

struct FftHfft : Composite<FftHfftArgs> {
  static constexpr auto schema = "fft_hfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor";
  static constexpr auto doc =
      "fft of the n numbers of Hermitian symmetry (2 (size - 1) if not given) whose first half is given: real.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kSpectralTypes;
  static constexpr auto transform = "";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) { return LineTransform{"hfft", a.n, a.dim, a.norm, true}.to_real(a.self); }
  static void samples(S& s) { line_samples(s, "hfft"); }
};
ARGAND_OP(FftHfft)

struct FftIhfft : Composite<FftIhfftArgs> {
  static constexpr auto schema = "fft_ihfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor";
  static constexpr auto doc = "The inverse of hfft: the first n / 2 + 1 results of ifft of real numbers.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kRealSpectralTypes;
  static constexpr auto transform = "ihfft expects a real input tensor, but got";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) {
    return LineTransform{"ihfft", a.n, a.dim, a.norm, false}.from_real(a.self, true);
  }
  static void samples(S& s) {
    line_samples(s, "ihfft");
    s.fails({complex(s->real({3}), s->real({3}))}, "ihfft: not implemented for dtype complex128");
  }
};
ARGAND_OP(FftIhfft)

}  // namespace argand::ops
