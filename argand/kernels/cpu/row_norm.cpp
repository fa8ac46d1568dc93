#include "argand/kernels/cpu/row_norm.h"

#include <cmath>

#include "argand/kernels/cpu/row_loops.h"

namespace argand::cpu {
namespace {

template <class A>
struct RowWeights {
  const A *weight, *bias;  // of the row's channels, or null
  int64_t channels, inner;
};

// ---- forward

template <class A, bool kWeight, bool kBias>
ARGAND_INLINE void scale_columns(const A* x, const RowWeights<A>& w, A mean, A rstd, A* y) {
  ARGAND_VECTORIZE
  for (int64_t j = 0; j < w.channels; ++j) {
    A v = (x[j] - mean) * rstd;
    if constexpr (kWeight) v = v * w.weight[j];
    if constexpr (kBias) v = v + w.bias[j];
    y[j] = v;
  }
}

template <class A>
struct ForwardBody {
  struct Row {
    const A* x;
    A* y;
    RowWeights<A> w;
    A eps;
    bool centered;
    A mean, rstd;  // results
  };
  ARGAND_INLINE static void run(Row* r) {
    const int64_t n = r->w.channels * r->w.inner;
    A squares;
    if (r->centered) {
      const RunMoments<A> m = moments_of(r->x, n);
      r->mean = m.mean;
      squares = m.squares;
    } else {
      r->mean = 0;
      squares = reduce_run<SumSquaresOp<A>>(r->x, n, A(0));
    }
    r->rstd = 1 / std::sqrt(squares / static_cast<A>(n) + r->eps);
    if (r->w.inner == 1)
      columns(*r);
    else
      channels(*r);
  }
  ARGAND_INLINE static void columns(const Row& r) {
    if (r.w.weight && r.w.bias)
      scale_columns<A, true, true>(r.x, r.w, r.mean, r.rstd, r.y);
    else if (r.w.weight)
      scale_columns<A, true, false>(r.x, r.w, r.mean, r.rstd, r.y);
    else if (r.w.bias)
      scale_columns<A, false, true>(r.x, r.w, r.mean, r.rstd, r.y);
    else
      scale_columns<A, false, false>(r.x, r.w, r.mean, r.rstd, r.y);
  }
  ARGAND_INLINE static void channels(const Row& r) {
    const A mean = r.mean;
    for (int64_t d = 0; d < r.w.channels; ++d) {
      const A* x = r.x + d * r.w.inner;
      A* y = r.y + d * r.w.inner;
      const A scale = r.w.weight ? r.rstd * r.w.weight[d] : r.rstd, shift = r.w.bias ? r.w.bias[d] : A(0);
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < r.w.inner; ++j) y[j] = (x[j] - mean) * scale + shift;
    }
  }
};

int64_t row_grain(int64_t n) { return std::max<int64_t>(1, kNormGrain / std::max<int64_t>(n, 1)); }

template <class T>
void forward(const RowNormCall& c, const T* x, const void* bias, double eps, T* y, void* means, void* rstds) {
  using A = op_math_t<T>;
  const int64_t n = c.channels * c.inner;
  const A *weight = static_cast<const A*>(c.weight), *shift = static_cast<const A*>(bias);
  parallel_for(0, c.rows, row_grain(n), [&](int64_t begin, int64_t end) {
    ScratchBuffer<A, 8192> buffer(run_scratch<T, A>(n));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % c.groups * c.channels;
      typename ForwardBody<A>::Row row{
          load_run(x + i * n, n, buffer.data()),
          place_run(y + i * n, buffer.data()),
          {weight ? weight + first : nullptr, shift ? shift + first : nullptr, c.channels, c.inner},
          static_cast<A>(eps),
          c.centered,
          0,
          0};
      on_vector_unit<ForwardBody<A>>(&row);
      store_run(buffer.data(), y + i * n, n);
      if (c.centered) static_cast<A*>(means)[i] = row.mean;
      static_cast<A*>(rstds)[i] = row.rstd;
    }
  });
}

// ---- backward
//
// With h = g * weight and z = (x - mean) * rstd, the gradient of x is rstd * (h - mean(h) - z * mean(h * z)), that of
// weight the sum of g * z and that of bias the sum of g.

template <class A>
struct BackwardRow {
  const A *g, *x;
  A* out;  // or null
  RowWeights<A> w;
  A mean, rstd;
  bool centered;
  A *product, *sum;  // of each channel: g * z and g are added to what is there; or null
};

template <class A>
ARGAND_INLINE RunProducts<A> weighted_products(const BackwardRow<A>& r) {
  if (!r.w.weight) return products_of(r.g, r.x, r.w.channels, r.mean);
  alignas(64) A h[kReduceBlock], terms[kReduceBlock];
  Tree<SumOp<A>> sum, product;
  const A mean = r.mean;
  for (int64_t i = 0; i < r.w.channels; i += kReduceBlock) {
    const A *g = r.g + i, *x = r.x + i, *w = r.w.weight + i;
    const int64_t count = std::min(kReduceBlock, r.w.channels - i);
    ARGAND_VECTORIZE
    for (int64_t j = 0; j < count; ++j) {
      h[j] = g[j] * w[j];
      terms[j] = h[j] * (x[j] - mean);
    }
    sum.push(reduce_block(SumOp<A>{}, h, count, A(0)));
    product.push(reduce_block(SumOp<A>{}, terms, count, A(0)));
  }
  return {sum.finish(), product.finish()};
}

// out = g * w * rstd + (x - mean) * slope + shift
template <class A>
struct RowSlopes {
  A slope, shift;
  ARGAND_INLINE RowSlopes(const BackwardRow<A>& r, A sum, A product) {
    const A n = static_cast<A>(r.w.channels * r.w.inner);
    slope = -(r.rstd * r.rstd * r.rstd) * (product / n);
    shift = r.centered ? -r.rstd * (sum / n) : A(0);
  }
};

template <class A>
struct ColumnsBackward {
  ARGAND_INLINE static void run(const BackwardRow<A>* row) {
    const BackwardRow<A>& r = *row;
    const A *g = r.g, *x = r.x, *w = r.w.weight;
    const A mean = r.mean, rstd = r.rstd;
    if (r.product) {
      A *product = r.product, *sum = r.sum;
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < r.w.channels; ++j) {
        product[j] = product[j] + g[j] * ((x[j] - mean) * rstd);
        sum[j] = sum[j] + g[j];
      }
    }
    if (!r.out) return;
    A* out = r.out;
    const RunProducts<A> p = weighted_products(r);
    const RowSlopes<A> s(r, p.sum, p.product);
    if (w) {
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < r.w.channels; ++j) out[j] = g[j] * w[j] * rstd + (x[j] - mean) * s.slope + s.shift;
    } else {
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < r.w.channels; ++j) out[j] = g[j] * rstd + (x[j] - mean) * s.slope + s.shift;
    }
  }
};

template <class A>
struct ChannelsBackward {
  ARGAND_INLINE static void run(const BackwardRow<A>* row) {
    const BackwardRow<A>& r = *row;
    const int64_t inner = r.w.inner;
    const A mean = r.mean;
    A sum = 0, product = 0;
    for (int64_t d = 0; d < r.w.channels; ++d) {
      const RunProducts<A> p = products_of(r.g + d * inner, r.x + d * inner, inner, mean);
      const A weight = r.w.weight ? r.w.weight[d] : A(1);
      sum = sum + p.sum * weight;
      product = product + p.product * weight;
      if (r.product) {
        r.product[d] = r.product[d] + p.product * r.rstd;
        r.sum[d] = r.sum[d] + p.sum;
      }
    }
    if (!r.out) return;
    const RowSlopes<A> s(r, sum, product);
    for (int64_t d = 0; d < r.w.channels; ++d) {
      const A *g = r.g + d * inner, *x = r.x + d * inner;
      A* out = r.out + d * inner;
      const A scale = r.w.weight ? r.rstd * r.w.weight[d] : r.rstd;
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < inner; ++j) out[j] = g[j] * scale + (x[j] - mean) * s.slope + s.shift;
    }
  }
};

// How the rows are cut into chunks that each sum the gradients of the weights: at most 64, and no more than keeps
// their sums small beside the tensor.
int64_t rows_per_chunk(const RowNormCall& c) {
  const int64_t least = std::max<int64_t>((c.rows + 63) / 64, row_grain(c.channels * c.inner));
  const int64_t samples = c.inner == 1 ? 16 : 1;
  const int64_t per_chunk = std::max(least, samples * c.groups);
  return (per_chunk + c.groups - 1) / c.groups * c.groups;
}

template <class T>
class Backward {
 public:
  using A = op_math_t<T>;
  Backward(const RowNormCall& call, const void* g, const void* x, const void* mean, const void* rstd, void* grad_x)
      : c_(call),
        n_(call.channels * call.inner),
        width_(call.groups * call.channels),
        g_(static_cast<const T*>(g)),
        x_(static_cast<const T*>(x)),
        mean_(static_cast<const A*>(mean)),
        rstd_(static_cast<const A*>(rstd)),
        out_(static_cast<T*>(grad_x)) {}

  void run(A* grad_weight, A* grad_bias) {
    if (!grad_weight && !grad_bias)
      return parallel_for(0, c_.rows, row_grain(n_), [&](int64_t begin, int64_t end) { rows(begin, end, nullptr); });
    const int64_t step = rows_per_chunk(c_), chunks = std::max<int64_t>(1, (c_.rows + step - 1) / step);
    ScratchBuffer<A, 8192> parts(chunks * 2 * width_);
    parallel_for(0, chunks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k)
        chunk(k * step, std::min(c_.rows, (k + 1) * step), parts.data() + k * 2 * width_);
    });
    if (grad_weight) add_parts(parts.data(), chunks, 2 * width_, width_, grad_weight);
    if (grad_bias) add_parts(parts.data() + width_, chunks, 2 * width_, width_, grad_bias);
  }

 private:
  // Sums of 64 samples at a time are added up, so that the error does not grow with the length of the chunk.
  void chunk(int64_t begin, int64_t end, A* total) {
    const int64_t block = 64 * c_.groups;
    std::fill(total, total + 2 * width_, A(0));
    if (end - begin <= block) return rows(begin, end, total);
    ScratchBuffer<A, 8192> sums(2 * width_);
    for (int64_t i = begin; i < end; i += block) {
      std::fill(sums.data(), sums.data() + 2 * width_, A(0));
      rows(i, std::min(end, i + block), sums.data());
      for (int64_t j = 0; j < 2 * width_; ++j) total[j] += sums.data()[j];
    }
  }

  // `sums`: products and sums of all channels, or null.
  void rows(int64_t begin, int64_t end, A* sums) {
    if (n_ == 0) return;
    const A* weight = static_cast<const A*>(c_.weight);
    ScratchBuffer<A, 8192> g(run_scratch<T, A>(n_)), x(run_scratch<T, A>(n_));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % c_.groups * c_.channels;
      const BackwardRow<A> row{load_run(g_ + i * n_, n_, g.data()),
                               load_run(x_ + i * n_, n_, x.data()),
                               out_ ? place_run(out_ + i * n_, g.data()) : nullptr,
                               {weight ? weight + first : nullptr, nullptr, c_.channels, c_.inner},
                               c_.centered ? mean_[i] : A(0),
                               rstd_[i],
                               c_.centered,
                               sums ? sums + first : nullptr,
                               sums ? sums + width_ + first : nullptr};
      if (c_.inner == 1)
        on_vector_unit<ColumnsBackward<A>>(&row);
      else
        on_vector_unit<ChannelsBackward<A>>(&row);
      if (out_) store_run(g.data(), out_ + i * n_, n_);
    }
  }

  const RowNormCall& c_;
  const int64_t n_, width_;
  const T *g_, *x_;
  const A *mean_, *rstd_;
  T* out_;
};

}  // namespace

void row_norm(const RowNormCall& call, const void* x, const void* bias, double eps, void* y, void* mean, void* rstd) {
  dispatch<kFloatingTypes>(call.type, "normalization", [&](auto tag) {
    using T = typename decltype(tag)::type;
    forward(call, static_cast<const T*>(x), bias, eps, static_cast<T*>(y), mean, rstd);
  });
}

void row_norm_backward(const RowNormCall& call, const void* g, const void* x, const void* mean, const void* rstd,
                       void* grad_x, void* grad_weight, void* grad_bias) {
  dispatch<kFloatingTypes>(call.type, "normalization", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = op_math_t<T>;
    Backward<T>(call, g, x, mean, rstd, grad_x).run(static_cast<A*>(grad_weight), static_cast<A*>(grad_bias));
  });
}

}  // namespace argand::cpu
