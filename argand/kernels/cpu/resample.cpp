#include "argand/kernels/cpu/resample.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/rows.h"
#include "argand/kernels/resample_taps.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

constexpr int64_t kGrain = 16384;  // elements that a thread computes at least

// Tap k of element o: weight[k * out + o] times input element index[k * out + o]; without weights 1.
template <class A>
struct TapTable {
  int64_t in, out, most;
  std::vector<int64_t> index;
  std::vector<A> weight;

  template <Filter kFilter>
  void fill(const ResampledDim& d) {
    const Taps<A, kFilter> taps(d);
    in = d.in;
    out = d.out;
    most = taps.most();
    index.assign(static_cast<size_t>(most * out), 0);
    if (!is_nearest(kFilter)) weight.assign(index.size(), A(0));
    for (int64_t o = 0; o < out; ++o)
      taps.visit(
          o,
          [&](int64_t first, int64_t) {
            for (int64_t k = 0; k < most; ++k)
              index[static_cast<size_t>(k * out + o)] = std::clamp<int64_t>(first + k, 0, in - 1);
          },
          [&](int64_t k, A w) { weight[static_cast<size_t>(k * out + o)] = w; });
  }
  A weight_of(size_t tap) const { return weight.empty() ? A(1) : weight[tap]; }
};

template <class A>
TapTable<A> table_of(Filter filter, const ResampledDim& d) {
  TapTable<A> t;
  switch (filter) {
    case Filter::kNearest:
      t.template fill<Filter::kNearest>(d);
      break;
    case Filter::kNearestExact:
      t.template fill<Filter::kNearestExact>(d);
      break;
    case Filter::kLinear:
      t.template fill<Filter::kLinear>(d);
      break;
    case Filter::kCubic:
      t.template fill<Filter::kCubic>(d);
      break;
    case Filter::kLinearAntialias:
      t.template fill<Filter::kLinearAntialias>(d);
      break;
    case Filter::kCubicAntialias:
      t.template fill<Filter::kCubicAntialias>(d);
      break;
  }
  return t;
}

// to[r][i] = the sum over k of weight[k][i] from[r][index[k][i]] for rows [begin, end).
template <class A>
void resample_last(const TapTable<A>& t, const A* from, A* to, int64_t begin, int64_t end) {
  const auto out = static_cast<size_t>(t.out);
  for (int64_t r = begin; r < end; ++r) {
    const A* row = from + r * t.in;
    A* sums = to + r * t.out;
    for (size_t i = 0; i < out; ++i) sums[i] = t.weight[i] * row[t.index[i]];
    for (size_t k = 1; k < static_cast<size_t>(t.most); ++k)
      for (size_t i = 0; i < out; ++i) sums[i] += t.weight[k * out + i] * row[t.index[k * out + i]];
  }
}

// The same of rows of `inner` elements: to[r] for r in [begin, end) of [outer, out].
template <class A>
void resample_rows(const TapTable<A>& t, const A* from, A* to, int64_t inner, int64_t begin, int64_t end) {
  for (int64_t r = begin; r < end; ++r) {
    const int64_t o = r / t.out, i = r % t.out;
    A* sums = to + r * inner;
    for (int64_t k = 0; k < t.most; ++k) {
      const auto tap = static_cast<size_t>(k * t.out + i);
      const A w = t.weight[tap], *row = from + (o * t.in + t.index[tap]) * inner;
      if (k == 0)
        for (int64_t j = 0; j < inner; ++j) sums[j] = w * row[j];
      else
        for (int64_t j = 0; j < inner; ++j) sums[j] += w * row[j];
    }
  }
}

// Each of [outer] is [out, inner] in `from` and [in, inner] in `to`.
template <class A>
void gather_back(const TapTable<A>& t, const A* from, A* to, int64_t inner, int64_t begin, int64_t end) {
  for (int64_t o = begin; o < end; ++o) {
    A* sums = to + o * t.in * inner;
    std::fill(sums, sums + t.in * inner, A(0));
    for (int64_t i = 0; i < t.out; ++i) {
      const A* row = from + (o * t.out + i) * inner;
      for (int64_t k = 0; k < t.most; ++k) {
        const auto tap = static_cast<size_t>(k * t.out + i);
        A* sum = sums + t.index[tap] * inner;
        const A w = t.weight_of(tap);
        for (int64_t j = 0; j < inner; ++j) sum[j] += w * row[j];
      }
    }
  }
}

// The tensor between the passes over its dimensions.
template <class E>
class Between {
 public:
  // A place for `n` elements, which stays until the next but one is asked for.
  E* next(int64_t n) {
    std::vector<E>& place = places_[++count_ % 2];
    place.resize(static_cast<size_t>(n));
    return place.data();
  }

 private:
  std::vector<E> places_[2];
  int count_ = 0;
};

int64_t product(const int64_t* begin, const int64_t* end) {
  int64_t n = 1;
  for (; begin != end; ++begin) n *= *begin;
  return n;
}

// Calls pass(dim, from, to, outer, inner) for each dimension, last first, from sizes `in` to `out`.
template <class E, class Pass>
void each_dim(const Resampling& c, int64_t item_size, int64_t ResampledDim::*in, int64_t ResampledDim::*out,
              const void* from, void* to, Pass pass) {
  int64_t sizes[3];
  for (int d = 0; d < 3; ++d) sizes[d] = c.dims[d].*in;
  Between<E> between;
  const int begin = 3 - c.spatial;
  for (int d = 2; d >= begin; --d) {
    const int64_t outer = c.planes * product(sizes + begin, sizes + d), inner = product(sizes + d + 1, sizes + 3);
    sizes[d] = c.dims[d].*out;
    const int64_t bytes = outer * sizes[d] * inner * item_size;
    void* place =
        d == begin ? to : between.next((bytes + static_cast<int64_t>(sizeof(E)) - 1) / static_cast<int64_t>(sizeof(E)));
    pass(c.dims[d], from, place, outer, inner);
    from = place;
  }
}

void take_nearest(const Resampling& c, const void* in, void* out) {
  const int64_t item = element_size(c.type);
  each_dim<std::max_align_t>(c, item, &ResampledDim::in, &ResampledDim::out, in, out,
                             [&](const ResampledDim& d, const void* from, void* to, int64_t outer, int64_t inner) {
                               const TapTable<float> t = table_of<float>(c.filter, d);
                               take_rows(from, {outer, d.in, inner}, item, t.index.data(), d.out, to);
                             });
}

}  // namespace

void resample(const Resampling& c, const void* in, void* out) {
  if (is_nearest(c.filter)) return take_nearest(c, in, out);
  dispatch<kFloatTypes>(c.type, "resample", [&](auto tag) {
    using A = typename decltype(tag)::type;
    each_dim<A>(c, sizeof(A), &ResampledDim::in, &ResampledDim::out, in, out,
                [&](const ResampledDim& d, const void* from, void* to, int64_t outer, int64_t inner) {
                  const TapTable<A> t = table_of<A>(c.filter, d);
                  const A* x = static_cast<const A*>(from);
                  A* y = static_cast<A*>(to);
                  if (inner == 1)
                    return parallel_for(0, outer, kGrain / (t.most * d.out) + 1,
                                        [&](int64_t begin, int64_t end) { resample_last(t, x, y, begin, end); });
                  parallel_for(0, outer * d.out, kGrain / (t.most * inner) + 1,
                               [&](int64_t begin, int64_t end) { resample_rows(t, x, y, inner, begin, end); });
                });
  });
}

void resample_backward(const Resampling& c, const void* grad_out, void* grad_in) {
  dispatch<kFloatTypes>(c.type, "resample_backward", [&](auto tag) {
    using A = typename decltype(tag)::type;
    each_dim<A>(c, sizeof(A), &ResampledDim::out, &ResampledDim::in, grad_out, grad_in,
                [&](const ResampledDim& d, const void* from, void* to, int64_t outer, int64_t inner) {
                  TapTable<A> t;
                  if (is_nearest(c.filter)) {  // positions are always found in float
                    TapTable<float> nearest = table_of<float>(c.filter, d);
                    t = {d.in, d.out, 1, std::move(nearest.index), {}};
                  } else {
                    t = table_of<A>(c.filter, d);
                  }
                  parallel_for(0, outer, kGrain / (t.most * d.out * inner) + 1, [&](int64_t begin, int64_t end) {
                    gather_back(t, static_cast<const A*>(from), static_cast<A*>(to), inner, begin, end);
                  });
                });
  });
}

}  // namespace argand::cpu
