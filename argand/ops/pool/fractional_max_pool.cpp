// Fractional max pooling ("Fractional Max-Pooling", Graham 2014): windows at pseudo-random places, chosen per plane.
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/pool/args.h"

namespace argand::ops {
namespace {

// The positions [planes, out, kernel] that the windows of one dimension cover: the first ones are spaced by
// (in - kernel) / (out - 1), shifted by the sample; the last lies at the end.
Tensor window_positions(const Tensor& sample, int64_t in, int64_t kernel, int64_t out) {
  const TensorOptions index(sample.device());
  const Tensor last = full({sample.size(0), 1}, in - kernel, index.dtype(kLong));
  Tensor starts = last;
  if (out > 1) {
    // In the samples' dtype, as in PyTorch: the positions depend on its rounding.
    const Tensor alpha = full({1}, in - kernel, sample.options()) / full({1}, out - 1, sample.options());
    const Tensor u = sample.unsqueeze(1), i = arange(out - 1, sample.options()).unsqueeze(0);
    starts = cat({((i + u) * alpha).to(kLong) - (u * alpha).to(kLong), last}, 1);
  }
  return starts.unsqueeze(2) + arange(kernel, index.dtype(kLong));
}

Dims with_last(const Tensor& t, const Dims& last) {
  Dims sizes(t.sizes().slice(0, t.sizes().size() - last.size()));
  for (const int64_t n : last) sizes.push_back(n);
  return sizes;
}

std::tuple<Tensor, Tensor> fractional_max_pool(const char* op, size_t spatial, const Tensor& self, const Dims& kernel,
                                               const Dims& out, const Tensor& samples) {
  ARGAND_CHECK(ValueError, kernel.size() == spatial, op, ": kernel_size must either be a single int, or tuple of ",
               spatial, " ints, got ", kernel);
  const auto dims = static_cast<int64_t>(spatial);
  ARGAND_CHECK(ShapeError, out.size() == spatial, op, ": expected output_size of ", spatial, " numbers, got ", out);
  ARGAND_CHECK(ShapeError, self.dim() == dims + 1 || self.dim() == dims + 2, op, ": Expected ", dims + 1, "D or ",
               dims + 2, "D tensor, but got: ", self.sizes());
  const size_t lead = self.sizes().size() - spatial;
  const IntArrayRef in = IntArrayRef(self.sizes()).slice(lead);
  const int64_t planes = numel_of(IntArrayRef(self.sizes()).slice(0, lead));
  ARGAND_CHECK(DtypeError, samples.dtype() == self.dtype(), op,
               ": Expect _random_samples to have the same dtype as input, got ", samples.dtype(), " and ",
               self.dtype());
  ARGAND_CHECK(ShapeError, samples.dim() == 3 && samples.size(0) * samples.size(1) >= planes && samples.size(2) == dims,
               op, ": Expect _random_samples of shape [N, C, ", dims, "], got ", samples.sizes());
  for (const int64_t size : IntArrayRef(self.sizes()).slice(lead - 1))
    ARGAND_CHECK(ShapeError, size > 0, op, ": Expected input to have non-zero size for non-batch dimensions, but got ",
                 self.sizes());
  if (planes == 0 || numel_of(out) == 0) {  // self still has a gradient, zeros
    const Dims sizes = with_last(self, out);
    return {self.reshape({-1}).narrow(0, 0, 0).view(sizes), empty(sizes, self.options().dtype(kLong))};
  }
  const Tensor u = samples.reshape({-1, dims}).narrow(0, 0, planes);
  Tensor flat = zeros({1}, TensorOptions(self.device()).dtype(kLong));  // [planes, outs..., kernels...]
  for (size_t d = 0; d < spatial; ++d) {
    static constexpr const char* kNames[] = {"time", "height", "width"};
    const char* const name = kNames[3 - spatial + d];
    ARGAND_CHECK(ShapeError, kernel[d] > 0 && out[d] > 0 && out[d] + kernel[d] - 1 <= in[d], op, ": pool ", name, " ",
                 kernel[d], " too large relative to input ", name, " ", in[d], " for output size ", out);
    // Samples of an image count from its last dimension, those of a volume from its first.
    const auto column = static_cast<int64_t>(spatial == 2 ? spatial - 1 - d : d);
    Dims place(2 * spatial + 1, 1);
    place[0] = planes;
    place[1 + d] = out[d];
    place[1 + spatial + d] = kernel[d];
    flat = flat * in[d] + window_positions(u.select(1, column), in[d], kernel[d], out[d]).reshape(place);
  }
  const int64_t windows = numel_of(out), each = numel_of(kernel);
  flat = flat.reshape({planes, windows * each});
  const Tensor values = self.reshape({planes, numel_of(in)}).gather(1, flat).view({planes, windows, each});
  const auto [best, at] = values.max(2);
  const Dims sizes = with_last(self, out);
  return {best.view(sizes), flat.view({planes, windows, each}).gather(2, at.unsqueeze(2)).view(sizes)};
}

}  // namespace

struct FractionalMaxPool2d : Composite<FractionalMaxPool2dArgs> {
  static constexpr auto schema =
      "fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples) -> (Tensor, "
      "Tensor)";
  static constexpr auto doc =
      "The maximum of each window of [N, C, H, W] and its position; windows lie where random_samples [N, C, 2] in [0, "
      "1) "
      "shift them to.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Result compose(const Args& a) {
    return fractional_max_pool("fractional_max_pool2d", 2, a.self, a.kernel_size, a.output_size, a.random_samples);
  }
  static void samples(S& s) {
    s.add_without_gradient({s->apart({2, 2, 7, 6}), {2, 3}, {4, 2}, s->real({2, 2, 2}, 0, 1)});  // samples have none
    s.fails({s->apart({2, 3, 3}), {2, 2}, {3, 2}, s->real({1, 2, 2}, 0, 1)},
            "fractional_max_pool2d: pool height 2 too large relative to input height 3 for output size [3, 2]");
    s.fails({s->apart({3, 3}), {2, 2}, {2, 2}, s->real({1, 1, 2}, 0, 1)},
            "fractional_max_pool2d: Expected 3D or 4D tensor, but got: [3, 3]");
  }
};
ARGAND_OP(FractionalMaxPool2d)
ARGAND_NODE(FractionalMaxPool2d)

struct FractionalMaxPool3d : Composite<FractionalMaxPool3dArgs> {
  static constexpr auto schema =
      "fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples) -> (Tensor, "
      "Tensor)";
  static constexpr auto doc = "The same for [N, C, D, H, W] and random_samples [N, C, 3].";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Result compose(const Args& a) {
    return fractional_max_pool("fractional_max_pool3d", 3, a.self, a.kernel_size, a.output_size, a.random_samples);
  }
  static void samples(S& s) {
    s.add_without_gradient({s->apart({1, 2, 5, 4, 6}), {2, 1, 3}, {3, 3, 2}, s->real({1, 2, 3}, 0, 1)});
  }
};
ARGAND_OP(FractionalMaxPool3d)
ARGAND_NODE(FractionalMaxPool3d)

}  // namespace argand::ops
