#include "argand/kernels/cpu/arg_reduce.h"

#include <algorithm>

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/reduce_loops.h"

namespace argand::cpu {
namespace {

struct ArgJob {
  const char* in;
  ReduceSource source;
  int64_t n, inner;
  int64_t* indices;
};

template <class A>
struct Extreme {
  A value;
  int64_t index;
};

template <class A>
ARGAND_INLINE const A* fetch(const ReduceSource& source, const char* from, int64_t n, A* buffer) {
  if (source.is_direct) return reinterpret_cast<const A*>(from);
  fetch_elements(source, from, 1, n, buffer);
  return buffer;
}

template <class Op>
struct ArgRowBody {
  using A = typename Op::Acc;
  // The extreme of the first block that holds it is found at full speed; only that block is searched for its place.
  ARGAND_INLINE static Extreme<A> run(const char* row, ReduceSource source, int64_t n) {
    alignas(64) A buffer[kReduceBlock];
    A best = Op::identity();
    int64_t best_block = -1;
    for (int64_t i = 0; i < n; i += kReduceBlock) {
      const int64_t count = std::min(kReduceBlock, n - i);
      const A here = reduce_block(Op{}, fetch(source, row + i * source.item_size, count, buffer), count, A{});
      const bool better =
          best_block < 0 || (best == best && (here != here || (Op::combine(best, here) == here && here != best)));
      best = better ? here : best;
      best_block = better ? i : best_block;
    }
    const int64_t count = std::min(kReduceBlock, n - best_block);
    const A* x = fetch(source, row + best_block * source.item_size, count, buffer);
    int64_t at = 0;
    while (at < count - 1 && !(x[at] == best || (x[at] != x[at] && best != best))) ++at;
    return {best, best_block + at};
  }
};

template <class Op>
struct ArgColumnsBody {
  using A = typename Op::Acc;
  using Index = std::conditional_t<sizeof(A) == 4, int32_t, int64_t>;
  static constexpr int64_t kTile = 256;

  ARGAND_INLINE static void tile(const ArgJob& job, const char* top, int64_t columns, int64_t* indices) {
    alignas(64) A buffer[kTile], best[kTile];
    alignas(64) Index place[kTile];
    const A* first = fetch(job.source, top, columns, buffer);
    std::copy(first, first + columns, best);
    std::fill(place, place + columns, Index{0});
    for (int64_t r = 1; r < job.n; ++r) {
      const A* x = fetch(job.source, top + r * job.inner * job.source.item_size, columns, buffer);
      const Index row = static_cast<Index>(r);
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < columns; ++j) {
        const A chosen = Op::combine(best[j], x[j]);
        const bool better = best[j] == best[j] && chosen != best[j];
        best[j] = chosen;
        place[j] = better ? row : place[j];
      }
    }
    for (int64_t j = 0; j < columns; ++j) indices[j] = place[j];
  }

  ARGAND_INLINE static void run(const ArgJob* job, int64_t begin, int64_t end) {
    const int64_t per_line = (job->inner + kTile - 1) / kTile;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t line = i / per_line, first = i % per_line * kTile;
      const char* top = job->in + (line * job->n * job->inner + first) * job->source.item_size;
      tile(*job, top, std::min(kTile, job->inner - first), job->indices + line * job->inner + first);
    }
  }
};

constexpr int64_t kGrain = 65536;

template <class Op>
void arg_rows(const ArgJob& job, int64_t outer) {
  using A = typename Op::Acc;
  const auto find = [&](int64_t start, int64_t n) {
    return on_vector_unit<ArgRowBody<Op>>(job.in + start * job.source.item_size, job.source, n);
  };
  if (outer >= 8 || job.n <= 2 * kGrain) {
    parallel_for(0, outer, std::max<int64_t>(1, kGrain / job.n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) job.indices[i] = find(i * job.n, job.n).index;
    });
    return;
  }
  const int64_t chunks = (job.n + kGrain - 1) / kGrain;
  ScratchBuffer<Extreme<A>> partial(chunks);
  for (int64_t row = 0; row < outer; ++row) {
    parallel_for(0, chunks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c)
        partial.data()[c] = find(row * job.n + c * kGrain, std::min(kGrain, job.n - c * kGrain));
    });
    Extreme<A> best = partial.data()[0];
    for (int64_t c = 1; c < chunks; ++c) {
      const Extreme<A> here = partial.data()[c];
      const bool better =
          best.value == best.value &&
          (here.value != here.value || (Op::combine(best.value, here.value) == here.value && here.value != best.value));
      if (better) best = {here.value, c * kGrain + here.index};
    }
    job.indices[row] = best.index;
  }
}

template <class Op>
void arg_extreme_with(const ArgJob& job, int64_t outer) {
  if (job.inner == 1) return arg_rows<Op>(job, outer);
  constexpr int64_t kTile = ArgColumnsBody<Op>::kTile;
  const int64_t tiles = outer * ((job.inner + kTile - 1) / kTile);
  parallel_for(0, tiles, std::max<int64_t>(1, kGrain / (job.n * std::min(job.inner, kTile))),
               [&](int64_t begin, int64_t end) { on_vector_unit<ArgColumnsBody<Op>>(&job, begin, end); });
}

}  // namespace

void arg_extreme(bool largest, const void* in, ScalarType type, int64_t outer, int64_t n, int64_t inner,
                 int64_t* indices, void* values) {
  if (outer * inner == 0) return;
  // The row number of the column loop is as wide as its elements.
  const bool wide = n > INT32_MAX;
  const ScalarType compute = is_integral(type, true)                ? kLong
                             : op_math_type(type) == kFloat && wide ? kDouble
                                                                    : op_math_type(type);
  const ArgJob job{
      static_cast<const char*>(in), {type, compute, element_size(type), false, type == compute}, n, inner, indices};
  dispatch<kFloatTypes | dtype_bit(kLong)>(compute, "argmax", [&](auto tag) {
    using A = typename decltype(tag)::type;
    if (largest)
      arg_extreme_with<MaxOp<A>>(job, outer);
    else
      arg_extreme_with<MinOp<A>>(job, outer);
  });
  if (!values) return;
  dispatch<kRealTypes>(type, "max", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = static_cast<const T*>(in);
    T* to = static_cast<T*>(values);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) to[o * inner + i] = from[(o * n + indices[o * inner + i]) * inner + i];
  });
}

}  // namespace argand::cpu
