// Resampling of a tensor's last dimensions as one op, and its gradient as another: each is the other's gradient.
#include "argand/kernels/blocks.h"
#include "argand/ops/channel_layout.h"
#include "argand/ops/define.h"
#include "argand/ops/operand.h"
#include "argand/ops/resample/args.h"

namespace argand::ops {
namespace {

// Arguments as both ops have them; `in` and `out` are the sizes of the resampled dimensions.
using Scales = std::optional<std::vector<double>>;  // none for sizes alone; 0 for one of them

void check_call(const char* op, IntArrayRef in, IntArrayRef out, int64_t filter, const Scales& scales) {
  ARGAND_CHECK(ShapeError, in.size() >= 1 && in.size() <= 3, op, ": expected 1 to 3 sizes, got ", in.size());
  ARGAND_CHECK(ShapeError, in.size() == out.size() && (!scales || in.size() == scales->size()), op,
               ": expected as many sizes and scales, got ", in, ", ", out, " and ", scales ? scales->size() : 0,
               " scales");
  for (size_t d = 0; d < in.size(); ++d)
    ARGAND_CHECK(ShapeError, in[d] > 0 && out[d] > 0, op, ": expected sizes above 0, got ", in, " and ", out);
  ARGAND_CHECK(ValueError, filter >= 0 && filter <= static_cast<int64_t>(Filter::kCubicAntialias), op,
               ": expected filter 0 to 5, got ", filter);
}

IntArrayRef last_sizes(const Tensor& t, size_t n) {
  return t.sizes().slice(static_cast<size_t>(t.dim()) - std::min(n, static_cast<size_t>(t.dim())));
}

// The sizes of `t` with its last ones replaced.
Dims resized(const Tensor& t, IntArrayRef last) {
  Dims sizes = t.impl().sizes;
  std::copy(last.begin(), last.end(), sizes.end() - static_cast<int64_t>(last.size()));
  return sizes;
}

// Keeps channels last for [N, C, resampled...].
Dims layout_of(const Tensor& t, IntArrayRef last) {
  return channel_strides(resized(t, last), t.sizes().size() == last.size() + 2 && strides_are_channels_last(t));
}

Resampling call_of(ScalarType type, int64_t filter, bool align_corners, const Scales& scales, size_t spatial,
                   const Tensor& in, const Tensor& out) {
  Resampling c{type, static_cast<Filter>(filter), 1, static_cast<int>(spatial), {}};
  const IntArrayRef from = last_sizes(in, spatial), to = last_sizes(out, spatial);
  for (int64_t d = 0; d + static_cast<int64_t>(spatial) < in.dim(); ++d) c.planes *= in.size(d);
  for (size_t d = 0; d < spatial; ++d)
    c.dims[3 - spatial + d] = {from[d], to[d], align_corners, scales ? std::max((*scales)[d], 0.0) : 0};
  return c;
}

}  // namespace

struct UpsampleAny : Kernel<UpsampleAnyArgs> {
  static constexpr auto schema =
      "_upsample(Tensor self, int[] output_size, int filter, bool align_corners, float[]? scales) -> Tensor";
  static constexpr auto doc =
      "The last dimensions of self resampled to output_size. filter: 0 nearest, 1 nearest-exact, 2 linear, 3 cubic, 4 "
      "linear antialias, 5 cubic antialias; scales: of the result to self, where the sizes' quotients are not exact; 0 "
      "for none.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kRealTypes;
  static TensorMeta infer(const Args& a) {
    check_call(Args::kName, last_sizes(a.self, a.output_size.size()), a.output_size, a.filter, a.scales);
    if (!is_nearest(static_cast<Filter>(a.filter)) && !contains(kFloatingTypes, a.self.dtype()))
      throw_unsupported_dtype(Args::kName, a.self.dtype());
    return {resized(a.self, a.output_size), a.self.dtype(), layout_of(a.self, a.output_size)};
  }
  static void run(const Args& a, Tensor& out) {
    if (out.numel() == 0) return;
    // The CPU has kernels for weighted sums in float and double only.
    const bool weighs = !is_nearest(static_cast<Filter>(a.filter));
    const ScalarType type = weighs && out.is_cpu() ? op_math_type(out.dtype()) : out.dtype();
    const Tensor self = exec::dense(a.self, type);
    const StagedResult staged(out, true, type);
    blocks::resample.on(out.device())(
        call_of(type, a.filter, a.align_corners, a.scales, a.output_size.size(), self, out), self.impl().data(),
        staged.data());
    staged.finish();
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const IntArrayRef sizes = c.sizes(kSelf);
    return _upsample_backward(g, sizes.slice(sizes.size() - c.output_size.size()), c.filter, c.align_corners, c.scales);
  }
  static void samples(S& s) {
    s->accuracy({16, "the coordinates and weights of neighbours are rounded to float32"});
    for (int64_t filter = 0; filter < 6; ++filter) {
      s.add({s->real({2, 3, 5}), {7}, filter, false, {}});
      s.add({s->real({2, 4, 9}), {6, 4}, filter, false, std::vector<double>{0, 0.45}});
      s.add({s->real({2, 2, 3, 5}), {3, 2, 8}, filter, filter % 2 == 0 && filter > 0, {}});
    }
    s.add({s->real({1, 3}), {300}, 2, false, {}});
    s.fails({s->real({2, 3}), {4, 4, 4}, 0, false, {}}, "_upsample: expected as many sizes and scales");
    s.fails({s->real({2, 3}), {0}, 0, false, {}}, "_upsample: expected sizes above 0, got [3] and [0]");
    s.fails({s->real({2, 3}), {4}, 6, false, {}}, "_upsample: expected filter 0 to 5, got 6");
  }
};
ARGAND_OP(UpsampleAny)

struct UpsampleAnyBackward : Kernel<UpsampleAnyBackwardArgs> {
  static constexpr auto schema =
      "_upsample_backward(Tensor grad_output, int[] input_size, int filter, bool align_corners, float[]? scales) -> "
      "Tensor";
  static constexpr auto doc = "The gradient of _upsample, whose self had input_size for its last sizes.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMeta infer(const Args& a) {
    check_call(Args::kName, a.input_size, last_sizes(a.grad_output, a.input_size.size()), a.filter, a.scales);
    return {resized(a.grad_output, a.input_size), a.grad_output.dtype(), layout_of(a.grad_output, a.input_size)};
  }
  static void run(const Args& a, Tensor& out) {
    if (out.numel() == 0) return;
    const ScalarType type = out.is_cpu() ? op_math_type(out.dtype()) : out.dtype();
    const Tensor grad = exec::dense(a.grad_output, type);
    const StagedResult staged(out, true, type);
    blocks::resample_backward.on(out.device())(
        call_of(type, a.filter, a.align_corners, a.scales, a.input_size.size(), out, grad), grad.impl().data(),
        staged.data());
    staged.finish();
  }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) {
    const IntArrayRef sizes = c.sizes(kGradOutput);
    return _upsample(g, sizes.slice(sizes.size() - c.input_size.size()), c.filter, c.align_corners, c.scales);
  }
  static void samples(S& s) {
    s->accuracy({16, "the coordinates and weights of neighbours are rounded to float32"});
    for (int64_t filter = 0; filter < 6; ++filter) {
      s.add({s->real({2, 3, 7}), {5}, filter, false, {}});
      s.add({s->real({2, 6, 4}), {4, 9}, filter, false, std::vector<double>{0, 0.45}});
      s.add({s->real({2, 3, 2, 8}), {2, 3, 5}, filter, filter % 2 == 0 && filter > 0, {}});
    }
    s.add({s->real({1, 300}), {3}, 2, false, {}});
    s.fails({s->real({2, 3}), {0}, 0, false, {}}, "_upsample_backward: expected sizes above 0, got [0] and [3]");
  }
};
ARGAND_OP(UpsampleAnyBackward)

}  // namespace argand::ops
