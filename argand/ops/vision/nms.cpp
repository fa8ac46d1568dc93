// Non-maximum suppression: of boxes that overlap, the ones with the best scores.
#include "argand/kernels/blocks.h"
#include "argand/ops/define.h"
#include "argand/ops/index/bounds.h"
#include "argand/ops/vision/args.h"
#include "argand/ops/vision/autocast.h"
#include "argand/ops/vision/functions.h"

namespace argand::ops {

struct NmsKept : Kernel<NmsKeptArgs> {
  static constexpr auto schema = "_nms_kept(Tensor boxes, float iou_threshold) -> Tensor";
  static constexpr auto doc =
      "Of boxes [N, 4], the best first, whether each is kept: no kept box before it may overlap it by more than "
      "iou_threshold of the area of their union.";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static TensorMeta infer(const Args& a) {
    ARGAND_CHECK(ShapeError, a.boxes.dim() == 2 && a.boxes.sizes()[1] == 4, "_nms_kept: expected boxes [N, 4], got ",
                 a.boxes.sizes());
    return {{a.boxes.sizes()[0]}, kBool};
  }
  static void run(const Args& a, Tensor& out) {
    const ScalarType type = out.is_cpu() ? op_math_type(a.boxes.dtype()) : a.boxes.dtype();
    const Tensor boxes = exec::dense(a.boxes, type);
    blocks::keep_apart.on(out.device())(type, boxes.impl().data(), out.numel(), a.iou_threshold,
                                        static_cast<uint8_t*>(out.impl().data()));
  }
  static void samples(S& s) {
    s.add({s->apart({5, 4}), 0.3});
    s.add({s->integer({40, 4}, 0, 9).to(kDouble), 0.25});
    // More boxes than a GPU handles at once.
    const Tensor corner = s->integer({1100, 2}, 0, 60), size = s->integer({1100, 2}, 1, 16);
    s.add({cat({corner, corner + size}, 1).to(kDouble), 0.25});
    s.add({s->real({0, 4}), 0.5});
    s.fails({s->real({3, 5}), 0.5}, "_nms_kept: expected boxes [N, 4], got [3, 5]");
  }
};
ARGAND_OP(NmsKept)

struct TorchvisionNms : Composite<TorchvisionNmsArgs> {
  static constexpr auto schema = "torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor";
  static constexpr auto doc =
      "The numbers of the boxes dets [N, 4] (x1, y1, x2, y2) that are kept, by falling score, the first of equal ones "
      "first: a box is dropped if it overlaps one with a better score that is kept by more than iou_threshold of the "
      "area of their union.";
  static constexpr int variants = kFunction;
  static constexpr bool differentiable = false;
  static constexpr DtypeSet dtypes = kFloatingTypes;
  static Tensor compose(const Args& a) {
    const Float32Region region(a.dets, true);
    const Tensor dets = region.argument(a.dets.detach()), scores = region.argument(a.scores.detach());
    check(dets, scores);
    const Tensor order = std::get<1>(scores.sort(true, 0, true));
    return order.masked_select(_nms_kept(dets.index_select(0, order), a.iou_threshold));
  }
  static void check(const Tensor& dets, const Tensor& scores) {
    constexpr auto op = Args::kName;
    ARGAND_CHECK(ShapeError, dets.dim() == 2, op, ": boxes should be a 2d tensor, got ", dets.dim(), "D");
    ARGAND_CHECK(ShapeError, dets.sizes()[1] == 4, op, ": boxes should have 4 elements in dimension 1, got ",
                 dets.sizes()[1]);
    ARGAND_CHECK(ShapeError, scores.dim() == 1, op, ": scores should be a 1d tensor, got ", scores.dim(), "D");
    ARGAND_CHECK(ShapeError, dets.sizes()[0] == scores.sizes()[0], op,
                 ": boxes and scores should have same number of elements in dimension 0, got ", dets.sizes()[0],
                 " and ", scores.sizes()[0]);
    ARGAND_CHECK(DtypeError, dets.dtype() == scores.dtype(), op, ": dets should have the same type as scores, got ",
                 dets.dtype(), " and ", scores.dtype());
    check_has_data(op, dets);
  }
  static void samples(S& s) {
    s.add({s->apart({5, 4}), s->apart({5}), 0.3});
    // Many overlaps and equal scores.
    s.add({s->integer({40, 4}, 0, 9).to(kDouble), s->integer({40}, 0, 5).to(kDouble), 0.25});
    s.add({s->real({0, 4}), s->real({0}), 0.5});
    s.fails({s->real({3, 5}), s->real({3}), 0.5}, "boxes should have 4 elements in dimension 1, got 5");
    s.fails({s->real({4}), s->real({4}), 0.5}, "boxes should be a 2d tensor, got 1D");
    s.fails({s->real({3, 4}), s->real({3, 1}), 0.5}, "scores should be a 1d tensor, got 2D");
    s.fails({s->real({3, 4}), s->real({2}), 0.5}, "same number of elements in dimension 0, got 3 and 2");
    s.fails({s->real({3, 4}), s->real({3}).to(kFloat), 0.5}, "dets should have the same type as scores");
    s.fails({s->integer({3, 4}, 0, 5), s->integer({3}, 0, 5), 0.5}, "int64");
  }
};
ARGAND_OP(TorchvisionNms)

}  // namespace argand::ops
