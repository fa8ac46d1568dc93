#include "argand/kernels/cpu/cross_entropy.h"

#include <algorithm>

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/row_loops.h"

namespace argand::cpu {
namespace {

template <class A>
struct Weights {
  const A* of_class;  // or null
  A total;            // over all classes
  explicit Weights(const CrossEntropyCall& c)
      : of_class(static_cast<const A*>(c.weight)), total(static_cast<A>(c.classes)) {
    if (!of_class) return;
    total = 0;
    for (int64_t i = 0; i < c.classes; ++i) total += of_class[i];
  }
  A operator[](int64_t c) const { return of_class ? of_class[c] : A(1); }
};

template <class A>
struct LogSumBody {
  struct Result {
    A top, log_sum;  // of exp(x - top)
  };
  ARGAND_INLINE static Result run(const A* x, int64_t n) {
    const A top = reduce_run<MaxOp<A>>(x, n, A{});
    return {top, math::log(reduce_run<CenteredExpOp<A>>(x, n, top))};
  }
};

// out = scale * (factor * softmax - uniform * w - picked at the target)
template <class A>
struct RowGradient {
  const A* x;
  A* out;
  int64_t n, target;
  A log_sum, factor, uniform, picked;
  const A* weights;
};
template <class A>
struct GradientBody {
  ARGAND_INLINE static void run(const RowGradient<A>* r) {
    const A *x = r->x, *w = r->weights;
    A* out = r->out;
    const A log_sum = r->log_sum, factor = r->factor, uniform = r->uniform;
    if (uniform == 0) {
      ARGAND_VECTORIZE
      for (int64_t i = 0; i < r->n; ++i) out[i] = factor * math::exp(x[i] - log_sum);
    } else if (w) {
      ARGAND_VECTORIZE
      for (int64_t i = 0; i < r->n; ++i) out[i] = factor * math::exp(x[i] - log_sum) - uniform * w[i];
    } else {
      ARGAND_VECTORIZE
      for (int64_t i = 0; i < r->n; ++i) out[i] = factor * math::exp(x[i] - log_sum) - uniform;
    }
    out[r->target] = out[r->target] - r->picked;
  }
};

// Rows too short to fill vectors: exponentials and logarithms are taken of many at once.
constexpr int64_t kShortRow = 64, kShortElements = 2048;
// (Without classes there is nothing to take: all targets are ignored.)
int64_t rows_together(const CrossEntropyCall& c) {
  return c.classes >= 1 && c.classes <= kShortRow ? kShortElements / c.classes : 1;
}

template <class A>
struct ShortRowsBody {
  // tops and log_sums of `rows` rows of n elements; work holds rows * n.
  ARGAND_INLINE static void run(const A* x, int64_t rows, int64_t n, A* work, A* tops, A* log_sums) {
    for (int64_t r = 0; r < rows; ++r) {
      A top = x[r * n];
      for (int64_t j = 1; j < n; ++j) top = MaxOp<A>::combine(top, x[r * n + j]);
      tops[r] = top;
      for (int64_t j = 0; j < n; ++j) work[r * n + j] = x[r * n + j] - top;
    }
    ARGAND_VECTORIZE
    for (int64_t i = 0; i < rows * n; ++i) work[i] = math::exp(work[i]);
    for (int64_t r = 0; r < rows; ++r) {
      A sum = 0;
      for (int64_t j = 0; j < n; ++j) sum += work[r * n + j];
      log_sums[r] = sum;
    }
    ARGAND_VECTORIZE
    for (int64_t r = 0; r < rows; ++r) log_sums[r] = math::log(log_sums[r]);
  }
};
// out = exp(x - log_sum of its row).
template <class A>
struct ShortSoftmaxBody {
  ARGAND_INLINE static void run(const A* x, const A* log_sums, int64_t rows, int64_t n, A* out) {
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = 0; j < n; ++j) out[r * n + j] = x[r * n + j] - log_sums[r];
    ARGAND_VECTORIZE
    for (int64_t i = 0; i < rows * n; ++i) out[i] = math::exp(out[i]);
  }
};

template <class F>
void for_rows(const CrossEntropyCall& c, F&& f) {
  constexpr int64_t kGrain = 16384;
  parallel_for(0, c.rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(c.classes, 1)), f);
}

template <class T>
void forward(const CrossEntropyCall& c, void* losses_out, void* weights_out, void* log_sums_out) {
  using A = op_math_t<T>;
  const Weights<A> w(c);
  const A smoothing = static_cast<A>(c.smoothing), uniform = smoothing / static_cast<A>(c.classes);
  A *losses = static_cast<A*>(losses_out), *weights = static_cast<A*>(weights_out),
    *log_sums = static_cast<A*>(log_sums_out);
  const int64_t together = rows_together(c);
  const bool is_short = together > 1;
  for_rows(c, [&](int64_t begin, int64_t end) {
    ScratchBuffer<A, 4096> buffer(run_scratch<T, A>(together * c.classes));
    A work[kShortElements], tops[kShortElements];
    for (int64_t first = begin; first < end; first += together) {
      const int64_t rows = std::min(together, end - first);
      const A* block = load_run(static_cast<const T*>(c.logits) + first * c.classes, rows * c.classes, buffer.data());
      if (is_short) on_vector_unit<ShortRowsBody<A>>(block, rows, c.classes, work, tops, log_sums + first);
      for (int64_t i = first; i < first + rows; ++i) {
        const int64_t t = c.targets[i];
        if (t == c.ignore_index) {
          losses[i] = weights[i] = log_sums[i] = 0;
          continue;
        }
        const A* x = block + (i - first) * c.classes;
        if (!is_short) {
          const auto row = on_vector_unit<LogSumBody<A>>(x, c.classes);
          tops[0] = row.top;
          log_sums[i] = row.log_sum;
        }
        const A top = tops[i - first], log_sum = log_sums[i];
        // -log p = log_sum - (x - top), as log_softmax rounds it
        A loss = (1 - smoothing) * w[t] * -(x[t] - top - log_sum);
        if (smoothing != 0) {
          A weighted = 0;
          if (w.of_class)
            for (int64_t j = 0; j < c.classes; ++j) weighted += w[j] * (x[j] - top);
          else
            weighted = reduce_run<SumOp<A>>(x, c.classes, A{}) - static_cast<A>(c.classes) * top;
          loss += uniform * (w.total * log_sum - weighted);
        }
        losses[i] = loss;
        weights[i] = w[t];
        log_sums[i] = top + log_sum;
      }
    }
  });
}

template <class T>
void backward(const CrossEntropyCall& c, const void* log_sums_in, const void* scales_in, int64_t scale_stride,
              const void* total_weight, void* out_any) {
  using A = op_math_t<T>;
  const Weights<A> w(c);
  const A smoothing = static_cast<A>(c.smoothing), uniform = smoothing / static_cast<A>(c.classes);
  const A *log_sums = static_cast<const A*>(log_sums_in), *scales = static_cast<const A*>(scales_in);
  A one = 0;
  if (scale_stride == 0) {
    one = total_weight ? *scales / *static_cast<const A*>(total_weight) : *scales;
    scales = &one;
  }
  const int64_t together = rows_together(c);
  const bool is_short = together > 1;
  for_rows(c, [&](int64_t begin, int64_t end) {
    ScratchBuffer<A, 4096> buffer(run_scratch<T, A>(together * c.classes));
    for (int64_t first = begin; first < end; first += together) {
      const int64_t rows = std::min(together, end - first);
      T* out = static_cast<T*>(out_any) + first * c.classes;
      const A* x = load_run(static_cast<const T*>(c.logits) + first * c.classes, rows * c.classes, buffer.data());
      A* to = place_run(out, buffer.data());
      if (is_short) on_vector_unit<ShortSoftmaxBody<A>>(x, log_sums + first, rows, c.classes, to);
      for (int64_t i = first; i < first + rows; ++i, x += c.classes, to += c.classes) {
        const int64_t t = c.targets[i];
        if (t == c.ignore_index) {
          std::fill(to, to + c.classes, A(0));
          continue;
        }
        const A scale = scales[i * scale_stride], one = (1 - smoothing) * w[t];
        const A factor = scale * (one + uniform * w.total);
        if (is_short) {
          for (int64_t j = 0; j < c.classes; ++j) to[j] = factor * to[j] - scale * uniform * w[j];
          to[t] -= scale * one;
        } else {
          const RowGradient<A> row{x, to, c.classes, t, log_sums[i], factor, scale * uniform, scale * one, w.of_class};
          on_vector_unit<GradientBody<A>>(&row);
        }
      }
      store_run(buffer.data(), out, rows * c.classes);
    }
  });
}

}  // namespace

void cross_entropy(const CrossEntropyCall& call, void* losses, void* weights, void* log_sums) {
  dispatch<kFloatingTypes>(call.type, "cross_entropy",
                           [&](auto tag) { forward<typename decltype(tag)::type>(call, losses, weights, log_sums); });
}

void cross_entropy_backward(const CrossEntropyCall& call, const void* log_sums, const void* scales,
                            int64_t scale_stride, const void* total_weight, void* out) {
  dispatch<kFloatingTypes>(call.type, "cross_entropy", [&](auto tag) {
    backward<typename decltype(tag)::type>(call, log_sums, scales, scale_stride, total_weight, out);
  });
}

void cross_entropy_softmax_factors(const CrossEntropyCall& call, void* factors) {
  dispatch<kFloatTypes>(op_math_type(call.type), "cross_entropy", [&](auto tag) {
    using A = typename decltype(tag)::type;
    const Weights<A> w(call);
    const A smoothing = static_cast<A>(call.smoothing), rest = smoothing / static_cast<A>(call.classes) * w.total;
    for (int64_t i = 0; i < call.rows; ++i) {
      const int64_t t = call.targets[i];
      static_cast<A*>(factors)[i] = t == call.ignore_index ? A(0) : (1 - smoothing) * w[t] + rest;
    }
  });
}

int64_t find_bad_target(const int64_t* targets, int64_t n, int64_t classes, int64_t ignore_index) {
  for (int64_t i = 0; i < n; ++i)
    if ((targets[i] < 0 || targets[i] >= classes) && targets[i] != ignore_index) return i;
  return -1;
}

}  // namespace argand::cpu
