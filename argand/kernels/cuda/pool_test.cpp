// Maxima of windows that tile their planes have a kernel of their own: ties and NaN are resolved as on the CPU.
#include <cstring>
#include <limits>
#include <random>

#include "argand/base/str.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/device_array.h"

namespace argand::cuda {
namespace {

using MaxPool = OnDevice;

PoolShape windows(int64_t planes, int64_t h, int64_t w, int64_t size) {
  PoolShape s{};
  s.planes = planes;
  for (size_t d = 0; d < 3; ++d) {
    s.in[d] = d == 0 ? 1 : d == 1 ? h : w;
    s.kernel[d] = s.stride[d] = d == 0 ? 1 : size;
    s.dilation[d] = 1;
    s.out[d] = s.in[d] / s.kernel[d];
  }
  return s;
}

TEST_F(MaxPool, TiesAndNaNOfTilesAreTheCpus) {
  std::mt19937 random(1);
  for (const PoolShape& s : {windows(7, 6, 10, 2), windows(300, 28, 28, 2), windows(3, 7, 9, 2), windows(5, 9, 9, 3)}) {
    SCOPED_TRACE(str("planes of ", s.in[1], " x ", s.in[2], ", windows of ", s.kernel[1]));
    std::vector<float> x(static_cast<size_t>(s.planes * s.in_size())), y(static_cast<size_t>(s.planes * s.out_size()));
    for (float& e : x) {
      const auto value = static_cast<float>(random() % 5);
      e = value == 4 ? std::numeric_limits<float>::quiet_NaN() : value;
    }
    std::vector<int64_t> indices(y.size());
    auto gx = x, gy = y;
    for (float& e : gy) e = static_cast<float>(random() % 100);
    const DeviceArray<float> dx(x), dy(y), dgx(gx), dgy(gy);
    const DeviceArray<int64_t> got_indices(indices);
    const Device here(kCUDA);
    blocks::max_pool.on(kCPU)(s, kFloat, x.data(), y.data(), {indices.data(), kLong});
    blocks::max_pool.on(here)(s, kFloat, dx.data(), dy.data(), {got_indices.data(), kLong});
    EXPECT_EQ(got_indices.values(), indices);
    const auto got = dy.values();
    EXPECT_EQ(std::memcmp(got.data(), y.data(), y.size() * sizeof(float)), 0);
    blocks::max_pool_backward.on(kCPU)(s, kFloat, gy.data(), {indices.data(), kLong}, gx.data());
    blocks::max_pool_backward.on(here)(s, kFloat, dgy.data(), {got_indices.data(), kLong}, dgx.data());
    EXPECT_EQ(dgx.values(), gx);
  }
}

}  // namespace
}  // namespace argand::cuda
