#include "argand/kernels/cuda/reduce.h"

#include <algorithm>
#include <cstdlib>

#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/code_type.h"
#include "argand/kernels/cuda/kernel_source.h"
#include "argand/kernels/cuda/reduce_shape.cuh"
#include "argand/runtime/cuda/scratch.h"

namespace argand::cuda {
namespace {

constexpr const char *kHeader = "argand/kernels/cuda/reduce.cuh",
                     *kComplexHeader = "argand/kernels/cuda/complex_reduce.cuh";
constexpr int kWarp = 32, kThreads = 256, kLongThreads = 1024;
using Layout = ReduceLayout;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
// The smallest power of two that is not less than n, at most `limit`, as its logarithm.
int log_ceil(int64_t n, int64_t limit) {
  int log = 0;
  while ((int64_t{1} << log) < std::min(n, limit)) ++log;
  return log;
}

IndexWalk::Dim walk_dim(int64_t size, int64_t stride, int64_t out_stride) {
  const bool fits = size > 0 && size < (int64_t{1} << 31);
  return {fits ? fast_div(static_cast<unsigned>(size)) : FastDiv{}, size, stride, out_stride};
}

// The first `count` of the dimensions; the last of them in units of `width` elements.
template <class Dims>
IndexWalk walk_of(const Dims& dims, size_t count, int width) {
  if (count > IndexWalk::kMaxDims) throw NotOnDevice("more than 10 dimensions that cannot be merged");
  IndexWalk w{};
  w.ndim = std::max(1, static_cast<int>(count));
  w.dims[0] = walk_dim(1, 0, 0);
  for (size_t d = 0; d < count; ++d)
    w.dims[d] = d + 1 == count ? walk_dim(dims[d].size / width, dims[d].stride * width, dims[d].out_stride)
                               : walk_dim(dims[d].size, dims[d].stride, dims[d].out_stride);
  return w;
}

// Whether all offsets, and all numbers of elements, fit 31 bits.
bool is_small(const Layout& l) {
  int64_t span = 1;
  for (const auto* dims : {&l.kept, &l.reduced})
    for (const Layout::Dim& d : *dims) span += (std::max<int64_t>(d.size, 1) - 1) * std::abs(d.stride);
  constexpr int64_t kLimit = (int64_t{1} << 31) - 65536;
  return span < kLimit && l.kept_numel < kLimit && l.reduced_numel < kLimit &&
         (l.reduced_numel == 0 || l.kept_numel < kLimit / l.reduced_numel);
}

// The widest vectors of elements of `line`, whose stride is 1, that all the other strides keep aligned.
int vector_width(const Reduction& r, const void* in, const Layout& l, const Layout::Dim& line) {
  const int64_t widest = std::min(16 / r.in_size, std::max<int64_t>(1, 64 / r.acc_size));
  for (int64_t w = widest; w > 1; w /= 2) {
    bool fits = line.stride == 1 && line.size % w == 0 && reinterpret_cast<uintptr_t>(in) % (w * r.in_size) == 0;
    for (const auto* dims : {&l.kept, &l.reduced})
      for (const Layout::Dim& d : *dims) fits = fits && (&d == &line || d.stride % w == 0);
    if (fits) return static_cast<int>(w);
  }
  return 1;
}

template <class Shape>
void launch_reduction(const char* name, const Reduction& r, const void* in, int width, bool small, const Grid& grid,
                      Shape shape) {
  const std::string text =
      instance(name, r.in.c_str(), r.op.c_str(), width, small ? "unsigned" : "unsigned long long", r.store.c_str());
  const void* center = r.center;
  double parameter = r.parameter;
  void* args[] = {&in, const_cast<void*>(r.store_object), &center, &parameter, &shape};
  const size_t sizes[] = {sizeof in, sizeof(void*), sizeof center};
  launch_with(kernel(r.complex ? kComplexHeader : kHeader, text), grid, args, sizes);
}

// Elements of a row for one block: enough to be worth it, few enough for the rounding of its sums.
constexpr int64_t kOneBlock = 65536, kSmallestChunk = 8192, kLargestChunk = 262144;

Chunks chunks_of_row(int64_t results, int64_t n) {
  int64_t count = 1;
  if (n > kOneBlock)
    count = std::max({std::min(ceil_div(n, kSmallestChunk), ceil_div(4096, results)), ceil_div(n, kLargestChunk)});
  const int64_t step = std::max<int64_t>(1, ceil_div(n, count));
  return {step, std::max<int64_t>(1, ceil_div(n, step))};
}

void launch_rows(const Reduction& r, const void* in, const Layout& l, Chunks chunks, int width) {
  RowReduction s{};
  s.kept = walk_of(l.kept, l.kept.size(), 1);
  s.reduced = walk_of(l.reduced, l.reduced.size(), width);
  s.results = l.kept_numel;
  s.n = l.reduced_numel / width;
  s.step = chunks.step / width;
  s.chunks = chunks.count;
  const int64_t length = std::min(s.n, s.step);
  unsigned threads = kThreads;
  if (length > 8 * kWarp) {
    if (s.results * s.chunks <= 256 && length >= kLongThreads) threads = kLongThreads;
    s.lanes = static_cast<int>(threads);
  } else {
    s.lanes = 1 << log_ceil(ceil_div(length, 4), kWarp);
  }
  const Grid grid{blocks_for(s.results * s.chunks, threads / static_cast<unsigned>(s.lanes)), threads};
  launch_reduction("reduce_rows", r, in, width, is_small(l), grid, s);
}

struct ColumnPlan {
  ColumnReduction shape;
  int width;
  int64_t blocks() const { return shape.tiles * shape.line_groups; }
  int64_t rows() const { return int64_t{1} << shape.log_y; }
};

// `most_x`: neighbouring vectors that are enough to read at full speed.
ColumnPlan plan_columns(const Reduction& r, const void* in, const Layout& l, int64_t most_x) {
  const Layout::Dim& line = l.kept.back();
  ColumnPlan p{};
  p.width = vector_width(r, in, l, line);
  ColumnReduction& s = p.shape;
  s.lines = walk_of(l.kept, l.kept.size() - 1, 1);
  s.reduced = walk_of(l.reduced, l.reduced.size(), 1);
  s.num_lines = l.kept_numel / line.size;
  s.width = line.size;
  s.stride = line.stride;
  s.out_stride = line.out_stride;
  s.results = l.kept_numel;
  s.n = l.reduced_numel;
  const int64_t vectors = line.size / p.width;
  const int log_threads = log_ceil(kThreads, kThreads);
  s.log_y = log_ceil(ceil_div(std::max<int64_t>(s.n, 1), 8), kThreads >> log_ceil(vectors, most_x));
  s.log_x = log_ceil(vectors, kThreads >> s.log_y);
  s.log_z = log_threads - s.log_x - s.log_y;
  s.tiles = ceil_div(vectors, int64_t{1} << s.log_x);
  s.line_groups = ceil_div(s.num_lines, int64_t{1} << s.log_z);
  return p;
}

Chunks chunks_of_columns(const ColumnPlan& p) {
  const ColumnReduction& s = p.shape;
  int64_t count = 1;
  if (s.results * s.n > kOneBlock)
    count = std::min(ceil_div(s.n, 8 * p.rows()), ceil_div(s.results >= 1024 ? 4096 : 1024, p.blocks()));
  count = std::max({count, ceil_div(s.n, 2048 * p.rows()), int64_t{1}});
  const int64_t step = std::max<int64_t>(1, ceil_div(s.n, count));
  return {step, std::max<int64_t>(1, ceil_div(s.n, step))};
}

void launch_columns(const Reduction& r, const void* in, const Layout& l, ColumnPlan p, Chunks chunks) {
  p.shape.step = chunks.step;
  p.shape.chunks = chunks.count;
  launch_reduction("reduce_columns", r, in, p.width, is_small(l), {blocks_for(p.blocks() * chunks.count, 1), kThreads},
                   p.shape);
}

// The same operation on elements of memory, but into an array of its partial results.
struct PartialStore {
  void* out;
};
Reduction into_partial(const Reduction& r, const PartialStore& store) {
  Reduction p = r;
  p.store = "argand::StorePartial<" + r.acc + ">";
  p.store_object = &store;
  return p;
}
// The operation that combines partial results.
Reduction merge_of(const Reduction& r) {
  Reduction m = r;
  m.in = r.acc;
  m.in_size = r.acc_size;
  m.op = "argand::Merge<" + r.op + ">";
  return m;
}

}  // namespace

void reduce_with(const Reduction& r, const void* in, const Layout& l) {
  const int64_t results = l.kept_numel;
  if (results == 0) return;
  if (!l.by_columns) {
    const int width = l.reduced.empty() ? 1 : vector_width(r, in, l, l.reduced.back());
    Chunks chunks = chunks_of_row(results, l.reduced_numel);
    if (chunks.count == 1) return launch_rows(r, in, l, {std::max<int64_t>(l.reduced_numel, width), 1}, width);
    chunks.step = ceil_div(chunks.step, width) * width;
    chunks.count = ceil_div(l.reduced_numel, chunks.step);
    const Scratch partial(results * chunks.count * r.acc_size);
    const PartialStore store{partial.as<void>()};
    launch_rows(into_partial(r, store), in, l, chunks, width);
    const Layout rest({results, chunks.count}, {chunks.count, 1}, {1});
    return launch_rows(merge_of(r), partial.as<void>(), rest, {chunks.count, 1}, 1);
  }
  const ColumnPlan plan = plan_columns(r, in, l, kWarp / 2);
  const Chunks chunks = chunks_of_columns(plan);
  if (chunks.count == 1) return launch_columns(r, in, l, plan, chunks);
  const Scratch partial(results * chunks.count * r.acc_size);
  const PartialStore store{partial.as<void>()};
  launch_columns(into_partial(r, store), in, l, plan, chunks);
  // One result alone would be a row.
  const Layout rest({chunks.count, results}, {results, 1}, {0});
  const Reduction merge = merge_of(r);
  if (!rest.by_columns) return launch_rows(merge, partial.as<void>(), rest, {chunks.count, 1}, 1);
  launch_columns(merge, partial.as<void>(), rest, plan_columns(merge, partial.as<void>(), rest, 8), {chunks.count, 1});
}

void reduce_chunks(const Reduction& r, const void* in, int64_t outer, int64_t n, int64_t inner, const Chunks& chunks,
                   void* out) {
  const PartialStore store{out};
  const Layout layout({outer, n, inner}, {n * inner, inner, 1}, {1});
  if (layout.by_columns)
    return launch_columns(into_partial(r, store), in, layout, plan_columns(r, in, layout, kWarp), chunks);
  int width = vector_width(r, in, layout, layout.reduced.back());
  while (chunks.step % width != 0) width /= 2;
  launch_rows(into_partial(r, store), in, layout, chunks, width);
}

namespace {

int finish_bits(ReduceFinish finish) {
  switch (finish) {
    case ReduceFinish::kDivide:
      return FinishArguments::kDivide;
    case ReduceFinish::kDivideSqrt:
      return FinishArguments::kDivide | FinishArguments::kSqrt;
    case ReduceFinish::kSqrt:
      return FinishArguments::kSqrt;
    case ReduceFinish::kLogPlusCenter:
      return FinishArguments::kLogPlusCenter;
    case ReduceFinish::kZeroIfInfinite:
      return FinishArguments::kZeroIfInfinite;
    case ReduceFinish::kNone:
    case ReduceFinish::kPower:
      break;
  }
  return 0;
}

}  // namespace

FinishedStore::FinishedStore(void* to, ReduceFinish what, double number, const void* center)
    : out(to), finish{center, number, finish_bits(what)} {}

ScalarType extreme_type(ScalarType t) { return is_integral(t, true) ? kLong : op_math_type(t); }

Reduction extreme_reduction(ScalarType in, bool largest, bool first, std::string store, const void* store_object) {
  const ScalarType type = extreme_type(in);
  Reduction r;
  r.in = device_type_name(in);
  r.in_size = element_size(in);
  r.op = instance("argand::ExtremeOp", type, largest, first);
  r.acc = instance("argand::Extreme", type);
  r.acc_size = 16;
  r.store = std::move(store);
  r.store_object = store_object;
  return r;
}

namespace {

const char* op_name(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kSum:
      return "argand::SumOp";
    case ReduceKind::kNanSum:
      return "argand::NanSumOp";
    case ReduceKind::kProd:
      return "argand::ProdOp";
    case ReduceKind::kMax:
      return "argand::MaxOp";
    case ReduceKind::kMin:
      return "argand::MinOp";
    case ReduceKind::kAny:
      return "argand::AnyOp";
    case ReduceKind::kAll:
      return "argand::AllOp";
    case ReduceKind::kCount:
      return "argand::CountOp";
    case ReduceKind::kSumAbs:
      return "argand::SumAbsOp";
    case ReduceKind::kSumSquares:
      return "argand::SumSquaresOp";
    case ReduceKind::kMaxAbs:
      return "argand::MaxAbsOp";
    case ReduceKind::kMinAbs:
      return "argand::MinAbsOp";
    case ReduceKind::kSumPowers:
      return "argand::SumPowersOp";
    case ReduceKind::kCenteredSquares:
      return "argand::CenteredSquaresOp";
    case ReduceKind::kCenteredExp:
      return "argand::CenteredExpOp";
  }
  ARGAND_ASSERT(false, "reduce: a kind without an operation");
}

// The layout in which real and imaginary parts are results of their own.
Layout layout_of_parts(Layout l) {
  for (auto* dims : {&l.kept, &l.reduced})
    for (Layout::Dim& d : *dims) {
      d.stride *= 2;
      d.out_stride *= 2;
    }
  if (!l.kept.empty() && l.kept.back().stride == 2 && l.kept.back().out_stride == 2)
    l.kept.back() = {2 * l.kept.back().size, 1, 1};
  else
    l.kept.push_back({2, 1, 1});
  l.kept_numel *= 2;
  l.by_columns = true;
  return l;
}

void reduce(const ReduceCall& c, const Layout& layout) {
  if (c.kind == ReduceKind::kSum && is_complex(c.type) && is_complex(c.in_type)) {
    ReduceCall parts = c;
    parts.type = to_real_type(c.type);
    parts.in_type = to_real_type(c.in_type);
    if (c.out_type != ScalarType::Undefined) parts.out_type = to_real_type(c.out_type);
    return cuda::reduce(parts, layout_of_parts(layout));
  }
  const bool is_bool = c.type == kBool;  // any and all count in 32 bits
  const std::string acc = is_bool ? "unsigned" : code_type(c.type);
  const ScalarType out_type = c.out_type == ScalarType::Undefined ? c.type : c.out_type;
  const FinishedStore store(c.out, c.finish, c.number, c.center);
  Reduction r;
  r.complex = is_complex(c.type) || is_complex(c.in_type);
  r.in = code_type(c.in_type);
  r.in_size = element_size(c.in_type);
  r.op = instance(op_name(c.kind), acc.c_str());
  r.acc = acc;
  r.acc_size = is_bool ? 4 : element_size(c.type);
  r.store = c.finish == ReduceFinish::kPower ? instance("argand::StoreFinished", acc.c_str(), code_type(out_type), true)
                                             : instance("argand::StoreFinished", acc.c_str(), code_type(out_type));
  r.store_object = &store;
  r.center = c.center;
  r.parameter = c.parameter;
  reduce_with(r, c.in, layout);
}

const bool registered = (blocks::reduce.set(kCUDA, reduce), true);

}  // namespace
}  // namespace argand::cuda
