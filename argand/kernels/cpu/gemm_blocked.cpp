#include "argand/kernels/cpu/gemm_blocked.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "argand/kernels/cpu/gemm_simd.h"
#include "argand/kernels/cpu/scratch.h"
#include "argand/runtime/cpu/thread_pool.h"

// Note [Blocks of a matrix product]
// C is cut into blocks of at most kBlock x kBlock, k into pieces of about kDepth.  For each, the panels of A (as high
// as a tile) and of B (as wide as a tile) are packed so that a tile reads both sequentially; a panel of B then stays in
// the L1 cache while it is multiplied by a group of panels of A that stays in the L2 cache.  Packing costs about half a
// cycle per element, so an operand that few tiles read is read in place, if its rows are dense; rows of A may lie
// anywhere, but if they are not dense a tile touches a cache line for each k. Threads share the packed panels and
// divide the tiles among them.  An element of C is the same chain of multiply-adds whichever tile it falls into, so the
// tiles may be divided as the number of threads suggests.

namespace argand::detail {

template <>
const GemmKernels<float>& gemm_kernels<float>(cpu::VectorUnit unit) {
#if defined(__x86_64__)
  if (unit == cpu::VectorUnit::kAvx512) return avx512::gemm_f32();
  if (unit == cpu::VectorUnit::kAvx2) return avx2::gemm_f32();
#endif
  return portable::gemm_f32();
}

template <>
const GemmKernels<double>& gemm_kernels<double>(cpu::VectorUnit unit) {
#if defined(__x86_64__)
  if (unit == cpu::VectorUnit::kAvx512) return avx512::gemm_f64();
  if (unit == cpu::VectorUnit::kAvx2) return avx2::gemm_f64();
#endif
  return portable::gemm_f64();
}

namespace {

constexpr int64_t kDepth = 384;
constexpr int64_t kBlock = 4096;
constexpr int64_t kGroupPanels = 16;          // tiles along each side of what a thread takes at a time
constexpr int64_t kTaskProducts = 128 << 10;  // a few microseconds: enough to be worth handing over
constexpr int64_t kTaskElements = 32 << 10;   // the same for work that only reads

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A range cut into `count` pieces whose sizes differ by one at most.
struct Pieces {
  Pieces(int64_t whole, int64_t largest) : size(whole), count(ceil_div(whole, largest)) {}
  int64_t start(int64_t i) const { return size * i / count; }
  int64_t size;
  int64_t count;
};

template <class T>
class BlockedGemm {
 public:
  BlockedGemm(const GemmArgs<T>& args, const GemmKernels<T>& kernels)
      : g_(args),
        kernels_(kernels),
        packs_a_(g_.n > (g_.a.col_stride == 1 ? 16 : 2) * kernels.max_columns),
        packs_b_(g_.b.col_stride != 1 || g_.m > 8 * kernels.max_rows) {}

  void run() const {
    const Pieces depths(g_.k, kDepth);
    const int64_t depth = ceil_div(g_.k, depths.count);
    const int64_t panel_columns = ceil_div(std::min(g_.n, kBlock), kernels_.max_columns) * kernels_.max_columns;
    ScratchBuffer<T> a_panels(packs_a_ ? std::min(g_.m, kBlock) * depth : 0);
    ScratchBuffer<T> b_panels(packs_b_ ? panel_columns * depth : 0);
    for (int64_t j = 0; j < g_.n; j += kBlock)
      for (int64_t i = 0; i < g_.m; i += kBlock)
        for (int64_t p = 0; p < depths.count; ++p) {
          const int64_t rows = std::min(kBlock, g_.m - i), columns = std::min(kBlock, g_.n - j);
          const Block block{i, rows, j, columns, depths.start(p), depths.start(p + 1) - depths.start(p)};
          pack(block, a_panels.data(), b_panels.data());
          compute(block, a_panels.data(), b_panels.data());
        }
  }

 private:
  struct Block {
    int64_t i, rows, j, columns, k, depth;
  };

  const T* a_at(int64_t i, int64_t k) const { return g_.a.data + i * g_.a.row_stride + k * g_.a.col_stride; }
  const T* b_at(int64_t k, int64_t j) const { return g_.b.data + k * g_.b.row_stride + j * g_.b.col_stride; }

  void pack(const Block& block, T* a_panels, T* b_panels) const {
    const Pieces rows(block.rows, kernels_.max_rows);
    const int64_t width = kernels_.max_columns;
    const int64_t of_a = packs_a_ ? rows.count : 0;
    const int64_t of_b = packs_b_ ? ceil_div(block.columns, width) : 0;
    const int64_t grain = std::max<int64_t>(1, kTaskElements / (block.depth * width));
    parallel_for(0, of_a + of_b, grain, [&](int64_t begin, int64_t end) {
      for (int64_t panel = begin; panel < end; ++panel) {
        if (panel < of_a) {
          const int64_t first = rows.start(panel), height = rows.start(panel + 1) - first;
          kernels_.pack({a_at(block.i + first, block.k), g_.a.row_stride, g_.a.col_stride, height, block.depth},
                        a_panels + first * block.depth, height);
        } else {
          const int64_t first = (panel - of_a) * width;
          kernels_.pack({b_at(block.k, block.j + first), g_.b.col_stride, g_.b.row_stride,
                         std::min(width, block.columns - first), block.depth},
                        b_panels + first * block.depth, width);
        }
      }
    });
  }

  void compute(const Block& block, const T* a_panels, const T* b_panels) const {
    const Pieces rows(block.rows, kernels_.max_rows);
    const int64_t column_panels = ceil_div(block.columns, kernels_.max_columns);
    int64_t group_rows = std::min(kGroupPanels, rows.count), group_columns = std::min(kGroupPanels, column_panels);
    const int64_t tile_products = kernels_.max_rows * kernels_.max_columns * block.depth;
    const auto tasks = [&] { return ceil_div(rows.count, group_rows) * ceil_div(column_panels, group_columns); };
    const int threads = get_num_threads();
    while (threads > 1 && tasks() < 4 * threads && group_rows * group_columns * tile_products >= 2 * kTaskProducts &&
           group_rows * group_columns > 1) {
      int64_t& larger = group_rows > group_columns ? group_rows : group_columns;
      larger = ceil_div(larger, 2);
    }
    const int64_t row_groups = ceil_div(rows.count, group_rows);
    const int64_t grain = std::max<int64_t>(1, kTaskProducts / (group_rows * group_columns * tile_products));
    parallel_for(0, tasks(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t row = task % row_groups * group_rows, column = task / row_groups * group_columns;
        for (int64_t c = column; c < std::min(column + group_columns, column_panels); ++c)
          for (int64_t r = row; r < std::min(row + group_rows, rows.count); ++r)
            compute_tile(block, rows, r, c, a_panels, b_panels);
      }
    });
  }

  void compute_tile(const Block& block, const Pieces& rows, int64_t row_panel, int64_t column_panel, const T* a_panels,
                    const T* b_panels) const {
    const int64_t row = rows.start(row_panel), height = rows.start(row_panel + 1) - row;
    const int64_t column = column_panel * kernels_.max_columns;
    GemmTile<T> t;
    t.rows = height;
    t.columns = std::min(kernels_.max_columns, block.columns - column);
    t.k = block.depth;
    t.a = packs_a_ ? a_panels + row * block.depth : a_at(block.i + row, block.k);
    t.a_row_stride = packs_a_ ? 1 : g_.a.row_stride;
    t.a_k_stride = packs_a_ ? height : g_.a.col_stride;
    t.b = packs_b_ ? b_panels + column * block.depth : b_at(block.k, block.j + column);
    t.b_stride = packs_b_ ? kernels_.max_columns : g_.b.row_stride;
    t.b_is_padded = packs_b_;
    t.c = g_.c + (block.i + row) * g_.c_row_stride + block.j + column;
    t.c_stride = g_.c_row_stride;
    t.alpha = g_.alpha;
    t.beta = block.k == 0 ? g_.beta : T(1);
    t.bias = g_.bias != nullptr && block.k + block.depth == g_.k ? g_.bias + block.j + column : nullptr;
    kernels_.tile(t);
  }

  const GemmArgs<T>& g_;
  const GemmKernels<T>& kernels_;
  const bool packs_a_, packs_b_;
};

template <class T>
void run_gemv(const GemvArgs<T>& g, const GemmKernels<T>& kernels) {
  // Chunks begin at whole vectors: which rows are summed together depends on m alone.
  const int64_t unit = 8 * kernels.lanes;
  const int64_t grain = std::max<int64_t>(1, kTaskElements / (g.k * unit)) * unit;
  const auto kernel = g.a_k_stride == 1 ? kernels.gemv_rows : kernels.gemv_columns;
  parallel_for(0, g.m, grain, [&](int64_t begin, int64_t end) {
    GemvArgs<T> part = g;
    part.m = end - begin;
    part.a += begin * g.a_row_stride;
    part.y += begin;
    if (part.bias != nullptr) part.bias += begin * g.bias_stride;
    kernel(part);
  });
}

// With x and y made dense where they are not.
template <class T>
void gemv(GemvArgs<T> g, int64_t y_stride, const GemmKernels<T>& kernels) {
  const bool moves_x = g.a_k_stride == 1 && g.x_stride != 1, moves_y = y_stride != 1 && g.m > 1;
  ScratchBuffer<T, 1024> x(moves_x ? g.k : 0), y(moves_y ? g.m : 0);
  T* const out = g.y;
  if (moves_x) {
    for (int64_t k = 0; k < g.k; ++k) x.data()[k] = g.x[k * g.x_stride];
    g.x = x.data();
    g.x_stride = 1;
  }
  if (moves_y) {
    g.y = y.data();
    if (g.beta != T(0))
      for (int64_t i = 0; i < g.m; ++i) g.y[i] = out[i * y_stride];
  }
  run_gemv(g, kernels);
  if (moves_y)
    for (int64_t i = 0; i < g.m; ++i) out[i * y_stride] = g.y[i];
}

}  // namespace

template <class T>
void blocked_gemm(const GemmArgs<T>& args) {
  const GemmKernels<T>& kernels = gemm_kernels<T>(cpu::vector_unit());
  // A dimension of one element may claim any stride.
  GemmArgs<T> g = args;
  if (g.k == 1) g.a.col_stride = g.b.row_stride = 1;
  if (g.m == 1) g.a.row_stride = g.a.col_stride == 1 ? g.k : 1;
  if (g.n == 1) g.b.col_stride = 1;
  if (g.n == 1 && (g.a.col_stride == 1 || g.a.row_stride == 1)) {
    gemv<T>(
        {g.m, g.k, g.a.data, g.a.row_stride, g.a.col_stride, g.b.data, g.b.row_stride, g.c, g.alpha, g.beta, g.bias, 0},
        g.c_row_stride, kernels);
  } else if (g.m == 1 && (g.b.row_stride == 1 || g.b.col_stride == 1)) {
    gemv<T>(
        {g.n, g.k, g.b.data, g.b.col_stride, g.b.row_stride, g.a.data, g.a.col_stride, g.c, g.alpha, g.beta, g.bias, 1},
        1, kernels);
  } else {
    BlockedGemm<T>(g, kernels).run();
  }
}

template void blocked_gemm<float>(const GemmArgs<float>&);
template void blocked_gemm<double>(const GemmArgs<double>&);

}  // namespace argand::detail
