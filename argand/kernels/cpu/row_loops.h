// Sums over runs of contiguous elements that normalisations, softmax and losses are made of, and runs of any floating
// type.
// All sums follow Note [Order of a reduction].
#pragma once
#include <algorithm>
#include <type_traits>

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/reduce_loops.h"
#include "argand/kernels/cpu/tile.h"

namespace argand::cpu {

inline constexpr int64_t kNormGrain = 32768;  // elements that one thread takes at a time

template <class Op, class A>
ARGAND_INLINE A reduce_run(const A* x, int64_t n, A center) {
  if (n <= kReduceBlock) return n == 0 ? Op::identity() : reduce_block(Op{}, x, n, center);
  Tree<Op> total;
  for (int64_t i = 0; i < n; i += kReduceBlock)
    total.push(reduce_block(Op{}, x + i, std::min(kReduceBlock, n - i), center));
  return total.finish();
}

template <class A>
struct RunMoments {
  A mean, squares;  // squares: sum of (x - mean)^2
};
// Two passes: E[x^2] - E[x]^2 would cancel.
template <class A>
ARGAND_INLINE RunMoments<A> moments_of(const A* x, int64_t n) {
  const A mean = reduce_run<SumOp<A>>(x, n, A(0)) / static_cast<A>(n);
  return {mean, reduce_run<CenteredSquaresOp<A>>(x, n, mean)};
}

template <class A>
struct RunProducts {
  A sum, product;  // of g, and of g * (x - center)
};
template <class A>
ARGAND_INLINE RunProducts<A> products_of(const A* g, const A* x, int64_t n, A center) {
  alignas(64) A terms[kReduceBlock];
  Tree<SumOp<A>> sum, product;
  for (int64_t i = 0; i < n; i += kReduceBlock) {
    const int64_t count = std::min(kReduceBlock, n - i);
    ARGAND_VECTORIZE
    for (int64_t j = 0; j < count; ++j) terms[j] = g[i + j] * (x[i + j] - center);
    product.push(reduce_block(SumOp<A>{}, terms, count, A(0)));
    sum.push(reduce_block(SumOp<A>{}, g + i, count, A(0)));
  }
  return {sum.finish(), product.finish()};
}

// n elements as the arithmetic type: those in memory, or a copy of them in `buffer`.
template <class T, class A>
const A* load_run(const T* from, int64_t n, A* buffer) {
  if constexpr (std::is_same_v<T, A>) {
    return from;
  } else {
    convert_elements(from, scalar_type_v<T>, buffer, scalar_type_v<A>, n);
    return buffer;
  }
}
// Where to compute n elements for `to`: there, or in `buffer`, from which store_run copies them.
template <class T, class A>
A* place_run(T* to, A* buffer) {
  if constexpr (std::is_same_v<T, A>)
    return to;
  else
    return buffer;
}
template <class T, class A>
void store_run(const A* buffer, T* to, int64_t n) {
  if constexpr (!std::is_same_v<T, A>) convert_elements(buffer, scalar_type_v<A>, to, scalar_type_v<T>, n);
}
// The number of scratch elements that one such run needs.
template <class T, class A>
constexpr int64_t run_scratch(int64_t n) {
  return std::is_same_v<T, A> ? 0 : n;
}

// out[j] = sum over k of parts[k * stride + j], for j < n.
template <class A>
void add_parts(const A* parts, int64_t count, int64_t stride, int64_t n, A* out) {
  parallel_for(0, n, std::max<int64_t>(64, kNormGrain / std::max<int64_t>(count, 1)), [&](int64_t begin, int64_t end) {
    constexpr int64_t kWidth = 64;
    double sums[kWidth];
    for (int64_t j = begin; j < end; j += kWidth) {
      const int64_t w = std::min(kWidth, end - j);
      std::fill(sums, sums + w, 0.0);
      for (int64_t k = 0; k < count; ++k)
        for (int64_t i = 0; i < w; ++i) sums[i] += static_cast<double>(parts[k * stride + j + i]);
      for (int64_t i = 0; i < w; ++i) out[j + i] = static_cast<A>(sums[i]);
    }
  });
}

}  // namespace argand::cpu
