#include <algorithm>

#include "argand/kernels/cuda/conv.h"
#include "argand/kernels/cuda/depthwise_shape.cuh"
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda::own {
namespace {

constexpr int64_t kMost = int64_t{1} << 31;
constexpr int kStrip = 4;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

constexpr const char* kHeader = "argand/kernels/cuda/conv_depthwise.cuh";

int width_of(ScalarType dtype) { return static_cast<int>(16 / element_size(dtype)); }

MemoryRange range_of(ScalarType dtype, const void* data, int64_t n) {
  return {data, data ? static_cast<size_t>(n * element_size(dtype)) : 0};
}

// The shapes of input and output, and a grid with enough blocks for several on each multiprocessor.
struct Work {
  DepthwiseShape shape{};
  Grid grid;
  Work(int64_t n, int64_t c, const std::array<int64_t, 3>& in, const std::array<int64_t, 3>& out,
       const std::array<int64_t, 3>& padding, int width, int64_t blocks_each) {
    const int64_t vectors = c / width, shares = ceil_div(vectors, kDepthwiseVectors);
    const int64_t strips_of_row = ceil_div(out[2], kStrip);
    shape.vectors = static_cast<int>(ceil_div(vectors, shares));
    shape.strips = n * out[1] * strips_of_row;
    shape.strips_of_row = fast_div(static_cast<unsigned>(strips_of_row));
    shape.out_h = fast_div(static_cast<unsigned>(out[1]));
    shape.c = static_cast<int>(c);
    shape.in_h = static_cast<int>(in[1]);
    shape.in_w = static_cast<int>(in[2]);
    shape.out_w = static_cast<int>(out[2]);
    shape.padding_h = static_cast<int>(padding[1]);
    shape.padding_w = static_cast<int>(padding[2]);
    const int64_t blocks = std::min(ceil_div(shape.strips, kDepthwiseThreads / shape.vectors),
                                    std::max<int64_t>(1, int64_t{multi_processor_count()} * blocks_each / shares));
    grid = {static_cast<unsigned>(blocks), kDepthwiseThreads, static_cast<unsigned>(shares)};
  }
};
constexpr int64_t kBlocksEach = 16;

}  // namespace

bool is_depthwise(const ConvShape& s, ScalarType dtype) {
  if (dtype != kHalf && dtype != kBFloat16 && dtype != kFloat) return false;
  if (s.groups != s.c || s.o != s.c || s.c % width_of(dtype) != 0 || s.in[0] != 1 || s.kernel[0] != 1) return false;
  if (s.padding[0] != 0 || s.n == 0 || s.c == 0) return false;
  const int64_t window = s.kernel[1], stride = s.stride[1];
  if ((window != 3 && window != 5 && window != 7) || (stride != 1 && stride != 2)) return false;
  for (size_t d = 1; d < 3; ++d)
    if (s.kernel[d] != window || s.stride[d] != stride || s.dilation[d] != 1 || s.in[d] + 2 * s.padding[d] >= kMost)
      return false;
  const auto strips = [&](const std::array<int64_t, 3>& size) { return s.n * size[1] * ceil_div(size[2], kStrip); };
  return s.c < kMost && strips(s.in) < kMost && strips(s.out) < kMost;
}

void depthwise_forward(const ConvShape& s, ScalarType dtype, const void* x, const void* w, const void* bias, void* y) {
  const int width = width_of(dtype);
  const Work work(s.n, s.c, s.in, s.out, s.padding, width, kBlocksEach);
  const EpilogueSlot epilogue{y,
                              s.n * s.c * s.out_size(),
                              dtype,
                              16,
                              {range_of(dtype, x, s.n * s.c * s.in_size()), range_of(dtype, w, s.c * s.kernel_size()),
                               range_of(dtype, bias, s.c)}};
  launch(kernel_instance(kHeader, "depthwise_forward", dtype, width, static_cast<int>(s.kernel[1]),
                         static_cast<int>(s.stride[1]), kStrip),
         work.grid, epilogue, x, w, bias, y, work.shape);
}

void depthwise_input_grad(const ConvShape& s, ScalarType dtype, const void* gy, const void* w, void* gx) {
  const int width = width_of(dtype), window = static_cast<int>(s.kernel[1]);
  if (s.stride[1] == 2) {
    const Work work(s.n, s.c, s.out, s.in, s.padding, width, kBlocksEach);
    return launch(
        kernel_instance(kHeader, "depthwise_input_gradient", dtype, width, window, kStrip, s.padding[2] % 2 != 0),
        work.grid, gy, w, gx, work.shape);
  }
  // A convolution with the taps turned.
  Work work(s.n, s.c, s.out, s.in, {0, window - 1 - s.padding[1], window - 1 - s.padding[2]}, width, kBlocksEach);
  work.shape.turned = 1;
  const void* no_bias = nullptr;
  const EpilogueSlot epilogue{
      gx,
      s.n * s.c * s.in_size(),
      dtype,
      16,
      {range_of(dtype, gy, s.n * s.c * s.out_size()), range_of(dtype, w, s.c * s.kernel_size())}};
  launch(kernel_instance(kHeader, "depthwise_forward", dtype, width, window, 1, kStrip), work.grid, epilogue, gy, w,
         no_bias, gx, work.shape);
}

void depthwise_weight_grad(const ConvShape& s, ScalarType dtype, const void* gy, const void* x, void* gw) {
  const int window = static_cast<int>(s.kernel[1]);
  // A thread keeps the sums of all taps of its channels.
  const int width = std::min(width_of(dtype), window == 3 ? 4 : 2);
  const Work work(s.n, s.c, s.in, s.out, s.padding, width, 4);
  const Scratch parts(int64_t{work.grid.blocks} * s.c * s.kernel_size() * element_size(kFloat));
  launch(kernel_instance(kHeader, "depthwise_weight_gradient", dtype, width, window, static_cast<int>(s.stride[1]),
                         kStrip),
         work.grid, gy, x, parts.data(), work.shape);
  add_parts(dtype, parts.data(), work.grid.blocks, {gw, s.c * s.kernel_size()});
}

}  // namespace argand::cuda::own
