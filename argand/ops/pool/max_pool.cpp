// Max pooling, fixed and adaptive windows.
#include <algorithm>
#include <limits>

#include "argand/kernels/blocks.h"
#include "argand/ops/channel_layout.h"
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/pool/args.h"
#include "argand/ops/pool/pool_shape.h"

namespace argand::ops {
namespace {

Positions positions(const Tensor& t) { return {t.impl().data(), t.dtype()}; }

// The gradient of a pooled result at each position it was taken from: planes are flattened for gather.  `some_nowhere`:
// there may be positions of -1, those of windows that cover nothing but padding.
Tensor take_at(const Tensor& t, const Tensor& indices, int64_t spatial, bool some_nowhere) {
  const auto flat = [spatial](const Tensor& x) {
    Dims sizes(x.sizes().slice(0, x.sizes().size() - static_cast<size_t>(spatial)));
    sizes.push_back(-1);
    return x.reshape(sizes);
  };
  if (!some_nowhere) return flat(t).gather(-1, flat(indices).to(kLong)).reshape(indices.sizes());
  const Tensor taken = flat(t).gather(-1, flat(indices).to(kLong).clamp_min(0)).reshape(indices.sizes());
  return taken.masked_fill(indices.lt(0), 0);
}

}  // namespace

struct MaxPoolNd : Kernel<MaxPoolNdArgs> {
  static constexpr auto schema =
      "_max_pool_nd(Tensor self, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode, "
      "bool narrow) -> (Tensor, Tensor)";
  static constexpr auto doc =
      "Max pooling over as many trailing dimensions as kernel_size has entries; and the positions within each plane, "
      "narrow ones as int16 if they fit. A window that covers nothing but padding has the lowest value of the dtype "
      "and the position -1.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes | kIntTypes;
  static PoolShape shape(const Args& a) {
    return pool_shape("max_pool", a.self, {a.kernel_size, a.stride, a.padding, a.dilation, a.ceil_mode});
  }
  // A volume without a batch whose channels are last gives results that are laid out likewise, as in PyTorch.
  static std::optional<Args> with_batch(const Args& a) {
    if (a.self.dim() != 4 || a.kernel_size.size() != 3) return std::nullopt;
    Args batch = a;
    batch.self = in_batch(a.self);
    return has_channels_last(batch.self) ? std::optional(batch) : std::nullopt;
  }
  static Tensor in_batch(const Tensor& t) {
    Dims sizes{1}, strides{t.numel()};
    for (int64_t d = 0; d < t.dim(); ++d) {
      sizes.push_back(t.sizes()[d]);
      strides.push_back(t.strides()[d]);
    }
    return exec::alias(t, std::move(sizes), std::move(strides), t.storage_offset());
  }
  static TensorMetas infer(const Args& a) {
    if (const auto batch = with_batch(a)) {
      TensorMetas metas = infer(*batch);
      for (TensorMeta& meta : metas) {
        meta.sizes = Dims(meta.sizes.begin() + 1, meta.sizes.end());
        meta.strides = Dims(meta.strides.begin() + 1, meta.strides.end());
      }
      return metas;
    }
    const PoolShape s = shape(a);
    const Dims sizes = pooled_sizes(a.self, s, a.kernel_size.size());
    const bool fit = s.in_size() - 1 <= std::numeric_limits<int16_t>::max();
    const Dims strides = pooled_strides(sizes, a.self, a.kernel_size.size());
    return {{sizes, a.self.dtype(), strides}, {sizes, a.narrow && fit ? kShort : kLong, strides}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    if (const auto batch = with_batch(a)) {
      Tensor both[] = {in_batch(outs[0]), in_batch(outs[1])};
      return run(*batch, both);
    }
    PoolShape s = shape(a);
    const ChannelLayout layout = pool_layout(s, a.self, a.kernel_size.size());
    const Tensor x = layout.of(a.self), y = layout.to_write(outs[0]), at = layout.to_write(outs[1]);
    blocks::max_pool.on(x.device())(s, x.dtype(), x.impl().data(), y.impl().data(), positions(at));
    layout.put(outs[0], y);
    layout.put(outs[1], at);
  }
  static Tensor grad_self(const Ctx& c, const Grads& g) {
    return _max_pool_backward(g[0], c.result(1), c.sizes(kSelf), static_cast<int64_t>(c.kernel_size.size()),
                              c.kernel_size, c.stride, c.padding, c.dilation);
  }
  static void samples(S& s) {
    s.add({s->apart({2, 3, 6, 6}), {2, 2}, {}, {0, 0}, {1, 1}, false, false});
    s.add({s->apart({2, 7, 5}), {3, 2}, {2, 1}, {1, 1}, {1, 2}, true, true});
    s.add({s->apart({1, 2, 4, 4, 4}), {2, 2, 2}, {2, 2, 2}, {0, 0, 0}, {1, 1, 1}, false, true});
    s.add({s->apart({2, 8}), {3}, {}, {1}, {1}, false, true});
    s.fails({s->apart({2, 3, 6, 6}), {2, 2}, {}, {2, 0}, {1, 1}, false, false},
            "max_pool: pad should be at most half of effective kernel size");
    s.fails({s->apart({6, 6}), {2, 2}, {}, {0, 0}, {1, 1}, false, false},
            "max_pool: expected input [C, 2 spatial] or [N, C, 2 spatial], got a tensor of shape [6, 6]");
    s.fails({s->apart({1, 2, 2}), {5, 5}, {}, {0, 0}, {1, 1}, false, false},
            "max_pool: Output size is too small: the output would be empty");
  }
};
ARGAND_OP(MaxPoolNd)
ARGAND_NODE(MaxPoolNd, [](const MaxPoolNdArgs& a) {
  return a.kernel_size.size() == 3 ? "MaxPool3DWithIndicesBackward0" : "MaxPool2DWithIndicesBackward0";
})

struct MaxPoolBackward : Kernel<MaxPoolBackwardArgs> {
  static constexpr auto schema =
      "_max_pool_backward(Tensor grad_output, Tensor indices, int[] input_size, int spatial, int[] kernel_size, int[] "
      "stride, int[] padding, int[] dilation) -> Tensor";
  static constexpr auto doc =
      "Adds each gradient at the position its maximum was taken from. The windows are those of the pooling; without "
      "kernel_size, adaptive ones.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ShapeError, a.grad_output.sizes() == a.indices.sizes(),
                 "_max_pool_backward: expected indices of shape ", a.grad_output.sizes(), ", got ", a.indices.sizes());
    const auto spatial = static_cast<size_t>(a.spatial), given = a.kernel_size.size();
    if (given == 0) check_gradient("adaptive_max_pool_backward", a.grad_output);
    ARGAND_CHECK(ValueError,
                 given == 0 || (given == spatial && a.padding.size() == spatial && a.dilation.size() == spatial &&
                                (a.stride.empty() || a.stride.size() == spatial)),
                 "_max_pool_backward: expected windows of ", a.spatial, " dimensions, got kernel_size ", a.kernel_size,
                 ", stride ", a.stride, ", padding ", a.padding, ", dilation ", a.dilation);
    return {a.input_size, a.grad_output.dtype(),
            pooled_strides(a.input_size, a.indices, static_cast<size_t>(a.spatial))};
  }
  static void run(const Args& a, Tensor& out) {
    PoolShape s;
    const auto spatial = static_cast<size_t>(a.spatial);
    const ChannelLayout layout = pool_layout(s, a.indices, spatial);
    const Tensor g = layout.of(a.grad_output), at = layout.of(a.indices), x = layout.to_write(out);
    const size_t lead = a.input_size.size() - spatial;
    s.planes = numel_of(IntArrayRef(a.input_size).slice(0, lead));
    s.kernel[0] = a.kernel_size.empty() ? 0 : 1;
    for (size_t i = 0; i < spatial; ++i) {
      const size_t d = 3 - spatial + i;
      s.in[d] = a.input_size[lead + i];
      s.out[d] = g.sizes()[lead + i];
      if (a.kernel_size.empty()) continue;
      s.kernel[d] = a.kernel_size[i];
      s.stride[d] = a.stride.empty() ? a.kernel_size[i] : a.stride[i];
      s.padding[d] = a.padding[i];
      s.dilation[d] = a.dilation[i];
    }
    blocks::max_pool_backward.on(out.device())(s, out.dtype(), g.impl().data(), {at.impl().data(), at.dtype()},
                                               x.impl().data());
    layout.put(out, x);
  }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) {
    const bool dilated = std::any_of(c.dilation.begin(), c.dilation.end(), [](int64_t d) { return d > 1; });
    return take_at(g, c.indices, c.spatial, dilated);
  }
};
ARGAND_OP(MaxPoolBackward)

struct AdaptiveMaxPoolNd : Kernel<AdaptiveMaxPoolNdArgs> {
  static constexpr auto schema = "_adaptive_max_pool_nd(Tensor self, int[] output_size) -> (Tensor, Tensor)";
  static constexpr auto doc = "Max pooling to a given output size; and the positions within each plane.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMetas infer(const Args& a) {
    const Dims sizes =
        pooled_sizes(a.self, adaptive_pool_shape("adaptive_max_pool", a.self, a.output_size), a.output_size.size());
    const Dims strides = pooled_strides(sizes, a.self, a.output_size.size());
    return {{sizes, a.self.dtype(), strides}, {sizes, kLong, strides}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    PoolShape s = adaptive_pool_shape("adaptive_max_pool", a.self, a.output_size);
    const ChannelLayout layout = pool_layout(s, a.self, a.output_size.size());
    const Tensor x = layout.of(a.self), y = layout.to_write(outs[0]), at = layout.to_write(outs[1]);
    blocks::adaptive_max_pool.on(x.device())(s, x.dtype(), x.impl().data(), y.impl().data(), positions(at));
    layout.put(outs[0], y);
    layout.put(outs[1], at);
  }
  static Tensor grad_self(const Ctx& c, const Grads& g) {
    return _max_pool_backward(g[0], c.result(1), c.sizes(kSelf), static_cast<int64_t>(c.output_size.size()), {}, {}, {},
                              {});
  }
  static void samples(S& s) {
    s.add({s->apart({2, 3, 7, 5}), {3, 2}});
    s.add({s->apart({2, 9}), {4}});
    s.fails({s->apart({2, 3, 7, 5}), {-1, 2}},
            "adaptive_max_pool: elements of output_size must be greater than or equal to 0");
  }
};
ARGAND_OP(AdaptiveMaxPoolNd)
ARGAND_NODE(AdaptiveMaxPoolNd, [](const AdaptiveMaxPoolNdArgs& a) {
  return a.output_size.size() == 3 ? "AdaptiveMaxPool3DBackward0" : "AdaptiveMaxPool2DBackward0";
})

// ---- the names users call

struct MaxPool1dWithIndices : Composite<MaxPool1dWithIndicesArgs> {
  static constexpr auto schema =
      "max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, "
      "bool "
      "ceil_mode=False) -> (Tensor, Tensor)";
  static constexpr auto doc = "max_pool1d, and the position of each maximum within its plane.";
  static constexpr int variants = kFunction;
  static Result compose(const Args& a) {
    return _max_pool_nd(a.self, a.kernel_size, a.stride, a.padding, a.dilation, a.ceil_mode, false);
  }
  static void samples(S& s) { s.add({s->apart({2, 3, 8}), {2}, {}, {0}, {1}}); }
};
ARGAND_OP(MaxPool1dWithIndices)

struct MaxPool1d : Composite<MaxPool1dArgs> {
  static constexpr auto schema =
      "max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, bool "
      "ceil_mode=False) -> "
      "Tensor";
  static constexpr auto doc = "The maximum of each window of the last 1 dimension; stride defaults to the kernel size.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return std::get<0>(_max_pool_nd(a.self, a.kernel_size, a.stride, a.padding, a.dilation, a.ceil_mode, true));
  }
  static void samples(S& s) { s.add({s->apart({2, 3, 8}), {2}, {}, {0}, {1}}); }
};
ARGAND_OP(MaxPool1d)

struct AdaptiveMaxPool1d : Composite<AdaptiveMaxPool1dArgs> {
  static constexpr auto schema = "adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)";
  static constexpr auto doc = "Max pooling of the last 1 dimension to output_size, and the positions of the maxima.";
  static constexpr int variants = kFunction;
  static Result compose(const Args& a) { return _adaptive_max_pool_nd(a.self, a.output_size); }
  static void samples(S& s) { s.add({s->apart({2, 3, 8}), {2}}); }
};
ARGAND_OP(AdaptiveMaxPool1d)

struct MaxPool2dWithIndices : Composite<MaxPool2dWithIndicesArgs> {
  static constexpr auto schema =
      "max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, "
      "bool "
      "ceil_mode=False) -> (Tensor, Tensor)";
  static constexpr auto doc = "max_pool2d, and the position of each maximum within its plane.";
  static constexpr int variants = kFunction;
  static Result compose(const Args& a) {
    return _max_pool_nd(a.self, a.kernel_size, a.stride, a.padding, a.dilation, a.ceil_mode, false);
  }
  static void samples(S& s) { s.add({s->apart({2, 3, 6, 5}), {3, 2}, {2, 2}, {1, 0}, {1, 1}}); }
};
ARGAND_OP(MaxPool2dWithIndices)

struct MaxPool2d : Composite<MaxPool2dArgs> {
  static constexpr auto schema =
      "max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool "
      "ceil_mode=False) -> "
      "Tensor";
  static constexpr auto doc =
      "The maximum of each window of the last 2 dimensions; stride defaults to the kernel size.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return std::get<0>(_max_pool_nd(a.self, a.kernel_size, a.stride, a.padding, a.dilation, a.ceil_mode, true));
  }
  static void samples(S& s) { s.add({s->apart({2, 3, 6, 5}), {3, 2}, {2, 2}, {1, 0}, {1, 1}}); }
};
ARGAND_OP(MaxPool2d)

struct AdaptiveMaxPool2d : Composite<AdaptiveMaxPool2dArgs> {
  static constexpr auto schema = "adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)";
  static constexpr auto doc = "Max pooling of the last 2 dimensions to output_size, and the positions of the maxima.";
  static constexpr int variants = kFunction;
  static Result compose(const Args& a) { return _adaptive_max_pool_nd(a.self, a.output_size); }
  static void samples(S& s) { s.add({s->apart({2, 3, 6, 5}), {2, 2}}); }
};
ARGAND_OP(AdaptiveMaxPool2d)

namespace {

// A volume without a batch whose channels are last is pooled as a batch of one, so that those of the result are, too.
template <class A>
std::tuple<Tensor, Tensor> max_pool_volumes(const A& a, bool narrow) {
  const bool alone = a.self.dim() == 4 && a.self.numel() > 0 && has_channels_last(a.self.unsqueeze(0));
  const auto [values, at] = _max_pool_nd(alone ? a.self.unsqueeze(0) : a.self, a.kernel_size, a.stride, a.padding,
                                         a.dilation, a.ceil_mode, narrow);
  return alone ? std::tuple(values.squeeze(0), at.squeeze(0)) : std::tuple(values, at);
}

}  // namespace

struct MaxPool3dWithIndices : Composite<MaxPool3dWithIndicesArgs> {
  static constexpr auto schema =
      "max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, "
      "bool "
      "ceil_mode=False) -> (Tensor, Tensor)";
  static constexpr auto doc = "max_pool3d, and the position of each maximum within its plane.";
  static constexpr int variants = kFunction;
  static Result compose(const Args& a) { return max_pool_volumes(a, false); }
  static void samples(S& s) { s.add({s->apart({1, 2, 4, 4, 4}), {2, 2, 2}, {}, {0, 0, 0}, {1, 1, 1}}); }
};
ARGAND_OP(MaxPool3dWithIndices)

struct MaxPool3d : Composite<MaxPool3dArgs> {
  static constexpr auto schema =
      "max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool "
      "ceil_mode=False) -> "
      "Tensor";
  static constexpr auto doc =
      "The maximum of each window of the last 3 dimensions; stride defaults to the kernel size.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return std::get<0>(max_pool_volumes(a, true)); }
  static void samples(S& s) { s.add({s->apart({1, 2, 4, 4, 4}), {2, 2, 2}, {}, {0, 0, 0}, {1, 1, 1}}); }
};
ARGAND_OP(MaxPool3d)

struct AdaptiveMaxPool3d : Composite<AdaptiveMaxPool3dArgs> {
  static constexpr auto schema = "adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)";
  static constexpr auto doc = "Max pooling of the last 3 dimensions to output_size, and the positions of the maxima.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Result compose(const Args& a) { return _adaptive_max_pool_nd(a.self, a.output_size); }
  static void samples(S& s) { s.add({s->apart({1, 2, 4, 4, 4}), {2, 2, 2}}); }
};
ARGAND_OP(AdaptiveMaxPool3d)

}  // namespace argand::ops
