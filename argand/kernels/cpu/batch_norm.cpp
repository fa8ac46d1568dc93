#include "argand/kernels/cpu/batch_norm.h"

#include "argand/kernels/cpu/row_loops.h"

// A plane is the `inner` elements of one channel of one sample: plane p belongs to channel p % channels.  Where inner
// is 1, planes are single numbers, and loops run along the channels instead.

namespace argand::cpu {
namespace {

template <class A>
struct ScaleTerms {
  const A *center, *scale, *shift;  // shift may be null
};
template <class A>
struct GradientTerms {
  const A *center, *scale, *slope, *shift;  // the last two may be null
};

// ---- loops over one run, with the coefficients of channel `c` (planes) or of channels c, c + 1, ... (columns)

template <class A>
struct ScaleBody {
  ARGAND_INLINE static void run(const A* x, const ScaleTerms<A>* terms, int64_t c, bool columns, A* y, int64_t n) {
    const A *center = terms->center + c, *scale = terms->scale + c, *shift = terms->shift ? terms->shift + c : nullptr;
    if (!columns) {
      const A m = *center, a = *scale, b = shift ? *shift : A(0);
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - m) * a + b;
    } else if (shift) {
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - center[j]) * scale[j] + shift[j];
    } else {
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - center[j]) * scale[j];
    }
  }
};

template <class A>
struct GradientBody {
  ARGAND_INLINE static void run(const A* g, const A* x, const GradientTerms<A>* terms, int64_t c, bool columns, A* out,
                                int64_t n) {
    const A *center = terms->center + c, *scale = terms->scale + c, *slope = terms->slope ? terms->slope + c : nullptr,
            *shift = terms->shift ? terms->shift + c : nullptr;
    if (!slope && columns) {
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < n; ++j) out[j] = g[j] * scale[j];
    } else if (!slope) {
      const A a = *scale;
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < n; ++j) out[j] = g[j] * a;
    } else if (columns) {
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < n; ++j) out[j] = g[j] * scale[j] + (x[j] - center[j]) * slope[j] + shift[j];
    } else {
      const A m = *center, a = *scale, k = *slope, b = *shift;
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < n; ++j) out[j] = g[j] * a + (x[j] - m) * k + b;
    }
  }
};

template <class A>
struct MomentsBody {
  ARGAND_INLINE static RunMoments<A> run(const A* x, int64_t n) { return moments_of(x, n); }
};
template <class A>
struct ProductsBody {
  ARGAND_INLINE static RunProducts<A> run(const A* g, const A* x, int64_t n, A center) {
    return products_of(g, x, n, center);
  }
};
// sum and product, of each of n columns, take up one more row.
template <class A>
struct ColumnProductsBody {
  ARGAND_INLINE static void run(const A* g, const A* x, const A* center, A* sum, A* product, int64_t n) {
    ARGAND_VECTORIZE
    for (int64_t j = 0; j < n; ++j) {
      sum[j] = sum[j] + g[j];
      product[j] = product[j] + g[j] * (x[j] - center[j]);
    }
  }
};

// ---- how the tensor is walked

// Calls f(offset of the run, its channel, its length) for runs of at most kRun elements: parts of planes, or of rows.
constexpr int64_t kRun = 4096;
template <class F>
void for_each_run_of(const ChannelPass& c, F f) {
  const int64_t length = c.inner == 1 ? c.channels : c.inner, count = c.inner == 1 ? c.n : c.n * c.channels;
  const int64_t parts = (length + kRun - 1) / kRun;
  if (count == 0 || length == 0) return;
  parallel_for(0, count * parts, std::max<int64_t>(1, kNormGrain / std::min(length, kRun)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t line = i / parts, first = i % parts * kRun;
                   const int64_t channel = c.inner == 1 ? first : line % c.channels;
                   f(line * length + first, channel, std::min(kRun, length - first));
                 }
               });
}

int64_t plane_grain(const ChannelPass& c) { return std::max<int64_t>(1, kNormGrain / std::max<int64_t>(c.inner, 1)); }

// ---- statistics

template <class T>
void plane_moments(const ChannelPass& c, const T* x, op_math_t<T>* mean, op_math_t<T>* variance) {
  using A = op_math_t<T>;
  ScratchBuffer<RunMoments<A>, 8192> planes(c.n * c.channels);
  parallel_for(0, c.n * c.channels, plane_grain(c), [&](int64_t begin, int64_t end) {
    ScratchBuffer<A, 16384> buffer(run_scratch<T, A>(c.inner));
    for (int64_t p = begin; p < end; ++p)
      planes.data()[p] = on_vector_unit<MomentsBody<A>>(load_run(x + p * c.inner, c.inner, buffer.data()), c.inner);
  });
  // Planes have one length: the mean is that of their means, and their means' spread adds to the squares.
  parallel_for(0, c.channels, std::max<int64_t>(1, kNormGrain / c.n), [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      const RunMoments<A>* of = planes.data() + j;
      const double inner = static_cast<double>(c.inner), n = static_cast<double>(c.n);
      double sum = 0, squares = 0;
      for (int64_t i = 0; i < c.n; ++i) sum += static_cast<double>(of[i * c.channels].mean);
      const double center = sum / n;
      for (int64_t i = 0; i < c.n; ++i) {
        const double d = static_cast<double>(of[i * c.channels].mean) - center;
        squares += static_cast<double>(of[i * c.channels].squares) + inner * d * d;
      }
      mean[j] = static_cast<A>(center);
      variance[j] = static_cast<A>(squares / (n * inner));
    }
  });
}

void column_moments(const ChannelPass& c, ScalarType type, const void* x, void* mean, void* variance) {
  const Dims sizes{c.n, c.channels}, strides{c.channels, 1}, over{0};
  const ReduceLayout layout(sizes, strides, over);
  const auto divide = [&](void* values) {
    dispatch<kFloatTypes>(type, "batch_norm", [&](auto tag) {
      using A = typename decltype(tag)::type;
      for (int64_t j = 0; j < c.channels; ++j) static_cast<A*>(values)[j] /= static_cast<A>(c.n);
    });
  };
  reduce({ReduceKind::kSum, x, c.type, type, mean}, layout);
  divide(mean);
  reduce({ReduceKind::kCenteredSquares, x, c.type, type, variance, 0, mean}, layout);
  divide(variance);
}

template <class T>
void plane_products(const ChannelPass& c, const T* g, const T* x, const op_math_t<T>* center, op_math_t<T>* sum,
                    op_math_t<T>* product) {
  using A = op_math_t<T>;
  const int64_t planes = c.n * c.channels;
  ScratchBuffer<A, 8192> parts(2 * planes);
  parallel_for(0, planes, plane_grain(c), [&](int64_t begin, int64_t end) {
    ScratchBuffer<A, 16384> gs(run_scratch<T, A>(c.inner)), xs(run_scratch<T, A>(c.inner));
    for (int64_t p = begin; p < end; ++p) {
      const int64_t at = p * c.inner;
      const RunProducts<A> r = on_vector_unit<ProductsBody<A>>(
          load_run(g + at, c.inner, gs.data()), load_run(x + at, c.inner, xs.data()), c.inner, center[p % c.channels]);
      parts.data()[p] = r.sum;
      parts.data()[planes + p] = r.product;
    }
  });
  add_parts(parts.data(), c.n, c.channels, c.channels, sum);
  add_parts(parts.data() + planes, c.n, c.channels, c.channels, product);
}

// Rows are added in blocks of at least 64, and the sums of at most some 64 * 64 blocks in double.
template <class T>
void column_products(const ChannelPass& c, const T* g, const T* x, const op_math_t<T>* center, op_math_t<T>* sum,
                     op_math_t<T>* product) {
  using A = op_math_t<T>;
  const int64_t w = c.channels, step = std::max<int64_t>(64, c.n / 4096), blocks = (c.n + step - 1) / step;
  ScratchBuffer<A, 8192> parts(blocks * 2 * w);
  parallel_for(0, blocks, std::max<int64_t>(1, kNormGrain / std::max<int64_t>(1, step * w)),
               [&](int64_t begin, int64_t end) {
                 ScratchBuffer<A, 8192> gs(run_scratch<T, A>(w)), xs(run_scratch<T, A>(w));
                 for (int64_t k = begin; k < end; ++k) {
                   A *s = parts.data() + k * 2 * w, *p = s + w;
                   std::fill(s, s + 2 * w, A(0));
                   for (int64_t i = k * step; i < std::min(c.n, (k + 1) * step); ++i)
                     on_vector_unit<ColumnProductsBody<A>>(load_run(g + i * w, w, gs.data()),
                                                           load_run(x + i * w, w, xs.data()), center, s, p, w);
                 }
               });
  add_parts(parts.data(), blocks, 2 * w, w, sum);
  add_parts(parts.data() + w, blocks, 2 * w, w, product);
}

}  // namespace

void channel_moments(const ChannelPass& c, const void* x, void* mean, void* variance) {
  if (c.inner == 1) return column_moments(c, op_math_type(c.type), x, mean, variance);
  dispatch<kFloatingTypes>(c.type, "batch_norm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = op_math_t<T>;
    plane_moments(c, static_cast<const T*>(x), static_cast<A*>(mean), static_cast<A*>(variance));
  });
}

void channel_scale(const ChannelPass& c, const void* x, const void* center, const void* scale, const void* shift,
                   void* y) {
  dispatch<kFloatingTypes>(c.type, "batch_norm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = op_math_t<T>;
    const ScaleTerms<A> terms{static_cast<const A*>(center), static_cast<const A*>(scale),
                              static_cast<const A*>(shift)};
    for_each_run_of(c, [&](int64_t at, int64_t channel, int64_t n) {
      alignas(64) A buffer[std::is_same_v<T, A> ? 1 : kRun];
      T* to = static_cast<T*>(y) + at;
      on_vector_unit<ScaleBody<A>>(load_run(static_cast<const T*>(x) + at, n, buffer), &terms, channel, c.inner == 1,
                                   place_run(to, buffer), n);
      store_run(buffer, to, n);
    });
  });
}

void channel_products(const ChannelPass& c, const void* g, const void* x, const void* center, void* sum,
                      void* product) {
  dispatch<kFloatingTypes>(c.type, "batch_norm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = op_math_t<T>;
    const T *gs = static_cast<const T*>(g), *xs = static_cast<const T*>(x);
    const A* m = static_cast<const A*>(center);
    if (c.inner == 1)
      column_products(c, gs, xs, m, static_cast<A*>(sum), static_cast<A*>(product));
    else
      plane_products(c, gs, xs, m, static_cast<A*>(sum), static_cast<A*>(product));
  });
}

void channel_gradient(const ChannelPass& c, const void* g, const void* x, const void* center, const void* scale,
                      const void* slope, const void* shift, void* out) {
  dispatch<kFloatingTypes>(c.type, "batch_norm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = op_math_t<T>;
    const GradientTerms<A> terms{static_cast<const A*>(center), static_cast<const A*>(scale),
                                 static_cast<const A*>(slope), static_cast<const A*>(shift)};
    for_each_run_of(c, [&](int64_t at, int64_t channel, int64_t n) {
      alignas(64) A gs[std::is_same_v<T, A> ? 1 : kRun], xs[std::is_same_v<T, A> ? 1 : kRun];
      T* to = static_cast<T*>(out) + at;
      on_vector_unit<GradientBody<A>>(load_run(static_cast<const T*>(g) + at, n, gs),
                                      load_run(static_cast<const T*>(x) + at, n, xs), &terms, channel, c.inner == 1,
                                      place_run(to, gs), n);
      store_run(gs, to, n);
    });
  });
}

}  // namespace argand::cpu
