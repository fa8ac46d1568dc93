// Spatial transformers: affine_grid_generator, and grid_sampler, which samples an image at given positions.
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/resample/args.h"

namespace argand::ops {
namespace {

constexpr int64_t kBilinear = 0, kNearestMode = 1, kBicubic = 2;    // interpolation_mode
constexpr int64_t kZerosOutside = 0, kBorder = 1, kReflection = 2;  // padding_mode

struct Sampling {
  const char* op;
  int64_t interpolation, padding;
  bool align_corners;
};

// Converts from [-1, 1] to element positions of a dimension.
Tensor in_elements(const Tensor& x, int64_t size, bool align_corners) {
  const auto n = static_cast<double>(size);
  return align_corners ? (x + 1) / 2 * (n - 1) : ((x + 1) * n - 1) / 2;
}

// Zeros that depend on `x`, so that its gradient is defined and zero.
Tensor zeros_of(const Tensor& x) { return x.masked_fill(ones(x.sizes(), x.options().dtype(kBool)), 0); }

// Reflects at twice_low / 2 and twice_high / 2, as often as necessary.
Tensor mirrored(const Tensor& x, int64_t twice_low, int64_t twice_high) {
  if (twice_low == twice_high) return zeros_of(x);
  const double low = static_cast<double>(twice_low) / 2, span = static_cast<double>(twice_high - twice_low) / 2;
  const Tensor from_low = (x - low).abs(), rest = from_low.fmod(span);
  const Tensor flips = from_low.detach().div(span).floor();
  return where(flips.remainder(2).eq(0), rest + low, -rest + (span + low));
}

// Moves positions outside to the inside, as the padding mode says.
Tensor brought_inside(const Sampling& s, const Tensor& x, int64_t size) {
  if (s.padding == kZerosOutside) return x;
  const Tensor in = s.padding == kBorder ? x
                    : s.align_corners    ? mirrored(x, 0, 2 * (size - 1))
                                         : mirrored(x, -1, 2 * size - 1);
  return in.clamp(0, size - 1);
}

// Elements of the image [N, C, ...] at whole positions, one tensor [N, places] for each dimension: [N, C, places],
// zeros outside.
Tensor elements_at(const Tensor& image, const std::vector<Tensor>& at) {
  Tensor flat, inside;
  for (size_t d = 0; d < at.size(); ++d) {
    const int64_t size = image.size(static_cast<int64_t>(d) + 2);
    const Tensor ok = at[d].ge(0).logical_and(at[d].le(size - 1));
    const Tensor index = where(ok, at[d], 0).to(kLong);
    flat = flat.defined() ? flat * size + index : index;
    inside = inside.defined() ? inside.logical_and(ok) : ok;
  }
  const int64_t channels = image.size(1);
  const Tensor values = image.flatten(2).gather(2, flat.unsqueeze(1).expand({-1, channels, -1}));
  return values.masked_fill(inside.logical_not().unsqueeze(1), 0);
}

Tensor sample_linear(const Tensor& image, const std::vector<Tensor>& at) {
  std::vector<Tensor> first, part;
  for (const Tensor& x : at) {
    first.push_back(x.detach().floor());
    part.push_back(x - first.back());
  }
  Tensor sum;
  for (size_t corner = 0; corner < size_t{1} << at.size(); ++corner) {
    std::vector<Tensor> place;
    Tensor weight;
    for (size_t d = 0; d < at.size(); ++d) {
      const bool upper = corner >> (at.size() - 1 - d) & 1;
      place.push_back(upper ? first[d] + 1 : first[d]);
      const Tensor w = upper ? part[d] : 1 - part[d];
      weight = weight.defined() ? weight * w : w;
    }
    const Tensor term = elements_at(image, place) * weight.unsqueeze(1);
    sum = sum.defined() ? sum + term : term;
  }
  return sum;
}

// Weights of cubic convolution (Keys 1981, a = -0.75) for the four elements around a position, `t` after the second.
std::array<Tensor, 4> cubic_weights(const Tensor& t) {
  constexpr double a = -0.75;
  const auto near = [](const Tensor& x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto far = [](const Tensor& x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

// Cubic convolution along one dimension: the second of the four elements, and their weights.
struct CubicTaps {
  Tensor second;
  std::array<Tensor, 4> weights;
};

// Along the dimensions from `place.size()` on; `place` has the positions of those before.
Tensor convolved(const Sampling& s, const Tensor& image, const std::vector<CubicTaps>& taps,
                 std::vector<Tensor>& place) {
  const size_t d = place.size();
  if (d == taps.size()) return elements_at(image, place);
  Tensor sum;
  for (int i = 0; i < 4; ++i) {
    place.push_back(brought_inside(s, taps[d].second + (i - 1), image.size(static_cast<int64_t>(d) + 2)));
    const Tensor term = convolved(s, image, taps, place) * taps[d].weights[static_cast<size_t>(i)].unsqueeze(1);
    place.pop_back();
    sum = sum.defined() ? sum + term : term;
  }
  return sum;
}

Tensor sample_cubic(const Sampling& s, const Tensor& image, const std::vector<Tensor>& at) {
  std::vector<CubicTaps> taps;
  for (const Tensor& x : at) {
    const Tensor second = x.detach().floor();
    taps.push_back({second, cubic_weights(x - second)});
  }
  std::vector<Tensor> place;
  return convolved(s, image, taps, place);
}

// These rules are the same for images and for volumes.
void check_sizes(const char* op, const Tensor& input, const Tensor& grid) {
  ARGAND_CHECK(ShapeError, input.dim() > 0 && grid.dim() > 0 && input.size(0) == grid.size(0), op,
               ": expected grid and input to have same batch size, but got input with sizes ", input.sizes(),
               " and grid with sizes ", grid.sizes());
  ARGAND_CHECK(ShapeError, grid.size(-1) == input.dim() - 2, op, ": expected grid to have size ", input.dim() - 2,
               " in last dimension, but got grid with sizes ", grid.sizes());
}

Tensor sample(const Sampling& s, int64_t spatial, const Tensor& input, const Tensor& grid) {
  check_sizes(s.op, input, grid);
  ARGAND_CHECK(ShapeError, input.dim() == spatial + 2 && grid.dim() == spatial + 2, s.op,
               ": expected input and grid with ", spatial + 2, " dimensions, got ", input.sizes(), " and ",
               grid.sizes());
  ARGAND_CHECK(DtypeError, input.dtype() == grid.dtype() && is_floating_point(input.dtype()), s.op,
               ": expected input and grid to have same floating-point dtype, but input has ", input.dtype(),
               " and grid has ", grid.dtype());
  for (int64_t d = 2; d < input.dim(); ++d)
    ARGAND_CHECK(ShapeError, input.size(d) > 0, s.op,
                 ": expected input to have non-empty spatial dimensions, but input has sizes ", input.sizes());
  ARGAND_CHECK(ValueError, s.interpolation >= 0 && s.interpolation <= 2 && s.padding >= 0 && s.padding <= 2, s.op,
               ": expected interpolation_mode below 3 and padding_mode below 3, got ", s.interpolation, " and ",
               s.padding);
  std::vector<Tensor> at;
  for (int64_t d = 0; d < spatial; ++d) {
    const Tensor x = in_elements(grid.select(-1, spatial - 1 - d).flatten(1), input.size(d + 2), s.align_corners);
    at.push_back(s.interpolation == kBicubic ? x : brought_inside(s, x, input.size(d + 2)));
  }
  Tensor out;
  if (s.interpolation == kBilinear) {
    out = sample_linear(input, at);
  } else if (s.interpolation == kBicubic) {
    out = sample_cubic(s, input, at);
  } else {
    std::vector<Tensor> nearest;
    for (const Tensor& x : at) nearest.push_back(x.detach().round());
    out = elements_at(input, nearest);
    if (grid.requires_grad())
      for (const Tensor& x : at) out = out + zeros_of(x).unsqueeze(1);
  }
  Dims sizes{input.size(0), input.size(1)};
  for (int64_t d = 1; d <= spatial; ++d) sizes.push_back(grid.size(d));
  return out.reshape(sizes);
}

}  // namespace

struct GridSampler2d : Composite<GridSampler2dArgs> {
  static constexpr auto schema =
      "grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> "
      "Tensor";
  static constexpr auto doc =
      "input [N, C, H, W] at the positions grid [N, h, w, 2], which are (x, y) in [-1, 1]: [N, C, h, w]. "
      "interpolation_mode is 0 (bilinear), 1 (nearest) or 2 (bicubic), padding_mode 0 (zeros), 1 (border) or 2 "
      "(reflection).";
  static constexpr auto autocast = Autocast::kPromote, autocast_cpu = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return sample({"grid_sampler_2d", a.interpolation_mode, a.padding_mode, a.align_corners}, 2, a.input, a.grid);
  }
  static void samples(S& s) {
    s->accuracy({16, "the coordinates and weights of neighbours are rounded to float32"});
    // The samples avoid the kinks between elements.
    const Tensor grid = s->integer({2, 2, 3, 2}, -6, 7).to(kDouble) / 5 + 0.03;
    for (const int64_t padding : {kZerosOutside, kBorder, kReflection}) {
      s.add({s->real({2, 2, 3, 4}), grid, kBilinear, padding, padding == kBorder});
      s.add({s->real({2, 2, 3, 4}), grid, kNearestMode, padding, false});
      s.add({s->real({2, 2, 3, 4}), grid, kBicubic, padding, padding == kReflection});
    }
    s.fails({s->real({2, 2, 3, 4}), s->real({1, 2, 3, 2}), 0, 0, false},
            "expected grid and input to have same batch size, but got input with sizes [2, 2, 3, 4]");
    s.fails({s->real({2, 2, 3, 4}), s->real({2, 2, 3, 3}), 0, 0, false},
            "expected grid to have size 2 in last dimension, but got grid with sizes [2, 2, 3, 3]");
    s.fails({s->real({2, 2, 3, 4}), grid, 3, 0, false}, "expected interpolation_mode below 3");
  }
};
ARGAND_OP(GridSampler2d)
ARGAND_NODE(GridSampler2d)

struct GridSampler3d : Composite<GridSampler3dArgs> {
  static constexpr auto schema =
      "grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> "
      "Tensor";
  static constexpr auto doc = "The same for input [N, C, D, H, W] and grid [N, d, h, w, 3].";
  static constexpr auto autocast = Autocast::kPromote, autocast_cpu = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return sample({"grid_sampler_3d", a.interpolation_mode, a.padding_mode, a.align_corners}, 3, a.input, a.grid);
  }
  static void samples(S& s) {
    s->accuracy({16, "the coordinates and weights of neighbours are rounded to float32"});
    const Tensor grid = s->integer({1, 2, 2, 1, 3}, -6, 7).to(kDouble) / 5 + 0.03;
    s.add({s->real({1, 2, 3, 2, 4}), grid, kBilinear, kZerosOutside, false});
    s.add({s->real({1, 2, 3, 2, 4}), grid, kNearestMode, kBorder, true});
    s.add({s->real({1, 2, 3, 2, 4}), grid, kBicubic, kReflection, false});
  }
};
ARGAND_OP(GridSampler3d)
ARGAND_NODE(GridSampler3d)

struct GridSampler : Composite<GridSamplerArgs> {
  static constexpr auto schema =
      "grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor";
  static constexpr auto doc = "grid_sampler_2d or grid_sampler_3d, whichever fits the input.";
  static constexpr auto autocast = Autocast::kPromote, autocast_cpu = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    check_sizes("grid_sampler", a.input, a.grid);
    ARGAND_CHECK(ShapeError, a.input.dim() == 4 || a.input.dim() == 5, "grid_sampler: expected 4D or 5D input, got ",
                 a.input.sizes());
    return (a.input.dim() == 4 ? grid_sampler_2d : grid_sampler_3d)(a.input, a.grid, a.interpolation_mode,
                                                                    a.padding_mode, a.align_corners);
  }
  static void samples(S& s) {
    s.add({s->real({1, 1, 3, 4}), s->integer({1, 2, 2, 2}, -4, 5).to(kDouble) / 5 + 0.03, 0, 0, false});
    s.fails({s->real({1, 2, 3}), s->real({1, 2, 2, 1}), 0, 0, false},
            "grid_sampler: expected 4D or 5D input, got [1, 2, 3]");
    s.fails({s->real({1, 2, 3}), s->real({1, 2, 2, 2}), 0, 0, false},
            "grid_sampler: expected grid to have size 1 in last dimension, but got grid with sizes [1, 2, 2, 2]");
  }
};
ARGAND_OP(GridSampler)

namespace {

// n positions in [-1, 1]: including the ends, or the centres of n equal parts.
Tensor coordinates(int64_t n, bool align_corners, const TensorOptions& options) {
  if (n == 1) return zeros({1}, options);
  const Tensor ends = linspace(-1, 1, n, options);
  return align_corners ? ends : ends * (static_cast<double>(n - 1) / static_cast<double>(n));
}

// The positions of an output of `size`, as rows x, y, (z,) 1: [N, places, spatial + 1].
Tensor positions(IntArrayRef size, bool align_corners, const TensorOptions& options) {
  const IntArrayRef places = size.slice(2);
  std::vector<Tensor> columns;
  for (size_t d = places.size(); d-- > 0;) {
    Dims along(places.size(), 1);
    along[d] = places[d];
    columns.push_back(coordinates(places[d], align_corners, options).view(along).expand(places));
  }
  columns.push_back(ones(places, options));
  const Tensor rows = stack(columns, -1).flatten(0, -2);
  return rows.unsqueeze(0).expand({size[0], -1, -1});
}

}  // namespace

struct AffineGridGenerator : Kernel<AffineGridGeneratorArgs> {
  static constexpr auto schema = "affine_grid_generator(Tensor theta, int[] size, bool align_corners) -> Tensor";
  static constexpr auto autocast = Autocast::kLowerPrecision;
  static constexpr auto doc =
      "The positions that matrices theta [N, 2, 3] ([N, 3, 4]) send those of an output of size [N, C, H, W] "
      "([N, C, D, H, W]) to: a grid for grid_sampler.";
  static constexpr int variants = kFunction;
  static TensorMeta infer(const Args& a) {
    const auto spatial = static_cast<int64_t>(a.size.size()) - 2;
    ARGAND_CHECK(ValueError, spatial == 2 || spatial == 3,
                 "affine_grid_generator: AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs, got size ",
                 a.size);
    const Dims expected{a.size[0], spatial, spatial + 1};
    ARGAND_CHECK(DtypeError, is_floating_point(a.theta.dtype()),
                 "affine_grid_generator: Expected theta to have floating point type, but got ", a.theta.dtype());
    ARGAND_CHECK(ShapeError, a.theta.sizes() == IntArrayRef(expected),
                 "affine_grid_generator: Expected a batch of affine matrices of shape ", expected, " for size ", a.size,
                 ". Got ", a.theta.sizes(), ".");
    Dims out{a.size[0]};
    for (const int64_t n : IntArrayRef(a.size).slice(2)) {
      ARGAND_CHECK(ValueError, n > 0, "affine_grid_generator: Expected non-zero, positive output size. Got ", a.size);
      out.push_back(n);
    }
    out.push_back(spatial);
    return {out, a.theta.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const NoGradGuard no_grad;
    const ScalarType wide = wide_enough(out.dtype());
    const Tensor rows = positions(a.size, a.align_corners, TensorOptions(wide).device(out.device()));
    exec::copy_elements(out, rows.matmul(a.theta.to(wide).transpose(1, 2)).view(out.sizes()));
  }
  // The positions are computed again, so that backward may run twice although the first run freed its saved tensors.
  static Tensor grad_theta(const Ctx& c, const Tensor& g) {
    const ScalarType wide = wide_enough(g.dtype());
    const Tensor rows = positions(c.size, c.align_corners, TensorOptions(wide).device(g.device()));
    return g.to(wide).flatten(1, -2).transpose(1, 2).matmul(rows);
  }
  // Results of half precision are rounded once.
  static ScalarType wide_enough(ScalarType dtype) { return dtype == kDouble ? kDouble : kFloat; }
  static void samples(S& s) {
    s.add({s->real({2, 2, 3}), {2, 1, 3, 4}, false});
    s.add({s->real({1, 3, 4}), {1, 2, 2, 3, 1}, true});
    s.fails({s->real({2, 2, 3}), {1, 1, 3, 4}, false}, "Expected a batch of affine matrices of shape [1, 2, 3]");
    s.fails({s->real({2, 2, 3}), {2, 1, 3}, false}, "needs 4d (spatial) or 5d (volumetric) inputs, got size [2, 1, 3]");
  }
};
ARGAND_OP(AffineGridGenerator)

}  // namespace argand::ops
