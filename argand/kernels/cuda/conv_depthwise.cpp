#include <algorithm>

#include "argand/kernels/cuda/conv.h"
#include "argand/kernels/cuda/depthwise_shape.cuh"
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda::own {
namespace {

constexpr int64_t kMost = int64_t{1} << 31;
constexpr int kStrip = 4;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

int width_of(ScalarType dtype) { return static_cast<int>(16 / element_size(dtype)); }

}  // namespace

bool is_depthwise(const cpu::ConvShape& s, ScalarType dtype) {
  if (dtype != kHalf && dtype != kBFloat16 && dtype != kFloat) return false;
  if (s.groups != s.c || s.o != s.c || s.c % width_of(dtype) != 0 || s.in[0] != 1 || s.kernel[0] != 1) return false;
  if (s.padding[0] != 0 || s.n == 0 || s.c == 0) return false;
  const int64_t window = s.kernel[1], stride = s.stride[1];
  if ((window != 3 && window != 5 && window != 7) || (stride != 1 && stride != 2)) return false;
  for (size_t d = 1; d < 3; ++d)
    if (s.kernel[d] != window || s.stride[d] != stride || s.dilation[d] != 1 || s.in[d] + 2 * s.padding[d] >= kMost)
      return false;
  return s.c < kMost && s.n * s.out[1] * ceil_div(s.out[2], kStrip) < kMost;
}

void depthwise_forward(const cpu::ConvShape& s, ScalarType dtype, const void* x, const void* w, const void* bias,
                       void* y) {
  const int width = width_of(dtype);
  const int64_t vectors = s.c / width, shares = ceil_div(vectors, kDepthwiseVectors);
  const int64_t strips_of_row = ceil_div(s.out[2], kStrip);
  DepthwiseShape d{};
  d.vectors = static_cast<int>(ceil_div(vectors, shares));
  d.strips = s.n * s.out[1] * strips_of_row;
  d.strips_of_row = fast_div(static_cast<unsigned>(strips_of_row));
  d.out_h = fast_div(static_cast<unsigned>(s.out[1]));
  d.c = static_cast<int>(s.c);
  d.in_h = static_cast<int>(s.in[1]);
  d.in_w = static_cast<int>(s.in[2]);
  d.out_w = static_cast<int>(s.out[2]);
  d.padding_h = static_cast<int>(s.padding[1]);
  d.padding_w = static_cast<int>(s.padding[2]);
  const int64_t at_once = kDepthwiseThreads / d.vectors;
  // Enough for several blocks on each multiprocessor, each of which loads its weights once.
  const int64_t blocks =
      std::min(ceil_div(d.strips, at_once), std::max<int64_t>(1, int64_t{multi_processor_count()} * 16 / shares));
  const auto range = [&](const void* data, int64_t n) {
    return MemoryRange{data, data ? static_cast<size_t>(n * element_size(dtype)) : 0};
  };
  const EpilogueSlot epilogue{y,
                              s.n * s.c * s.out_size(),
                              dtype,
                              16,
                              {range(x, s.n * s.c * s.in_size()), range(w, s.c * s.kernel_size()), range(bias, s.c)}};
  launch(kernel_instance("argand/kernels/cuda/conv_depthwise.cuh", "depthwise_forward", dtype, width,
                         static_cast<int>(s.kernel[1]), static_cast<int>(s.stride[1]), kStrip),
         {static_cast<unsigned>(blocks), kDepthwiseThreads, static_cast<unsigned>(shares)}, epilogue, x, w, bias, y, d);
}

}  // namespace argand::cuda::own
