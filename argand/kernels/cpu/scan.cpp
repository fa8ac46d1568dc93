#include "argand/kernels/cpu/scan.h"

#include <algorithm>
#include <type_traits>

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/reduce_ops.h"
#include "argand/kernels/cpu/scratch.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

template <class T>
struct Accumulator {
  using type = T;
};
template <>
struct Accumulator<float> {
  using type = double;
};
template <>
struct Accumulator<std::complex<float>> {
  using type = std::complex<double>;
};
template <class T>
using accumulator_t = typename Accumulator<T>::type;

constexpr int64_t kWidth = 128;    // columns processed together
constexpr int64_t kGrain = 16384;  // elements that one thread takes at a time

// n rows of `width` neighbouring columns, `stride` elements from row to row; negative: from the last row to the first.
struct Line {
  int64_t n, width, stride;
};

// f(offset of the first element, number of columns) for all lines.
template <class F>
void for_each_line(const ScanShape& s, F f) {
  if (s.outer * s.n * s.inner == 0) return;
  const int64_t width = std::min(s.inner, kWidth), per_outer = (s.inner + width - 1) / width;
  parallel_for(0, s.outer * per_outer, std::max<int64_t>(1, kGrain / (s.n * width)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % per_outer * width;
      f(i / per_outer * s.n * s.inner + first, std::min(width, s.inner - first));
    }
  });
}

// ---- one operation

template <class A>
struct LogSumExpOp {
  static constexpr bool kCostly = true;
  static constexpr A identity() { return -std::numeric_limits<A>::infinity(); }
  ARGAND_INLINE static A combine(A a, A b) {
    const A high = MaxOp<A>::combine(a, b), low = MinOp<A>::combine(a, b);
    // Equal infinities are their own sum; their difference would be NaN.
    return low != high || math::isfinite(low) ? high + math::log1p(math::exp(low - high)) : a;
  }
};

template <class R>
struct LogSumExpOp<std::complex<R>> {
  using A = std::complex<R>;
  static constexpr bool kCostly = false;
  static constexpr R kLowest = -std::numeric_limits<R>::infinity();
  static constexpr A identity() { return {kLowest, 0}; }
  ARGAND_INLINE static A combine(A a, A b) {
    if (a.real() == kLowest && b.real() == kLowest) return identity();  // logarithms of 0, whose angle means nothing
    const bool later = b.real() >= a.real();
    const A high = later ? b : a, low = later ? a : b;
    const R below = low.real() == high.real() ? 0 : low.real() - high.real();  // infinities, too
    const R turn = low.imag() - high.imag(), size = math::exp(below);
    return high + math::log1p(A(size * std::cos(turn), size * std::sin(turn)));
  }
};

template <class Op, class T>
struct ScanBody {
  using A = accumulator_t<T>;
  ARGAND_INLINE static void run(const T* in, T* out, Line line) {
    if (line.width == 1) {
      A total = Op::identity();
      for (int64_t r = 0; r < line.n; ++r) {
        total = Op::combine(total, static_cast<A>(in[r * line.stride]));
        out[r * line.stride] = static_cast<T>(total);
      }
      return;
    }
    alignas(64) A total[kWidth];
    std::fill(total, total + line.width, Op::identity());
    for (int64_t r = 0; r < line.n; ++r) {
      const T* x = in + r * line.stride;
      T* y = out + r * line.stride;
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < line.width; ++j) {
        total[j] = Op::combine(total[j], static_cast<A>(x[j]));
        y[j] = static_cast<T>(total[j]);
      }
    }
  }
};

// Rows of an operation that is worth vectorising: several are transposed to columns, processed together, and transposed
// back.  Each gives the same bits as alone.
template <class Op, class T>
void scan_rows(const T* in, T* out, int64_t rows, int64_t n) {
  constexpr int64_t kTogether = 16;
  parallel_for(0, (rows + kTogether - 1) / kTogether, std::max<int64_t>(1, kGrain / (n * kTogether)),
               [&](int64_t begin, int64_t end) {
                 ScratchBuffer<T> turned(n * kTogether);
                 T* block = turned.data();
                 for (int64_t first = begin * kTogether; first < std::min(rows, end * kTogether); first += kTogether) {
                   const int64_t width = std::min(kTogether, rows - first);
                   for (int64_t r = 0; r < width; ++r)
                     for (int64_t k = 0; k < n; ++k) block[k * width + r] = in[(first + r) * n + k];
                   on_vector_unit<ScanBody<Op, T>>(block, block, Line{n, width, width});
                   for (int64_t r = 0; r < width; ++r)
                     for (int64_t k = 0; k < n; ++k) out[(first + r) * n + k] = block[k * width + r];
                 }
               });
}

template <template <class> class Op, class T>
void scan_with(const void* in, void* out, const ScanShape& shape) {
  const T* x = static_cast<const T*>(in);
  T* y = static_cast<T*>(out);
  using AccOp = Op<accumulator_t<T>>;
  if constexpr (AccOp::kCostly)
    if (shape.inner == 1 && shape.outer > 1 && shape.n > 0) return scan_rows<AccOp>(x, y, shape.outer, shape.n);
  for_each_line(shape, [&](int64_t at, int64_t width) {
    on_vector_unit<ScanBody<AccOp, T>>(x + at, y + at, Line{shape.n, width, shape.inner});
  });
}

// ---- a linear recurrence

template <class T>
struct LinearBody {
  using A = accumulator_t<T>;
  ARGAND_INLINE static void run(const T* in, const T* factor, T* out, Line line) {
    alignas(64) A total[kWidth];
    std::fill(total, total + line.width, A(0));
    for (int64_t r = 0; r < line.n; ++r) {
      const T *x = in + r * line.stride, *f = factor + r * line.stride;
      T* y = out + r * line.stride;
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < line.width; ++j) {
        total[j] = static_cast<A>(x[j]) + ProdOp<A>::combine(static_cast<A>(f[j]), total[j]);
        y[j] = static_cast<T>(total[j]);
      }
    }
  }
};

// ---- extrema with their place

template <class T>
void extreme_line(bool largest, const T* in, T* values, int64_t* indices, Line line) {
  using A = op_math_t<T>;
  A best[kWidth];
  int64_t place[kWidth];
  for (int64_t r = 0; r < line.n; ++r) {
    for (int64_t j = 0; j < line.width; ++j) {
      const int64_t at = r * line.stride + j;
      const A x = static_cast<A>(in[at]);
      if (r == 0 || x != x || (best[j] == best[j] && (largest ? x >= best[j] : x <= best[j]))) {
        best[j] = x;
        place[j] = r;
      }
      values[at] = static_cast<T>(best[j]);
      indices[at] = place[j];
    }
  }
}

}  // namespace

void scan(ScanKind kind, const void* in, void* out, ScalarType type, const ScanShape& shape) {
  constexpr DtypeSet kTypes = kFloatTypes | kComplexTypes | dtype_bit(kLong);
  switch (kind) {
    case ScanKind::kSum:
      return dispatch<kTypes>(type, "cumsum",
                              [&](auto tag) { scan_with<SumOp, typename decltype(tag)::type>(in, out, shape); });
    case ScanKind::kProd:
      return dispatch<kTypes>(type, "cumprod",
                              [&](auto tag) { scan_with<ProdOp, typename decltype(tag)::type>(in, out, shape); });
    case ScanKind::kLogSumExp:
      return dispatch<kFloatTypes | kComplexTypes>(type, "logcumsumexp", [&](auto tag) {
        scan_with<LogSumExpOp, typename decltype(tag)::type>(in, out, shape);
      });
  }
}

void scan_linear(const void* in, const void* factor, void* out, ScalarType type, bool reverse, const ScanShape& shape) {
  dispatch<kFloatTypes | kComplexTypes>(type, "_linear_scan", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *x = static_cast<const T*>(in), *f = static_cast<const T*>(factor);
    T* y = static_cast<T*>(out);
    for_each_line(shape, [&](int64_t at, int64_t width) {
      const int64_t first = reverse ? at + (shape.n - 1) * shape.inner : at;
      on_vector_unit<LinearBody<T>>(x + first, f + first, y + first,
                                    Line{shape.n, width, reverse ? -shape.inner : shape.inner});
    });
  });
}

void scan_extreme(bool largest, const void* in, void* values, int64_t* indices, ScalarType type,
                  const ScanShape& shape) {
  dispatch<kRealTypes>(type, largest ? "cummax" : "cummin", [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* x = static_cast<const T*>(in);
    T* y = static_cast<T*>(values);
    for_each_line(shape, [&](int64_t at, int64_t width) {
      extreme_line(largest, x + at, y + at, indices + at, Line{shape.n, width, shape.inner});
    });
  });
}

}  // namespace argand::cpu
