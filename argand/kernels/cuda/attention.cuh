// Attention and its gradient without the matrix of weights (kernels/api/attention.h).
//
// A block has some rows of one side, queries or keys, in shared memory, 16 for each warp, and processes the rows of the
// other side in tiles.  Scores become weights in the registers of the product's results (Note
// [Tiles of a warp]).  The gradients of keys and values are summed by the blocks that have the keys, those of queries
// by the blocks that have the queries: scores are computed twice, and nothing depends on the order of blocks.
#pragma once
#include "argand/kernels/cuda/attention_mask.cuh"
#include "argand/kernels/cuda/attention_shape.cuh"
#include "argand/kernels/cuda/block.cuh"
#include "argand/kernels/cuda/warpgroup_products.cuh"
#include "argand/runtime/cuda/early_start.cuh"

namespace argand {

// kNoMask is only for scales above 0.  kStagedMask is an added mask whose tiles are copied to shared memory together
// with the rows of the other side; the masks before it are read element by element.
enum { kNoMask, kBoolMask, kAddedMask, kScaleAlone, kStagedMask };

inline constexpr float kLog2OfE = 1.4426950408889634f, kLn2 = 0.6931471805599453f;
inline constexpr float kNever = -math::detail::kInfinity<float>;

__device__ __forceinline__ float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

template <class T>
__device__ __forceinline__ T* rows_of(const AttentionRows& r, int batch, int head) {
  return static_cast<T*>(r.data) + batch * r.batch + head * r.head;
}

// Starts to copy the part of a mask from this query and key on.
template <int kThreads, class T, int kWidth, int kRows>
__device__ __forceinline__ void load_mask(const MaskTile<T, kWidth, kRows>& to, const AttentionShape& a, int batch,
                                          int head, int query, int key) {
  const AttentionMask& m = a.mask;
  const T* from = static_cast<const T*>(m.data) + batch * m.batch + head * m.head + query * m.row + key;
  to.template load<kThreads>(from, m.row, a.queries - query, a.keys - key);
}

// The scores of one head, and which weights dropout keeps.
template <class T, int kMask, bool kDropout>
class Scores {
 public:
  __device__ __forceinline__ Scores(const AttentionShape& a, int batch, int head)
      : a_(a), random_(a.random), plane_(batch * a.heads + head) {
    unit_ = kMask == kNoMask ? a.scale * kLog2OfE : kMask == kStagedMask ? kLog2OfE : 1;
    const int64_t first = batch * a.mask.batch + head * a.mask.head;
    if constexpr (kMask == kBoolMask) mask_ = static_cast<const bool*>(a.mask.data) + first;
    if constexpr (kMask == kAddedMask) mask_ = static_cast<const T*>(a.mask.data) + first;
    if constexpr (kDropout)
      if (const uint64_t* state = a.random.state) random_ = {state[0], a.random.offset + state[1], nullptr};
  }

  // Scores times this factor, which is above 0, are exponents of 2.
  __device__ __forceinline__ float unit() const { return unit_; }

  // Turns products, or their sums with a staged mask, into scores.  at(n, i): query and key of element i of tile n,
  // some of which may be masked at an edge.
  template <bool kEdge, int kTiles, class F>
  __device__ __forceinline__ void finish(TileSums (&s)[kTiles], F at) const {
    if constexpr (kMask != kNoMask && kMask != kStagedMask) {
#pragma unroll
      for (int n = 0; n < kTiles; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) s[n].x[i] = score(s[n].x[i], at(n, i));
    }
    if constexpr (kEdge) {
#pragma unroll
      for (int n = 0; n < kTiles; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const Place p = at(n, i);
          if (p.key >= a_.keys || (a_.causal && p.key > p.query)) s[n].x[i] = kNever;
        }
    }
  }
  struct Place {
    int query, key;
  };

  // Bit 4 h + 2 j + i is that of query + 8 h and key + 8 j + i, where `key` is even and neither number has its bit of
  // 8: what a thread has in two tiles that are neighbours.  A weight takes half a random number.
  __device__ __forceinline__ unsigned kept(int query, int key) const {
    if constexpr (!kDropout) return 0xff;
    Philox philox({random_.seed, random_.offset + uint64_t(key / 16 * 4 + key % 8 / 2) * 4, nullptr},
                  uint64_t(plane_) << 32 | unsigned(query / 16 * 8 + query % 8));
    const uint4 r = philox.next();
    const unsigned numbers[4] = {r.x, r.y, r.z, r.w};
    unsigned bits = 0;
#pragma unroll
    for (int n = 0; n < 4; ++n)
      bits |= unsigned((numbers[n] & 0xffff) >= a_.drop_below) << 2 * n | unsigned(numbers[n] >> 16 >= a_.drop_below)
                                                                              << (2 * n + 1);
    return bits;
  }

 private:
  __device__ __forceinline__ float score(float product, const Place& p) const {
    float score = product * (a_.scale * kLog2OfE);
    if constexpr (kMask == kBoolMask || kMask == kAddedMask) {
      if (p.query >= a_.queries || p.key >= a_.keys) return score;
      const int64_t where = p.query * a_.mask.row + p.key * a_.mask.column;
      if constexpr (kMask == kBoolMask)
        score = static_cast<const bool*>(mask_)[where] ? score : kNever;
      else
        score += convert<float>(static_cast<const T*>(mask_)[where]) * kLog2OfE;
    }
    return score;
  }

  const AttentionShape& a_;
  PhiloxNumbers random_;
  float unit_;
  int plane_;
  const void* mask_ = nullptr;
};

template <bool kValue>
struct Constant {
  __device__ __forceinline__ constexpr bool operator()() const { return kValue; }
};

// A thread's place in a tile: the row of elements 0 and 1 of its sums (2 and 3: 8 rows below), the column of 0 and 2.
__device__ __forceinline__ int tile_row() { return threadIdx.x % 32 / 4; }
__device__ __forceinline__ int tile_column() { return threadIdx.x % 4 * 2; }

template <class T>
__device__ __forceinline__ void store_pair(T* to, int column, int width, bool vectors, float x0, float x1) {
  if (vectors) {
    if (column < width) *reinterpret_cast<Vec<T, 2>*>(to + column) = {{convert<T>(x0), convert<T>(x1)}};
  } else {
    if (column < width) to[column] = convert<T>(x0);
    if (column + 1 < width) to[column + 1] = convert<T>(x1);
  }
}

// Sums of a warp, times a factor for each of its rows, as rows from `first` on of `to`.
template <class T, int kColumnTiles>
__device__ __forceinline__ void store_rows(const TileSums (&sums)[kColumnTiles], const AttentionRows& r, T* to,
                                           int first, int rows, int width, bool vectors, const float (&factors)[2]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = first + tile_row() + half * 8;
    if (row >= rows) continue;
#pragma unroll
    for (int n = 0; n < kColumnTiles; ++n)
      store_pair(to + row * r.row, n * 8 + tile_column(), width, vectors, sums[n].x[half * 2] * factors[half],
                 sums[n].x[half * 2 + 1] * factors[half]);
  }
}

// Shared memory: (kRows + 4 * kColumns) rows of kWidth elements, and two tiles of a staged mask.
template <class T, template <class> class Products, int kWidth, int kWarps, int kBlocks, int kColumns, int kMask,
          bool kDropout>
__global__ void __launch_bounds__(kWarps * 32, kBlocks)
    attention(AttentionShape a, AttentionRows query, AttentionRows key, AttentionRows value, AttentionRows result,
              float* logsumexp, unsigned long long* random_state) {
  await_earlier_work();
  using P = Products<T>;
  constexpr int kRows = kWarps * 16, kThreads = kWarps * 32, kScoreTiles = kColumns / 8;
  using Columns = typename P::template Tile<kWidth, kColumns>;
  using Mask = MaskTile<T, kColumns, kRows>;
  extern __shared__ __align__(1024) unsigned char attention_memory[];
  T* memory = reinterpret_cast<T*>(attention_memory);
  const typename P::template Tile<kWidth, kRows> q(memory);
  // The tiles with the most keys come first.
  const int tiles = (a.queries + kRows - 1) / kRows, tile = tiles - 1 - int(blockIdx.x) % tiles;
  const int plane = int(blockIdx.x) / tiles, batch = plane / a.heads, head = plane % a.heads;
  const int first = tile * kRows, row = int(threadIdx.x) / 32 * 16;
  const int seen = a.causal && first + kRows < a.keys ? first + kRows : a.keys;
  const int steps = (seen + kColumns - 1) / kColumns;
  const int kv_head = head / (a.heads / a.kv_heads);
  const T *keys = rows_of<T>(key, batch, kv_head), *values = rows_of<T>(value, batch, kv_head);
  const Scores<T, kMask, kDropout> scores(a, batch, head);
  if (kDropout && blockIdx.x == 0 && threadIdx.x == 0) a.random.keep(random_state);
  // Keys and values of two steps.
  const auto keys_at = [&](int step) { return Columns(memory + (kRows + step % 2 * kColumns) * kWidth); };
  const auto values_at = [&](int step) { return Columns(memory + (kRows + (2 + step % 2) * kColumns) * kWidth); };
  const auto mask_at = [&](int step) {
    return memory + (kRows + 4 * kColumns) * kWidth + step % 2 * (kRows * kColumns);
  };
  const auto load_keys = [&](int step) {
    const int begin = step * kColumns;
    keys_at(step).template load<kThreads>(keys + begin * key.row, key.row, a.keys - begin, a.width, a.vectors);
    if constexpr (kMask == kStagedMask)
      load_mask<kThreads>(Mask(mask_at(step), a.mask.row == 0), a, batch, head, first, begin);
  };
  const auto load_values = [&](int step) {
    const int begin = step * kColumns;
    values_at(step).template load<kThreads>(values + begin * value.row, value.row, a.keys - begin, a.value_width,
                                            a.vectors);
  };

  TileSums out[kWidth / 8] = {}, s[kScoreTiles];
  typename P::Left weights[kColumns / P::Core::kDepth];
  float top[2] = {kNever, kNever}, sum[2] = {}, fade[2];
  // Turns scores into weights, relative to the greatest score so far: earlier sums are scaled down.
  const auto weigh = [&](int step, auto edge) {
    const int begin = step * kColumns;
    if constexpr (kMask == kStagedMask) Mask(mask_at(step), a.mask.row == 0).add_to(s, row, a.scale);
    scores.template finish<edge()>(s, [&](int n, int i) -> typename decltype(scores)::Place {
      return {first + row + tile_row() + i / 2 * 8, begin + n * 8 + tile_column() + i % 2};
    });
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float most = kNever;
#pragma unroll
      for (int n = 0; n < kScoreTiles; ++n) most = ::fmaxf(most, ::fmaxf(s[n].x[half * 2], s[n].x[half * 2 + 1]));
      most = ::fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
      most = ::fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
      most = ::fmaxf(top[half], most * scores.unit());
      const float base = most == kNever ? 0 : most;
      fade[half] = exp2_of(top[half] - base);
      top[half] = most;
      sum[half] *= fade[half];
#pragma unroll
      for (int n = 0; n < kScoreTiles; ++n)
#pragma unroll
        for (int i = half * 2; i < half * 2 + 2; ++i) {
          float& weight = s[n].x[i];
          weight = exp2_of(::__fmaf_rn(weight, scores.unit(), -base));
          sum[half] += weight;
        }
    }
    if constexpr (kDropout) {
#pragma unroll
      for (int n = 0; n < kScoreTiles; n += 2) {
        const unsigned kept = scores.kept(first + row + tile_row(), begin + n * 8 + tile_column());
#pragma unroll
        for (int j = 0; j < 2; ++j)
#pragma unroll
          for (int i = 0; i < 4; ++i)
            if (!(kept >> (i / 2 * 4 + j * 2 + i % 2) & 1)) s[n + j].x[i] = 0;
      }
    }
  };

  if (steps > 0) {
    q.template load<kThreads>(rows_of<T>(query, batch, head) + first * query.row, query.row, a.queries - first, a.width,
                              a.vectors);
    load_keys(0);
    end_copy_group();
    load_values(0);
    if (steps > 1) load_keys(1);
    end_copy_group();
    wait_for_copies<1>();
    P::publish();
    __syncthreads();
    P::template start_by_rows<kWidth, kRows, kColumns>(s, q, row, keys_at(0));
    P::template await<0>(s);
    // In this many steps all queries see all keys.
    const int whole = (a.causal && first + 1 < a.keys ? first + 1 : a.keys) / kColumns;
    if (whole > 0)
      weigh(0, Constant<false>());
    else
      weigh(0, Constant<true>());
    pack<T>(s, weights);
    // The scores of the next step are computed while this step's values are added up.  (Their weights cannot be,
    // because the assembler moves the wait for the sums before the exponentials.)
    const auto advance = [&](int step, auto edge) {
      wait_for_all_copies();
      P::publish();
      __syncthreads();  // these values and the next keys are there; nobody needs what is replaced
      if (step + 2 < steps) load_keys(step + 2);
      load_values(step + 1);
      end_copy_group();
      P::template start_by_rows<kWidth, kRows, kColumns>(s, q, row, keys_at(step + 1));
      P::template start_by_columns<kWidth, kColumns>(out, weights, values_at(step));
      P::template await<1>(s);
      weigh(step + 1, edge);
      P::template await<0>(out);
#pragma unroll
      for (int n = 0; n < kWidth / 8; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) out[n].x[i] *= fade[i / 2];
      pack<T>(s, weights);
    };
    int step = 0;
    for (; step + 1 < whole; ++step) advance(step, Constant<false>());
    for (; step + 1 < steps; ++step) advance(step, Constant<true>());
    wait_for_all_copies();
    P::publish();
    __syncthreads();
    P::template start_by_columns<kWidth, kColumns>(out, weights, values_at(steps - 1));
    P::template await<0>(out);
  }

  float factors[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float& x = sum[half];
    x += __shfl_xor_sync(0xffffffffu, x, 1);
    x += __shfl_xor_sync(0xffffffffu, x, 2);
    factors[half] = x == 0 ? 0 : (kDropout ? a.kept : 1.0f) / x;
    const int at = first + row + tile_row() + half * 8;
    if (threadIdx.x % 4 == 0 && at < a.queries)
      logsumexp[int64_t{plane} * a.queries + at] = x == 0 ? kNever : (top[half] + ::log2f(x)) * kLn2;
  }
  store_rows<T>(out, result, rows_of<T>(result, batch, head), first + row, a.queries, a.value_width, a.vectors,
                factors);
}

// The numbers that the gradients need for each query of `rows`: numbers[row] is subtracted from the exponents of 2 of
// its scores, and numbers[rows + row], the sum of grad * out over the columns, from the gradients of its weights.
template <class T, int W>
__global__ void attention_numbers(AttentionShape a, AttentionRows grad, AttentionRows out, const float* logsumexp,
                                  float* numbers, int64_t rows) {
  await_earlier_work();
  const int lane = int(threadIdx.x) % kNumberLanes;
  const int64_t own = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kNumberLanes, at = own < rows ? own : rows - 1;
  const int plane = int(at / a.queries), row = int(at % a.queries), batch = plane / a.heads, head = plane % a.heads;
  const T *g = rows_of<T>(grad, batch, head) + row * grad.row, *o = rows_of<T>(out, batch, head) + row * out.row;
  float dot = 0;
#pragma unroll 1
  for (int c = lane * W; c < a.value_width; c += kNumberLanes * W) {
    const auto gs = *reinterpret_cast<const Vec<T, W>*>(g + c), os = *reinterpret_cast<const Vec<T, W>*>(o + c);
#pragma unroll
    for (int k = 0; k < W; ++k) dot += convert<float>(gs[k]) * convert<float>(os[k]);
  }
#pragma unroll
  for (int step = kNumberLanes / 2; step > 0; step /= 2) dot += __shfl_xor_sync(0xffffffffu, dot, step);
  if (lane != 0 || own >= rows) return;
  const float sum = logsumexp[at];
  numbers[at] = sum == kNever ? -kNever : sum * kLog2OfE;  // a query without keys has no weights
  numbers[rows + at] = dot;
}

// The gradients of keys and values; a block has keys.  Shared memory: (2 * kRows + 4 * kColumns) rows of kWidth
// elements, 4 * kColumns floats and two tiles of a staged mask.
template <class T, template <class> class Products, int kWidth, int kWarps, int kBlocks, int kColumns, int kMask,
          bool kDropout>
__global__ void __launch_bounds__(kWarps * 32, kBlocks)
    attention_key_gradients(AttentionShape a, AttentionRows query, AttentionRows key, AttentionRows value,
                            AttentionRows grad, const float* numbers, int64_t rows, AttentionRows grad_key,
                            AttentionRows grad_value) {
  await_earlier_work();
  using P = Products<T>;
  constexpr int kRows = kWarps * 16, kThreads = kWarps * 32, kScoreTiles = kColumns / 8;
  using Columns = typename P::template Tile<kWidth, kColumns>;
  using Mask = MaskTile<T, kRows, kColumns>;
  extern __shared__ __align__(1024) unsigned char attention_memory[];
  T* memory = reinterpret_cast<T*>(attention_memory);
  const typename P::template Tile<kWidth, kRows> k(memory), v(memory + kRows * kWidth);
  T* staged = memory + 2 * kRows * kWidth;
  float* staged_numbers = reinterpret_cast<float*>(staged + 4 * kColumns * kWidth);
  const int tiles = (a.keys + kRows - 1) / kRows, tile = int(blockIdx.x) % tiles;
  const int plane = int(blockIdx.x) / tiles, batch = plane / a.kv_heads, kv_head = plane % a.kv_heads;
  const int first = tile * kRows, row = int(threadIdx.x) / 32 * 16, group = a.heads / a.kv_heads;
  const int skipped = a.causal ? first / kColumns : 0, all = (a.queries + kColumns - 1) / kColumns;
  const int each = all > skipped ? all - skipped : 0, steps = each * group;

  const auto queries_at = [&](int step) { return Columns(staged + step % 2 * (2 * kColumns * kWidth)); };
  const auto grads_at = [&](int step) { return Columns(staged + (step % 2 * 2 + 1) * (kColumns * kWidth)); };
  const auto mask_at = [&](int step) {
    return reinterpret_cast<T*>(staged_numbers + 4 * kColumns) + step % 2 * (kRows * kColumns);
  };
  const auto load = [&](int step) {
    const int head = kv_head * group + step / each, begin = (skipped + step % each) * kColumns;
    queries_at(step).template load<kThreads>(rows_of<T>(query, batch, head) + begin * query.row, query.row,
                                             a.queries - begin, a.width, a.vectors);
    grads_at(step).template load<kThreads>(rows_of<T>(grad, batch, head) + begin * grad.row, grad.row,
                                           a.queries - begin, a.value_width, a.vectors);
    if constexpr (kMask == kStagedMask)
      load_mask<kThreads>(Mask(mask_at(step), a.mask.row == 0), a, batch, head, begin, first);
    float* n = staged_numbers + step % 2 * (2 * kColumns);
    const int64_t at = (int64_t{batch} * a.heads + head) * a.queries + begin;
    for (int i = threadIdx.x; i < kColumns; i += kThreads) {
      const bool inside = begin + i < a.queries;
      const float* from = numbers + at + (inside ? i : 0);
      copy_async(n + i, from, inside);
      copy_async(n + kColumns + i, from + rows, inside);
    }
  };

  TileSums of_key[kWidth / 8] = {}, of_value[kWidth / 8] = {};
  k.template load<kThreads>(rows_of<T>(key, batch, kv_head) + first * key.row, key.row, a.keys - first, a.width,
                            a.vectors);
  v.template load<kThreads>(rows_of<T>(value, batch, kv_head) + first * value.row, value.row, a.keys - first,
                            a.value_width, a.vectors);
  if (steps > 0) load(0);
  end_copy_group();
  const auto advance = [&](int step, auto edge) {
    wait_for_all_copies();
    P::publish();
    __syncthreads();  // this step's rows are there, and nobody needs those of the step before
    if (step + 1 < steps) load(step + 1);
    end_copy_group();
    const int head = kv_head * group + step / each, begin = (skipped + step % each) * kColumns;
    const Columns q = queries_at(step), g = grads_at(step);
    const float* n_of = staged_numbers + step % 2 * (2 * kColumns);
    const Scores<T, kMask, kDropout> scores(a, batch, head);

    TileSums weights[kScoreTiles], slopes[kScoreTiles];
    P::template start_by_rows<kWidth, kRows, kColumns>(weights, k, row, q);
    P::template start_by_rows<kWidth, kRows, kColumns>(slopes, v, row, g);
    P::template await<1>(weights);
    if constexpr (kMask == kStagedMask) Mask(mask_at(step), a.mask.row == 0).add_transposed_to(weights, row, a.scale);
    scores.template finish<edge()>(weights, [&](int n, int i) -> typename decltype(scores)::Place {
      return {begin + n * 8 + tile_column() + i % 2, first + row + tile_row() + i / 2 * 8};
    });
    unsigned kept[kScoreTiles];
#pragma unroll
    for (int n = 0; n < kScoreTiles; ++n) {
      kept[n] = 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int column = n * 8 + tile_column() + i % 2;
        float& x = weights[n].x[i];
        x = exp2_of(::__fmaf_rn(x, scores.unit(), -n_of[column]));
      }
    }
    if constexpr (kDropout) {
      const int at_key = first + row + tile_row();
#pragma unroll
      for (int n = 0; n < kScoreTiles; n += 2)
#pragma unroll
        for (int k = 0; k < 2; ++k) {  // queries that are neighbours have different numbers
          const unsigned bits = scores.kept(begin + n * 8 + tile_column() + k, at_key & ~1) >> at_key % 2;
#pragma unroll
          for (int j = 0; j < 2; ++j) kept[n + j] |= (bits >> j * 4 & 1) << k | (bits >> (j * 4 + 2) & 1) << (k + 2);
        }
    }
    typename P::Left operand[kColumns / P::Core::kDepth];
    if constexpr (kDropout) {
      TileSums dropped[kScoreTiles];
#pragma unroll
      for (int n = 0; n < kScoreTiles; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) dropped[n].x[i] = kept[n] >> i & 1 ? weights[n].x[i] : 0;
      pack<T>(dropped, operand);
    } else {
      pack<T>(weights, operand);
    }
    P::template start_by_columns<kWidth, kColumns>(of_value, operand, g);
    P::template await<1>(slopes);
#pragma unroll
    for (int n = 0; n < kScoreTiles; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float& x = slopes[n].x[i];
        if constexpr (kDropout) x = kept[n] >> i & 1 ? x * a.kept : 0;
        x = weights[n].x[i] * (x - n_of[kColumns + n * 8 + tile_column() + i % 2]);
      }
    typename P::Left sloped[kColumns / P::Core::kDepth];
    pack<T>(slopes, sloped);
    P::template start_by_columns<kWidth, kColumns>(of_key, sloped, q);
    P::template await<0>(of_value);
    P::template await<0>(of_key);
  };
  for (int step = 0; step < steps; ++step)
    if (a.causal && (skipped + step % each) * kColumns < first + kRows)
      advance(step, Constant<true>());
    else
      advance(step, Constant<false>());
  wait_for_all_copies();
  const float of_keys[2] = {a.scale, a.scale}, of_values[2] = {kDropout ? a.kept : 1, kDropout ? a.kept : 1};
  store_rows<T>(of_key, grad_key, rows_of<T>(grad_key, batch, kv_head), first + row, a.keys, a.width, a.vectors,
                of_keys);
  store_rows<T>(of_value, grad_value, rows_of<T>(grad_value, batch, kv_head), first + row, a.keys, a.value_width,
                a.vectors, of_values);
}

// The gradient of queries; a block has queries.  Shared memory: (2 * kRows + 4 * kColumns) rows of kWidth elements, and
// two tiles of a staged mask.
template <class T, template <class> class Products, int kWidth, int kWarps, int kBlocks, int kColumns, int kMask,
          bool kDropout>
__global__ void __launch_bounds__(kWarps * 32, kBlocks)
    attention_query_gradients(AttentionShape a, AttentionRows query, AttentionRows key, AttentionRows value,
                              AttentionRows grad, const float* numbers, int64_t rows, AttentionRows grad_query) {
  await_earlier_work();
  using P = Products<T>;
  constexpr int kRows = kWarps * 16, kThreads = kWarps * 32, kScoreTiles = kColumns / 8;
  using Columns = typename P::template Tile<kWidth, kColumns>;
  using Mask = MaskTile<T, kColumns, kRows>;
  extern __shared__ __align__(1024) unsigned char attention_memory[];
  T* memory = reinterpret_cast<T*>(attention_memory);
  const typename P::template Tile<kWidth, kRows> q(memory), g(memory + kRows * kWidth);
  T* staged = memory + 2 * kRows * kWidth;
  const int tiles = (a.queries + kRows - 1) / kRows, tile = tiles - 1 - int(blockIdx.x) % tiles;
  const int plane = int(blockIdx.x) / tiles, batch = plane / a.heads, head = plane % a.heads;
  const int first = tile * kRows, row = int(threadIdx.x) / 32 * 16, kv_head = head / (a.heads / a.kv_heads);
  const int seen = a.causal && first + kRows < a.keys ? first + kRows : a.keys;
  const int steps = (seen + kColumns - 1) / kColumns;
  const T *keys = rows_of<T>(key, batch, kv_head), *values = rows_of<T>(value, batch, kv_head);
  const Scores<T, kMask, kDropout> scores(a, batch, head);

  const auto keys_at = [&](int step) { return Columns(staged + step % 2 * (2 * kColumns * kWidth)); };
  const auto values_at = [&](int step) { return Columns(staged + (step % 2 * 2 + 1) * (kColumns * kWidth)); };
  const auto mask_at = [&](int step) { return staged + 4 * kColumns * kWidth + step % 2 * (kRows * kColumns); };
  const auto load = [&](int step) {
    const int begin = step * kColumns;
    if constexpr (kMask == kStagedMask)
      load_mask<kThreads>(Mask(mask_at(step), a.mask.row == 0), a, batch, head, first, begin);
    keys_at(step).template load<kThreads>(keys + begin * key.row, key.row, a.keys - begin, a.width, a.vectors);
    values_at(step).template load<kThreads>(values + begin * value.row, value.row, a.keys - begin, a.value_width,
                                            a.vectors);
  };

  TileSums sums[kWidth / 8] = {};
  float top[2], dot[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int at = first + row + tile_row() + half * 8;
    const int64_t of = int64_t{plane} * a.queries + at;
    top[half] = at < a.queries ? numbers[of] : -kNever;
    dot[half] = at < a.queries ? numbers[rows + of] : 0;
  }
  q.template load<kThreads>(rows_of<T>(query, batch, head) + first * query.row, query.row, a.queries - first, a.width,
                            a.vectors);
  g.template load<kThreads>(rows_of<T>(grad, batch, head) + first * grad.row, grad.row, a.queries - first,
                            a.value_width, a.vectors);
  if (steps > 0) load(0);
  end_copy_group();
  const auto advance = [&](int step, auto edge) {
    wait_for_all_copies();
    P::publish();
    __syncthreads();  // this step's rows are there, and nobody needs those of the step before
    if (step + 1 < steps) load(step + 1);
    end_copy_group();
    const int begin = step * kColumns;
    const Columns k = keys_at(step), v = values_at(step);

    TileSums weights[kScoreTiles], slopes[kScoreTiles];
    P::template start_by_rows<kWidth, kRows, kColumns>(weights, q, row, k);
    P::template start_by_rows<kWidth, kRows, kColumns>(slopes, g, row, v);
    P::template await<1>(weights);
    if constexpr (kMask == kStagedMask) Mask(mask_at(step), a.mask.row == 0).add_to(weights, row, a.scale);
    scores.template finish<edge()>(weights, [&](int n, int i) -> typename decltype(scores)::Place {
      return {first + row + tile_row() + i / 2 * 8, begin + n * 8 + tile_column() + i % 2};
    });
#pragma unroll
    for (int n = 0; n < kScoreTiles; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) weights[n].x[i] = exp2_of(::__fmaf_rn(weights[n].x[i], scores.unit(), -top[i / 2]));
    P::template await<0>(slopes);
#pragma unroll
    for (int n = 0; n < kScoreTiles; n += 2) {
      const unsigned kept = scores.kept(first + row + tile_row(), begin + n * 8 + tile_column());
#pragma unroll
      for (int j = 0; j < 2; ++j)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          float& x = slopes[n + j].x[i];
          if constexpr (kDropout) x = kept >> (i / 2 * 4 + j * 2 + i % 2) & 1 ? x * a.kept : 0;
          x = weights[n + j].x[i] * (x - dot[i / 2]);
        }
    }
    typename P::Left operand[kColumns / P::Core::kDepth];
    pack<T>(slopes, operand);
    P::template start_by_columns<kWidth, kColumns>(sums, operand, k);
    P::template await<0>(sums);
  };
  const int whole = (a.causal && first + 1 < a.keys ? first + 1 : a.keys) / kColumns;
  int step = 0;
  for (; step < whole; ++step) advance(step, Constant<false>());
  for (; step < steps; ++step) advance(step, Constant<true>());
  wait_for_all_copies();
  const float factors[2] = {a.scale, a.scale};
  store_rows<T>(sums, grad_query, rows_of<T>(grad_query, batch, head), first + row, a.queries, a.width, a.vectors,
                factors);
}

}  // namespace argand
