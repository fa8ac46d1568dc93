// The gradient of an average is its transpose: <g, average(x)> is <average_backward(g), x>.  Over more planes and
// regions than one thread takes at a time.
#include "argand/kernels/cpu/roi.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace argand::cpu {
namespace {

std::vector<double> numbers(int64_t n, int64_t step) {
  std::vector<double> out;
  for (int64_t i = 0; i < n; ++i) out.push_back(static_cast<double>(i * step % 1009) / 512 - 1);
  return out;
}

void check_transposed(RoiWindow window, bool by_position) {
  RoiShape shape{{window, 2, 0.5, true}, by_position, 23, 3, 36, {24, 20}, {3, 2}};
  std::vector<double> rois;
  std::vector<int64_t> batch;
  for (int64_t r = 0; r < shape.rois; ++r) {
    const auto x = static_cast<double>(r * 7 % 29), y = static_cast<double>(r * 5 % 31);
    rois.insert(rois.end(), {0, x, y, x + 5 + static_cast<double>(r % 9), y + 7 + static_cast<double>(r % 6)});
    batch.push_back(r % shape.batch);
  }
  const RoiPooling call{kDouble, shape, rois.data(), batch.data()};
  const int64_t pixels = shape.batch * shape.channels * shape.in[0] * shape.in[1];
  const int64_t results = shape.rois * shape.out_channels() * shape.bins();
  const auto x = numbers(pixels, 617), g = numbers(results, 389);
  std::vector<double> y(g.size(), NAN), gx(x.size(), NAN);
  roi_average(call, x.data(), y.data());
  roi_average_backward(call, g.data(), gx.data());
  double forward = 0, backward = 0, magnitude = 0;
  for (size_t i = 0; i < g.size(); ++i) forward += g[i] * y[i], magnitude += std::abs(g[i] * y[i]);
  for (size_t i = 0; i < x.size(); ++i) backward += gx[i] * x[i];
  EXPECT_GT(magnitude, 20);
  EXPECT_NEAR(forward, backward, 1e-11 * magnitude);
}

TEST(Roi, TheGradientOfAnAverageIsItsTranspose) {
  for (const RoiWindow window : {RoiWindow::kSamples, RoiWindow::kPixels})
    for (const bool by_position : {false, true}) check_transposed(window, by_position);
}

}  // namespace
}  // namespace argand::cpu
