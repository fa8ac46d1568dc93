#include <algorithm>
#include <limits>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/channel_sums.h"
#include "argand/kernels/cuda/row_form.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/channel_map.cuh";
constexpr int kThreads = 256;

template <class I, class... Given>
void launch_map(const char* name, const char* number, const cpu::ChannelPass& c, int width, Given... given) {
  const int64_t total = c.n * c.channels * c.inner;
  const unsigned blocks =
      std::min(blocks_for(total, int64_t{kThreads} * width), 16u * static_cast<unsigned>(multi_processor_count()));
  launch(kernel_instance(kHeader, name, c.type, width, c.inner == 1, number), {blocks, kThreads}, given...,
         static_cast<I>(total), static_cast<I>(c.channels), static_cast<I>(c.inner));
}

// 32-bit numbers where they hold all elements and a step beyond.
template <class... Given>
void launch_map(const char* name, const cpu::ChannelPass& c, int width, Given... given) {
  if (c.n * c.channels * c.inner == 0) return;
  if (c.n * c.channels * c.inner <= std::numeric_limits<int>::max())
    launch_map<unsigned>(name, "unsigned", c, width, given...);
  else
    launch_map<unsigned long long>(name, "unsigned long long", c, width, given...);
}

void channel_scale(const cpu::ChannelPass& c, const void* x, const void* center, const void* scale, const void* shift,
                   void* y) {
  const int width =
      c.inner == 1 ? vector_width(c.type, c.channels, x, y, center, scale, shift) : vector_width(c.type, c.inner, x, y);
  launch_map("channel_scale", c, width, x, y, center, scale, shift);
}

void channel_gradient(const cpu::ChannelPass& c, const void* g, const void* x, const void* center, const void* scale,
                      const void* slope, const void* shift, void* out) {
  const int width = c.inner == 1 ? vector_width(c.type, c.channels, g, x, out, center, scale, slope, shift)
                                 : vector_width(c.type, c.inner, g, x, out);
  launch_map("channel_gradient", c, width, g, x, out, center, scale, slope, shift);
}

const bool registered =
    (blocks::channel_scale.set(kCUDA, channel_scale), blocks::channel_gradient.set(kCUDA, channel_gradient), true);

}  // namespace
}  // namespace argand::cuda
