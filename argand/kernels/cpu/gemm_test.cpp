#include "argand/kernels/cpu/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "argand/base/bfloat16.h"
#include "argand/base/half.h"
#include "argand/kernels/cpu/gemm_simd.h"
#include "argand/kernels/cpu/vector_unit.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand {
namespace {

enum class Layout { kRows, kColumns, kSparse, kBackwards };
constexpr Layout kLayouts[] = {Layout::kRows, Layout::kColumns, Layout::kSparse, Layout::kBackwards};

template <class T>
constexpr bool kComplex = false;
template <class R>
constexpr bool kComplex<std::complex<R>> = true;

template <class T>
T random_value(std::mt19937& random) {
  if constexpr (kComplex<T>) {
    return {random_value<typename T::value_type>(random), random_value<typename T::value_type>(random)};
  } else if constexpr (std::is_same_v<T, bool>) {
    return random() % 8 == 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(random());
  } else {
    return static_cast<T>(static_cast<float>(std::uniform_real_distribution<double>(-1, 1)(random)));
  }
}

// A matrix in memory of its own, with guard elements that must neither be read as values nor written.
template <class T>
struct TestMatrix {
  TestMatrix(int64_t rows, int64_t columns, Layout layout, std::mt19937& random) {
    int64_t rs = columns + 3, cs = 1;
    if (layout == Layout::kColumns) rs = 1, cs = rows + 1;
    if (layout == Layout::kSparse) rs = 2 * columns + 5, cs = 2;
    if (layout == Layout::kBackwards) rs = -(columns + 2), cs = -1;
    int64_t low = 0, high = 0;
    for (int64_t extent : {(rows - 1) * rs, (columns - 1) * cs}) (extent < 0 ? low : high) += extent;
    memory.resize(static_cast<size_t>(rows * columns == 0 ? 1 : high - low + 1));
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = random_value<T>(random);
    view = {rows * columns == 0 ? &memory[0] : &memory[0] - low, rs, cs};
  }
  T at(int64_t i, int64_t j) const { return view.data[i * view.row_stride + j * view.col_stride]; }

  struct Memory {  // std::vector<bool> has no elements to point at
    void resize(size_t n) { data.reset(new T[n]), count = n; }
    size_t size() const { return count; }
    T& operator[](size_t i) { return data[i]; }
    std::unique_ptr<T[]> data;
    size_t count = 0;
  } memory;
  ConstMatrix<T> view{};
};

// The reference: one element at a time, in double (floating), exactly (integers, modulo 2^64) or in logic (bool).
template <class T>
struct Wide {
  using type = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
};
template <class R>
struct Wide<std::complex<R>> {
  using type = std::complex<double>;
};

template <class T>
typename Wide<T>::type wide(T x) {
  return static_cast<typename Wide<T>::type>(x);
}

template <class T>
double magnitude(T x) {
  if constexpr (kComplex<T>) {
    return std::abs(std::complex<double>(x));
  } else {
    return std::abs(static_cast<double>(x));
  }
}

template <class T>
double unit_roundoff() {
  if constexpr (kComplex<T>) {
    return unit_roundoff<typename T::value_type>();
  } else {
    return static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
  }
}

struct Case {
  int64_t m, n, k;
  Layout a = Layout::kRows, b = Layout::kRows;
  int alpha = 1, beta = 0;
  bool bias = false;
  int64_t c_gap = 0;

  std::string text() const {
    return str("m ", m, " n ", n, " k ", k, " layouts ", static_cast<int>(a), " ", static_cast<int>(b), " alpha ",
               alpha, " beta ", beta, " bias ", bias, " gap ", c_gap);
  }
};

template <class T>
void expect_element(const Case& t, T got, typename Wide<T>::type expected, double sum_of_magnitudes) {
  if constexpr (std::is_same_v<T, bool>) {
    ASSERT_EQ(got, expected != 0) << t.text();
  } else if constexpr (std::is_integral_v<T>) {
    ASSERT_EQ(got, static_cast<T>(expected)) << t.text();
  } else {
    // Sums are exact to k roundings in the type they are formed in; the result is rounded once more.
    using Math = GemmMath<T>;
    const double bound = (static_cast<double>(t.k) + 4) * unit_roundoff<Math>() * sum_of_magnitudes * 3 +
                         unit_roundoff<T>() * magnitude(expected) + 1e-7 * (sizeof(T) == 2);
    const double error = magnitude(wide(got) - expected);
    ASSERT_LE(error, bound) << t.text() << " got " << magnitude(got) << " expected " << magnitude(expected);
  }
}

template <class T>
std::vector<T> to_vector(const T* data, int64_t n) {
  return std::vector<T>(data, data + n);
}

template <class T>
void check(const Case& t, unsigned seed = 1) {
  SCOPED_TRACE(t.text());
  std::mt19937 random(seed);
  const TestMatrix<T> a(t.m, t.k, t.a, random), b(t.k, t.n, t.b, random);
  const int64_t ld = t.n + t.c_gap;
  TestMatrix<T> c(t.m, ld, Layout::kRows, random);  // ld is below its row stride: guards on the right
  T* out = c.memory.data.get();
  const int64_t c_stride = c.view.row_stride;
  const TestMatrix<T> bias(1, t.n, Layout::kRows, random);
  if constexpr (std::numeric_limits<T>::has_quiet_NaN)
    if (t.beta == 0)
      for (size_t i = 0; i < c.memory.size(); ++i) out[i] = std::numeric_limits<T>::quiet_NaN();
  typename TestMatrix<T>::Memory before;
  before.resize(c.memory.size());
  for (size_t i = 0; i < before.size(); ++i) before[i] = out[i];

  GemmArgs<T> args{t.m, t.n, t.k, a.view, b.view, out, c_stride};
  args.alpha = GemmMath<T>(static_cast<T>(static_cast<float>(t.alpha)));
  args.beta = GemmMath<T>(static_cast<T>(static_cast<float>(t.beta)));
  args.bias = t.bias ? bias.view.data : nullptr;
  gemm(args);

  for (int64_t i = 0; i < t.m; ++i)
    for (int64_t j = 0; j < c_stride && i * c_stride + j < static_cast<int64_t>(before.size()); ++j) {
      const auto at = static_cast<size_t>(i * c_stride + j);
      if (j >= t.n) {
        ASSERT_EQ(std::memcmp(&out[at], &before[at], sizeof(T)), 0) << t.text() << ": wrote beside row " << i;
        continue;
      }
      typename Wide<T>::type sum = 0;
      double magnitudes = 0;
      for (int64_t k = 0; k < t.k; ++k) {
        if constexpr (std::is_same_v<T, bool>) {
          sum |= static_cast<uint64_t>(a.at(i, k) && b.at(k, j));
        } else {
          sum += wide(a.at(i, k)) * wide(b.at(k, j));
        }
        magnitudes += magnitude(a.at(i, k)) * magnitude(b.at(k, j));
      }
      const auto scale = [](int x) { return static_cast<typename Wide<T>::type>(x); };
      if constexpr (std::is_same_v<T, bool>) {
        sum &= t.alpha != 0;
        sum |= static_cast<uint64_t>(t.beta != 0 && before[at]);
        sum |= static_cast<uint64_t>(t.bias && bias.at(0, j));
      } else {
        sum *= scale(t.alpha);
        magnitudes *= std::abs(t.alpha);
        if (t.beta != 0)
          sum += scale(t.beta) * wide(before[at]), magnitudes += std::abs(t.beta) * magnitude(before[at]);
        if (t.bias) sum += wide(bias.at(0, j)), magnitudes += magnitude(bias.at(0, j));
      }
      expect_element<T>(t, out[at], sum, magnitudes);
      if (testing::Test::HasFatalFailure()) return;
    }
}

template <class T>
class GemmTest : public testing::Test {};
using AllTypes = testing::Types<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t, uint8_t, bool,
                                std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(GemmTest, AllTypes);

TYPED_TEST(GemmTest, SmallSizesInAllLayouts) {
  for (int64_t m : {1, 2, 5, 17})
    for (int64_t n : {1, 3, 8, 33})
      for (int64_t k : {0, 1, 2, 7, 19})
        for (Layout a : kLayouts)
          for (Layout b : kLayouts) {
            check<TypeParam>({m, n, k, a, b});
            if (testing::Test::HasFatalFailure()) return;
          }
}

TYPED_TEST(GemmTest, EmptyResults) {
  check<TypeParam>({0, 5, 3});
  check<TypeParam>({5, 0, 3});
  check<TypeParam>({0, 0, 0});
}

TYPED_TEST(GemmTest, AlphaBetaBiasAndGaps) {
  for (int alpha : {1, 0, 3})
    for (int beta : {0, 1, 2})
      for (bool bias : {false, true})
        for (auto [m, n, k] :
             {std::tuple<int64_t, int64_t, int64_t>{1, 37, 20}, {37, 1, 20}, {6, 35, 9}, {70, 65, 0}}) {
          check<TypeParam>({m, n, k, Layout::kRows, Layout::kColumns, alpha, beta, bias, 4});
          check<TypeParam>({m, n, k, Layout::kColumns, Layout::kRows, alpha, beta, bias, 0});
          if (testing::Test::HasFatalFailure()) return;
        }
}

TYPED_TEST(GemmTest, MediumSizes) {
  unsigned seed = 7;
  for (auto [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{64, 32, 64}, {100, 50, 300}, {29, 97, 129}}) {
    for (Layout a : {Layout::kRows, Layout::kColumns})
      for (Layout b : {Layout::kRows, Layout::kColumns}) check<TypeParam>({m, n, k, a, b, 1, 1, true}, ++seed);
  }
}

// More elements than one thread converts, or writes, at a time.
TYPED_TEST(GemmTest, LargeResults) {
  check<TypeParam>({1500, 60, 3, Layout::kRows, Layout::kColumns, 1, 1, true});
  check<TypeParam>({60, 1500, 3, Layout::kColumns, Layout::kRows, 1, 1, true});
}

template <class T>
std::vector<unsigned char> bytes_of_product(int threads, int64_t m, int64_t n, int64_t k, Layout layout) {
  const int before = get_num_threads();
  set_num_threads(threads);
  std::mt19937 random(3);
  const TestMatrix<T> a(m, k, layout, random), b(k, n, layout, random);
  std::vector<unsigned char> bytes(static_cast<size_t>(m * n) * sizeof(T));
  gemm(GemmArgs<T>{m, n, k, a.view, b.view, reinterpret_cast<T*>(bytes.data()), n});
  set_num_threads(before);
  return bytes;
}

TYPED_TEST(GemmTest, SameBitsForAnyNumberOfThreads) {
  for (Layout layout : {Layout::kRows, Layout::kColumns})
    for (auto [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{150, 130, 90}, {1, 3000, 200}, {3000, 1, 200}})
      EXPECT_EQ(bytes_of_product<TypeParam>(1, m, n, k, layout), bytes_of_product<TypeParam>(4, m, n, k, layout));
}

TYPED_TEST(GemmTest, Batched) {
  using T = TypeParam;
  std::mt19937 random(5);
  const int64_t batch = 5, m = 6, n = 7, k = 8;
  const TestMatrix<T> a(m * batch, k, Layout::kRows, random), b(k * batch, n, Layout::kRows, random);
  std::unique_ptr<T[]> together(new T[batch * m * n]), alone(new T[batch * m * n]);
  GemmArgs<T> args{m, n, k, a.view, b.view, together.get(), n};
  const int64_t a_stride = m * a.view.row_stride;
  gemm_batched(batch, args, a_stride, 0, m * n);  // one B for all
  for (int64_t i = 0; i < batch; ++i) {
    args.a.data = a.view.data + i * a_stride;
    args.c = alone.get() + i * m * n;
    gemm(args);
  }
  EXPECT_EQ(std::memcmp(together.get(), alone.get(), static_cast<size_t>(batch * m * n) * sizeof(T)), 0);
}

// What only float and double have: tiles, panels and blocks, on each instruction set that this machine has.
template <class T>
class BlockedGemmTest : public testing::Test {
 protected:
  void TearDown() override { cpu::set_vector_unit(before_); }
  const cpu::VectorUnit before_ = cpu::vector_unit();
};
using BlockedTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(BlockedGemmTest, BlockedTypes);

TYPED_TEST(BlockedGemmTest, EveryTileSize) {
  for (cpu::VectorUnit unit : {cpu::VectorUnit::kBaseline, cpu::VectorUnit::kAvx2, cpu::VectorUnit::kAvx512}) {
    cpu::set_vector_unit(unit);
    for (int64_t m = 2; m <= 30; ++m)
      for (int64_t n : {2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 64, 65}) {
        check<TypeParam>({m, n, 11, Layout::kRows, n % 2 == 0 ? Layout::kRows : Layout::kColumns, 1, 2, true, 1});
        if (testing::Test::HasFatalFailure()) return;
      }
  }
}

TYPED_TEST(BlockedGemmTest, VectorsOfEveryLength) {
  for (cpu::VectorUnit unit : {cpu::VectorUnit::kBaseline, cpu::VectorUnit::kAvx2, cpu::VectorUnit::kAvx512}) {
    cpu::set_vector_unit(unit);
    for (int64_t size : {1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 31, 33, 63, 65, 127, 129, 300})
      for (int64_t k : {1, 3, 8, 16, 17, 63, 64, 65, 200})
        for (Layout layout : {Layout::kRows, Layout::kColumns, Layout::kSparse}) {
          check<TypeParam>({size, 1, k, layout, Layout::kSparse, 3, 2, true, 0});
          check<TypeParam>({1, size, k, Layout::kSparse, layout, 3, 2, true, 0});
          if (testing::Test::HasFatalFailure()) return;
        }
  }
}

// Panels lie side by side and are packed by several threads: each writes its own and nothing after it.
TYPED_TEST(BlockedGemmTest, PanelsStayApart) {
  using T = TypeParam;
  constexpr T kUntouched = -7;
  std::vector<T> data(64 * 64);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<T>(i + 1);
  for (const cpu::VectorUnit unit : {cpu::VectorUnit::kBaseline, cpu::VectorUnit::kAvx2, cpu::VectorUnit::kAvx512}) {
    cpu::set_vector_unit(unit);
    const detail::GemmKernels<T>& kernels = detail::gemm_kernels<T>(cpu::vector_unit());
    for (int64_t width = 1; width <= std::max(kernels.max_rows, kernels.max_columns); ++width)
      for (int64_t depth = 1; depth <= 40; ++depth)
        for (const bool k_dense : {false, true}) {
          const int64_t stride = k_dense ? 64 : 1, k_stride = k_dense ? 1 : 64;
          std::vector<T> panel(static_cast<size_t>(width * depth + 64), kUntouched);
          kernels.pack({data.data(), stride, k_stride, width, depth}, panel.data(), width);
          for (size_t at = 0; at < panel.size(); ++at) {
            const auto k = static_cast<int64_t>(at) / width, i = static_cast<int64_t>(at) % width;
            const T expected = k < depth ? data[static_cast<size_t>(i * stride + k * k_stride)] : kUntouched;
            ASSERT_EQ(panel[at], expected) << "width " << width << ", depth " << depth << ", at " << at;
          }
        }
  }
}

TYPED_TEST(BlockedGemmTest, BlockBoundaries) {
  for (cpu::VectorUnit unit : {cpu::VectorUnit::kBaseline, cpu::VectorUnit::kAvx2, cpu::VectorUnit::kAvx512}) {
    cpu::set_vector_unit(unit);
    for (auto [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{4099, 35, 3},
                           {3, 4200, 5},
                           {5, 7, 2000},
                           {130, 520, 390},
                           {200, 40, 800},
                           {40, 200, 769}})
      for (Layout layout : {Layout::kRows, Layout::kColumns}) {
        check<TypeParam>({m, n, k, layout, layout, 3, 2, true, 2});
        if (testing::Test::HasFatalFailure()) return;
      }
  }
}

TYPED_TEST(BlockedGemmTest, SameBitsForAnyNumberOfThreads) {
  for (Layout layout : {Layout::kRows, Layout::kColumns})
    for (auto [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{600, 700, 800},
                           {64, 2000, 900},
                           {2000, 10, 900},
                           {16, 40000, 9},
                           {1, 5000, 300},
                           {5000, 1, 300}}) {
      const auto alone = bytes_of_product<TypeParam>(1, m, n, k, layout);
      for (int threads : {2, 3, 7})
        EXPECT_EQ(alone, bytes_of_product<TypeParam>(threads, m, n, k, layout)) << m << " " << n << " " << k;
    }
}

TEST(GemmScalars, ZeroAlphaDoesNotLookAtTheOperands) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float a[4] = {nan, nan, nan, nan};
  float c[4] = {1, 2, 3, 4};
  GemmArgs<float> args{2, 2, 2, {a, 2, 1}, {a, 2, 1}, c, 2, 0.0f, 2.0f};
  gemm(args);
  EXPECT_EQ(c[0], 2.0f);
  EXPECT_EQ(c[3], 8.0f);
}

TEST(GemmScalars, NanAndInfinityGoThrough) {
  const float inf = std::numeric_limits<float>::infinity();
  const float a[4] = {inf, 1, 0, 1}, b[4] = {1, 2, 3, 4};
  float c[4];
  gemm(GemmArgs<float>{2, 2, 2, {a, 2, 1}, {b, 2, 1}, c, 2});
  EXPECT_EQ(c[0], inf);
  EXPECT_EQ(c[2], 3.0f);
  const float zero[4] = {0, 0, 0, 0};
  gemm(GemmArgs<float>{2, 2, 2, {zero, 2, 1}, {a, 2, 1}, c, 2});
  EXPECT_TRUE(std::isnan(c[0]));
  EXPECT_EQ(c[1], 0.0f);
}

}  // namespace
}  // namespace argand
