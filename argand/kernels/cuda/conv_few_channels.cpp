#include <algorithm>

#include "argand/kernels/cuda/conv.h"
#include "argand/kernels/cuda/few_channels.cuh"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda::own {
namespace {

constexpr int kMostBlocks = 528, kMostBytes = 46 << 10;

// Threads take as many output channels at a time.
int64_t output_groups(int64_t o) { return (o + kFewOutputs - 1) / kFewOutputs; }
// Of shared memory: a band of all channels, later the sums of all threads.
int64_t bytes_of(const FewChannels& f) {
  return 4 * (int64_t{f.c} * f.x_plane + output_groups(f.o) * kFewOutputs * f.g_plane);
}
constexpr int64_t kSumsBytes = 4 * kFewThreads * kFewSumsPitch;

bool is_flat_3x3(const cpu::ConvShape& s) {
  for (size_t d = 0; d < 3; ++d)
    if (s.kernel[d] != (d == 0 ? 1 : 3) || s.stride[d] != 1 || s.dilation[d] != 1) return false;
  return s.in[0] == 1 && s.out[0] == 1 && s.padding[0] == 0 && s.groups == 1;
}

// No band: the shape is not for this kernel.
FewChannels plan(const cpu::ConvShape& s) {
  FewChannels f{};
  constexpr int64_t kLargest = int64_t{1} << 24;  // so that all that is below fits an int
  if (!is_flat_3x3(s) || s.n == 0 || s.in_size() == 0 || s.out_size() == 0 || s.c == 0 || s.o == 0) return f;
  if (output_groups(s.o) * s.c > kFewThreads) return f;
  if (std::max({s.n, s.in_size(), s.out_size()}) > kLargest) return f;
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
  f.units = narrow(output_groups(f.o)) * f.c;
  f.groups = kFewThreads / f.units;
  f.segments = (f.out_w + kFewSegment - 1) / kFewSegment;
  f.g_pitch = f.segments * kFewSegment;
  f.x_pitch = f.g_pitch + 2;
  do {
    f.band = (f.out_h + f.bands) / (f.bands + 1);
    ++f.bands;
    f.x_plane = (f.band + 2) * f.x_pitch | 1;
    f.g_plane = f.band * f.g_pitch | 1;
    if (bytes_of(f) <= kMostBytes && int64_t{f.n} * f.bands < (int64_t{1} << 31)) return f;
  } while (f.band > 1);
  f.band = 0;
  return f;
}

}  // namespace

bool few_channels_weight_grad(const cpu::ConvShape& s, ScalarType dtype, const void* gy, const void* x, void* gw) {
  if (dtype != kFloat) return false;
  const FewChannels f = plan(s);
  if (f.band == 0) return false;
  const Kernel run = kernel("argand/kernels/cuda/conv_few_channels.cuh", "few_channels_weight_grad");
  const int64_t parts = std::min<int64_t>(kMostBlocks, int64_t{f.n} * f.bands), size = s.o * s.c * kFewTaps;
  const Scratch sums(parts * size * int64_t{sizeof(float)});
  launch(run,
         {.blocks = blocks_for(parts, 1),
          .threads = kFewThreads,
          .shared_memory = static_cast<size_t>(std::max(bytes_of(f), kSumsBytes))},
         gy, x, sums.data(), f);
  add_parts(dtype, sums.data(), gw, size, parts);
  return true;
}

}  // namespace argand::cuda::own
