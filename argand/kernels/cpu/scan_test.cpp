#include "argand/kernels/cpu/scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <vector>

#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

const ScanShape kShapes[] = {{1, 1, 1},   {1, 1000, 1}, {70, 33, 1},  {1, 5, 127},  {2, 9, 128},
                             {3, 4, 129}, {1, 3, 1000}, {40, 600, 3}, {200, 90, 1}, {0, 3, 4}};

std::vector<float> numbers(const ScanShape& s) {
  std::vector<float> x(static_cast<size_t>(s.outer * s.n * s.inner));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101) / 64 - 0.75F;
  return x;
}

// visit(first element of a line) for all lines.
template <class F>
void for_each_line_start(const ScanShape& s, F visit) {
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t j = 0; j < s.inner; ++j) visit(static_cast<size_t>(o * s.n * s.inner + j));
}

template <class T>
std::vector<T> scanned(ScanKind kind, const std::vector<T>& x, const ScanShape& s) {
  std::vector<T> out(x.size());
  scan(kind, x.data(), out.data(), scalar_type_v<T>, s);
  return out;
}

TEST(Scan, SumsInFloat64AndRoundsOnce) {
  for (const ScanShape& s : kShapes) {
    const auto x = numbers(s);
    const auto got = scanned(ScanKind::kSum, x, s);
    for_each_line_start(s, [&](size_t first) {
      double total = 0;
      for (int64_t k = 0; k < s.n; ++k) {
        const size_t at = first + static_cast<size_t>(k * s.inner);
        total += x[at];
        ASSERT_EQ(got[at], static_cast<float>(total)) << s.outer << " " << s.n << " " << s.inner << " at " << at;
      }
    });
  }
}

TEST(Scan, ProductsOfIntegersWrap) {
  const std::vector<int64_t> x{3, -5, INT64_MAX, 2};
  const auto got = scanned(ScanKind::kProd, x, {1, 4, 1});
  EXPECT_EQ(got[1], -15);
  EXPECT_EQ(got[2], static_cast<int64_t>(static_cast<uint64_t>(INT64_MAX) * static_cast<uint64_t>(-15)));
}

TEST(Scan, LogSumExpStaysFiniteAndKnowsInfinities) {
  const auto got =
      scanned(ScanKind::kLogSumExp, std::vector<float>{-kInf, -kInf, 1000, 1000, -2000, kInf, kInf}, {1, 7, 1});
  EXPECT_EQ(got[1], -kInf);
  EXPECT_EQ(got[2], 1000);
  EXPECT_FLOAT_EQ(got[3], 1000 + std::log(2.0F));
  EXPECT_FLOAT_EQ(got[4], got[3]);
  EXPECT_EQ(got[6], kInf);
  EXPECT_TRUE(std::isnan(scanned(ScanKind::kLogSumExp, std::vector<float>{NAN, 1}, {1, 2, 1})[1]));
}

// Expected values are PyTorch's.
TEST(Scan, LogSumExpOfComplexNumbers) {
  using Z = std::complex<double>;
  const auto last = [](const std::vector<Z>& x) {
    return scanned(ScanKind::kLogSumExp, x, {1, static_cast<int64_t>(x.size()), 1}).back();
  };
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_LT(std::abs(last({{1, 2}, {0.5, -1}}) - Z(0.10499301, 1.78895915)), 1e-8);
  EXPECT_LT(std::abs(last({{1, 2}, {0.5, -1}, {2, 3}}) - Z(2.06041466, 2.86716361)), 1e-8);
  EXPECT_LT(std::abs(last({{0, 100}, {0, 3}}) - Z(-0.94954454, 4.3761102)), 1e-7);  // turned from the later one
  EXPECT_LT(std::abs(last({{0, 0}, {-inf, 7}, {0, 9}}) - Z(-0.86371821, 7.64159265)), 1e-7);
  EXPECT_EQ(last({{-inf, 5}}), Z(-inf, 0));
  EXPECT_EQ(last({{-inf, 1}, {-inf, 2}}), Z(-inf, 0));
  EXPECT_EQ(last({{-inf, 0}, {1, 1}}), Z(1, 1));
  EXPECT_EQ(last({{800, 1}, {1, 1}}), Z(800, 1));
  for (const std::vector<Z>& x :
       {std::vector<Z>{{nan, 0}, {1, 1}}, {{1, 1}, {nan, 0}}, {{0, nan}}, {{-inf, 0}, {nan, 0}}}) {
    EXPECT_TRUE(std::isnan(last(x).real()) && std::isnan(last(x).imag()));
  }
}

TEST(Scan, ARowGivesTheSameBitsAloneAndAmongOthers) {
  const ScanShape all{800, 50, 1}, one{1, 50, 1};  // more than one thread takes at a time
  const auto x = numbers(all);
  const auto got = scanned(ScanKind::kLogSumExp, x, all);
  for (std::ptrdiff_t r = 0; r < all.outer; ++r) {
    const std::vector<float> row(x.begin() + r * 50, x.begin() + (r + 1) * 50);
    const std::vector<float> alone = scanned(ScanKind::kLogSumExp, row, one);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), got.begin() + r * 50)) << r;
    EXPECT_NEAR(
        alone[49],
        std::log(std::accumulate(row.begin(), row.end(), 0.0, [](double sum, float v) { return sum + std::exp(v); })),
        1e-6);
  }
}

TEST(Scan, LinearRecurrenceGoesBothWays) {
  for (const ScanShape& s : kShapes) {
    const auto x = numbers(s);
    std::vector<float> factor(x.rbegin(), x.rend()), got(x.size());
    for (const bool reverse : {false, true}) {
      scan_linear(x.data(), factor.data(), got.data(), kFloat, reverse, s);
      for_each_line_start(s, [&](size_t first) {
        double total = 0;
        for (int64_t k = 0; k < s.n; ++k) {
          const size_t at = first + static_cast<size_t>((reverse ? s.n - 1 - k : k) * s.inner);
          total = x[at] + factor[at] * total;
          ASSERT_EQ(got[at], static_cast<float>(total)) << s.outer << " " << s.n << " " << s.inner << " at " << at;
        }
      });
    }
  }
}

TEST(Scan, ExtremesKeepTheLastOfEqualsAndTheLastNaN) {
  const std::vector<float> x{1, 3, 3, NAN, 2, NAN, 4};
  std::vector<float> values(7);
  std::vector<int64_t> at(7);
  scan_extreme(true, x.data(), values.data(), at.data(), kFloat, {1, 7, 1});
  EXPECT_EQ(at, (std::vector<int64_t>{0, 1, 2, 3, 3, 5, 5}));
  EXPECT_EQ(values[2], 3);
  EXPECT_TRUE(std::isnan(values[6]));
  scan_extreme(false, x.data(), values.data(), at.data(), kFloat, {1, 3, 1});
  EXPECT_EQ(at[2], 0);
}

TEST(Scan, SameBitsForAnyNumberOfThreads) {
  const int before = get_num_threads();
  for (const ScanShape& s : kShapes) {
    const auto x = numbers(s);
    set_num_threads(1);
    const auto one = scanned(ScanKind::kSum, x, s);
    set_num_threads(4);
    EXPECT_EQ(scanned(ScanKind::kSum, x, s), one);
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace argand::cpu
