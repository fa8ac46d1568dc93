#include "argand/kernels/cpu/softmax.h"

#include <algorithm>

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/row_loops.h"

namespace argand::cpu {
namespace {

// A line is n rows of `width` neighbouring columns; the rows of a tensor are `stride` elements apart.
template <class A>
struct Line {
  const A *in, *result;  // for the gradient: of the result, and the result itself
  A* out;
  int64_t n, width, stride;
};

// ---- one column: contiguous

template <class A, bool kLog>
struct ForwardRow {
  ARGAND_INLINE static void run(const Line<A>* line) {
    const A* x = line->in;
    A* y = line->out;
    const int64_t n = line->n;
    const A top = reduce_run<MaxOp<A>>(x, n, A{});
    if constexpr (kLog) {
      const A shift = math::log(reduce_run<CenteredExpOp<A>>(x, n, top));
      ARGAND_VECTORIZE
      for (int64_t i = 0; i < n; ++i) y[i] = x[i] - top - shift;
    } else {
      ARGAND_VECTORIZE
      for (int64_t i = 0; i < n; ++i) y[i] = math::exp(x[i] - top);
      const A factor = 1 / reduce_run<SumOp<A>>(y, n, A{});
      ARGAND_VECTORIZE
      for (int64_t i = 0; i < n; ++i) y[i] = y[i] * factor;
    }
  }
};

template <class A>
ARGAND_INLINE A dot_row(const A* x, const A* y, int64_t n) {
  alignas(64) A products[kReduceBlock];
  Tree<SumOp<A>> total;
  for (int64_t i = 0; i < n; i += kReduceBlock) {
    const int64_t count = std::min(kReduceBlock, n - i);
    ARGAND_VECTORIZE
    for (int64_t j = 0; j < count; ++j) products[j] = x[i + j] * y[i + j];
    total.push(reduce_block(SumOp<A>{}, products, count, A{}));
  }
  return total.finish();
}

template <class A, bool kLog>
struct BackwardRow {
  ARGAND_INLINE static void run(const Line<A>* line) {
    const A *g = line->in, *y = line->result;
    A* out = line->out;
    const int64_t n = line->n;
    const A sum = kLog ? reduce_run<SumOp<A>>(g, n, A{}) : dot_row(g, y, n);
    ARGAND_VECTORIZE
    for (int64_t i = 0; i < n; ++i) out[i] = kLog ? g[i] - math::exp(y[i]) * sum : (g[i] - sum) * y[i];
  }
};

// ---- several columns at once

constexpr int64_t kWidth = 128;
// A column is summed in pieces of so many rows, so that the error of a long sum stays small.
constexpr int64_t kPiece = 64;
ARGAND_INLINE bool ends_piece(int64_t r, int64_t n) { return r % kPiece == kPiece - 1 || r == n - 1; }
template <class A>
ARGAND_INLINE void add_part(A* sum, A* part, int64_t w) {
  for (int64_t j = 0; j < w; ++j) {
    sum[j] = sum[j] + part[j];
    part[j] = A(0);
  }
}

template <class A, bool kLog>
struct ForwardColumns {
  ARGAND_INLINE static void run(const Line<A>* line) {
    const int64_t n = line->n, w = line->width, stride = line->stride;
    alignas(64) A top[kWidth], sum[kWidth], part[kWidth];
    std::fill(top, top + w, MaxOp<A>::identity());
    std::fill(sum, sum + w, A(0));
    for (int64_t r = 0; r < n; ++r) {
      const A* x = line->in + r * stride;
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < w; ++j) top[j] = MaxOp<A>::combine(top[j], x[j]);
    }
    std::fill(part, part + w, A(0));
    for (int64_t r = 0; r < n; ++r) {
      const A* x = line->in + r * stride;
      A* y = line->out + r * stride;
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < w; ++j) {
        const A e = math::exp(x[j] - top[j]);
        if constexpr (!kLog) y[j] = e;
        part[j] = part[j] + e;
      }
      if (ends_piece(r, n)) add_part(sum, part, w);
    }
    for (int64_t j = 0; j < w; ++j) sum[j] = kLog ? math::log(sum[j]) : 1 / sum[j];
    for (int64_t r = 0; r < n; ++r) {
      const A* x = line->in + r * stride;
      A* y = line->out + r * stride;
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < w; ++j) y[j] = kLog ? x[j] - top[j] - sum[j] : y[j] * sum[j];
    }
  }
};

template <class A, bool kLog>
struct BackwardColumns {
  ARGAND_INLINE static void run(const Line<A>* line) {
    const int64_t n = line->n, w = line->width, stride = line->stride;
    alignas(64) A sum[kWidth], part[kWidth];
    std::fill(sum, sum + w, A(0));
    std::fill(part, part + w, A(0));
    for (int64_t r = 0; r < n; ++r) {
      const A *g = line->in + r * stride, *y = line->result + r * stride;
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < w; ++j) part[j] = part[j] + (kLog ? g[j] : g[j] * y[j]);
      if (ends_piece(r, n)) add_part(sum, part, w);
    }
    for (int64_t r = 0; r < n; ++r) {
      const A *g = line->in + r * stride, *y = line->result + r * stride;
      A* out = line->out + r * stride;
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < w; ++j) out[j] = kLog ? g[j] - math::exp(y[j]) * sum[j] : (g[j] - sum[j]) * y[j];
    }
  }
};

// ---- the whole

// Copies a line of float16 or bfloat16 to or from dense float.
template <class T>
void load_line(const T* from, int64_t n, int64_t width, int64_t stride, float* to) {
  for (int64_t r = 0; r < n; ++r) convert_elements(from + r * stride, scalar_type_v<T>, to + r * width, kFloat, width);
}
template <class T>
void store_line(const float* from, int64_t n, int64_t width, int64_t stride, T* to) {
  for (int64_t r = 0; r < n; ++r) convert_elements(from + r * width, kFloat, to + r * stride, scalar_type_v<T>, width);
}

template <class Row, class Columns, class A>
void run_line(const Line<A>& line) {
  if (line.stride == 1)  // one column may be the last of many, too
    on_vector_unit<Row>(&line);
  else
    on_vector_unit<Columns>(&line);
}

template <class Row, class Columns, class T>
void for_each_line(const T* in, const T* result, T* out, const SoftmaxShape& s) {
  using A = op_math_t<T>;
  const int64_t width = std::min(s.inner, kWidth), per_outer = (s.inner + width - 1) / width;
  constexpr int64_t kGrain = 16384;
  parallel_for(0, s.outer * per_outer, std::max<int64_t>(1, kGrain / (s.n * width)), [&](int64_t begin, int64_t end) {
    ScratchBuffer<float> dense(std::is_same_v<T, A> ? 0 : 3 * s.n * width);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % per_outer * width, w = std::min(width, s.inner - first);
      const int64_t at = i / per_outer * s.n * s.inner + first;
      if constexpr (std::is_same_v<T, A>) {
        run_line<Row, Columns>(Line<A>{in + at, result ? result + at : nullptr, out + at, s.n, w, s.inner});
      } else {
        float *x = dense.data(), *y = x + s.n * w, *z = y + s.n * w;
        load_line(in + at, s.n, w, s.inner, x);
        if (result) load_line(result + at, s.n, w, s.inner, y);
        run_line<Row, Columns>(Line<A>{x, y, z, s.n, w, w});
        store_line(z, s.n, w, s.inner, out + at);
      }
    }
  });
}

}  // namespace

void softmax(bool log, const void* in, void* out, ScalarType type, const SoftmaxShape& shape) {
  if (shape.outer * shape.n * shape.inner == 0) return;
  dispatch<kFloatingTypes>(type, "softmax", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = op_math_t<T>;
    const T *x = static_cast<const T*>(in), *none = nullptr;
    T* y = static_cast<T*>(out);
    if (log)
      for_each_line<ForwardRow<A, true>, ForwardColumns<A, true>>(x, none, y, shape);
    else
      for_each_line<ForwardRow<A, false>, ForwardColumns<A, false>>(x, none, y, shape);
  });
}

void softmax_backward(bool log, const void* grad, const void* result, void* out, ScalarType type,
                      const SoftmaxShape& shape) {
  if (shape.outer * shape.n * shape.inner == 0) return;
  dispatch<kFloatingTypes>(type, "softmax", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = op_math_t<T>;
    const T *g = static_cast<const T*>(grad), *y = static_cast<const T*>(result);
    T* dx = static_cast<T*>(out);
    if (log)
      for_each_line<BackwardRow<A, true>, BackwardColumns<A, true>>(g, y, dx, shape);
    else
      for_each_line<BackwardRow<A, false>, BackwardColumns<A, false>>(g, y, dx, shape);
  });
}

}  // namespace argand::cpu
