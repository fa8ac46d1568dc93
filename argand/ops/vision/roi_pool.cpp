// roi_pool: the largest pixel of each bin of regions of interest.
#include "argand/kernels/blocks.h"
#include "argand/ops/operand.h"
#include "argand/ops/vision/args.h"
#include "argand/ops/vision/functions.h"
#include "argand/ops/vision/roi_call.h"

namespace argand::ops {
namespace {

// The indices, among all elements of images, of the chosen elements, and which results have such an element.
std::pair<Tensor, Tensor> taken_from(const Tensor& rois, const Tensor& at, IntArrayRef images) {
  const Tensor image = rois.detach().select(1, 0).to(kLong).view({-1, 1, 1, 1});
  const Tensor channel = arange(images[1], image.options()).view({-1, 1, 1});
  const Tensor any = at.ge(0);
  const Tensor number = (image * images[1] + channel) * (images[2] * images[3]) + at.to(kLong);
  return {number.masked_fill(any.logical_not(), 0).reshape({-1}), any};
}

}  // namespace

struct RoiMax : Kernel<RoiMaxArgs> {
  static constexpr auto schema =
      "_roi_max(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width) -> (Tensor, "
      "Tensor)";
  static constexpr auto doc =
      "The largest pixel of each of pooled_height x pooled_width bins of regions rois [K, 5] (number of the image, x1, "
      "y1, x2, y2) of input [N, C, H, W], and its position in the plane; 0 and -1 for a bin without pixels.";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static constexpr uint32_t constant_arguments = bits(kRois);
  static RoiOptions options(const Args& a) {
    return {{RoiWindow::kPixelsWithLast, 0, a.spatial_scale, false}, a.pooled_height, a.pooled_width, false};
  }
  static TensorMetas infer(const Args& a) {
    check_rois(Args::kName, a.input, a.rois, a.pooled_height, a.pooled_width);
    const Dims sizes{a.rois.sizes()[0], a.input.sizes()[1], a.pooled_height, a.pooled_width};
    return {{sizes, a.input.dtype()}, {sizes, kInt}};
  }
  static void run(const Args& a, std::span<Tensor> outs) {
    const RoiTensors t(Args::kName, a.input, a.rois, outs[0], options(a), a.input.sizes());
    if (outs[0].numel() == 0) return;
    const StagedResult staged(outs[0], true, t.type), at(outs[1], true, kInt);
    blocks::roi_max.on(outs[0].device())(t.call(), t.from(), staged.data(), static_cast<int32_t*>(at.data()));
    staged.finish();
    at.finish();
  }
  static Tensor grad_input(const Ctx& c, const Grads& g) {
    const IntArrayRef sizes = c.sizes(kInput);
    const auto [number, any] = taken_from(c.rois, c.result(1), sizes);
    const Tensor from = g[0].masked_fill(any.logical_not(), 0).reshape({-1});
    return zeros({numel_of(sizes)}, from.options()).index_add(0, number, from).view(sizes);
  }
  static void samples(S& s) {
    const auto regions = [&](int64_t images) { return sample_regions(s.operator->(), 7, images); };
    s.add({s->apart({2, 3, 5, 6}), regions(2), 1.0, 2, 3});
    s.add({s->apart({1, 2, 5, 6}), regions(1), 0.5, 3, 2});
    s.add({s->apart({1, 2, 5, 6}), s->real({0, 5}), 0.5, 3, 2});
    s.fails({s->apart({2, 3, 5, 6}), s->real({4, 4}), 1.0, 2, 2},
            "_roi_max: rois must have shape as Tensor[K, 5], got [4, 4]");
    s.fails({s->apart({1, 3, 5, 6}), s->real({1, 5}, 1, 2), 1.0, 2, 2},
            "_roi_max: index 1 is out of bounds for dimension 0 with size 1");
  }
};
ARGAND_OP(RoiMax)

struct TorchvisionRoiPool : Composite<TorchvisionRoiPoolArgs> {
  static constexpr auto schema =
      "torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
      "pooled_width) -> (Tensor, Tensor)";
  static constexpr auto doc =
      "The largest pixel of each bin of regions rois [K, 5] (number of the image, x1, y1, x2, y2) of input [N, C, H, "
      "W], and its position in the plane; 0 and -1 for a bin without pixels (Girshick 2015).";
  static constexpr int variants = kFunction;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Result compose(const Args& a) {
    const RoiArguments given(Args::kName, a.input, a.rois, a.pooled_height, a.pooled_width, false);
    const auto [out, at] = _roi_max(given.input, given.rois, a.spatial_scale, a.pooled_height, a.pooled_width);
    return {given.region.result(out), given.region.result(at)};
  }
  static void samples(S& s) {
    s.add_without_gradient({s->apart({2, 3, 5, 6}), s->real({3, 5}, 0, 2), 1.5, 2, 3});
    s.fails({s->real({2, 3, 5, 6}), s->real({3, 4}), 1.0, 2, 2},
            "torchvision::roi_pool: rois must have shape as Tensor[K, 5], got [3, 4]");
  }
};
ARGAND_OP(TorchvisionRoiPool)

}  // namespace argand::ops
