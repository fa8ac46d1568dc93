#include <algorithm>

#include "argand/kernels/cuda/conv.h"
#include "argand/kernels/cuda/few_channels_plan.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda::own {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/conv_few_channels.cuh";
constexpr int kMostWeights = 9 << 10;  // all of them are in shared memory

bool is_flat_3x3(const ConvShape& s) {
  for (size_t d = 0; d < 3; ++d)
    if (s.kernel[d] != (d == 0 ? 1 : 3) || s.stride[d] != 1 || s.dilation[d] != 1) return false;
  return s.in[0] == 1 && s.out[0] == 1 && s.padding[0] == 0 && s.groups == 1;
}

// c == 0: not for these kernels.
FewChannels few_channels(const ConvShape& s, ScalarType dtype) {
  // With these, all that is below fits an int.
  constexpr int64_t kMostImages = 1 << 20, kMostSide = 1 << 10, kMostChannels = 64;
  if (dtype != kFloat || !is_flat_3x3(s) || s.n == 0 || s.in_size() == 0 || s.out_size() == 0) return {};
  if (s.n > kMostImages || std::min(s.c, s.o) == 0 || std::max(s.c, s.o) > kMostChannels) return {};
  if (s.c * s.o * 9 > kMostWeights) return {};
  for (size_t d = 1; d < 3; ++d)
    if (s.in[d] > kMostSide || s.padding[d] > kMostSide) return {};
  const auto narrow = [](int64_t i) { return static_cast<int>(i); };
  return {narrow(s.c), narrow(s.o), narrow(s.in[1]), narrow(s.in[2]), narrow(s.padding[1]), narrow(s.padding[2])};
}

bool forward(const FewChannels& s, int64_t n, bool turned, const void* x, const void* w, const void* bias, void* y) {
  if (s.c == 0) return false;
  const FewForward& f = forward_plan(s, n);
  if (f.band == 0 || f.bytes() > shared_memory_per_block()) return false;
  const Kernel run = kernel_instance(kHeader, "few_channels_forward", s.c, s.o, s.h, s.w, s.pad_y, s.pad_x, f.images,
                                     f.band, f.channels, f.pitch, f.outputs, f.shares, turned);
  const auto bytes = static_cast<size_t>(f.bytes());
  run.allow_shared_memory(bytes);
  const int64_t tiles = f.tiles(n), results = n * s.o * s.out_h() * s.out_w();
  const auto range = [](const void* data, int64_t numel) {
    return MemoryRange{data, static_cast<size_t>(numel) * sizeof(float)};
  };
  const EpilogueSlot epilogue{
      y, results, kFloat, 1, {range(x, n * s.c * s.h * s.w), range(w, s.c * s.o * 9), range(bias, bias ? s.o : 0)}};
  launch(run,
         {.blocks = blocks_for(std::min<int64_t>(tiles, f.blocks() * multi_processor_count()), 1),
          .threads = static_cast<unsigned>(f.threads()),
          .shared_memory = bytes},
         epilogue, x, w, bias, y, static_cast<int>(n));
  return true;
}

}  // namespace

bool has_few_channels(const ConvShape& s, ScalarType dtype) { return few_channels(s, dtype).c != 0; }

bool few_channels_forward(const ConvShape& s, ScalarType dtype, const void* x, const void* w, const void* bias,
                          void* y) {
  return forward(few_channels(s, dtype), s.n, false, x, w, bias, y);
}

bool few_channels_input_grad(const ConvShape& s, ScalarType dtype, const void* gy, const void* w, void* gx) {
  FewChannels f = few_channels(s, dtype);
  if (f.c == 0 || f.pad_y > 2 || f.pad_x > 2) return false;
  f = {f.o, f.c, f.out_h(), f.out_w(), 2 - f.pad_y, 2 - f.pad_x};
  return forward(f, s.n, true, gy, w, nullptr, gx);
}

bool few_channels_weight_grad(const ConvShape& s, ScalarType dtype, const void* gy, const void* x, void* gw, void* gb) {
  const FewChannels shape = few_channels(s, dtype);
  if (shape.c == 0) return false;
  const FewWeightGrad& f = weight_grad_plan(shape, s.n);
  if (f.band == 0 || f.bytes() > shared_memory_per_block()) return false;
  const Kernel run = kernel_instance(kHeader, "few_channels_weight_grad", shape.c, shape.o, shape.h, shape.w,
                                     shape.pad_y, shape.pad_x, f.band, f.rows, gb != nullptr);
  const auto bytes = static_cast<size_t>(f.bytes());
  run.allow_shared_memory(bytes);
  const int64_t parts = weight_grad_parts(f, s.n);
  const SummedParts sum{gw, s.o * s.c * 9, gb, gb ? s.o : 0};
  const Scratch sums(parts * (sum.size + sum.more_size) * int64_t{sizeof(float)});
  launch(run, {.blocks = blocks_for(parts, 1), .threads = static_cast<unsigned>(f.threads()), .shared_memory = bytes},
         gy, x, sums.data(), static_cast<int>(s.n));
  add_parts(dtype, sums.data(), parts, sum);
  return true;
}

}  // namespace argand::cuda::own
