#include "argand/kernels/cpu/pair_loss.h"

#include <algorithm>
#include <cmath>

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/reduce_loops.h"
#include "argand/kernels/cpu/tile.h"

namespace argand::cpu {
namespace {

// f is the loss, f1 and f2 its derivatives by d = x - y.  At kinks as PyTorch: the slope of |d| at 0 is 0.
template <class A>
struct Square {
  ARGAND_INLINE static A f(A d, A) { return d * d; }
  ARGAND_INLINE static A f1(A d, A) { return 2 * d; }
  ARGAND_INLINE static A f2(A, A) { return 2; }
};
template <class A>
ARGAND_INLINE A sign_of(A d) {
  return d > 0 ? A(1) : d < 0 ? A(-1) : d;  // NaN stays NaN
}
template <class A>
struct Abs {
  ARGAND_INLINE static A f(A d, A) { return std::fabs(d); }
  ARGAND_INLINE static A f1(A d, A) { return sign_of(d); }
  ARGAND_INLINE static A f2(A, A) { return 0; }
};
template <class A>
struct SmoothL1 {
  ARGAND_INLINE static A f(A d, A beta) {
    const A m = std::fabs(d);
    return m < beta ? A(0.5) * m * m / beta : m - A(0.5) * beta;
  }
  ARGAND_INLINE static A f1(A d, A beta) { return std::fabs(d) < beta ? d / beta : sign_of(d); }
  ARGAND_INLINE static A f2(A d, A beta) { return std::fabs(d) < beta ? 1 / beta : A(0); }
};
template <class A>
struct Huber {
  ARGAND_INLINE static A f(A d, A delta) {
    const A m = std::fabs(d);
    return m <= delta ? A(0.5) * m * m : delta * (m - A(0.5) * delta);
  }
  ARGAND_INLINE static A f1(A d, A delta) { return std::fabs(d) <= delta ? d : delta * sign_of(d); }
  ARGAND_INLINE static A f2(A d, A delta) { return std::fabs(d) <= delta ? A(1) : A(0); }
};

// ---- loops over a block of at most kReduceBlock elements

template <class Loss, class A>
struct BlockBody {
  ARGAND_INLINE static void run(const A* x, const A* y, A parameter, A* out, int64_t n) {
    ARGAND_VECTORIZE
    for (int64_t i = 0; i < n; ++i) out[i] = Loss::f(x[i] - y[i], parameter);
  }
};
template <class Loss, class A>
struct SumBody {
  ARGAND_INLINE static A run(const A* x, const A* y, A parameter, int64_t n) {
    alignas(64) A terms[kReduceBlock];
    BlockBody<Loss, A>::run(x, y, parameter, terms, n);
    return reduce_block(SumOp<A>{}, terms, n, A{});
  }
};
template <class Loss, class A, int kOrder>
struct DerivativeBody {
  ARGAND_INLINE static A at(A d, A parameter) { return kOrder == 1 ? Loss::f1(d, parameter) : Loss::f2(d, parameter); }
  ARGAND_INLINE static void run(const A* x, const A* y, A parameter, const A* grad, A scale, A* out, int64_t n) {
    if (grad) {
      ARGAND_VECTORIZE
      for (int64_t i = 0; i < n; ++i) out[i] = scale * at(x[i] - y[i], parameter) * grad[i];
    } else {
      ARGAND_VECTORIZE
      for (int64_t i = 0; i < n; ++i) out[i] = scale * at(x[i] - y[i], parameter);
    }
  }
};

// ---- blocks of any floating type

template <class T, class A>
const A* load(const void* from, int64_t i, int64_t n, A* buffer) {
  const T* p = static_cast<const T*>(from) + i;
  if constexpr (std::is_same_v<T, A>) {
    return p;
  } else {
    convert_elements(p, scalar_type_v<T>, buffer, kFloat, n);
    return buffer;
  }
}

template <class T, class A, class F>
void for_each_block(void* out, int64_t n, F f) {
  parallel_for(0, n, 32 * kReduceBlock, [&](int64_t begin, int64_t end) {
    alignas(64) A buffer[kReduceBlock];
    for (int64_t i = begin; i < end; i += kReduceBlock) {
      const int64_t count = std::min(kReduceBlock, end - i);
      T* to = static_cast<T*>(out) + i;
      if constexpr (std::is_same_v<T, A>) {
        f(i, count, to);
      } else {
        f(i, count, buffer);
        convert_elements(buffer, kFloat, to, scalar_type_v<T>, count);
      }
    }
  });
}

template <class F>
void with_loss(const PairLossCall& call, F f) {
  dispatch<kFloatingTypes>(call.type, "loss", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = op_math_t<T>;
    switch (call.kind) {
      case PairLossKind::kSquare:
        return f(T(), Square<A>());
      case PairLossKind::kAbs:
        return f(T(), Abs<A>());
      case PairLossKind::kSmoothL1:
        return f(T(), SmoothL1<A>());
      case PairLossKind::kHuber:
        return f(T(), Huber<A>());
    }
  });
}

}  // namespace

void pair_loss(const PairLossCall& call, void* out) {
  with_loss(call, [&](auto element, auto loss) {
    using T = decltype(element);
    using A = op_math_t<T>;
    for_each_block<T, A>(out, call.n, [&](int64_t i, int64_t n, A* to) {
      alignas(64) A x[kReduceBlock], y[kReduceBlock];
      on_vector_unit<BlockBody<decltype(loss), A>>(load<T>(call.x, i, n, x), load<T>(call.y, i, n, y),
                                                   static_cast<A>(call.parameter), to, n);
    });
  });
}

void pair_loss_derivative(const PairLossCall& call, int order, const void* grad, int64_t grad_stride, double scale,
                          void* out) {
  with_loss(call, [&](auto element, auto loss) {
    using T = decltype(element);
    using A = op_math_t<T>;
    const bool each = grad && grad_stride != 0;
    const A factor = static_cast<A>(scale) * (grad && !each ? static_cast<A>(*static_cast<const T*>(grad)) : A(1));
    for_each_block<T, A>(out, call.n, [&](int64_t i, int64_t n, A* to) {
      alignas(64) A x[kReduceBlock], y[kReduceBlock], g[kReduceBlock];
      const A *px = load<T>(call.x, i, n, x), *py = load<T>(call.y, i, n, y),
              *pg = each ? load<T>(grad, i, n, g) : nullptr;
      const A parameter = static_cast<A>(call.parameter);
      if (order == 1)
        on_vector_unit<DerivativeBody<decltype(loss), A, 1>>(px, py, parameter, pg, factor, to, n);
      else
        on_vector_unit<DerivativeBody<decltype(loss), A, 2>>(px, py, parameter, pg, factor, to, n);
    });
  });
}

void pair_loss_sum(const PairLossCall& call, bool mean, void* out) {
  with_loss(call, [&](auto element, auto loss) {
    using T = decltype(element);
    using A = op_math_t<T>;
    constexpr int64_t kChunk = 32 * kReduceBlock;
    const auto sum_range = [&](int64_t begin, int64_t end) {
      Tree<SumOp<A>> sum;
      alignas(64) A x[kReduceBlock], y[kReduceBlock];
      for (int64_t i = begin; i < end; i += kReduceBlock) {
        const int64_t n = std::min(kReduceBlock, end - i);
        sum.push(on_vector_unit<SumBody<decltype(loss), A>>(load<T>(call.x, i, n, x), load<T>(call.y, i, n, y),
                                                            static_cast<A>(call.parameter), n));
      }
      return sum.finish();
    };
    const auto finish = [&](A total) {
      *static_cast<T*>(out) = static_cast<T>(mean ? total / static_cast<A>(call.n) : total);
    };
    if (call.n <= kChunk) return finish(sum_range(0, call.n));
    const int64_t chunks = (call.n + kChunk - 1) / kChunk;
    ScratchBuffer<A> partial(chunks);
    parallel_for(0, chunks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c)
        partial.data()[c] = sum_range(c * kChunk, std::min(call.n, (c + 1) * kChunk));
    });
    Tree<SumOp<A>> sum;
    for (int64_t c = 0; c < chunks; ++c) sum.push(partial.data()[c]);
    finish(sum.finish());
  });
}

}  // namespace argand::cpu
