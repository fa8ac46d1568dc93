// The three transforms on which all of torch.fft is built.
#include "argand/ops/fft/transform.h"

#include <cmath>

#include "argand/kernels/api/fourier.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/fft/args.h"

namespace argand::ops {
namespace {

// The dimensions, each once; `sizes`, those of the result that is real or whole, must have points there.
Dims checked_dims(const char* op, const Dims& dim, IntArrayRef sizes) {
  Dims dims = wrap_dims(dim, static_cast<int64_t>(sizes.size()), op, false);
  for (const int64_t d : dims) check_points(op, sizes.empty() ? 0 : sizes[d]);
  return dims;
}
// The same, at least one.
Dims some_dims(const char* op, const Dims& dim, IntArrayRef sizes) {
  const Dims dims = checked_dims(op, dim, sizes);
  check_any(op, dims);
  return dims;
}

double scale_of(int64_t normalization, IntArrayRef sizes, const Dims& dims) {
  double points = 1;
  for (const int64_t d : dims) points *= static_cast<double>(sizes[d]);
  return normalization == kByN ? 1 / points : normalization == kByRootN ? 1 / std::sqrt(points) : 1;
}

// `sizes`: those of the side that is real.
void run_transform(FourierKind kind, const Tensor& given, IntArrayRef sizes, const Dims& dims, bool forward,
                   int64_t normalization, Tensor& out) {
  const Tensor self = exec::dense(given);
  blocks::fourier.on(out.device())({kind, to_real_type(self.dtype()), sizes, dims, forward,
                                    scale_of(normalization, sizes, dims), self.impl().data(), out.impl().data()});
}

// Times `factor`, but for the results along `dim` that are their own mirror images: of n points the first and, of an
// even number, the last.
Tensor pairs_times(const Tensor& t, int64_t dim, int64_t n, double factor) {
  const int64_t half = n / 2 + 1;
  Tensor factors = full({half}, factor, t.options().dtype(to_real_type(t.dtype())));
  factors.narrow(0, 0, 1).fill_(1);
  if (n % 2 == 0) factors.narrow(0, half - 1, 1).fill_(1);
  Dims sizes(static_cast<size_t>(t.dim()), 1);
  sizes[wrap_dim(dim, t.dim(), "fft")] = half;
  return t * factors.view(sizes);
}

}  // namespace

struct FftC2c : Kernel<FftC2cArgs> {
  static constexpr auto schema = "_fft_c2c(Tensor self, int[] dim, int normalization, bool forward) -> Tensor";
  static constexpr auto doc =
      "The discrete Fourier transform of complex numbers along dims, with exp(-2 pi i j k / n) or, not forward, its "
      "conjugate; divided by nothing (0), by the root of the number of points (1) or by it (2).";
  static constexpr DtypeSet dtypes = kComplexTypes;
  static constexpr int variants = kFunction | kOut;
  static TensorMeta infer(const Args& a) {
    checked_dims("_fft_c2c", a.dim, a.self.sizes());
    return {a.self.impl().sizes, a.self.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    run_transform(FourierKind::kComplex, a.self, out.sizes(), checked_dims("_fft_c2c", a.dim, a.self.sizes()),
                  a.forward, a.normalization, out);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) { return _fft_c2c(g, c.dim, c.normalization, !c.forward); }
  static void samples(S& s) {
    const auto z = [&](IntArrayRef sizes) { return complex(s->real(sizes), s->real(sizes)); };
    s.add({z({6}), {0}, 0, true});
    s.add({z({2, 5, 3}), {1}, 2, false});
    s.add({z({4, 7, 2}), {0, -2}, 1, true});
    s.add({z({3, 2}), {}, 0, true});
    s.add({z({0, 2}), {1}, 0, true});
    s.fails({z({3, 0}), {1}, 0, true}, "_fft_c2c: Invalid number of data points (0) specified");
    s.fails({s->real({3}), {0}, 0, true}, "_fft_c2c: not implemented for dtype float64");
  }
};
ARGAND_OP(FftC2c)

struct FftR2c : Kernel<FftR2cArgs> {
  static constexpr auto schema = "_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor";
  static constexpr auto doc =
      "The forward transform of real numbers: onesided, of the last dim only the first n / 2 + 1 results, of which the "
      "others are mirror images.";
  static constexpr DtypeSet dtypes = kFloatTypes;
  static constexpr int variants = kFunction | kOut;
  static Dims dims_of(const Args& a) { return some_dims("_fft_r2c", a.dim, a.self.sizes()); }
  static TensorMeta infer(const Args& a) {
    const int64_t last = dims_of(a).back();
    Dims sizes = a.self.impl().sizes;
    if (a.onesided) sizes[last] = sizes[last] / 2 + 1;
    return {sizes, to_complex_type(a.self.dtype())};
  }
  static void run(const Args& a, Tensor& out) {
    run_transform(a.onesided ? FourierKind::kRealToHalf : FourierKind::kRealToAll, a.self, a.self.sizes(), dims_of(a),
                  true, a.normalization, out);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    if (!c.onesided) return real(_fft_c2c(g, c.dim, c.normalization, false));
    const int64_t n = c.sizes(kSelf)[wrap_dim(c.dim.back(), c.ndim(kSelf), "_fft_r2c")];
    return _fft_c2r(pairs_times(g, c.dim.back(), n, 0.5), c.dim, c.normalization, n);
  }
  static void samples(S& s) {
    s.add({s->real({6}), {0}, 0, true});
    s.add({s->real({2, 5, 3}), {1}, 2, true});
    s.add({s->real({4, 3, 6}), {0, 2}, 1, true});
    s.add({s->real({4, 3, 5}), {1, -1}, 0, false});
    s.add({s->real({0, 2}), {1}, 0, true});
    s.fails({s->real({3, 0}), {1}, 0, true}, "_fft_r2c: Invalid number of data points (0) specified");
    s.fails({s->real({3}), {}, 0, true}, "_fft_r2c: must transform at least one axis");
    s.fails({complex(s->real({3}), s->real({3})), {0}, 0, true}, "_fft_r2c: not implemented for dtype complex128");
  }
};
ARGAND_OP(FftR2c)

struct FftC2r : Kernel<FftC2rArgs> {
  static constexpr auto schema = "_fft_c2r(Tensor self, int[] dim, int normalization, int last_dim_size) -> Tensor";
  static constexpr auto doc =
      "The inverse transform of numbers of which the last dim holds half, the others being their mirror images: real, "
      "last_dim_size of them.";
  static constexpr DtypeSet dtypes = kComplexTypes;
  static constexpr int variants = kFunction | kOut;
  static Dims dims_of(const Args& a) { return some_dims("_fft_c2r", a.dim, a.self.sizes()); }
  static TensorMeta infer(const Args& a) {
    const int64_t last = dims_of(a).back();
    check_points("_fft_c2r", a.last_dim_size);
    Dims sizes = a.self.impl().sizes;
    ARGAND_CHECK(ShapeError, sizes[last] == a.last_dim_size / 2 + 1, "_fft_c2r: expected self of size ",
                 a.last_dim_size / 2 + 1, " at dimension ", last, " for last_dim_size ", a.last_dim_size, ", got ",
                 a.self.sizes());
    sizes[last] = a.last_dim_size;
    return {sizes, to_real_type(a.self.dtype())};
  }
  static void run(const Args& a, Tensor& out) {
    run_transform(FourierKind::kHalfToReal, a.self, out.sizes(), dims_of(a), false, a.normalization, out);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return pairs_times(_fft_r2c(g, c.dim, c.normalization, true), c.dim.back(), c.last_dim_size, 2);
  }
  static void samples(S& s) {
    const auto z = [&](IntArrayRef sizes) { return complex(s->real(sizes), s->real(sizes)); };
    s.add({z({4}), {0}, 0, 6});
    s.add({z({4}), {0}, 0, 7});
    s.add({z({2, 3, 3}), {1}, 2, 5});
    s.add({z({4, 3, 3}), {0, -1}, 1, 4});
    s.add({z({1, 2}), {0}, 0, 1});
    s.fails({z({4}), {0}, 0, 8}, "_fft_c2r: expected self of size 5 at dimension 0 for last_dim_size 8, got [4]");
    s.fails({z({4}), {0}, 0, 0}, "_fft_c2r: Invalid number of data points (0) specified");
  }
};
ARGAND_OP(FftC2r)

}  // namespace argand::ops
