// The mean of each bin of regions of interest, in all its forms: roi_align, ps_roi_align and ps_roi_pool.
#include "argand/kernels/blocks.h"
#include "argand/ops/operand.h"
#include "argand/ops/vision/args.h"
#include "argand/ops/vision/functions.h"
#include "argand/ops/vision/roi_call.h"

namespace argand::ops {
namespace {

// The options of _roi_average and of its gradient.
template <class Args>
RoiOptions options_of(const Args& a) {
  ARGAND_CHECK(ValueError, a.window >= 0 && a.window <= 2, Args::kName, ": expected window 0, 1 or 2, got ", a.window);
  return {{static_cast<RoiWindow>(a.window), a.sampling_ratio, a.spatial_scale, a.aligned},
          a.pooled_height,
          a.pooled_width,
          a.by_position};
}

void check_channels(const char* op, int64_t channels, int64_t height, int64_t width) {
  ARGAND_CHECK(ShapeError, height * width > 0 && channels % (height * width) == 0, op,
               ": input channels must be a multiple of pooling height * pooling width, got ", channels,
               " channels and ", height, " x ", width, " bins");
}

// The input channel of each element of a result, as torchvision's ops return it.
Tensor channel_mapping(const Tensor& result) {
  const int64_t bins = result.sizes()[1] * result.sizes()[2] * result.sizes()[3];
  const Tensor numbers = arange(bins, TensorOptions(result.device()).dtype(kInt));
  return numbers.view(result.sizes().slice(1)).expand(result.sizes()).contiguous();
}

// torchvision's ops in which each bin has channels of its own.
template <class Args>
std::tuple<Tensor, Tensor> by_position(const char* op, const Args& a, RoiWindow window, int64_t sampling_ratio,
                                       bool aligned) {
  const RoiArguments given(op, a.input, a.rois, a.pooled_height, a.pooled_width, false);
  check_channels(op, given.input.sizes()[1], a.pooled_height, a.pooled_width);
  const Tensor out = _roi_average(given.input, given.rois, static_cast<int64_t>(window), a.spatial_scale,
                                  a.pooled_height, a.pooled_width, sampling_ratio, aligned, true);
  return {given.region.result(out), given.region.result(channel_mapping(out))};
}

}  // namespace

struct RoiAverage : Kernel<RoiAverageArgs> {
  static constexpr auto schema =
      "_roi_average(Tensor input, Tensor rois, int window, float spatial_scale, int pooled_height, int pooled_width, "
      "int sampling_ratio, bool aligned, bool by_position) -> Tensor";
  static constexpr auto doc =
      "The mean of each of pooled_height x pooled_width bins of regions rois [K, 5] (number of the image, x1, y1, x2, "
      "y2) of input [N, C, H, W]. window: 0 bilinear samples, 1 the pixels that a bin touches, 2 those but the "
      "image's last row and column, to which its gradient goes all the same, as torchvision's does. by_position: each "
      "bin has channels of its own.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr uint32_t constant_arguments = bits(kRois);
  static TensorMeta infer(const Args& a) {
    check_rois(Args::kName, a.input, a.rois, a.pooled_height, a.pooled_width);
    if (a.by_position) check_channels(Args::kName, a.input.sizes()[1], a.pooled_height, a.pooled_width);
    const RoiShape s = roi_shape(options_of(a), a.input.sizes(), a.rois.sizes()[0]);
    return {{s.rois, s.bins() == 0 ? s.channels : s.out_channels(), s.out[0], s.out[1]}, a.input.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const RoiTensors t(Args::kName, a.input, a.rois, out, options_of(a), a.input.sizes());
    if (out.numel() == 0) return;
    const StagedResult staged(out, true, t.type);
    blocks::roi_average.on(out.device())(t.call(), t.from(), staged.data());
    staged.finish();
  }
  static Tensor grad_input(const Ctx& c, const Tensor& g) {
    return _roi_average_backward(g, c.rois, c.sizes(kInput), c.window == 2 ? 1 : c.window, c.spatial_scale,
                                 c.pooled_height, c.pooled_width, c.sampling_ratio, c.aligned, c.by_position);
  }
  static void samples(S& s) {
    const auto regions = [](S& to, int64_t images) { return sample_regions(to.operator->(), 7, images); };
    s.add({s->real({2, 3, 5, 6}), regions(s, 2), 0, 1.0, 2, 3, -1, false, false});
    s.add({s->real({2, 3, 5, 6}), regions(s, 2), 0, 0.5, 3, 2, -1, true, false});
    s.add({s->real({1, 2, 5, 6}), regions(s, 1), 0, 0.5, 2, 2, 3, true, false});
    s.add({s->real({2, 6, 5, 6}), regions(s, 2), 0, 1.0, 3, 2, 2, true, true});
    s.add({s->real({2, 8, 5, 6}), regions(s, 2), 1, 1.0, 2, 2, 0, false, true});
    s.add_without_gradient({s->real({2, 8, 5, 6}), regions(s, 2), 2, 1.0, 2, 2, 0, false, true});
    s.add({s->real({2, 3, 1, 6}), regions(s, 2), 0, 1.0, 2, 2, 2, false, false});
    s.add({s->real({2, 3, 5, 6}), s->real({0, 5}), 0, 1.0, 2, 2, -1, false, false});
    s.fails({s->real({2, 3, 5, 6}), s->real({4, 4}), 0, 1.0, 2, 2, -1, false, false},
            "_roi_average: rois must have shape as Tensor[K, 5], got [4, 4]");
    s.fails({s->real({2, 3, 5, 6}), s->real({1, 5}).to(kFloat), 0, 1.0, 2, 2, -1, false, false},
            "input should have the same type as rois, got float64 and float32");
    s.fails({s->real({3, 5, 6}), s->real({1, 5}), 0, 1.0, 2, 2, -1, false, false}, "expected input [N, C, H, W]");
    s.fails({s->real({1, 3, 5, 6}), s->real({1, 5}, 1, 2), 0, 1.0, 2, 2, -1, false, false},
            "_roi_average: index 1 is out of bounds for dimension 0 with size 1");
    s.fails({s->real({1, 3, 5, 6}), regions(s, 1), 0, 1.0, 2, 2, -1, false, true},
            "input channels must be a multiple of pooling height * pooling width, got 3 channels and 2 x 2 bins");
    s.fails({s->real({1, 3, 5, 6}), regions(s, 1), 0, 1.0, 2, -2, -1, false, false}, "expected pooled sizes of 0 or");
    s.fails({s->real({1, 3, 5, 6}), regions(s, 1), 3, 1.0, 2, 2, -1, false, false}, "expected window 0, 1 or 2, got 3");
  }
};
ARGAND_OP(RoiAverage)

struct RoiAverageBackward : Kernel<RoiAverageBackwardArgs> {
  static constexpr auto schema =
      "_roi_average_backward(Tensor grad_output, Tensor rois, int[] input_size, int window, float spatial_scale, int "
      "pooled_height, int pooled_width, int sampling_ratio, bool aligned, bool by_position) -> Tensor";
  static constexpr auto doc = "The gradient of _roi_average's input, which had input_size.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr uint32_t constant_arguments = bits(kRois);
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ValueError, a.input_size.size() == 4, "_roi_average_backward: expected an input_size of 4, got ",
                 a.input_size);
    for (const int64_t size : a.input_size)
      ARGAND_CHECK(ValueError, size >= 0, "_roi_average_backward: expected sizes of 0 or more, got ", a.input_size);
    check_rois(Args::kName, a.grad_output, a.rois, a.pooled_height, a.pooled_width);
    if (a.by_position) check_channels(Args::kName, a.input_size[1], a.pooled_height, a.pooled_width);
    const RoiShape s = roi_shape(options_of(a), a.input_size, a.rois.sizes()[0]);
    const Dims expected{s.rois, s.bins() == 0 ? s.channels : s.out_channels(), s.out[0], s.out[1]};
    ARGAND_CHECK(ShapeError, a.grad_output.impl().sizes == expected,
                 "_roi_average_backward: expected grad_output of sizes ", expected, ", got ", a.grad_output.sizes());
    return {a.input_size, a.grad_output.dtype()};
  }
  static void run(const Args& a, Tensor& out) {
    const RoiTensors t(Args::kName, a.grad_output, a.rois, out, options_of(a), a.input_size);
    if (out.numel() == 0) return;
    if (a.grad_output.numel() == 0) return exec::copy_elements(out, exec::wrapped_number(0));
    const StagedResult staged(out, true, t.type);
    blocks::roi_average_backward.on(out.device())(t.call(), t.from(), staged.data());
    staged.finish();
  }
  static Tensor grad_grad_output(const Ctx& c, const Tensor& g) {
    return _roi_average(g, c.rois, c.window, c.spatial_scale, c.pooled_height, c.pooled_width, c.sampling_ratio,
                        c.aligned, c.by_position);
  }
  static void samples(S& s) {
    const auto regions = [&] { return sample_regions(s.operator->(), 5, 2); };
    s.add({s->real({5, 3, 2, 3}), regions(), {2, 3, 5, 6}, 0, 1.0, 2, 3, -1, false, false});
    s.add({s->real({5, 5, 2, 2}), regions(), {2, 5, 5, 6}, 0, 0.5, 2, 2, 2, true, false});
    s.add({s->real({5, 2, 2, 2}), regions(), {2, 8, 5, 6}, 1, 1.0, 2, 2, 0, false, true});
    s.fails({s->real({5, 3, 2, 2}), regions(), {2, 3, 5, 6}, 0, 1.0, 2, 3, -1, false, false},
            "_roi_average_backward: expected grad_output of sizes [5, 3, 2, 3], got [5, 3, 2, 2]");
  }
};
ARGAND_OP(RoiAverageBackward)

// ---- the names users call.  They give no gradient to regions, as torchvision's.

struct TorchvisionRoiAlign : Composite<TorchvisionRoiAlignArgs> {
  static constexpr auto schema =
      "torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
      "pooled_width, int sampling_ratio, bool aligned) -> Tensor";
  static constexpr auto doc =
      "The mean of bilinear samples in each bin of regions rois [K, 5] (number of the image, x1, y1, x2, y2) of input "
      "[N, C, H, W]; sampling_ratio samples along each side of a bin, or as many as it has pixels (He et al. 2017).";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Tensor compose(const Args& a) {
    const RoiArguments given(Args::kName, a.input, a.rois, a.pooled_height, a.pooled_width, true);
    return given.region.result(_roi_average(given.input, given.rois, 0, a.spatial_scale, a.pooled_height,
                                            a.pooled_width, a.sampling_ratio, a.aligned, false));
  }
  static void samples(S& s) {
    s.add_without_gradient({s->real({2, 3, 5, 6}), s->real({3, 5}, 0, 2), 1.5, 2, 3, -1, false});
    s.add_without_gradient({s->real({2, 3, 5, 6}), s->real({3, 5}, 0, 2), 1.5, 2, 2, 2, true});
    s.fails({s->real({2, 3, 5, 6}), s->real({3, 4}), 1.0, 2, 2, -1, false},
            "torchvision::roi_align: rois must have shape as Tensor[K, 5], got [3, 4]");
  }
};
ARGAND_OP(TorchvisionRoiAlign)

struct TorchvisionPsRoiAlign : Composite<TorchvisionPsRoiAlignArgs> {
  static constexpr auto schema =
      "torchvision::ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
      "pooled_width, int sampling_ratio) -> (Tensor, Tensor)";
  static constexpr auto doc =
      "roi_align, aligned, of which each bin has channels of its own (Li et al. 2017); and the number of the channel "
      "that each element is of.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Result compose(const Args& a) {
    return by_position(Args::kName, a, RoiWindow::kSamples, a.sampling_ratio, true);
  }
  static void samples(S& s) {
    s.add_without_gradient({s->real({2, 8, 5, 6}), s->real({3, 5}, 0, 2), 1.5, 2, 2, -1});
    s.fails({s->real({2, 3, 5, 6}), s->real({3, 5}, 0, 2), 1.0, 2, 2, -1},
            "torchvision::ps_roi_align: input channels must be a multiple of pooling height * pooling width");
  }
};
ARGAND_OP(TorchvisionPsRoiAlign)

struct TorchvisionPsRoiPool : Composite<TorchvisionPsRoiPoolArgs> {
  static constexpr auto schema =
      "torchvision::ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
      "pooled_width) -> (Tensor, Tensor)";
  static constexpr auto doc =
      "The mean of the pixels that each bin of a region touches, of which each bin has channels of its own (Dai et al. "
      "2016); and the number of the channel that each element is of. As in torchvision, the last row and column of an "
      "image count in the gradient alone.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Result compose(const Args& a) { return by_position(Args::kName, a, RoiWindow::kInnerPixels, 0, false); }
  static void samples(S& s) {
    s.add_without_gradient({s->real({2, 8, 5, 6}), s->real({3, 5}, 0, 2), 1.5, 2, 2});
    s.fails({s->real({2, 3, 5, 6}), s->real({3, 5}, 0, 2), 1.0, 2, 2},
            "torchvision::ps_roi_pool: input channels must be a multiple of pooling height * pooling width");
  }
};
ARGAND_OP(TorchvisionPsRoiPool)

}  // namespace argand::ops
