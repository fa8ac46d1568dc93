#include <algorithm>

#include "argand/kernels/cuda/conv.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda::own {
namespace {

constexpr int kThreads = 256, kOutputs = 4, kTaps = 9, kSegment = 7, kMostBlocks = 528;
constexpr int kSumsBytes = kThreads * (kOutputs * kTaps + 1) * 4, kMostBytes = 46 << 10;

// As in conv_few_channels.cuh.
struct FewChannels {
  int n, c, o, h, w, out_h, out_w, pad_y, pad_x;
  int band = 0, bands = 0, segments = 0, x_pitch = 0, x_plane = 0, g_pitch = 0, g_plane = 0, units = 0, groups = 0;
  int bytes() const { return 4 * (c * x_plane + (o + kOutputs - 1) / kOutputs * kOutputs * g_plane); }
};

bool is_flat_3x3(const cpu::ConvShape& s) {
  for (size_t d = 0; d < 3; ++d)
    if (s.kernel[d] != (d == 0 ? 1 : 3) || s.stride[d] != 1 || s.dilation[d] != 1) return false;
  return s.in[0] == 1 && s.out[0] == 1 && s.padding[0] == 0 && s.groups == 1;
}

// No band: the shape is not for this kernel.
FewChannels plan(const cpu::ConvShape& s) {
  FewChannels f{};
  constexpr int64_t kLargest = int64_t{1} << 24;
  if (!is_flat_3x3(s) || s.n == 0 || s.in_size() == 0 || s.out_size() == 0 || s.c == 0 || s.o == 0) return f;
  if ((s.o + kOutputs - 1) / kOutputs * s.c > kThreads || s.n > kLargest || s.in_size() > kLargest) return f;
  const auto narrow = [](int64_t i) { return static_cast<int>(i); };
  f = {.n = narrow(s.n),
       .c = narrow(s.c),
       .o = narrow(s.o),
       .h = narrow(s.in[1]),
       .w = narrow(s.in[2]),
       .out_h = narrow(s.out[1]),
       .out_w = narrow(s.out[2]),
       .pad_y = narrow(s.padding[1]),
       .pad_x = narrow(s.padding[2])};
  f.units = (f.o + kOutputs - 1) / kOutputs * f.c;
  f.groups = kThreads / f.units;
  f.segments = (f.out_w + kSegment - 1) / kSegment;
  f.g_pitch = f.segments * kSegment;
  f.x_pitch = f.g_pitch + 2;
  for (int bands = 1; bands <= f.out_h; ++bands) {
    f.bands = bands;
    f.band = (f.out_h + bands - 1) / bands;
    f.x_plane = (f.band + 2) * f.x_pitch | 1;
    f.g_plane = f.band * f.g_pitch | 1;
    if (f.bytes() <= kMostBytes && int64_t{f.n} * f.bands < (int64_t{1} << 31)) return f;
  }
  f.band = 0;
  return f;
}

}  // namespace

bool few_channels_weight_grad(const cpu::ConvShape& s, ScalarType dtype, const void* gy, const void* x, void* gw) {
  if (dtype != kFloat) return false;
  const FewChannels f = plan(s);
  if (f.band == 0) return false;
  const Kernel run = kernel("argand/kernels/cuda/conv_few_channels.cuh", "few_channels_weight_grad");
  const int64_t parts = std::min<int64_t>(kMostBlocks, int64_t{f.n} * f.bands), size = s.o * s.c * kTaps;
  const Scratch sums(parts * size * int64_t{sizeof(float)});
  launch(run,
         {.blocks = blocks_for(parts, 1),
          .threads = kThreads,
          .shared_memory = static_cast<size_t>(std::max(f.bytes(), kSumsBytes))},
         gy, x, sums.data(), f);
  add_parts(dtype, sums.data(), gw, size, parts);
  return true;
}

}  // namespace argand::cuda::own
