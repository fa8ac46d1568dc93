// Calls of the ops that pool regions of interest, checked.
#pragma once
#include "argand/kernels/roi.h"
#include "argand/ops/define.h"

namespace argand::ops {

struct RoiOptions {
  RoiRule rule;
  int64_t height, width;  // bins
  bool by_position;
};

// ShapeError and DtypeError for regions that are not [rois, 5] of the images' dtype, ValueError for bins below 0.
void check_rois(const char* op, const Tensor& images, const Tensor& rois, int64_t height, int64_t width);

// Of images [batch, channels, height, width].
RoiShape roi_shape(const RoiOptions& options, IntArrayRef image_sizes, int64_t rois);

// The images that regions are of; IndexError naming `op` for one that is not in [0, batch).
Tensor roi_images(const char* op, const Tensor& rois, int64_t batch);

}  // namespace argand::ops
