#include <algorithm>
#include <limits>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/channel_sums.h"
#include "argand/kernels/cuda/row_form.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/channel_map.cuh";
constexpr int kThreads = 256;

template <class I, class Start>
void launch_map(const char* name, const char* number, const ChannelPass& c, int width, Start start) {
  const int64_t total = c.n * c.channels * c.inner;
  const unsigned blocks =
      std::min(blocks_for(total, int64_t{kThreads} * width), 16u * static_cast<unsigned>(multi_processor_count()));
  start(kernel_instance(kHeader, name, c.type, width, c.inner == 1, number), Grid{blocks, kThreads},
        static_cast<I>(total), static_cast<I>(c.channels), static_cast<I>(c.inner));
}

// start(kernel, grid, total, channels, inner), whose numbers have 32 bits where these hold all elements and a step
// beyond.
template <class Start>
void launch_map(const char* name, const ChannelPass& c, int width, Start start) {
  if (c.n * c.channels * c.inner == 0) return;
  if (c.n * c.channels * c.inner <= std::numeric_limits<int>::max())
    launch_map<unsigned>(name, "unsigned", c, width, start);
  else
    launch_map<unsigned long long>(name, "unsigned long long", c, width, start);
}

void channel_scale(const ChannelPass& c, const void* x, const void* center, const void* scale, const void* shift,
                   void* y) {
  const int width =
      c.inner == 1 ? vector_width(c.type, c.channels, x, y, center, scale, shift) : vector_width(c.type, c.inner, x, y);
  const int64_t total = c.n * c.channels * c.inner;
  const auto coefficients = [&](const void* p) {
    return MemoryRange{p, p ? static_cast<size_t>(c.channels * element_size(op_math_type(c.type))) : 0};
  };
  const EpilogueSlot epilogue{y,
                              total,
                              c.type,
                              16,
                              {MemoryRange{x, static_cast<size_t>(total * element_size(c.type))}, coefficients(center),
                               coefficients(scale), coefficients(shift)}};
  launch_map("channel_scale", c, width, [&](const Kernel& kernel, const Grid& grid, auto... numbers) {
    launch(kernel, grid, epilogue, x, y, center, scale, shift, numbers...);
  });
}

void channel_gradient(const ChannelPass& c, const void* g, const void* x, const void* center, const void* scale,
                      const void* slope, const void* shift, void* out) {
  const int width = c.inner == 1 ? vector_width(c.type, c.channels, g, x, out, center, scale, slope, shift)
                                 : vector_width(c.type, c.inner, g, x, out);
  launch_map("channel_gradient", c, width, [&](const Kernel& kernel, const Grid& grid, auto... numbers) {
    launch(kernel, grid, g, x, out, center, scale, slope, shift, numbers...);
  });
}

const bool registered =
    (blocks::channel_scale.set(kCUDA, channel_scale), blocks::channel_gradient.set(kCUDA, channel_gradient), true);

}  // namespace
}  // namespace argand::cuda
