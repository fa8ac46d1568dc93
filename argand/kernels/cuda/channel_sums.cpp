#include "argand/kernels/cuda/channel_sums.h"

#include <algorithm>
#include <numeric>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/row_form.h"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

constexpr const char *kParts = "argand/kernels/cuda/channel_sums.cuh", *kJoin = "argand/kernels/cuda/column_sums.cuh";
constexpr int64_t kWarp = 32, kThreads = 256, kColumnThreads = 128, kWarpRun = 1024;

// How [n, width] columns, of which a thread has `each`, are cut into parts of rows: enough blocks for a large GPU, at
// least 16 rows for each thread.  Where there are few columns a block reads several rows at once.
struct ColumnParts {
  int64_t rows, count;
  int lanes, at_once;
  Grid grid;
  ColumnParts(int64_t n, int64_t width, int64_t each) {
    // As few blocks as possible, all with the same number of warps.
    const int64_t wide = (width + each - 1) / each;
    const auto whole_warps = [](int64_t threads) {
      return static_cast<unsigned>((threads + kWarp - 1) / kWarp * kWarp);
    };
    at_once = static_cast<int>(std::max<int64_t>(1, kColumnThreads / wide));
    grid.blocks = blocks_for(wide, kColumnThreads);
    grid.threads = whole_warps(at_once > 1 ? wide * at_once : (wide + grid.blocks - 1) / grid.blocks);
    lanes = at_once > 1 ? static_cast<int>(wide) : static_cast<int>(grid.threads);
    const int64_t most = at_once > 1 ? 768 : 2048 / grid.blocks;
    const int64_t wanted = std::clamp<int64_t>(most, 1, (n + 16 * at_once - 1) / (16 * at_once));
    rows = (n + wanted * at_once - 1) / (wanted * at_once) * at_once;
    count = (n + rows - 1) / rows;
    grid.blocks_y = static_cast<unsigned>(count);
  }
};

// A warp or a block for each plane.
struct PlaneGrid {
  bool one_warp;
  Grid grid;
  PlaneGrid(int64_t planes, int64_t inner) : one_warp(inner <= kWarpRun) {
    grid.threads = kThreads;
    grid.blocks = blocks_for(planes, one_warp ? kThreads / kWarp : 1);
  }
};

Grid join_grid(int64_t width) {
  Grid grid;
  grid.blocks = blocks_for(width, kWarp);
  grid.threads = grid.threads_y = static_cast<unsigned>(kWarp);
  return grid;
}

void channel_moments(const ChannelPass& c, const void* x, void* mean, void* variance) {
  if (c.channels == 0) return;
  const ScalarType sums = op_math_type(c.type);
  const bool columns = c.inner == 1;
  const int vector = vector_width(c.type, c.channels, x);
  const ColumnParts parts(c.n, c.channels, vector);
  const int64_t count = columns ? parts.count : c.n, size = count * c.channels * element_size(sums);
  const Scratch memory(2 * size);
  char *means = memory.as<char>(), *squares = means + size;
  if (columns) {
    launch(kernel_instance(kParts, "column_moments", c.type, vector), parts.grid, x, c.n, c.channels, parts.rows,
           parts.lanes, parts.at_once, means, squares);
  } else {
    const PlaneGrid planes(c.n * c.channels, c.inner);
    launch(kernel_instance(kParts, "plane_moments", c.type, vector_width(c.type, c.inner, x), planes.one_warp),
           planes.grid, x, c.n * c.channels, c.inner, means, squares);
  }
  const int64_t each = columns ? parts.rows : c.inner, last = columns ? c.n - (count - 1) * parts.rows : c.inner;
  launch(kernel_instance(kJoin, "join_moments", sums), join_grid(c.channels), means, squares, count, c.channels, each,
         last, mean, variance);
}

void products_of_channels(const ChannelPass& c, const void* g, const void* x, const void* center, void* sum,
                          void* product) {
  channel_products(c, g, x, {center, nullptr, 1, c.channels}, sum, product);
}

const bool registered = (blocks::channel_moments.set(kCUDA, channel_moments),
                         blocks::channel_products.set(kCUDA, products_of_channels), true);

}  // namespace

void channel_products(const ChannelPass& c, const void* g, const void* x, const Centers& centers, void* sum,
                      void* product) {
  if (c.channels == 0) return;
  const ScalarType sums = op_math_type(c.type);
  const bool columns = c.inner == 1, of_rows = centers.count * centers.step != c.channels;
  const int vector = vector_width(c.type, of_rows ? std::gcd(c.channels, centers.step) : c.channels, g, x);
  const ColumnParts parts(std::max<int64_t>(c.n, 1), c.channels, vector);
  const int64_t count = c.n == 0 ? 0 : columns ? parts.count : c.n, size = count * c.channels * element_size(sums);
  const Scratch memory(2 * size);
  char *of_sum = memory.as<char>(), *of_product = of_sum + size;
  if (columns && count > 0) {
    launch(kernel_instance(kParts, "column_products", c.type, vector, of_rows), parts.grid, g, x, centers, c.n,
           c.channels, parts.rows, parts.lanes, parts.at_once, of_sum, of_product);
  } else if (count > 0) {
    const PlaneGrid planes(c.n * c.channels, c.inner);
    launch(kernel_instance(kParts, "plane_products", c.type, vector_width(c.type, c.inner, g, x), planes.one_warp),
           planes.grid, g, x, centers, c.n * c.channels, c.inner, of_sum, of_product);
  }
  if (!sum && !product) return;
  Grid grid = join_grid(c.channels);
  grid.blocks_y = sum && product ? 2 : 1;
  launch(kernel_instance(kJoin, "add_parts", sums), grid, sum ? of_sum : of_product, of_product, count, c.channels,
         sum ? sum : product, product);
}

}  // namespace argand::cuda
