#include "argand/kernels/cuda/pool_channels_last.h"

#include <algorithm>
#include <bit>

#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda::channels_last {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/pool_channels_last.cuh";
constexpr unsigned kThreads = 256;
constexpr int64_t kMostLanes = 32;

const char* windows(bool adaptive) { return adaptive ? "AdaptiveWindows" : "FixedWindows"; }

// Channels that a thread reads as one.
int width_of(const PoolShape& s, ScalarType dtype, const void* a, const void* b) {
  const auto addresses = reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b);
  int64_t width = std::max<int64_t>(1, 16 / element_size(dtype));
  while (width > 1 && (s.channels % width != 0 || addresses % static_cast<uintptr_t>(width * element_size(dtype)) != 0))
    width /= 2;
  return static_cast<int>(width);
}

Grid grid_of(const PoolShape& s, int64_t plane_size, int width) {
  return {blocks_for(s.planes / width * plane_size, kThreads), kThreads};
}

}  // namespace

void max_pool(const PoolShape& s, ScalarType dtype, bool adaptive, const void* x, void* y, const Positions& at) {
  const int width = width_of(s, dtype, x, y);
  launch(kernel_instance(kHeader, "max_pool_channels", dtype, at.dtype, windows(adaptive), width),
         grid_of(s, s.out_size(), width), x, y, at.data, s);
}

void max_pool_backward(const PoolShape& s, ScalarType dtype, bool adaptive, const void* grad_y,
                       const ConstPositions& at, void* grad_x) {
  const int width = width_of(s, dtype, grad_y, grad_x);
  launch(kernel_instance(kHeader, "max_pool_channels_backward", dtype, at.dtype, windows(adaptive), width),
         grid_of(s, s.in_size(), width), grad_y, at.data, grad_x, s);
}

void avg_pool(const PoolShape& s, ScalarType dtype, bool adaptive, const AverageDivisor& divisor, const void* x,
              void* y) {
  const int width = width_of(s, dtype, x, y);
  if (!adaptive || s.out_size() != 1)
    return launch(kernel_instance(kHeader, "avg_pool_channels", dtype, windows(adaptive), width),
                  grid_of(s, s.out_size(), width), x, y, s, divisor);
  const int64_t vectors = s.channels / width;
  const auto lanes = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::min(vectors, kMostLanes))));
  launch(kernel_instance(kHeader, "average_channels", dtype, width, static_cast<int>(lanes)),
         {blocks_for(s.planes / s.channels, 1), kThreads, blocks_for(vectors, lanes)}, x, y, s.channels, s.in_size());
}

void avg_pool_backward(const PoolShape& s, ScalarType dtype, bool adaptive, const AverageDivisor& divisor,
                       const void* grad_y, void* grad_x) {
  const int width = width_of(s, dtype, grad_y, grad_x);
  launch(kernel_instance(kHeader, "avg_pool_channels_backward", dtype, windows(adaptive), width),
         grid_of(s, s.in_size(), width), grad_y, grad_x, s, divisor);
}

}  // namespace argand::cuda::channels_last
