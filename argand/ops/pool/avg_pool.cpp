// Average pooling, fixed and adaptive windows.
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/node_name.h"
#include "argand/ops/pool/args.h"
#include "argand/ops/pool/pool_shape.h"

namespace argand::ops {
namespace {

AverageDivisor divisor(bool count_include_pad, std::optional<int64_t> divisor_override) {
  ARGAND_CHECK(ValueError, !divisor_override || *divisor_override != 0, "avg_pool: divisor must be not zero");
  return {count_include_pad, divisor_override.value_or(0)};
}

// A tensor with the sizes of the forward input, for the shape rules; it has no elements in memory.
Tensor input_like(const Tensor& g, const Dims& sizes) { return exec::new_tensor({sizes, g.dtype()}, kMeta); }

}  // namespace

struct AvgPoolNd : Kernel<AvgPoolNdArgs> {
  static constexpr auto schema =
      "_avg_pool_nd(Tensor self, int[] kernel_size, int[] stride, int[] padding, bool ceil_mode, bool "
      "count_include_pad, int? "
      "divisor_override) -> Tensor";
  static constexpr auto doc = "Average pooling over as many trailing dimensions as kernel_size has entries.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes | dtype_bit(kLong);
  static PoolShape shape(const Tensor& self, const Dims& kernel, const Dims& stride, const Dims& padding,
                         bool ceil_mode) {
    return pool_shape("avg_pool", self, {kernel, stride, padding, Dims(kernel.size(), 1), ceil_mode});
  }
  static TensorMeta infer(const Args& a) {
    divisor(a.count_include_pad, a.divisor_override);
    const Dims sizes =
        pooled_sizes(a.self, shape(a.self, a.kernel_size, a.stride, a.padding, a.ceil_mode), a.kernel_size.size());
    return {sizes, a.self.dtype(), pooled_strides(sizes, a.self, a.kernel_size.size())};
  }
  static void run(const Args& a, Tensor& out) {
    PoolShape s = shape(a.self, a.kernel_size, a.stride, a.padding, a.ceil_mode);
    const ChannelLayout layout = pool_layout(s, a.self, a.kernel_size.size());
    const Tensor x = layout.of(a.self), y = layout.to_write(out);
    blocks::avg_pool.on(out.device())(s, x.dtype(), divisor(a.count_include_pad, a.divisor_override), x.impl().data(),
                                      y.impl().data());
    layout.put(out, y);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    return _avg_pool_nd_backward(g, c.sizes(kSelf), c.kernel_size, c.stride, c.padding, c.ceil_mode,
                                 c.count_include_pad, c.divisor_override);
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 6, 6}), {2, 2}, {}, {0, 0}, false, true, {}});
    s.add({s->real({2, 7, 5}), {3, 2}, {2, 1}, {1, 1}, true, false, {}});
    s.add({s->real({1, 2, 4, 4, 4}), {2, 3, 2}, {2, 1, 2}, {0, 1, 0}, false, true, 5});
    s.add({s->real({2, 8}), {3}, {2}, {1}, true, true, {}});
    s.fails({s->real({2, 8}), {3}, {}, {2}, false, true, {}},
            "avg_pool: pad should be at most half of effective kernel size");
    s.fails({s->real({2, 8}), {3}, {}, {1}, false, true, 0}, "avg_pool: divisor must be not zero");
  }
};
ARGAND_OP(AvgPoolNd)
ARGAND_NODE(AvgPoolNd, [](const AvgPoolNdArgs& a) {
  return a.kernel_size.size() == 3 ? "AvgPool3DBackward0" : "AvgPool2DBackward0";
})

struct AvgPoolNdBackward : Kernel<AvgPoolNdBackwardArgs> {
  static constexpr auto schema =
      "_avg_pool_nd_backward(Tensor grad_output, int[] input_size, int[] kernel_size, int[] stride, int[] padding, "
      "bool ceil_mode, bool "
      "count_include_pad, int? divisor_override) -> Tensor";
  static constexpr auto doc = "Spreads each gradient over the window it averaged.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static PoolShape shape(const Args& a) {
    return AvgPoolNd::shape(input_like(a.grad_output, a.input_size), a.kernel_size, a.stride, a.padding, a.ceil_mode);
  }
  static TensorMeta infer(const Args& a) {
    return {a.input_size, a.grad_output.dtype(), pooled_strides(a.input_size, a.grad_output, a.kernel_size.size())};
  }
  static void run(const Args& a, Tensor& out) {
    PoolShape s = shape(a);
    const ChannelLayout layout = pool_layout(s, a.grad_output, a.kernel_size.size());
    const Tensor g = layout.of(a.grad_output), x = layout.to_write(out);
    blocks::avg_pool_backward.on(out.device())(s, out.dtype(), divisor(a.count_include_pad, a.divisor_override),
                                               g.impl().data(), x.impl().data());
    layout.put(out, x);
  }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) {
    return _avg_pool_nd(g, c.kernel_size, c.stride, c.padding, c.ceil_mode, c.count_include_pad, c.divisor_override);
  }
};
ARGAND_OP(AvgPoolNdBackward)

struct AdaptiveAvgPoolNd : Kernel<AdaptiveAvgPoolNdArgs> {
  static constexpr auto schema = "_adaptive_avg_pool_nd(Tensor self, int[] output_size) -> Tensor";
  static constexpr auto doc = "Average pooling of the trailing dimensions to a given size.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMeta infer(const Args& a) {
    const Dims sizes =
        pooled_sizes(a.self, adaptive_pool_shape("adaptive_avg_pool", a.self, a.output_size), a.output_size.size());
    return {sizes, a.self.dtype(), pooled_strides(sizes, a.self, a.output_size.size())};
  }
  static void run(const Args& a, Tensor& out) {
    PoolShape s = adaptive_pool_shape("adaptive_avg_pool", a.self, a.output_size);
    const ChannelLayout layout = pool_layout(s, a.self, a.output_size.size());
    const Tensor x = layout.of(a.self), y = layout.to_write(out);
    blocks::adaptive_avg_pool.on(out.device())(s, x.dtype(), x.impl().data(), y.impl().data());
    layout.put(out, y);
  }
  static Tensor grad_self(const Ctx& c, const Tensor& g) {
    const IntArrayRef in = c.sizes(kSelf);
    check_gradient("adaptive_avg_pool_backward", g);
    int64_t averaged = 1, made = 1;
    for (size_t d = in.size() - c.output_size.size(); d < in.size(); ++d) {
      averaged *= in[d];
      made *= g.sizes()[d];
    }
    if (made == 1) return (g / averaged).expand(in);  // a view, which fits any layout
    return _adaptive_avg_pool_nd_backward(g, c.sizes(kSelf), static_cast<int64_t>(c.output_size.size()));
  }
  static void samples(S& s) {
    s.add({s->real({2, 3, 7, 5}), {3, 2}});
    s.add({s->real({2, 9}), {4}});
    s.add({s->real({1, 2, 4, 5, 3}), {1, 1, 1}});
    s.fails({s->real({2, 3, 7, 5}), {-1, 2}},
            "adaptive_avg_pool: elements of output_size must be greater than or equal to 0");
    s.fails({s->real({5}), {2}},
            "adaptive_avg_pool: expected input [C, 1 spatial] or [N, C, 1 spatial], got a tensor of shape [5]");
  }
};
ARGAND_OP(AdaptiveAvgPoolNd)
ARGAND_NODE(AdaptiveAvgPoolNd, [](const AdaptiveAvgPoolNdArgs& a) {
  return a.output_size.size() == 3 ? "AdaptiveAvgPool3DBackward0" : "AdaptiveAvgPool2DBackward0";
})

struct AdaptiveAvgPoolNdBackward : Kernel<AdaptiveAvgPoolNdBackwardArgs> {
  static constexpr auto schema =
      "_adaptive_avg_pool_nd_backward(Tensor grad_output, int[] input_size, int spatial) -> Tensor";
  static constexpr auto doc = "Spreads each gradient over the window it averaged.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMeta infer(const Args& a) {
    check_gradient("adaptive_avg_pool_backward", a.grad_output);
    return {a.input_size, a.grad_output.dtype(),
            pooled_strides(a.input_size, a.grad_output, static_cast<size_t>(a.spatial))};
  }
  static void run(const Args& a, Tensor& out) {
    const auto output_size = a.grad_output.sizes().slice(a.grad_output.sizes().size() - static_cast<size_t>(a.spatial));
    PoolShape s = adaptive_pool_shape("adaptive_avg_pool", input_like(a.grad_output, a.input_size), output_size);
    const ChannelLayout layout = pool_layout(s, a.grad_output, static_cast<size_t>(a.spatial));
    const Tensor g = layout.of(a.grad_output), x = layout.to_write(out);
    blocks::adaptive_avg_pool_backward.on(out.device())(s, out.dtype(), g.impl().data(), x.impl().data());
    layout.put(out, x);
  }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) {
    const Dims& sizes = c.sizes(kGradOutput);
    return _adaptive_avg_pool_nd(g, IntArrayRef(sizes).slice(sizes.size() - static_cast<size_t>(c.spatial)));
  }
};
ARGAND_OP(AdaptiveAvgPoolNdBackward)

// ---- the names users call

struct AvgPool1d : Composite<AvgPool1dArgs> {
  static constexpr auto schema =
      "avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool ceil_mode=False, bool "
      "count_include_pad=True) -> Tensor";
  static constexpr auto doc = "The average of each window of the last 1 dimension; stride defaults to the kernel size.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return _avg_pool_nd(a.self, a.kernel_size, a.stride, a.padding, a.ceil_mode, a.count_include_pad, std::nullopt);
  }
  static void samples(S& s) { s.add({s->real({2, 3, 8}), {2}, {}, {0}}); }
};
ARGAND_OP(AvgPool1d)

struct AdaptiveAvgPool1d : Composite<AdaptiveAvgPool1dArgs> {
  static constexpr auto schema = "adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor";
  static constexpr auto doc = "Average pooling of the last 1 dimension to output_size.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return _adaptive_avg_pool_nd(a.self, a.output_size); }
  static void samples(S& s) { s.add({s->real({2, 3, 8}), {2}}); }
};
ARGAND_OP(AdaptiveAvgPool1d)

struct AvgPool2d : Composite<AvgPool2dArgs> {
  static constexpr auto schema =
      "avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool "
      "count_include_pad=True, int? divisor_override=None) -> Tensor";
  static constexpr auto doc =
      "The average of each window of the last 2 dimensions; stride defaults to the kernel size.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return _avg_pool_nd(a.self, a.kernel_size, a.stride, a.padding, a.ceil_mode, a.count_include_pad,
                        a.divisor_override);
  }
  static void samples(S& s) { s.add({s->real({2, 3, 6, 5}), {3, 2}, {2, 2}, {1, 0}}); }
};
ARGAND_OP(AvgPool2d)

struct AdaptiveAvgPool2d : Composite<AdaptiveAvgPool2dArgs> {
  static constexpr auto schema = "adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor";
  static constexpr auto doc = "Average pooling of the last 2 dimensions to output_size.";
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return _adaptive_avg_pool_nd(a.self, a.output_size); }
  static void samples(S& s) { s.add({s->real({2, 3, 6, 5}), {2, 2}}); }
};
ARGAND_OP(AdaptiveAvgPool2d)

struct AvgPool3d : Composite<AvgPool3dArgs> {
  static constexpr auto schema =
      "avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, bool "
      "count_include_pad=True, int? divisor_override=None) -> Tensor";
  static constexpr auto doc =
      "The average of each window of the last 3 dimensions; stride defaults to the kernel size.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) {
    return _avg_pool_nd(a.self, a.kernel_size, a.stride, a.padding, a.ceil_mode, a.count_include_pad,
                        a.divisor_override);
  }
  static void samples(S& s) { s.add({s->real({1, 2, 4, 4, 4}), {2, 2, 2}, {}, {0, 0, 0}}); }
};
ARGAND_OP(AvgPool3d)

struct AdaptiveAvgPool3d : Composite<AdaptiveAvgPool3dArgs> {
  static constexpr auto schema = "adaptive_avg_pool3d(Tensor self, int[3] output_size) -> Tensor";
  static constexpr auto doc = "Average pooling of the last 3 dimensions to output_size.";
  static constexpr auto autocast = Autocast::kNone, autocast_cpu = Autocast::kFloat32;
  static constexpr int variants = kFunction;
  static Tensor compose(const Args& a) { return _adaptive_avg_pool_nd(a.self, a.output_size); }
  static void samples(S& s) { s.add({s->real({1, 2, 4, 4, 4}), {2, 2, 2}}); }
};
ARGAND_OP(AdaptiveAvgPool3d)

}  // namespace argand::ops
