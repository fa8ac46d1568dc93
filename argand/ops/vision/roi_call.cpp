#include "argand/ops/vision/roi_call.h"

#include <limits>

#include "argand/ops/functions.h"
#include "argand/ops/index/bounds.h"
#include "argand/ops/operand.h"

namespace argand::ops {

void check_rois(const char* op, const Tensor& images, const Tensor& rois, int64_t height, int64_t width) {
  ARGAND_CHECK(ShapeError, images.dim() == 4, op, ": expected input [N, C, H, W], got a tensor of shape ",
               images.sizes());
  ARGAND_CHECK(ShapeError, rois.dim() == 2 && rois.sizes()[1] == 5, op, ": rois must have shape as Tensor[K, 5], got ",
               rois.sizes());
  ARGAND_CHECK(DtypeError, images.dtype() == rois.dtype(), op, ": input should have the same type as rois, got ",
               images.dtype(), " and ", rois.dtype());
  ARGAND_CHECK(ValueError, height >= 0 && width >= 0, op, ": expected pooled sizes of 0 or more, got ", height, " and ",
               width);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  ARGAND_CHECK(ValueError,
               images.sizes()[2] <= kMost / 4 && images.sizes()[3] <= kMost / 4 && height <= kMost / 16 &&
                   width <= kMost / 16 && images.sizes()[2] * images.sizes()[3] <= kMost,
               op, ": expected images with fewer than 2^31 pixels and fewer bins, got ", images.sizes(), " and ",
               height, " x ", width, " bins");
}

RoiShape roi_shape(const RoiOptions& o, IntArrayRef sizes, int64_t rois) {
  return {o.rule, o.by_position, rois, sizes[0], sizes[1], {sizes[2], sizes[3]}, {o.height, o.width}};
}

RoiTensors::RoiTensors(const char* op, const Tensor& from, const Tensor& rois, const Tensor& out,
                       const RoiOptions& options, IntArrayRef image_sizes)
    : type(out.is_cpu() ? op_math_type(out.dtype()) : out.dtype()),
      shape_(roi_shape(options, image_sizes, rois.sizes()[0])),
      batch_(checked_index(op, rois.detach().select(1, 0).to(kLong), image_sizes[0], 0)),
      from_(exec::dense(from, type)),
      rois_(exec::dense(rois, type)) {}

Tensor sample_regions(SampleSink* s, int64_t count, int64_t images) {
  const Tensor corners = s->integer({count, 4}, -24, 80).to(kDouble) / 8;
  const Tensor of = s->integer({count, 1}, 0, images).to(kDouble);
  corners.select(0, 0).fill_(3.25);
  return cat({of, corners}, 1);
}

}  // namespace argand::ops
