#include "argand/kernels/cuda/conv.h"

#include <algorithm>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/code_type.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

constexpr const char *kHeader = "argand/kernels/cuda/conv.cuh",
                     *kComplexHeader = "argand/kernels/cuda/complex_product.cuh";
constexpr unsigned kThreads = 256;
constexpr int64_t kTileColumns = 64, kTileDepth = 16, kTileSide = 16;
constexpr const char *kForward = "kForward", *kInputGrad = "kInputGrad", *kWeightGrad = "kWeightGrad";

const char* header_for(ScalarType dtype) { return is_complex(dtype) ? kComplexHeader : kHeader; }

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The size of the product in Note [Convolution as a product].
struct ProductSize {
  int64_t rows, columns, depth;
};

// Rows of a tile are 16 times this.
int rows_each(int64_t rows) { return rows <= kTileSide ? 1 : rows <= 2 * kTileSide ? 2 : 4; }

int64_t count_tiles(const ConvShape& s, const ProductSize& p) {
  return ceil_div(p.rows, kTileSide * rows_each(p.rows)) * ceil_div(p.columns, kTileColumns) * s.groups;
}

void launch_product(const char* kind, const ConvShape& s, ScalarType dtype, const ProductSize& p, const void* a,
                    const void* b, const void* bias, void* c, int64_t part_depth) {
  // Places are 32-bit numbers.
  for (size_t d = 0; d < 3; ++d)
    if (s.in[d] + 2 * s.padding[d] >= int64_t{1} << 30 || s.dilation[d] * s.kernel[d] >= int64_t{1} << 30 ||
        s.stride[d] >= int64_t{1} << 30)
      throw NotOnDevice("sizes, strides or dilations of 2^30 or more");
  const int64_t parts = std::max<int64_t>(1, ceil_div(p.depth, part_depth));
  launch(kernel_instance(header_for(dtype), "conv_product", code_type(dtype), kind, rows_each(p.rows)),
         {blocks_for(count_tiles(s, p) * parts, 1), kThreads}, a, b, bias, c, s, part_depth);
}

// A sum over everything but channels is long, and its tiles are few: it is cut into parts, by the shape alone.
int64_t part_depth(const ConvShape& s, const ProductSize& p) {
  constexpr int64_t kBlocks = 512, kLeastDepth = 256, kMostSums = int64_t{8} << 20;
  const int64_t elements = std::max<int64_t>(1, s.groups * p.rows * p.columns);
  int64_t parts = ceil_div(kBlocks, std::max<int64_t>(1, count_tiles(s, p)));
  parts = std::min(parts, std::max<int64_t>(1, kMostSums / elements));
  parts = std::clamp<int64_t>(parts, 1, std::max<int64_t>(1, p.depth / kLeastDepth));
  return std::max(ceil_div(ceil_div(p.depth, parts), kTileDepth) * kTileDepth, kTileDepth);
}

}  // namespace

namespace own {

void conv_forward(const ConvShape& s, ScalarType dtype, const void* x, const void* w, const void* bias, void* y) {
  const ProductSize p{s.o / s.groups, s.n * s.out_size(), s.c / s.groups * s.kernel_size()};
  launch_product(kForward, s, dtype, p, w, x, bias, y, std::max<int64_t>(p.depth, 1));
}

void conv_input_grad(const ConvShape& s, ScalarType dtype, const void* gy, const void* w, void* gx) {
  const ProductSize p{s.c / s.groups, s.n * s.in_size(), s.o / s.groups * s.kernel_size()};
  launch_product(kInputGrad, s, dtype, p, w, gy, nullptr, gx, std::max<int64_t>(p.depth, 1));
}

void conv_weight_grad(const ConvShape& s, ScalarType dtype, const void* gy, const void* x, void* gw) {
  const ProductSize p{s.o / s.groups, s.c / s.groups * s.kernel_size(), s.n * s.out_size()};
  const int64_t size = s.groups * p.rows * p.columns, each = part_depth(s, p);
  const int64_t parts = std::max<int64_t>(1, ceil_div(p.depth, each));
  if (size == 0) return;
  const auto sum_bytes = static_cast<size_t>(element_size(op_math_type(dtype)));
  const Scratch sums(static_cast<size_t>(parts * size) * sum_bytes);
  launch_product(kWeightGrad, s, dtype, p, gy, x, nullptr, sums.data(), each);
  add_parts(dtype, sums.data(), parts, {gw, size});
}

void add_parts(ScalarType dtype, const void* parts, int64_t count, const SummedParts& to) {
  constexpr int64_t kElements = 32;  // of a block
  const int64_t all = to.size + to.more_size;
  launch(kernel_instance(header_for(dtype), "add_parts", code_type(dtype)), {blocks_for(all, kElements), kThreads},
         parts, count, to.out, to.size, to.more, all);
}

void turn_weight(const ConvShape& s, ScalarType dtype, const void* w, void* turned) {
  const int64_t taps = s.kernel_size();
  launch(kernel_instance(kHeader, "turn_weight", dtype), {blocks_for(s.o * s.c * taps, kThreads), kThreads}, w, turned,
         s.o, s.c, taps);
}

void add_channel_bias(const ConvShape& s, ScalarType dtype, const void* bias, void* y) {
  const int64_t total = s.n * s.o * s.out_size();
  const auto bytes = [&](int64_t n) { return static_cast<size_t>(n * element_size(dtype)); };
  const EpilogueSlot epilogue{y, total, dtype, 1, {{bias, bytes(s.o)}}};
  launch(kernel_instance(kHeader, "add_channel_bias", dtype), {blocks_for(total, kThreads), kThreads}, epilogue, bias,
         y, s.o, s.out_size(), total);
}

}  // namespace own
}  // namespace argand::cuda
