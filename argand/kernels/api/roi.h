// Regions of interest of images pooled to a few bins each: blocks::roi_average, its gradient and blocks::roi_max.
// Images are contiguous [batch, channels, in...], regions [rois, 5] of which the last four are x1, y1, x2, y2, results
// [rois, out_channels, out...]; `batch[r]` is the image of region r.
#pragma once
#include "argand/core/dtype.h"
#include "argand/kernels/roi_bins.h"

namespace argand {

struct RoiPooling {
  ScalarType type;  // of images, regions and results: on the CPU float or double
  RoiShape shape;
  const void* rois;
  const int64_t* batch;
};

// out = the weighted mean of each bin.
using RunRoiAverage = void(const RoiPooling& call, const void* images, void* out);
// grad_images = the sum of the gradients to which each pixel contributes, with the same weights, in the order of
// regions and bins.
using RunRoiAverageBackward = void(const RoiPooling& call, const void* grad_out, void* grad_images);
// out = the largest pixel of each bin and `at` its position in the plane, the first of equal ones; NaN is never the
// largest.  0 and -1 for a bin without pixels.
using RunRoiMax = void(const RoiPooling& call, const void* images, void* out, int32_t* at);

}  // namespace argand
