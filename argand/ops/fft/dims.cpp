// Transforms along several dimensions.
#include "argand/ops/define.h"
#include "argand/ops/fft/args.h"
#include "argand/ops/fft/transform.h"

namespace argand::ops {
namespace {

// Along which dimensions, and to how many points each.
struct DimsAndSizes {
  Dims dims, sizes;
};

// Without dims those that sizes are given for, the last ones, or all; -1 stands for the size that is there.
DimsAndSizes dims_and_sizes(const char* op, const Tensor& self, const std::optional<Dims>& s,
                            const std::optional<Dims>& dim) {
  DimsAndSizes r;
  const int64_t ndim = self.dim();
  if (dim) {
    for (const int64_t d : *dim)
      ARGAND_CHECK(IndexError, ndim > 0, op, ": Dimension specified as ", d, " but tensor has no dimensions");
    for (const int64_t d : *dim) r.dims.push_back(wrap_dim(d, ndim, op));
    for (size_t i = 0; i < r.dims.size(); ++i)
      for (size_t j = 0; j < i; ++j) ARGAND_CHECK(ValueError, r.dims[i] != r.dims[j], op, ": FFT dims must be unique");
    ARGAND_CHECK(ValueError, !s || s->size() == dim->size(), op,
                 ": When given, dim and shape arguments must have the same length");
  } else {
    const auto count = s ? static_cast<int64_t>(s->size()) : ndim;
    ARGAND_CHECK(ValueError, count <= ndim, op, ": Got shape with ", count, " values but input tensor only has ", ndim,
                 " dimensions.");
    for (int64_t d = ndim - count; d < ndim; ++d) r.dims.push_back(d);
  }
  for (size_t i = 0; i < r.dims.size(); ++i) {
    const int64_t there = self.sizes()[r.dims[i]], n = s && (*s)[i] != -1 ? (*s)[i] : there;
    check_points(op, n);
    r.sizes.push_back(n);
  }
  return r;
}

struct DimsTransform {
  const char* op;
  const std::optional<Dims>&s, &dim;
  const std::optional<std::string>& norm;
  bool forward;

  Tensor whole(const Tensor& self) const {
    const DimsAndSizes r = dims_and_sizes(op, self, s, dim);
    return _fft_c2c(resized(spectral(self, true), r.dims, r.sizes), r.dims, normalization_of(op, norm, forward),
                    forward);
  }
  Tensor from_real(const Tensor& self) const {
    const DimsAndSizes r = dims_and_sizes(op, self, s, dim);
    check_any(op, r.dims);
    const Tensor x = resized(spectral(self, false), r.dims, r.sizes);
    const int64_t normalization = normalization_of(op, norm, forward);
    if (forward) return _fft_r2c(x, r.dims, normalization, true);
    const Tensor half = _fft_r2c(x, r.dims.back(), normalization, true).conj();
    return r.dims.size() == 1 ? half : _fft_c2c(half, without_last(r.dims), normalization, false);
  }
  Tensor to_real(const Tensor& self) const {
    DimsAndSizes r = dims_and_sizes(op, self, s, dim);
    check_any(op, r.dims);
    const bool given = s && s->back() != -1;
    const int64_t last = given ? r.sizes.back() : 2 * (r.sizes.back() - 1);
    check_points(op, last);
    r.sizes.back() = last / 2 + 1;
    const Tensor x = resized(spectral(self, true), r.dims, r.sizes);
    const int64_t normalization = normalization_of(op, norm, forward);
    if (!forward) return _fft_c2r(x, r.dims, normalization, last);
    const Tensor half = r.dims.size() == 1 ? x : _fft_c2c(x, without_last(r.dims), normalization, true);
    return _fft_c2r(half.conj(), r.dims.back(), normalization, last);
  }
};

template <class S>
void dims_samples(S& s, const std::string& op) {
  s->accuracy(in_single_precision());
  s.add({s->real({4, 3})});
  s.add({s->real({2, 5, 3}), Dims{4, 4}, Dims{2, 0}, "ortho"});
  s.add({s->real({3, 4}), {}, Dims{-1}, "forward"});
  s.add({s->integer({3, 4}, -3, 4)});
  s.fails({s->real({4, 3}), Dims{0, 2}, Dims{0, 1}}, op + ": Invalid number of data points (0) specified");
  s.fails({s->real({4, 3}), {}, Dims{0, 2}},
          op + ": Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  s.fails({s->real({4, 3}), {}, Dims{0, -2}}, op + ": FFT dims must be unique");
  s.fails({s->real({4, 3}), Dims{2}, Dims{0, 1}},
          op + ": When given, dim and shape arguments must have the same length");
  s.fails({s->real({}), {}, Dims{-1}}, op + ": Dimension specified as -1 but tensor has no dimensions");
  s.fails({s->real({4, 3}), {}, Dims{0, 1}, "mean"}, op + ": Invalid normalization mode: \"mean\"");
}

}  // namespace

struct FftFftn : Composite<FftFftnArgs> {
  static constexpr auto schema = "fft_fftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor";
  static constexpr auto doc =
      "The discrete Fourier transform along dims (all, or the last ones that s is given for), cut or filled with zeros "
      "to s points: fft along one after another.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kSpectralTypes;
  static constexpr auto transform = "";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) { return DimsTransform{"fftn", a.s, a.dim, a.norm, true}.whole(a.self); }
  static void samples(S& s) {
    dims_samples(s, "fftn");
    s.add({s->real({2, 3, 4}), Dims{-1, 3}});
    s.fails({s->real({4}), Dims{2, 2}}, "fftn: Got shape with 2 values but input tensor only has 1 dimensions.");
    s.add({s->real({})});
  }
};
ARGAND_OP(FftFftn)

struct FftIfftn : Composite<FftIfftnArgs> {
  static constexpr auto schema = "fft_ifftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor";
  static constexpr auto doc = "The inverse of fftn.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kSpectralTypes;
  static constexpr auto transform = "";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) { return DimsTransform{"ifftn", a.s, a.dim, a.norm, false}.whole(a.self); }
  static void samples(S& s) {
    dims_samples(s, "ifftn");
    s.add({s->real({2, 3, 4}), Dims{-1, 3}});
    s.fails({s->real({4}), Dims{2, 2}}, "ifftn: Got shape with 2 values but input tensor only has 1 dimensions.");
    s.add({s->real({})});
  }
};
ARGAND_OP(FftIfftn)

struct FftRfftn : Composite<FftRfftnArgs> {
  static constexpr auto schema = "fft_rfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor";
  static constexpr auto doc =
      "fftn of real numbers, without the second half of the last dimension, which mirrors the first.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kRealSpectralTypes;
  static constexpr auto transform = "rfftn expects a real-valued input tensor, but got";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) { return DimsTransform{"rfftn", a.s, a.dim, a.norm, true}.from_real(a.self); }
  static void samples(S& s) {
    dims_samples(s, "rfftn");
    s.add({s->real({2, 3, 4}), Dims{-1, 3}});
    s.fails({s->real({4}), Dims{2, 2}}, "rfftn: Got shape with 2 values but input tensor only has 1 dimensions.");
    s.fails({s->real({4}), {}, Dims{}}, "rfftn: must transform at least one axis");
    s.fails({complex(s->real({3}), s->real({3}))}, "rfftn: not implemented for dtype complex128");
  }
};
ARGAND_OP(FftRfftn)

struct FftIrfftn : Composite<FftIrfftnArgs> {
  static constexpr auto schema = "fft_irfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor";
  static constexpr auto doc =
      "The inverse of rfftn: real, with s[-1] numbers in the last dimension, 2 (size - 1) if not given.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kSpectralTypes;
  static constexpr auto transform = "";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) { return DimsTransform{"irfftn", a.s, a.dim, a.norm, false}.to_real(a.self); }
  static void samples(S& s) {
    dims_samples(s, "irfftn");
    s.add({s->real({2, 3, 4}), Dims{-1, 3}});
    s.fails({s->real({4}), Dims{2, 2}}, "irfftn: Got shape with 2 values but input tensor only has 1 dimensions.");
    s.fails({s->real({4}), {}, Dims{}}, "irfftn: must transform at least one axis");
  }
};
ARGAND_OP(FftIrfftn)

struct FftHfftn : Composite<FftHfftnArgs> {
  static constexpr auto schema = "fft_hfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor";
  static constexpr auto doc =
      "fftn of numbers of Hermitian symmetry of which the last dimension holds the first half: real.";
  static constexpr DtypeSet dtypes = kSpectralTypes;
  static constexpr auto transform = "";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) { return DimsTransform{"hfftn", a.s, a.dim, a.norm, true}.to_real(a.self); }
  static void samples(S& s) {
    dims_samples(s, "hfftn");
    s.add({s->real({2, 3, 4}), Dims{-1, 3}});
    s.fails({s->real({4}), Dims{2, 2}}, "hfftn: Got shape with 2 values but input tensor only has 1 dimensions.");
    s.fails({s->real({4}), {}, Dims{}}, "hfftn: must transform at least one axis");
  }
};
ARGAND_OP(FftHfftn)

struct FftIhfftn : Composite<FftIhfftnArgs> {
  static constexpr auto schema = "fft_ihfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor";
  static constexpr auto doc =
      "The inverse of hfftn: ifftn of real numbers, without the second half of the last dimension.";
  static constexpr DtypeSet dtypes = kRealSpectralTypes;
  static constexpr auto transform = "Only supports floating-point dtypes, but found:";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) { return DimsTransform{"ihfftn", a.s, a.dim, a.norm, false}.from_real(a.self); }
  static void samples(S& s) {
    dims_samples(s, "ihfftn");
    s.add({s->real({2, 3, 4}), Dims{-1, 3}});
    s.fails({s->real({4}), Dims{2, 2}}, "ihfftn: Got shape with 2 values but input tensor only has 1 dimensions.");
    s.fails({s->real({4}), {}, Dims{}}, "ihfftn: must transform at least one axis");
    s.fails({complex(s->real({3}), s->real({3}))}, "ihfftn: not implemented for dtype complex128");
  }
};
ARGAND_OP(FftIhfftn)

struct FftFft2 : Composite<FftFft2Args> {
  static constexpr auto schema = "fft_fft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor";
  static constexpr auto doc = "fft along two dimensions: fftn.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kSpectralTypes;
  static constexpr auto transform = "";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) { return DimsTransform{"fft2", a.s, a.dim, a.norm, true}.whole(a.self); }
  static void samples(S& s) { dims_samples(s, "fft2"); }
};
ARGAND_OP(FftFft2)

struct FftIfft2 : Composite<FftIfft2Args> {
  static constexpr auto schema = "fft_ifft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor";
  static constexpr auto doc = "The inverse of fft2.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kSpectralTypes;
  static constexpr auto transform = "";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) { return DimsTransform{"ifft2", a.s, a.dim, a.norm, false}.whole(a.self); }
  static void samples(S& s) { dims_samples(s, "ifft2"); }
};
ARGAND_OP(FftIfft2)

struct FftRfft2 : Composite<FftRfft2Args> {
  static constexpr auto schema = "fft_rfft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor";
  static constexpr auto doc = "rfftn along two dimensions.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kRealSpectralTypes;
  static constexpr auto transform = "rfftn expects a real-valued input tensor, but got";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) { return DimsTransform{"rfft2", a.s, a.dim, a.norm, true}.from_real(a.self); }
  static void samples(S& s) { dims_samples(s, "rfft2"); }
};
ARGAND_OP(FftRfft2)

struct FftIrfft2 : Composite<FftIrfft2Args> {
  static constexpr auto schema =
      "fft_irfft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor";
  static constexpr auto doc = "The inverse of rfft2.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr DtypeSet dtypes = kSpectralTypes;
  static constexpr auto transform = "";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) { return DimsTransform{"irfft2", a.s, a.dim, a.norm, false}.to_real(a.self); }
  static void samples(S& s) { dims_samples(s, "irfft2"); }
};
ARGAND_OP(FftIrfft2)

struct FftHfft2 : Composite<FftHfft2Args> {
  static constexpr auto schema = "fft_hfft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor";
  static constexpr auto doc = "hfftn along two dimensions.";
  static constexpr DtypeSet dtypes = kSpectralTypes;
  static constexpr auto transform = "";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) { return DimsTransform{"hfft2", a.s, a.dim, a.norm, true}.to_real(a.self); }
  static void samples(S& s) { dims_samples(s, "hfft2"); }
};
ARGAND_OP(FftHfft2)

struct FftIhfft2 : Composite<FftIhfft2Args> {
  static constexpr auto schema =
      "fft_ihfft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor";
  static constexpr auto doc = "The inverse of hfft2.";
  static constexpr DtypeSet dtypes = kRealSpectralTypes;
  static constexpr auto transform = "Only supports floating-point dtypes, but found:";
  static constexpr int variants = kFunction | kOut;
  static Tensor compose(const Args& a) { return DimsTransform{"ihfft2", a.s, a.dim, a.norm, false}.from_real(a.self); }
  static void samples(S& s) { dims_samples(s, "ihfft2"); }
};
ARGAND_OP(FftIhfft2)

}  // namespace argand::ops
