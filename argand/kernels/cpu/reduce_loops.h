// The loops of a reduction, for one operation and one type of accumulator.  Included by the files that instantiate
// them.
#pragma once
#include <algorithm>

#include "argand/kernels/cpu/reduce.h"
#include "argand/kernels/cpu/reduce_ops.h"
#include "argand/kernels/cpu/scratch.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {

// How elements of memory become accumulators.
struct ReduceSource {
  ScalarType type;
  ScalarType wanted;
  int64_t item_size;
  bool through_bool;
  bool is_direct;  // the type is right already
};
// n <= kReduceBlock elements, `stride` apart, to contiguous `to`.
void fetch_elements(const ReduceSource& source, const char* from, int64_t stride, int64_t n, void* to);

// Values combined as a binary tree, in the order in which they come.
template <class Op>
class Tree {
 public:
  using A = typename Op::Acc;
  ARGAND_INLINE void push(A value) {
    if constexpr (!Op::kRounds) {
      levels_[0] = count_++ ? Op::combine(levels_[0], value) : value;
    } else {
      int level = 0;
      for (uint64_t c = count_++; c & 1; c >>= 1) value = Op::combine(levels_[level++], value);
      levels_[level] = value;
    }
  }
  ARGAND_INLINE A finish() const {
    if (count_ == 0) return Op::identity();
    if constexpr (!Op::kRounds) return levels_[0];
    int level = 0;
    uint64_t c = count_;
    for (; !(c & 1); c >>= 1) ++level;
    A total = levels_[level];
    while (c >>= 1) {
      ++level;
      if (c & 1) total = Op::combine(levels_[level], total);
    }
    return total;
  }

 private:
  A levels_[48];
  uint64_t count_ = 0;
};

// n <= kReduceBlock contiguous elements.
template <class Op>
ARGAND_INLINE typename Op::Acc reduce_block(const Op& op, const typename Op::Acc* x, int64_t n,
                                            typename Op::Acc center) {
  using A = typename Op::Acc;
  constexpr int kWide = 256 / sizeof(A), kNarrow = kWide < 8 ? kWide : 8;
  A narrow[kNarrow];
  int64_t i = 0;
  if (n >= kWide) {
    A wide[kWide];
    for (int l = 0; l < kWide; ++l) wide[l] = op.map(x[l], center);
    for (i = kWide; i + kWide <= n; i += kWide)
      for (int l = 0; l < kWide; ++l) wide[l] = Op::combine(wide[l], op.map(x[i + l], center));
    for (int w = kWide / 2; w >= kNarrow; w /= 2)
      for (int l = 0; l < w; ++l) wide[l] = Op::combine(wide[l], wide[l + w]);
    for (int l = 0; l < kNarrow; ++l) narrow[l] = wide[l];
  } else {
    for (int l = 0; l < kNarrow; ++l) narrow[l] = Op::identity();
  }
  for (; i + kNarrow <= n; i += kNarrow)
    for (int l = 0; l < kNarrow; ++l) narrow[l] = Op::combine(narrow[l], op.map(x[i + l], center));
  if constexpr (Op::kCostly) {
    if (i < n) {  // all lanes, the surplus ones on the last element
      A rest[kNarrow];
      for (int l = 0; l < kNarrow; ++l) rest[l] = x[i + l < n ? i + l : n - 1];
      for (int l = 0; l < kNarrow; ++l)
        narrow[l] = i + l < n ? Op::combine(narrow[l], op.map(rest[l], center)) : narrow[l];
    }
    i = n;
  }
  for (int l = 0; i < n; ++i, ++l) narrow[l] = Op::combine(narrow[l], op.map(x[i], center));
  for (int w = kNarrow / 2; w >= 1; w /= 2)
    for (int l = 0; l < w; ++l) narrow[l] = Op::combine(narrow[l], narrow[l + w]);
  return narrow[0];
}

// The part of the reduced dimensions that one chunk covers: [begin, end) of dimension `dim`, all of the others.
struct ReduceChunk {
  size_t dim;
  int64_t begin, end;
};

// Iterates over the reduced dimensions except the last, from the start of a chunk.
class ReducedWalk {
 public:
  ReducedWalk(const ReduceLayout& layout, const ReduceChunk& chunk, int64_t item_size) : item_size_(item_size) {
    for (size_t d = 0; d < layout.reduced.size(); ++d) {
      Dim dim{layout.reduced[d].size, layout.reduced[d].stride * item_size, 0};
      if (d == chunk.dim) {
        dim.size = chunk.end - chunk.begin;
        start_ = chunk.begin * dim.stride;
      }
      dims_.push_back(dim);
    }
    if (dims_.empty()) dims_.push_back({1, item_size, 0});
    for (const Dim& d : dims_) numel_ *= d.size;
  }
  int64_t numel() const { return numel_; }
  int64_t inner_size() const { return dims_.back().size; }
  int64_t inner_stride() const { return dims_.back().stride / item_size_; }  // in elements
  int64_t start() const { return start_; }                                   // in bytes
  // The next run's offset from this one's, in bytes; afterwards at the start again.
  bool next(int64_t& offset) {
    for (size_t d = dims_.size() - 1; d-- > 0;) {
      Dim& dim = dims_[d];
      offset += dim.stride;
      if (++dim.index < dim.size) return true;
      offset -= dim.stride * dim.size;
      dim.index = 0;
    }
    return false;
  }

 private:
  struct Dim {
    int64_t size, stride, index;
  };
  SmallVector<Dim, 5> dims_;
  int64_t item_size_, start_ = 0, numel_ = 1;
};

// The data of a call that the loops below need.
template <class Op>
struct ReduceJob {
  using A = typename Op::Acc;
  Op op;
  const char* in;
  const A* center;  // null or one for each result
  ReduceSource source;
  const ReduceLayout* layout;
  A center_of(int64_t out) const {
    if constexpr (Op::kCentered)
      return center[out];
    else
      return A{};
  }
};

// Offsets of result `out`: its first element in memory, and its place in the contiguous result.
struct KeptPlace {
  int64_t in = 0, out = 0;
};
inline KeptPlace kept_place(const ReduceLayout& layout, size_t ndim, int64_t index) {
  KeptPlace place;
  for (size_t d = ndim; d-- > 0;) {
    const auto& dim = layout.kept[d];
    const int64_t i = index % dim.size;
    index /= dim.size;
    place.in += i * dim.stride;
    place.out += i * dim.out_stride;
  }
  return place;
}

// ---- results whose elements are runs of memory

template <class Op>
struct RowsBody {
  using A = typename Op::Acc;

  ARGAND_INLINE static A row(const ReduceJob<Op>& job, ReducedWalk& walk, const char* p, A center) {
    const int64_t n = walk.inner_size(), stride = walk.inner_stride();
    alignas(64) char buffer[kReduceBlock * sizeof(A)];
    Tree<Op> total;
    int64_t offset = walk.start();
    do {
      for (int64_t i = 0; i < n; i += kReduceBlock) {
        const int64_t count = std::min(kReduceBlock, n - i);
        const char* from = p + offset + i * stride * job.source.item_size;
        if (job.source.is_direct && stride == 1) {
          total.push(reduce_block(job.op, reinterpret_cast<const A*>(from), count, center));
        } else {
          fetch_elements(job.source, from, stride, count, buffer);
          total.push(reduce_block(job.op, reinterpret_cast<const A*>(buffer), count, center));
        }
      }
    } while (walk.next(offset));
    return total.finish();
  }

  ARGAND_INLINE static void run(const ReduceJob<Op>* job, ReduceChunk chunk, int64_t begin, int64_t end, A* out) {
    ReducedWalk walk(*job->layout, chunk, job->source.item_size);
    const size_t ndim = job->layout->kept.size();
    for (int64_t i = begin; i < end; ++i) {
      const KeptPlace place = kept_place(*job->layout, ndim, i);
      out[place.out] = row(*job, walk, job->in + place.in * job->source.item_size, job->center_of(place.out));
    }
  }
};

// ---- results that are neighbours in memory

template <class A>
inline constexpr int64_t kColumnTile = kReduceBlock * 2 / static_cast<int64_t>(sizeof(A) < 2 ? 2 : sizeof(A));

template <class Op>
struct ColumnsBody {
  using A = typename Op::Acc;
  static constexpr int64_t kTile = kColumnTile<A>;
  static constexpr int64_t kRows = 64;  // added one after the other, in fours
  struct Tile {
    const char* in;
    int64_t columns, stride;
    const A* center;  // kTile of them, or null
  };
  // The vector form of Tree.
  struct VectorTree {
    ScratchBuffer<A> levels;
    uint64_t count = 0;
    explicit VectorTree(int64_t blocks)
        : levels(blocks <= 1 ? 0 : (64 - __builtin_clzll(static_cast<uint64_t>(blocks))) * kTile) {}
  };
  struct Buffers {
    alignas(64) char rows[4][kTile * sizeof(A)];
  };

  ARGAND_INLINE static void add(A* to, const A* x, int64_t n) {
    ARGAND_VECTORIZE
    for (int64_t j = 0; j < n; ++j) to[j] = Op::combine(x[j], to[j]);
  }
  ARGAND_INLINE static void push(VectorTree& tree, A* sums, int64_t n) {
    int64_t level = 0;
    for (uint64_t c = tree.count++; c & 1; c >>= 1) add(sums, tree.levels.data() + kTile * level++, n);
    std::copy(sums, sums + n, tree.levels.data() + kTile * level);
  }
  ARGAND_INLINE static void finish(VectorTree& tree, A* sums, int64_t n) {
    int64_t level = 0;
    uint64_t c = tree.count;
    for (; !(c & 1); c >>= 1) ++level;
    std::copy(tree.levels.data() + kTile * level, tree.levels.data() + kTile * level + n, sums);
    while (c >>= 1) {
      ++level;
      if (c & 1) add(sums, tree.levels.data() + kTile * level, n);
    }
  }

  ARGAND_INLINE static const A* fetch(const ReduceJob<Op>& job, const Tile& t, const char* from, char* buffer) {
    if (job.source.is_direct && t.stride == 1) return reinterpret_cast<const A*>(from);
    fetch_elements(job.source, from, t.stride, t.columns, buffer);
    return reinterpret_cast<const A*>(buffer);
  }
  ARGAND_INLINE static A center(const Tile& t, int64_t j) {
    if constexpr (Op::kCentered)
      return t.center[j];
    else
      return A{};
  }
  ARGAND_INLINE static void add_four(const ReduceJob<Op>& job, const Tile& t, const A* a, const A* b, const A* c,
                                     const A* d, A* sums) {
    ARGAND_VECTORIZE
    for (int64_t j = 0; j < t.columns; ++j) {
      const A m = center(t, j);
      sums[j] = Op::combine(sums[j], Op::combine(Op::combine(job.op.map(a[j], m), job.op.map(b[j], m)),
                                                 Op::combine(job.op.map(c[j], m), job.op.map(d[j], m))));
    }
  }
  ARGAND_INLINE static void add_one(const ReduceJob<Op>& job, const Tile& t, const A* a, A* sums) {
    ARGAND_VECTORIZE
    for (int64_t j = 0; j < t.columns; ++j) sums[j] = Op::combine(sums[j], job.op.map(a[j], center(t, j)));
  }

  ARGAND_INLINE static void tile(const ReduceJob<Op>& job, ReducedWalk& walk, const Tile& t, A* sums) {
    const int64_t n = walk.inner_size(), step = walk.inner_stride() * job.source.item_size;
    alignas(64) Buffers buffers;
    VectorTree tree(Op::kRounds ? (walk.numel() + kRows - 1) / kRows : 0);
    const bool one_block = !Op::kRounds || walk.numel() <= kRows;
    std::fill(sums, sums + t.columns, Op::identity());
    int64_t offset = walk.start(), rows = 0;
    do {
      int64_t r = 0;
      while (r < n) {
        const char* p = t.in + offset + r * step;
        if (n - r >= 4) {
          add_four(job, t, fetch(job, t, p, buffers.rows[0]), fetch(job, t, p + step, buffers.rows[1]),
                   fetch(job, t, p + 2 * step, buffers.rows[2]), fetch(job, t, p + 3 * step, buffers.rows[3]), sums);
          r += 4, rows += 4;
        } else {
          add_one(job, t, fetch(job, t, p, buffers.rows[0]), sums);
          ++r, ++rows;
        }
        if (!one_block && rows >= kRows) {
          push(tree, sums, t.columns);
          std::fill(sums, sums + t.columns, Op::identity());
          rows = 0;
        }
      }
    } while (walk.next(offset));
    if (one_block) return;
    if (rows > 0) push(tree, sums, t.columns);
    finish(tree, sums, t.columns);
  }

  // Tiles [begin, end) of those the kept dimensions are cut into.
  ARGAND_INLINE static void run(const ReduceJob<Op>* job, ReduceChunk chunk, int64_t begin, int64_t end, A* out) {
    ReducedWalk walk(*job->layout, chunk, job->source.item_size);
    const auto& line = job->layout->kept.back();
    const int64_t per_line = (line.size + kTile - 1) / kTile;
    alignas(64) A sums[kTile], centers[Op::kCentered ? kTile : 1];
    for (int64_t i = begin; i < end; ++i) {
      const KeptPlace place = kept_place(*job->layout, job->layout->kept.size() - 1, i / per_line);
      const int64_t first = i % per_line * kTile;
      A* to = out + place.out + first * line.out_stride;
      Tile t{job->in + (place.in + first * line.stride) * job->source.item_size, std::min(kTile, line.size - first),
             line.stride, centers};
      if constexpr (Op::kCentered)
        for (int64_t j = 0; j < t.columns; ++j) centers[j] = job->center[(to - out) + j * line.out_stride];
      if (line.out_stride == 1) {
        tile(*job, walk, t, to);
      } else {
        tile(*job, walk, t, sums);
        for (int64_t j = 0; j < t.columns; ++j) to[j * line.out_stride] = sums[j];
      }
    }
  }
};

// results[i] of `chunks` arrays of n, combined as a tree into the first.
template <class Op>
struct MergeBody {
  using A = typename Op::Acc;
  ARGAND_INLINE static void run(A* partial, int64_t chunks, int64_t n) {
    while (chunks > 1) {
      const int64_t half = (chunks + 1) / 2;
      ARGAND_VECTORIZE
      for (int64_t i = 0; i < (chunks - half) * n; ++i) partial[i] = Op::combine(partial[i], partial[i + half * n]);
      chunks = half;
    }
  }
};

// ---- the whole

template <class Op>
void reduce_with(const ReduceCall& call, const ReduceLayout& layout, const ReduceSource& source) {
  using A = typename Op::Acc;
  constexpr int64_t kGrain = 65536;  // elements that one thread takes at a time: about 10 us
  ReduceJob<Op> job{{}, static_cast<const char*>(call.in), static_cast<const A*>(call.center), source, &layout};
  job.op.parameter = call.parameter;
  A* out = static_cast<A*>(call.out);
  if (layout.reduced_numel == 0) {
    std::fill(out, out + layout.kept_numel, Op::identity());
    return;
  }
  // A unit is one result, or one tile of columns.
  int64_t units = layout.kept_numel, unit_size = 1;
  if (layout.by_columns) {
    const int64_t line = layout.kept.back().size;
    unit_size = std::min(line, kColumnTile<A>);
    units = layout.kept_numel / line * ((line + kColumnTile<A> - 1) / kColumnTile<A>);
  }
  const auto run = [&](const ReduceChunk& chunk, int64_t begin, int64_t end, A* to) {
    const ReduceJob<Op>* j = &job;
    if (layout.by_columns)
      on_vector_unit<ColumnsBody<Op>>(j, chunk, begin, end, to);
    else
      on_vector_unit<RowsBody<Op>>(j, chunk, begin, end, to);
  };
  const int64_t unit_work = unit_size * layout.reduced_numel;
  size_t longest = 0;
  for (size_t d = 1; d < layout.reduced.size(); ++d)
    if (layout.reduced[d].size > layout.reduced[longest].size) longest = d;
  const int64_t length = layout.reduced.empty() ? 1 : layout.reduced[longest].size;
  if (units >= 8 || unit_work <= 2 * kGrain) {
    const int64_t grain = std::max<int64_t>(1, kGrain / unit_work);
    if (units <= grain) return run({0, 0, length == 1 ? 1 : layout.reduced[0].size}, 0, units, out);
    parallel_for(0, units, grain, [&](int64_t begin, int64_t end) {
      run({0, 0, length == 1 ? 1 : layout.reduced[0].size}, begin, end, out);
    });
    return;
  }
  // Few long reductions: cut the longest reduced dimension.
  const int64_t step = (length + std::min(length, unit_work / kGrain) - 1) / std::min(length, unit_work / kGrain);
  const int64_t chunks = (length + step - 1) / step;
  ScratchBuffer<A> partial(chunks * layout.kept_numel);
  parallel_for(0, chunks * units, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t chunk = task / units, unit = task % units;
      run({longest, chunk * step, std::min(length, (chunk + 1) * step)}, unit, unit + 1,
          partial.data() + chunk * layout.kept_numel);
    }
  });
  on_vector_unit<MergeBody<Op>>(partial.data(), chunks, layout.kept_numel);
  std::copy(partial.data(), partial.data() + layout.kept_numel, out);
}

// Defined in files that instantiate reduce_with for some kinds; false if `call` has none of these kinds.
bool reduce_sums(const ReduceCall& call, const ReduceLayout& layout, const ReduceSource& source);
bool reduce_extrema(const ReduceCall& call, const ReduceLayout& layout, const ReduceSource& source);
bool reduce_norms(const ReduceCall& call, const ReduceLayout& layout, const ReduceSource& source);

}  // namespace argand::cpu
