// The plain loops of gemm: every element type, any machine.  Vectorised by the compiler where it can.
#pragma once
#include <algorithm>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "argand/kernels/cpu/gemm.h"
#include "argand/kernels/cpu/scratch.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::detail {

// How sums of products of T are formed.  Integers are unsigned inside, because signed overflow is undefined.
template <class T>
struct GemmOps {
  using Sum = GemmMath<T>;
  static Sum load(T x) { return static_cast<Sum>(x); }
  static Sum multiply_add(Sum sum, Sum a, Sum b) { return sum + a * b; }
  static Sum math(GemmMath<T> x) { return x; }
  static T round(Sum x) { return static_cast<T>(x); }
};

template <class T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) struct GemmOps<T> {
  using Sum = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  static Sum load(T x) { return static_cast<Sum>(x); }
  static Sum multiply_add(Sum sum, Sum a, Sum b) { return sum + a * b; }
  static Sum math(T x) { return static_cast<Sum>(x); }
  static T round(Sum x) { return static_cast<T>(x); }
};

template <>
struct GemmOps<bool> {
  using Sum = uint8_t;
  static Sum load(bool x) { return x ? 1 : 0; }
  static Sum multiply_add(Sum sum, Sum a, Sum b) { return static_cast<Sum>(sum | (a & b)); }
  static Sum math(bool x) { return x ? 1 : 0; }
  static bool round(Sum x) { return x != 0; }
};

// std::complex's own product looks for infinities among the parts of a NaN and is many times slower.
template <class R>
struct GemmOps<std::complex<R>> {
  using Sum = std::complex<R>;
  static Sum load(Sum x) { return x; }
  static Sum multiply_add(Sum sum, Sum a, Sum b) {
    return {sum.real() + (a.real() * b.real() - a.imag() * b.imag()),
            sum.imag() + (a.real() * b.imag() + a.imag() * b.real())};
  }
  static Sum math(Sum x) { return x; }
  static Sum round(Sum x) { return x; }
};

template <class T>
class GenericGemm {
 public:
  explicit GenericGemm(const GemmArgs<T>& args) : g_(args) {}

  void run() const {
    constexpr int64_t kTaskProducts = 1 << 16;  // about 30 us of work, far above the cost of a task
    const int64_t products_per_row = std::max<int64_t>(g_.k, 1) * kColumns;
    const int64_t rows = std::clamp<int64_t>(kTaskProducts / products_per_row, 1, std::max<int64_t>(g_.m, 1));
    const int64_t row_tasks = (g_.m + rows - 1) / rows;
    const int64_t column_tasks = (g_.n + kColumns - 1) / kColumns;
    // Column by column, so that neighbouring tasks want the same panel of B.
    parallel_for(0, row_tasks * column_tasks, 1, [&](int64_t begin, int64_t end) {
      ScratchBuffer<Sum> panel(is_dense_ ? 0 : g_.k * kColumns);
      int64_t packed = -1;
      for (int64_t task = begin; task < end; ++task) {
        const int64_t j = task / row_tasks * kColumns, i = task % row_tasks * rows;
        const int64_t columns = std::min(kColumns, g_.n - j);
        if (!is_dense_ && j != packed) pack(j, columns, panel.data());
        packed = j;
        for (int64_t row = i; row < std::min(i + rows, g_.m); ++row) compute_row(row, j, columns, panel.data());
      }
    });
  }

 private:
  using Ops = GemmOps<T>;
  using Sum = typename Ops::Sum;
  static constexpr int64_t kColumns = 32;

  void pack(int64_t j, int64_t columns, Sum* panel) const {
    for (int64_t k = 0; k < g_.k; ++k)
      for (int64_t c = 0; c < kColumns; ++c)
        panel[k * kColumns + c] =
            c < columns ? Ops::load(g_.b.data[k * g_.b.row_stride + (j + c) * g_.b.col_stride]) : Sum(0);
  }

  void compute_row(int64_t i, int64_t j, int64_t columns, const Sum* panel) const {
    Sum sums[kColumns] = {};
    const T* a = g_.a.data + i * g_.a.row_stride;
    for (int64_t k = 0; k < g_.k; ++k, a += g_.a.col_stride) {
      const Sum factor = Ops::load(*a);
      if (!is_dense_) {
        const Sum* b = panel + k * kColumns;
        for (int64_t c = 0; c < kColumns; ++c) sums[c] = Ops::multiply_add(sums[c], factor, b[c]);
      } else {
        const T* b = g_.b.data + k * g_.b.row_stride + j;
        for (int64_t c = 0; c < columns; ++c) sums[c] = Ops::multiply_add(sums[c], factor, Ops::load(b[c]));
      }
    }
    T* out = g_.c + i * g_.c_row_stride + j;
    const Sum alpha = Ops::math(g_.alpha), beta = Ops::math(g_.beta);
    for (int64_t c = 0; c < columns; ++c) {
      Sum value = Ops::multiply_add(Sum(0), alpha, sums[c]);
      if (beta != Sum(0)) value = Ops::multiply_add(value, beta, Ops::load(out[c]));
      if (g_.bias != nullptr) value = Ops::multiply_add(value, Sum(1), Ops::load(g_.bias[j + c]));
      out[c] = Ops::round(value);
    }
  }

  const GemmArgs<T>& g_;
  // A panel that is read in place: its rows are dense and need no conversion.
  const bool is_dense_ = std::is_same_v<T, Sum> && g_.b.col_stride == 1;
};

}  // namespace argand::detail
