#include "argand/kernels/cpu/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

#include "argand/core/shape.h"
#include "argand/kernels/cpu/arg_reduce.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

double noise(uint64_t i) {
  uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53 - 0.5;
}

struct Case {
  Dims sizes, strides, dims;
};

// visit(result's position, element's offset), by the definition.
template <class F>
void for_each_element(const Case& c, F visit) {
  Dims index(c.sizes.size(), 0);
  const int64_t n = numel_of(c.sizes);
  for (int64_t i = 0; i < n; ++i) {
    int64_t offset = 0, out = 0;
    for (size_t d = 0; d < c.sizes.size(); ++d) {
      offset += index[d] * c.strides[d];
      if (std::find(c.dims.begin(), c.dims.end(), static_cast<int64_t>(d)) == c.dims.end())
        out = out * c.sizes[d] + index[d];
    }
    visit(out, offset);
    for (size_t d = c.sizes.size(); d-- > 0 && ++index[d] == c.sizes[d];) index[d] = 0;
  }
}

int64_t results_of(const Case& c) {
  int64_t n = 1;
  for (size_t d = 0; d < c.sizes.size(); ++d)
    if (std::find(c.dims.begin(), c.dims.end(), static_cast<int64_t>(d)) == c.dims.end()) n *= c.sizes[d];
  return n;
}

int64_t span_of(const Case& c) {
  int64_t last = 0;
  for (size_t d = 0; d < c.sizes.size(); ++d) last += (c.sizes[d] - 1) * c.strides[d];
  return last + 1;
}

std::vector<Case> cases() {
  std::vector<Case> out;
  const auto dense = [&](Dims sizes, Dims dims) { out.push_back({sizes, contiguous_strides(sizes), dims}); };
  for (const int64_t n : {1, 2, 7, 8, 9, 31, 63, 64, 65, 100, 1023, 1024, 1025, 2100, 70000, 200000}) dense({n}, {0});
  for (const int64_t n : {1, 3, 10, 100, 600}) {
    dense({n, 33}, {0});
    dense({33, n}, {1});
    dense({n, 700}, {0});
    dense({5, n, 6}, {1});
    dense({5, n, 6}, {0, 2});
  }
  dense({70000, 3}, {0});
  dense({70000, 3}, {1});
  dense({3, 70000}, {0});
  dense({2, 3, 4, 5, 6}, {0, 2, 4});
  dense({2, 3, 4, 5, 6}, {1, 3});
  dense({4, 1, 5}, {1});
  dense({1, 1}, {0, 1});
  out.push_back({{40, 50}, {1, 40}, {0}});  // transposed
  out.push_back({{40, 50}, {1, 40}, {1}});
  out.push_back({{40, 50}, {200, 3}, {1}});  // every third
  out.push_back({{40, 50}, {200, 3}, {0}});
  out.push_back({{2000, 50}, {0, 1}, {0}});  // expanded
  out.push_back({{50, 2000}, {1, 0}, {1}});
  out.push_back({{50, 20}, {1, 0}, {0}});
  out.push_back({{4, 6, 5, 7}, {210, 1, 42, 6}, {0, 2, 3}});  // channels last
  out.push_back({{4, 6, 5, 7}, {210, 1, 42, 6}, {1}});
  return out;
}

std::string name_of(const Case& c) { return str("sizes ", c.sizes, " strides ", c.strides, " dims ", c.dims); }

template <class T>
std::vector<T> run(ReduceKind kind, const Case& c, const std::vector<T>& x, const void* center = nullptr,
                   double parameter = 0) {
  std::vector<T> out(static_cast<size_t>(results_of(c)));
  reduce({kind, x.data(), scalar_type_v<T>, scalar_type_v<T>, out.data(), parameter, center},
         ReduceLayout(c.sizes, c.strides, c.dims));
  return out;
}

std::vector<float> input(const Case& c) {
  std::vector<float> x(static_cast<size_t>(span_of(c)));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(noise(i));
  return x;
}

// The bound of Note [Order of a reduction], on the sum of magnitudes.
TEST(Reduce, SumsAreAsExactAsPromised) {
  for (const Case& c : cases()) {
    const auto x = input(c);
    std::vector<double> exact(static_cast<size_t>(results_of(c))), magnitude(exact.size());
    std::vector<int64_t> count(exact.size());
    for_each_element(c, [&](int64_t out, int64_t offset) {
      exact[out] += x[offset];
      magnitude[out] += std::fabs(x[offset]);
      ++count[out];
    });
    const auto got = run(ReduceKind::kSum, c, x);
    for (size_t i = 0; i < exact.size(); ++i) {
      const double bound = (16 + 2 * std::log2(static_cast<double>(count[i]))) * 0x1p-24 * magnitude[i];
      ASSERT_NEAR(got[i], exact[i], bound) << name_of(c) << " result " << i;
    }
  }
}

TEST(Reduce, LargeSumsOfEqualNumbersDoNotDrift) {
  const std::vector<float> x(1 << 24, 0.1f);
  const Case c{{1 << 24}, {1}, {0}};
  EXPECT_NEAR(run(ReduceKind::kSum, c, x)[0], 0.1f * 0x1p24, 0x1p24 * 0.1 * 4e-7);
}

TEST(Reduce, ExtremaAreExactAndKeepNaN) {
  for (const Case& c : cases()) {
    auto x = input(c);
    for (const bool with_nan : {false, true}) {
      if (with_nan) x[x.size() / 2] = NAN;
      std::vector<float> high(static_cast<size_t>(results_of(c)), -INFINITY), low(high.size(), INFINITY);
      for_each_element(c, [&](int64_t out, int64_t offset) {
        const float v = x[offset];
        if (std::isnan(v) || std::isnan(high[out])) {
          high[out] = low[out] = NAN;
        } else {
          high[out] = std::max(high[out], v);
          low[out] = std::min(low[out], v);
        }
      });
      const auto got_high = run(ReduceKind::kMax, c, x), got_low = run(ReduceKind::kMin, c, x);
      for (size_t i = 0; i < high.size(); ++i) {
        ASSERT_EQ(std::isnan(got_high[i]), std::isnan(high[i])) << name_of(c);
        ASSERT_EQ(std::isnan(got_low[i]), std::isnan(high[i])) << name_of(c);
        if (std::isnan(high[i])) continue;
        ASSERT_EQ(got_high[i], high[i]) << name_of(c);
        ASSERT_EQ(got_low[i], low[i]) << name_of(c);
      }
    }
  }
}

TEST(Reduce, CenteredSquaresUseTheirResultsCenter) {
  for (const Case& c : cases()) {
    const auto x = input(c);
    std::vector<float> center(static_cast<size_t>(results_of(c)));
    for (size_t i = 0; i < center.size(); ++i) center[i] = static_cast<float>(noise(i + 99));
    std::vector<double> exact(center.size());
    for_each_element(c, [&](int64_t out, int64_t offset) {
      exact[out] += std::pow(static_cast<double>(x[offset]) - center[out], 2);
    });
    const auto got = run(ReduceKind::kCenteredSquares, c, x, center.data());
    for (size_t i = 0; i < exact.size(); ++i)
      ASSERT_NEAR(got[i], exact[i], 1e-5 * (exact[i] + 1e-3)) << name_of(c) << " result " << i;
  }
}

TEST(Reduce, ElementsAreConvertedOnTheWay) {
  for (const Case& c : cases()) {
    std::vector<int8_t> x(static_cast<size_t>(span_of(c)));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int8_t>(noise(i) * 200);
    std::vector<int64_t> sum(static_cast<size_t>(results_of(c))), nonzero(sum.size()), got(sum.size());
    for_each_element(c, [&](int64_t out, int64_t offset) {
      sum[out] += x[offset];
      nonzero[out] += x[offset] != 0;
    });
    const ReduceLayout layout(c.sizes, c.strides, c.dims);
    reduce({ReduceKind::kSum, x.data(), kChar, kLong, got.data()}, layout);
    ASSERT_EQ(got, sum) << name_of(c);
    reduce({ReduceKind::kCount, x.data(), kChar, kLong, got.data()}, layout);
    ASSERT_EQ(got, nonzero) << name_of(c);
  }
}

TEST(Reduce, NothingGivesTheIdentity) {
  const ReduceLayout layout({3, 0}, {0, 1}, {1});
  float out[3];
  reduce({ReduceKind::kSum, nullptr, kFloat, kFloat, out}, layout);
  EXPECT_EQ(out[2], 0);
  reduce({ReduceKind::kProd, nullptr, kFloat, kFloat, out}, layout);
  EXPECT_EQ(out[2], 1);
  reduce({ReduceKind::kMax, nullptr, kFloat, kFloat, out}, layout);
  EXPECT_EQ(out[2], -INFINITY);
}

TEST(Reduce, SameBitsForAnyNumberOfThreads) {
  const int before = get_num_threads();
  for (const Case& c : cases()) {
    const auto x = input(c);
    set_num_threads(1);
    const auto one = run(ReduceKind::kSum, c, x);
    set_num_threads(4);
    EXPECT_EQ(run(ReduceKind::kSum, c, x), one) << name_of(c);
  }
  set_num_threads(before);
}

TEST(ArgExtreme, FindsTheFirstOfEqualsAndTheFirstNaN) {
  struct Shape {
    int64_t outer, n, inner;
  };
  for (const Shape s : {Shape{1, 1, 1},
                        {1, 5000, 1},
                        {1, 300000, 1},
                        {3, 140000, 1},
                        {20, 1025, 1},
                        {300, 10, 1},
                        {3, 17, 5},
                        {1, 40, 1000},
                        {2, 600, 300}}) {
    std::vector<float> x(static_cast<size_t>(s.outer * s.n * s.inner));
    for (const bool with_nan : {false, true}) {
      for (size_t i = 0; i < x.size(); ++i) x[i] = std::floor(static_cast<float>(noise(i)) * 20);
      if (with_nan) x[x.size() / 3] = x[x.size() / 2] = NAN;
      std::vector<int64_t> high(static_cast<size_t>(s.outer * s.inner)), low(high.size());
      for (const bool largest : {true, false}) {
        std::vector<int64_t> expected(high.size()), got(high.size());
        for (int64_t o = 0; o < s.outer; ++o)
          for (int64_t j = 0; j < s.inner; ++j) {
            int64_t best = 0;
            const auto at = [&](int64_t r) { return x[static_cast<size_t>((o * s.n + r) * s.inner + j)]; };
            for (int64_t r = 1; r < s.n && !std::isnan(at(best)); ++r)
              if (std::isnan(at(r)) || (largest ? at(r) > at(best) : at(r) < at(best))) best = r;
            expected[static_cast<size_t>(o * s.inner + j)] = best;
          }
        arg_extreme(largest, x.data(), kFloat, s.outer, s.n, s.inner, got.data(), nullptr);
        ASSERT_EQ(got, expected) << s.outer << " " << s.n << " " << s.inner << " nan " << with_nan << " largest "
                                 << largest;
      }
    }
  }
}

}  // namespace
}  // namespace argand::cpu
