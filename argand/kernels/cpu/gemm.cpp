#include "argand/kernels/cpu/gemm.h"

#include <algorithm>
#include <type_traits>

#include "argand/base/half_convert.h"
#include "argand/kernels/cpu/gemm_blocked.h"
#include "argand/kernels/cpu/gemm_generic.h"
#include "argand/kernels/cpu/scratch.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand {
namespace {

constexpr int64_t kTaskElements = 32 << 10;
constexpr double kTaskProducts = 64 << 10;

template <class T>
void load_dense(const ConstMatrix<T>& m, int64_t rows, int64_t columns, float* out) {
  parallel_for(0, rows, std::max<int64_t>(1, kTaskElements / columns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* in = m.data + i * m.row_stride;
      if (m.col_stride == 1)
        convert(in, out + i * columns, columns);
      else
        for (int64_t j = 0; j < columns; ++j) out[i * columns + j] = static_cast<float>(in[j * m.col_stride]);
    }
  });
}

// Half and BFloat16: through float copies, which are cheap beside the product, and one rounding at the end.
template <class T>
void gemm_in_float(const GemmArgs<T>& g) {
  ScratchBuffer<float> a(g.m * g.k), b(g.k * g.n), c(g.m * g.n);
  load_dense(g.a, g.m, g.k, a.data());
  load_dense(g.b, g.k, g.n, b.data());
  GemmArgs<float> in_float{g.m, g.n, g.k, {a.data(), g.k, 1}, {b.data(), g.n, 1}, c.data(), g.n, g.alpha, 0.0f};
  detail::blocked_gemm(in_float);
  parallel_for(0, g.m, std::max<int64_t>(1, kTaskElements / g.n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* out = g.c + i * g.c_row_stride;
      float* sum = c.data() + i * g.n;
      if (g.beta != 0.0f)
        for (int64_t j = 0; j < g.n; ++j) sum[j] += g.beta * static_cast<float>(out[j]);
      if (g.bias != nullptr)
        for (int64_t j = 0; j < g.n; ++j) sum[j] += static_cast<float>(g.bias[j]);
      convert(sum, out, g.n);
    }
  });
}

}  // namespace

template <class T>
void gemm(const GemmArgs<T>& args) {
  if (args.m == 0 || args.n == 0) return;
  GemmArgs<T> g = args;
  if (g.alpha == GemmMath<T>(0)) g.k = 0;  // as in BLAS: A and B are not looked at, so their NaNs do not show
  if (g.k == 0) return detail::GenericGemm<T>(g).run();
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    detail::blocked_gemm(g);
  } else if constexpr (ReducedFloat<T>) {
    gemm_in_float(g);
  } else {
    detail::GenericGemm<T>(g).run();
  }
}

template <class T>
void gemm_batched(int64_t batch, const GemmArgs<T>& first, int64_t a_stride, int64_t b_stride, int64_t c_stride) {
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      GemmArgs<T> args = first;
      args.a.data += i * a_stride;
      args.b.data += i * b_stride;
      args.c += i * c_stride;
      gemm(args);
    }
  };
  // Enough matrices for all threads: one thread to a matrix.  Few: all threads to each matrix.
  const double products =
      static_cast<double>(first.m) * static_cast<double>(first.n) * static_cast<double>(first.k + 1);
  if (batch < 2 * get_num_threads() && products > 1e6) {
    run(0, batch);
  } else {
    parallel_for(0, batch, 1 + static_cast<int64_t>(kTaskProducts / (products + 1)), run);
  }
}

#define ARGAND_INSTANTIATE(T)                \
  template void gemm<T>(const GemmArgs<T>&); \
  template void gemm_batched<T>(int64_t, const GemmArgs<T>&, int64_t, int64_t, int64_t);
ARGAND_INSTANTIATE(float)
ARGAND_INSTANTIATE(double)
ARGAND_INSTANTIATE(Half)
ARGAND_INSTANTIATE(BFloat16)
ARGAND_INSTANTIATE(int64_t)
ARGAND_INSTANTIATE(int32_t)
ARGAND_INSTANTIATE(int16_t)
ARGAND_INSTANTIATE(int8_t)
ARGAND_INSTANTIATE(uint8_t)
ARGAND_INSTANTIATE(bool)
ARGAND_INSTANTIATE(std::complex<float>)
ARGAND_INSTANTIATE(std::complex<double>)
#undef ARGAND_INSTANTIATE

}  // namespace argand
