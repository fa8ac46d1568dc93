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

// ---- loops over one run: a part of a plane with the coefficients of channel `c`, or rows of `n` columns with those of
// channels c, c + 1, ...

struct Run {
  int64_t at, channel, rows, n;  // rows: 0 for a part of a plane
  int64_t size() const { return std::max<int64_t>(rows, 1) * n; }
};

template <class A>
struct ScaleBody {
  ARGAND_INLINE static void run(const A* x, const ScaleTerms<A>* terms, const Run* r, A* y) {
    const A *center = terms->center + r->channel, *scale = terms->scale + r->channel,
            *shift = terms->shift ? terms->shift + r->channel : nullptr;
    const int64_t n = r->n;
    if (r->rows == 0) {
      const A m = *center, a = *scale, b = shift ? *shift : A(0);
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - m) * a + b;
    }
    for (int64_t i = 0; i < r->rows; ++i, x += n, y += n) {
      if (shift) {
        ARGAND_VECTORIZE
        for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - center[j]) * scale[j] + shift[j];
      } else {
        ARGAND_VECTORIZE
        for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - center[j]) * scale[j];
      }
    }
  }
};

template <class A>
struct GradientBody {
  ARGAND_INLINE static void run(const A* g, const A* x, const GradientTerms<A>* terms, const Run* r, A* out) {
    const int64_t c = r->channel, n = r->n;
    const A *center = terms->center + c, *scale = terms->scale + c, *slope = terms->slope ? terms->slope + c : nullptr,
            *shift = terms->shift ? terms->shift + c : nullptr;
    if (r->rows == 0 && !slope) {
      const A a = *scale;
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < n; ++j) out[j] = g[j] * a;
    } else if (r->rows == 0) {
      const A m = *center, a = *scale, k = *slope, b = *shift;
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < n; ++j) out[j] = g[j] * a + (x[j] - m) * k + b;
    }
    for (int64_t i = 0; i < r->rows; ++i, g += n, x += n, out += n) {
      if (!slope) {
        ARGAND_VECTORIZE
        for (int64_t j = 0; j < n; ++j) out[j] = g[j] * scale[j];
      } else {
        ARGAND_VECTORIZE
        for (int64_t j = 0; j < n; ++j) out[j] = g[j] * scale[j] + (x[j] - center[j]) * slope[j] + shift[j];
      }
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
// The means of n columns and the sums of squares about them.
template <class A>
struct ColumnMomentsBody {
  ARGAND_INLINE static void run(const A* x, A* mean, A* squares, int64_t rows, int64_t n) {
    std::fill(mean, mean + n, A(0));
    std::fill(squares, squares + n, A(0));
    for (int64_t i = 0; i < rows; ++i) {
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < n; ++j) mean[j] = mean[j] + x[i * n + j];
    }
    for (int64_t j = 0; j < n; ++j) mean[j] = mean[j] / static_cast<A>(rows);
    for (int64_t i = 0; i < rows; ++i) {
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < n; ++j) {
        const A d = x[i * n + j] - mean[j];
        squares[j] = squares[j] + d * d;
      }
    }
  }
};

// sum and product, of each of n columns, take up more rows.
template <class A>
struct ColumnProductsBody {
  ARGAND_INLINE static void run(const A* g, const A* x, const A* center, A* sum, A* product, int64_t rows, int64_t n) {
    for (int64_t i = 0; i < rows; ++i, g += n, x += n) {
      ARGAND_VECTORIZE
      for (int64_t j = 0; j < n; ++j) {
        sum[j] = sum[j] + g[j];
        product[j] = product[j] + g[j] * (x[j] - center[j]);
      }
    }
  }
};

// ---- iteration over the tensor

// A single channel of single numbers is a plane.
ChannelPass walked(const ChannelPass& c) {
  return c.channels == 1 && c.inner == 1 ? ChannelPass{c.type, 1, 1, c.n} : c;
}

// Calls f(run) for runs of at most kRun elements: parts of planes or of rows, or several rows.
constexpr int64_t kRun = 4096;
template <class F>
void for_each_run_of(const ChannelPass& c, F f) {
  const bool columns = c.inner == 1;
  const int64_t length = columns ? c.channels : c.inner, count = columns ? c.n : c.n * c.channels;
  if (count == 0 || length == 0) return;
  const int64_t parts = (length + kRun - 1) / kRun, together = columns ? std::max<int64_t>(1, kRun / length) : 1;
  const int64_t groups = (count + together - 1) / together;
  parallel_for(
      0, groups * parts, std::max<int64_t>(1, kNormGrain / std::min(length * together, kRun)),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t line = i / parts * together, first = i % parts * kRun;
          const int64_t rows = columns ? std::min(together, count - line) : 0;
          f(Run{line * length + first, columns ? first : line % c.channels, rows, std::min(kRun, length - first)});
        }
      });
}

int64_t plane_grain(const ChannelPass& c) { return std::max<int64_t>(1, kNormGrain / std::max<int64_t>(c.inner, 1)); }

// ---- statistics

// Moments of a part of a channel: the number of elements, their mean, and the sum of squared distances from it.
struct PartMoments {
  int64_t count;
  double mean, squares;
};

// Moments of whole channels from part(i, channel) of each; the spread of the parts' means adds to the squares.
template <class A, class Part>
void combine_moments(int64_t channels, int64_t parts, A* mean, A* variance, Part part) {
  parallel_for(0, channels, std::max<int64_t>(1, kNormGrain / parts), [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      double count = 0, sum = 0, squares = 0;
      for (int64_t i = 0; i < parts; ++i) {
        const PartMoments p = part(i, j);
        count += static_cast<double>(p.count);
        sum += static_cast<double>(p.count) * p.mean;
      }
      const double center = sum / count;
      for (int64_t i = 0; i < parts; ++i) {
        const PartMoments p = part(i, j);
        squares += p.squares + static_cast<double>(p.count) * (p.mean - center) * (p.mean - center);
      }
      mean[j] = static_cast<A>(center);
      variance[j] = static_cast<A>(squares / count);
    }
  });
}

template <class T>
void plane_moments(const ChannelPass& c, const T* x, op_math_t<T>* mean, op_math_t<T>* variance) {
  using A = op_math_t<T>;
  ScratchBuffer<RunMoments<A>, 8192> planes(c.n * c.channels);
  parallel_for(0, c.n * c.channels, plane_grain(c), [&](int64_t begin, int64_t end) {
    ScratchBuffer<A, 16384> buffer(run_scratch<T, A>(c.inner));
    for (int64_t p = begin; p < end; ++p)
      planes.data()[p] = on_vector_unit<MomentsBody<A>>(load_run(x + p * c.inner, c.inner, buffer.data()), c.inner);
  });
  combine_moments<A>(c.channels, c.n, mean, variance, [&](int64_t part, int64_t channel) {
    const RunMoments<A>& of = planes.data()[part * c.channels + channel];
    return PartMoments{c.inner, static_cast<double>(of.mean), static_cast<double>(of.squares)};
  });
}

// Parts are blocks of rows.
template <class T>
void column_moments(const ChannelPass& c, const T* x, op_math_t<T>* mean, op_math_t<T>* variance) {
  using A = op_math_t<T>;
  const int64_t w = c.channels, step = std::clamp<int64_t>(kRun * 4 / std::max<int64_t>(1, w), 16, 256);
  const int64_t blocks = (c.n + step - 1) / step;
  const auto rows_of = [&](int64_t block) { return std::min(step, c.n - block * step); };
  ScratchBuffer<A, 8192> parts(blocks * 2 * w);  // means, then squares
  parallel_for(0, blocks, std::max<int64_t>(1, kNormGrain / std::max<int64_t>(1, step * w)),
               [&](int64_t begin, int64_t end) {
                 ScratchBuffer<A, 16384> buffer(run_scratch<T, A>(step * w));
                 for (int64_t k = begin; k < end; ++k) {
                   A* const of = parts.data() + k * 2 * w;
                   on_vector_unit<ColumnMomentsBody<A>>(load_run(x + k * step * w, rows_of(k) * w, buffer.data()), of,
                                                        of + w, rows_of(k), w);
                 }
               });
  combine_moments<A>(w, blocks, mean, variance, [&](int64_t part, int64_t channel) {
    const A* const of = parts.data() + part * 2 * w + channel;
    return PartMoments{rows_of(part), static_cast<double>(of[0]), static_cast<double>(of[w])};
  });
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
  const int64_t together = std::max<int64_t>(1, kRun / std::max<int64_t>(1, w));
  ScratchBuffer<A, 8192> parts(blocks * 2 * w);
  parallel_for(
      0, blocks, std::max<int64_t>(1, kNormGrain / std::max<int64_t>(1, step * w)), [&](int64_t begin, int64_t end) {
        ScratchBuffer<A, 8192> gs(run_scratch<T, A>(together * w)), xs(run_scratch<T, A>(together * w));
        for (int64_t k = begin; k < end; ++k) {
          A *s = parts.data() + k * 2 * w, *p = s + w;
          std::fill(s, s + 2 * w, A(0));
          const int64_t last = std::min(c.n, (k + 1) * step);
          for (int64_t i = k * step; i < last; i += together) {
            const int64_t rows = std::min(together, last - i);
            on_vector_unit<ColumnProductsBody<A>>(load_run(g + i * w, rows * w, gs.data()),
                                                  load_run(x + i * w, rows * w, xs.data()), center, s, p, rows, w);
          }
        }
      });
  add_parts(parts.data(), blocks, 2 * w, w, sum);
  add_parts(parts.data() + w, blocks, 2 * w, w, product);
}

}  // namespace

void channel_moments(const ChannelPass& pass, const void* x, void* mean, void* variance) {
  const ChannelPass c = walked(pass);
  dispatch<kFloatingTypes>(c.type, "batch_norm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = op_math_t<T>;
    if (c.inner == 1)
      column_moments(c, static_cast<const T*>(x), static_cast<A*>(mean), static_cast<A*>(variance));
    else
      plane_moments(c, static_cast<const T*>(x), static_cast<A*>(mean), static_cast<A*>(variance));
  });
}

void channel_scale(const ChannelPass& pass, const void* x, const void* center, const void* scale, const void* shift,
                   void* y) {
  const ChannelPass c = walked(pass);
  dispatch<kFloatingTypes>(c.type, "batch_norm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = op_math_t<T>;
    const ScaleTerms<A> terms{static_cast<const A*>(center), static_cast<const A*>(scale),
                              static_cast<const A*>(shift)};
    for_each_run_of(c, [&](const Run& r) {
      alignas(64) A buffer[std::is_same_v<T, A> ? 1 : kRun];
      T* to = static_cast<T*>(y) + r.at;
      on_vector_unit<ScaleBody<A>>(load_run(static_cast<const T*>(x) + r.at, r.size(), buffer), &terms, &r,
                                   place_run(to, buffer));
      store_run(buffer, to, r.size());
    });
  });
}

void channel_products(const ChannelPass& pass, const void* g, const void* x, const void* center, void* sum,
                      void* product) {
  const ChannelPass c = walked(pass);
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

void channel_gradient(const ChannelPass& pass, const void* g, const void* x, const void* center, const void* scale,
                      const void* slope, const void* shift, void* out) {
  const ChannelPass c = walked(pass);
  dispatch<kFloatingTypes>(c.type, "batch_norm", [&](auto tag) {
    using T = typename decltype(tag)::type;
    using A = op_math_t<T>;
    const GradientTerms<A> terms{static_cast<const A*>(center), static_cast<const A*>(scale),
                                 static_cast<const A*>(slope), static_cast<const A*>(shift)};
    for_each_run_of(c, [&](const Run& r) {
      alignas(64) A gs[std::is_same_v<T, A> ? 1 : kRun], xs[std::is_same_v<T, A> ? 1 : kRun];
      T* to = static_cast<T*>(out) + r.at;
      on_vector_unit<GradientBody<A>>(load_run(static_cast<const T*>(g) + r.at, r.size(), gs),
                                      load_run(static_cast<const T*>(x) + r.at, r.size(), xs), &terms, &r,
                                      place_run(to, gs));
      store_run(gs, to, r.size());
    });
  });
}

}  // namespace argand::cpu
