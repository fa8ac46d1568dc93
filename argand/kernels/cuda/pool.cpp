#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/kernels/cuda/pool_channels_last.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/pool.cuh";
constexpr unsigned kThreads = 256;
constexpr int64_t kWarp = 32;
constexpr const char *kFixed = "FixedWindows", *kAdaptive = "AdaptiveWindows";

template <class... Args>
void launch_pool(const char* name, ScalarType type, const char* windows, int64_t threads, Args... args) {
  launch(kernel_instance(kHeader, name, type, windows), {blocks_for(threads, kThreads), kThreads}, args...);
}

// Windows of 2 x 2 that tile flat planes, the elements of which may be read in pairs from `x`.
bool are_tiles(const PoolShape& s, ScalarType dtype, const void* x) {
  for (size_t d = 0; d < 3; ++d) {
    const int64_t size = d == 0 ? 1 : 2;
    if (s.kernel[d] != size || s.stride[d] != size || s.padding[d] != 0 || s.dilation[d] != 1) return false;
    if (s.in[d] != s.out[d] * size) return false;
  }
  return s.in[0] == 1 && s.planes * s.in_size() < int64_t{1} << 32 &&
         reinterpret_cast<uintptr_t>(x) % (2 * static_cast<size_t>(element_size(dtype))) == 0;
}
unsigned narrow(int64_t i) { return static_cast<unsigned>(i); }

void max_pool_with(const char* windows, const PoolShape& s, ScalarType dtype, const void* x, void* y,
                   const Positions& at) {
  const int64_t outputs = s.planes * s.out_size();
  launch(kernel_instance(kHeader, "max_pool", dtype, at.dtype, windows), {blocks_for(outputs, kThreads), kThreads}, x,
         y, at.data, s);
}
void max_pool(const PoolShape& s, ScalarType dtype, const void* x, void* y, const Positions& at) {
  if (s.channels) return channels_last::max_pool(s, dtype, false, x, y, at);
  const int64_t outputs = s.planes * s.out_size();
  if (are_tiles(s, dtype, x))
    return launch(kernel_instance(kHeader, "max_pool_tiles", dtype, at.dtype),
                  {blocks_for(outputs, kThreads), kThreads}, x, y, at.data, narrow(outputs), narrow(s.out[1]),
                  narrow(s.out[2]));
  max_pool_with(kFixed, s, dtype, x, y, at);
}
void adaptive_max_pool(const PoolShape& s, ScalarType dtype, const void* x, void* y, const Positions& at) {
  if (s.channels) return channels_last::max_pool(s, dtype, true, x, y, at);
  max_pool_with(kAdaptive, s, dtype, x, y, at);
}
bool overlap(const PoolShape& s) {
  for (size_t d = 0; d < 3; ++d)
    if (s.kernel[d] == 0 || s.stride[d] < (s.kernel[d] - 1) * s.dilation[d] + 1) return true;
  return false;
}

void max_pool_tiles_backward(const PoolShape& s, ScalarType dtype, const void* grad_y, const ConstPositions& at,
                             void* grad_x) {
  const int64_t outputs = s.planes * s.out_size();
  const auto range = [outputs](const void* data, ScalarType type) {
    return MemoryRange{data, static_cast<size_t>(outputs * element_size(type))};
  };
  const EpilogueSlot epilogue{grad_x,
                              s.planes * s.in_size(),
                              dtype,
                              2 * static_cast<size_t>(element_size(dtype)),
                              {range(grad_y, dtype), range(at.data, at.dtype)}};
  launch(kernel_instance(kHeader, "max_pool_tiles_backward", dtype, at.dtype),
         {blocks_for(outputs, kThreads), kThreads}, epilogue, grad_y, at.data, grad_x, narrow(outputs),
         narrow(s.out[1]), narrow(s.out[2]));
}

void max_pool_backward(const PoolShape& s, ScalarType dtype, const void* grad_y, const ConstPositions& at,
                       void* grad_x) {
  if (s.channels) return channels_last::max_pool_backward(s, dtype, s.kernel[0] == 0, grad_y, at, grad_x);
  if (are_tiles(s, dtype, grad_x)) return max_pool_tiles_backward(s, dtype, grad_y, at, grad_x);
  if (!overlap(s)) {
    const int64_t outputs = s.planes * s.out_size();
    const Kernel put = kernel_instance(kHeader, "max_pool_scatter", dtype, at.dtype);
    fill_bytes(grad_x, 0, static_cast<size_t>(s.planes * s.in_size() * element_size(dtype)));
    return launch(put, {blocks_for(outputs, kThreads), kThreads}, grad_y, at.data, grad_x, outputs, s.out_size(),
                  s.in_size());
  }
  const int64_t elements = s.planes * s.in_size();
  launch(kernel_instance(kHeader, "max_pool_backward", dtype, at.dtype, s.kernel[0] > 0 ? kFixed : kAdaptive),
         {blocks_for(elements, kThreads), kThreads}, grad_y, at.data, grad_x, s);
}

void avg_pool(const PoolShape& s, ScalarType dtype, const AverageDivisor& divisor, const void* x, void* y) {
  if (s.channels) return channels_last::avg_pool(s, dtype, false, divisor, x, y);
  launch_pool("avg_pool", dtype, kFixed, s.planes * s.out_size(), x, y, s, divisor);
}
void avg_pool_backward(const PoolShape& s, ScalarType dtype, const AverageDivisor& divisor, const void* grad_y,
                       void* grad_x) {
  if (s.channels) return channels_last::avg_pool_backward(s, dtype, false, divisor, grad_y, grad_x);
  launch_pool("avg_pool_backward", dtype, kFixed, s.planes * s.in_size(), grad_y, grad_x, s, divisor);
}

// Adaptive windows never reach outside: all elements that they cover count.
constexpr AverageDivisor kCovered{.count_padding = false, .fixed = 0};

void adaptive_avg_pool(const PoolShape& s, ScalarType dtype, const void* x, void* y) {
  if (s.channels) return channels_last::avg_pool(s, dtype, true, kCovered, x, y);
  if (s.out_size() == 1)
    return launch(kernel_instance(kHeader, "average_planes", dtype), {blocks_for(s.planes, kThreads / kWarp), kThreads},
                  x, y, s.planes, s.in_size());
  launch_pool("avg_pool", dtype, kAdaptive, s.planes * s.out_size(), x, y, s, kCovered);
}
void adaptive_avg_pool_backward(const PoolShape& s, ScalarType dtype, const void* grad_y, void* grad_x) {
  if (s.channels) return channels_last::avg_pool_backward(s, dtype, true, kCovered, grad_y, grad_x);
  launch_pool("avg_pool_backward", dtype, kAdaptive, s.planes * s.in_size(), grad_y, grad_x, s, kCovered);
}

// Positions in planes are 32-bit numbers there.
bool pools_take_channels_last(const PoolShape& s) { return s.in_size() < int64_t{1} << 31; }

const bool registered = [] {
  blocks::pools_take_channels_last.set(kCUDA, pools_take_channels_last);
  blocks::max_pool.set(kCUDA, max_pool);
  blocks::max_pool_backward.set(kCUDA, max_pool_backward);
  blocks::adaptive_max_pool.set(kCUDA, adaptive_max_pool);
  blocks::avg_pool.set(kCUDA, avg_pool);
  blocks::avg_pool_backward.set(kCUDA, avg_pool_backward);
  blocks::adaptive_avg_pool.set(kCUDA, adaptive_avg_pool);
  blocks::adaptive_avg_pool_backward.set(kCUDA, adaptive_avg_pool_backward);
  return true;
}();

}  // namespace
}  // namespace argand::cuda
