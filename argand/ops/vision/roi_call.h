// Checked calls of the ops that pool regions of interest.
#pragma once
#include "argand/kernels/api/roi.h"
#include "argand/ops/define.h"
#include "argand/ops/vision/autocast.h"

namespace argand::ops {

struct RoiOptions {
  RoiRule rule;
  int64_t height, width;  // bins
  bool by_position;
};

// ShapeError and DtypeError for regions that are not [rois, 5] of the images' dtype, ValueError for bins below 0.
void check_rois(const char* op, const Tensor& images, const Tensor& rois, int64_t height, int64_t width);

// The sizes of a call on images [batch, channels, height, width].
RoiShape roi_shape(const RoiOptions& options, IntArrayRef image_sizes, int64_t rois);

// The tensors of a call as kernels take them: contiguous, and in the type that they compute in.
class RoiTensors {
 public:
  // `from`: the images, or a gradient of results, which goes to images of `image_sizes`; `out`: what is computed.
  // IndexError naming `op` for a region of an image that is not in the batch.
  RoiTensors(const char* op, const Tensor& from, const Tensor& rois, const Tensor& out, const RoiOptions& options,
             IntArrayRef image_sizes);
  RoiPooling call() const {
    return {type, shape_, rois_.impl().data(), static_cast<const int64_t*>(batch_.impl().data())};
  }
  const void* from() const { return from_.impl().data(); }
  const ScalarType type;

 private:
  RoiShape shape_;
  Tensor batch_, from_, rois_;
};

// The arguments of an op under torchvision's name, checked and cast as autocast wants; regions get no gradient.
struct RoiArguments {
  RoiArguments(const char* op, const Tensor& images, const Tensor& regions, int64_t height, int64_t width,
               bool autocast_on_cpu)
      : region(images, autocast_on_cpu), input(region.argument(images)), rois(region.argument(regions.detach())) {
    check_rois(op, input, rois, height, width);
  }
  const Float32Region region;
  const Tensor input, rois;
};

// For samples: `count` regions of so many images, some of them outside, empty or with swapped corners.
Tensor sample_regions(SampleSink* s, int64_t count, int64_t images);

}  // namespace argand::ops
