#include <algorithm>
#include <cmath>

#include "argand/exec/invoke.h"
#include "argand/models/models.h"

namespace argand::models {

Tensor imagenet_input(const vision::Image& image, int64_t resize, int64_t crop) {
  ARGAND_CHECK(ValueError, crop > 0 && resize >= crop && resize <= 16384, "imagenet_input: expected 0 < crop <= resize",
               " <= 16384, got crop ", crop, ", resize ", resize);
  const vision::Image colours = vision::to_rgb(image);
  const int64_t shorter = std::min(image.width, image.height);
  const auto scaled = [&](int side) {
    const int64_t size = side == shorter ? resize : resize * side / shorter;
    ARGAND_CHECK(ValueError, size <= 65536, "imagenet_input: expected sides whose ratio is below ", 65536 / resize,
                 ", got ", image.width, "x", image.height);
    return static_cast<int>(size);
  };
  const vision::Image small = vision::resize(colours, scaled(image.width), scaled(image.height));
  // Halves go to the even number, as Python's round.
  const int left = static_cast<int>(std::nearbyint(static_cast<double>(small.width - crop) / 2));
  const int top = static_cast<int>(std::nearbyint(static_cast<double>(small.height - crop) / 2));
  constexpr float kMean[] = {0.485f, 0.456f, 0.406f}, kDeviation[] = {0.229f, 0.224f, 0.225f};  // ImageNet's
  const Tensor out = exec::new_tensor({Dims{1, 3, crop, crop}, kFloat}, kCPU);
  float* p = raw<float>(out);
  for (size_t c = 0; c < 3; ++c)
    for (int y = 0; y < crop; ++y)
      for (int x = 0; x < crop; ++x)
        *p++ = (static_cast<float>(small.at(left + x, top + y)[c]) / 255.0f - kMean[c]) / kDeviation[c];
  return out;
}

}  // namespace argand::models
