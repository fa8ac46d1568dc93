#include "argand/kernels/cuda/small_product.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "argand/core/dispatch.h"
#include "argand/core/float32_precision.h"
#include "argand/kernels/cuda/arguments.cuh"
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda {
namespace {

constexpr const char* kHeader = "argand/kernels/cuda/small_product.cuh";
constexpr int64_t kWarp = 32, kMostWarps = kSmallProductThreads / kWarp;
constexpr int64_t kFullDevice = 2048;  // warps; more of a tile only make sums longer
constexpr int64_t kMostElements = 1 << 18, kMostDepth = 1 << 12, kMostBatch = 65535;
// Multiplications: beyond them the library is faster, in float32 and in types for which tensor cores come into play.
constexpr int64_t kMostFloat = 1 << 24, kMost = 1 << 20;
// From here on the operands, which each tile reads, take longer than the sums of a larger tile.
constexpr int64_t kLargeTiles = 512, kLargeLoads = 1 << 16;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Plan {
  int64_t side = 0, row_tiles = 0, column_tiles = 0, threads = 0;  // side 0: not for this kernel
};

Plan plan(const MatrixProduct& p, int64_t columns) {
  if (!contains(kFloatingTypes, p.dtype) || p.m == 0 || p.n == 0 || p.k == 0 || p.batch == 0) return {};
  if (std::max(p.m, columns) > kMostElements || p.k > kMostDepth || p.batch > kMostBatch) return {};
  Plan out;
  int64_t tiles = 0;
  const auto cut = [&](int64_t side) {
    out.side = side;
    out.row_tiles = ceil_div(p.m, side);
    out.column_tiles = ceil_div(columns, side);
    tiles = out.row_tiles * out.column_tiles * p.batch;
  };
  cut(4);
  if (p.dtype == kFloat && tiles >= kLargeTiles && tiles > kLargeLoads / p.k) cut(8);
  const int64_t elements = tiles * out.side * out.side;
  const int64_t most = p.dtype == kFloat && !allow_tf32_matmul() ? kMostFloat : kMost;
  if (elements > kMostElements || elements > most / p.k) return {};
  const int64_t shares = kWarp * std::clamp<int64_t>(kFullDevice / tiles, 1, kMostWarps);
  out.threads = ceil_div(ceil_div(p.k, ceil_div(p.k, shares)), kWarp) * kWarp;  // as even as can be
  return out;
}

// Whether the kernel can count its elements in ints.
bool fits(const MatrixProduct::Operand& o, int64_t rows, int64_t columns, int64_t batch) {
  const auto span = [](int64_t n, int64_t stride) {
    return static_cast<double>(n - 1) * std::abs(static_cast<double>(stride));
  };
  const auto is_int = [](int64_t i) { return i == static_cast<int>(i); };
  return is_int(o.row_stride) && is_int(o.column_stride) && is_int(o.batch_stride) &&
         span(rows, o.row_stride) + span(columns, o.column_stride) + span(batch, o.batch_stride) <
             std::numeric_limits<int>::max();
}

// How lines of `length` elements at `stride`, one for each k, are read.
const char* form(const MatrixProduct& p, const MatrixProduct::Operand& o, int64_t length, int64_t stride, int64_t next,
                 int64_t side) {
  const auto element = static_cast<int64_t>(element_size(p.dtype)), bytes = std::min<int64_t>(16, side * element);
  const bool aligned = reinterpret_cast<uintptr_t>(o.data) % static_cast<uintptr_t>(bytes) == 0 &&
                       next * element % bytes == 0 && (p.batch == 1 || o.batch_stride * element % bytes == 0);
  return stride == 1 && length % side == 0 && aligned ? "Vectors" : "Elements";
}

}  // namespace

bool small_product(const MatrixProduct& p, void* a_sums) {
  const Plan to = plan(p, p.n + (a_sums ? 1 : 0));
  const MatrixProduct::Operand c{p.c, p.c_row_stride, 1, p.c_batch_stride};
  if (to.side == 0 || !fits(p.a, p.m, p.k, p.batch) || !fits(p.b, p.k, p.n, p.batch) || !fits(c, p.m, p.n, p.batch))
    return false;
  const auto narrow = [](int64_t i) { return static_cast<int>(i); };
  const SmallProduct s{narrow(p.m),
                       narrow(p.n),
                       narrow(p.k),
                       narrow(p.a.row_stride),
                       narrow(p.a.column_stride),
                       narrow(p.a.batch_stride),
                       narrow(p.b.row_stride),
                       narrow(p.b.column_stride),
                       narrow(p.b.batch_stride),
                       narrow(p.c_row_stride),
                       narrow(p.c_batch_stride)};
  const Kernel run = kernel_instance(kHeader, "small_product", p.dtype, narrow(to.side),
                                     form(p, p.a, p.m, p.a.row_stride, p.a.column_stride, to.side),
                                     form(p, p.b, p.n, p.b.column_stride, p.b.row_stride, to.side));
  const auto range = [&](const MatrixProduct::Operand& o, int64_t rows, int64_t columns) {
    const int64_t last = (rows - 1) * o.row_stride + (columns - 1) * o.column_stride + (p.batch - 1) * o.batch_stride;
    return MemoryRange{o.data, static_cast<size_t>((last + 1) * element_size(p.dtype))};
  };
  const auto vector = [&](const void* v, int64_t n) {
    return MemoryRange{v, v ? static_cast<size_t>(n * element_size(p.dtype)) : 0};
  };
  const bool dense = p.c_row_stride == p.n && (p.batch == 1 || p.c_batch_stride == p.m * p.n);
  const EpilogueSlot epilogue{p.c,
                              dense ? p.batch * p.m * p.n : 0,
                              p.dtype,
                              1,
                              {range(p.a, p.m, p.k), range(p.b, p.k, p.n), vector(p.bias, p.n), vector(a_sums, p.m)}};
  const auto start = [&](auto alpha, auto beta) {
    launch(run,
           {.blocks = static_cast<unsigned>(to.column_tiles),
            .threads = static_cast<unsigned>(to.threads),
            .blocks_y = static_cast<unsigned>(to.row_tiles),
            .blocks_z = static_cast<unsigned>(p.batch)},
           epilogue, p.a.data, p.b.data, p.c, p.bias, a_sums, s, alpha, beta);
  };
  p.dtype == kDouble ? start(p.alpha.to<double>(), p.beta.to<double>())
                     : start(p.alpha.to<float>(), p.beta.to<float>());
  return true;
}

}  // namespace argand::cuda
