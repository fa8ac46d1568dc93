// Normalisation kernels against plain loops in double: shapes around block sizes, every dtype, every vector unit.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "argand/core/dispatch.h"
#include "argand/kernels/cpu/batch_norm.h"
#include "argand/kernels/cpu/row_norm.h"
#include "argand/kernels/cpu/vector_unit.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

template <class T>
double to_double(T v) {
  return static_cast<double>(static_cast<op_math_t<T>>(v));
}

// Values between -1 and 1 around `center`, in T.
template <class T>
std::vector<T> values(int64_t n, uint64_t seed, double center = 0) {
  std::vector<T> out(static_cast<size_t>(n));
  uint64_t state = seed * 2654435761u + 1;
  for (T& v : out) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v = static_cast<T>(static_cast<op_math_t<T>>(center + static_cast<double>(state >> 33) * 0x1p-30 - 1));
  }
  return out;
}

template <class T, class U>
void expect_near(const char* what, const std::vector<T>& got, const std::vector<U>& expected, double tolerance) {
  double worst = 0, scale = 1;
  for (const U v : expected) scale = std::max(scale, std::abs(to_double(v)));
  for (size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::abs(to_double(got[i]) - to_double(expected[i])));
  EXPECT_LE(worst, tolerance * scale) << what;
}

template <class T>
constexpr double tolerance() {
  return std::is_same_v<T, double> ? 1e-12 : std::is_same_v<T, float> ? 1e-5 : std::is_same_v<T, Half> ? 2e-3 : 1e-2;
}

template <class T>
struct RowCase {
  using A = op_math_t<T>;
  int64_t rows, groups, channels, inner;
  bool centered;

  void run() const {
    SCOPED_TRACE(str(scalar_type_v<T>, " rows=", rows, " groups=", groups, " channels=", channels, " inner=", inner,
                     " centered=", centered));
    const int64_t n = channels * inner, width = groups * channels;
    const auto x = values<T>(rows * n, 1, 0.5), g = values<T>(rows * n, 2);
    const auto weight = values<A>(width, 3, 1), bias = values<A>(width, 4);
    const RowNormCall call{scalar_type_v<T>, rows, groups, channels, inner, centered, weight.data()};
    std::vector<T> y(x.size()), dx(x.size());
    std::vector<A> mean(static_cast<size_t>(rows)), rstd(mean.size()), dw(weight.size()), db(weight.size());
    row_norm(call, x.data(), bias.data(), 1e-5, y.data(), mean.data(), rstd.data());
    row_norm_backward(call, g.data(), x.data(), mean.data(), rstd.data(), dx.data(), dw.data(), db.data());

    std::vector<double> y2(x.size()), dx2(x.size()), dw2(weight.size()), db2(weight.size());
    for (int64_t r = 0; r < rows; ++r) {
      double m = 0, v = 0, sum = 0, product = 0;
      const auto at = [&](const std::vector<T>& t, int64_t j) { return to_double(t[static_cast<size_t>(r * n + j)]); };
      const auto channel = [&](int64_t j) { return static_cast<size_t>(r % groups * channels + j / inner); };
      for (int64_t j = 0; j < n && centered; ++j) m += at(x, j) / static_cast<double>(n);
      for (int64_t j = 0; j < n; ++j) v += (at(x, j) - m) * (at(x, j) - m) / static_cast<double>(n);
      const double s = 1 / std::sqrt(v + 1e-5);
      for (int64_t j = 0; j < n; ++j) {
        const double z = (at(x, j) - m) * s, h = at(g, j) * to_double(weight[channel(j)]);
        y2[static_cast<size_t>(r * n + j)] = z * to_double(weight[channel(j)]) + to_double(bias[channel(j)]);
        dw2[channel(j)] += at(g, j) * z;
        db2[channel(j)] += at(g, j);
        sum += h / static_cast<double>(n);
        product += h * z / static_cast<double>(n);
      }
      for (int64_t j = 0; j < n; ++j) {
        const double z = (at(x, j) - m) * s, h = at(g, j) * to_double(weight[channel(j)]);
        dx2[static_cast<size_t>(r * n + j)] = s * (h - (centered ? sum : 0) - z * product);
      }
    }
    const double rounding = tolerance<T>(), exact = tolerance<A>() * 4;
    expect_near("y", y, y2, rounding);
    expect_near("dx", dx, dx2, rounding);
    expect_near("dw", dw, dw2, exact);
    expect_near("db", db, db2, exact);
  }
};

template <class T>
void rows_of_type() {
  for (const bool centered : {true, false}) {
    for (const int64_t n : {1, 3, 7, 63, 64, 100, 1024, 1025, 2100}) RowCase<T>{5, 1, n, 1, centered}.run();
    RowCase<T>{700, 1, 33, 1, centered}.run();  // several chunks of several blocks
    RowCase<T>{6000, 1, 8, 1, centered}.run();
    RowCase<T>{6, 2, 3, 50, centered}.run();
    RowCase<T>{6, 3, 4, 1, centered}.run();
    RowCase<T>{400, 4, 2, 130, centered}.run();
    RowCase<T>{2, 1, 3, 1500, centered}.run();
    RowCase<T>{0, 1, 5, 1, centered}.run();
  }
}
TEST(RowNormCall, Float) { rows_of_type<float>(); }
TEST(RowNormCall, Double) { rows_of_type<double>(); }
TEST(RowNormCall, Half) { rows_of_type<Half>(); }
TEST(RowNormCall, BFloat16) { rows_of_type<BFloat16>(); }

template <class T>
struct ChannelCase {
  using A = op_math_t<T>;
  int64_t n, channels, inner;

  void run() const {
    SCOPED_TRACE(str(scalar_type_v<T>, " n=", n, " channels=", channels, " inner=", inner));
    const ChannelPass pass{scalar_type_v<T>, n, channels, inner};
    const auto x = values<T>(n * channels * inner, 1, 3), g = values<T>(n * channels * inner, 2);
    const auto c = static_cast<size_t>(channels);
    std::vector<A> mean(c), var(c), sum(c), product(c);
    channel_moments(pass, x.data(), mean.data(), var.data());
    std::vector<double> mean2(c), var2(c), sum2(c), product2(c);
    const auto each = [&](auto f) {
      for (size_t i = 0; i < x.size(); ++i) f(i, i / static_cast<size_t>(inner) % c);
    };
    const auto count = static_cast<double>(n * inner);
    each([&](size_t i, size_t k) { mean2[k] += to_double(x[i]) / count; });
    each([&](size_t i, size_t k) { var2[k] += std::pow(to_double(x[i]) - mean2[k], 2) / count; });
    expect_near("mean", mean, mean2, tolerance<A>());
    expect_near("var", var, var2, tolerance<A>());
    channel_products(pass, g.data(), x.data(), mean.data(), sum.data(), product.data());
    each([&](size_t i, size_t k) {
      sum2[k] += to_double(g[i]);
      product2[k] += to_double(g[i]) * (to_double(x[i]) - to_double(mean[k]));
    });
    expect_near("sum", sum, sum2, tolerance<A>());
    expect_near("product", product, product2, tolerance<A>());
    const auto scale = values<A>(channels, 5), slope = values<A>(channels, 6), shift = values<A>(channels, 7);
    std::vector<T> y(x.size()), dx(x.size());
    std::vector<double> y2(x.size()), dx2(x.size());
    channel_scale(pass, x.data(), mean.data(), scale.data(), shift.data(), y.data());
    channel_gradient(pass, g.data(), x.data(), mean.data(), scale.data(), slope.data(), shift.data(), dx.data());
    each([&](size_t i, size_t k) {
      const double d = to_double(x[i]) - to_double(mean[k]);
      y2[i] = d * to_double(scale[k]) + to_double(shift[k]);
      dx2[i] = to_double(g[i]) * to_double(scale[k]) + d * to_double(slope[k]) + to_double(shift[k]);
    });
    expect_near("y", y, y2, tolerance<T>());
    expect_near("dx", dx, dx2, tolerance<T>());
    channel_gradient(pass, g.data(), x.data(), mean.data(), scale.data(), nullptr, nullptr, dx.data());
    each([&](size_t i, size_t k) { dx2[i] = to_double(g[i]) * to_double(scale[k]); });
    expect_near("dx of fixed statistics", dx, dx2, tolerance<T>());
  }
};

template <class T>
void channels_of_type() {
  for (const int64_t inner : {1, 2, 7, 49, 64, 1023, 1025, 5000}) ChannelCase<T>{3, 4, inner}.run();
  ChannelCase<T>{700, 33, 1}.run();
  ChannelCase<T>{9000, 3, 1}.run();
  ChannelCase<T>{2, 5000, 1}.run();
  ChannelCase<T>{64, 16, 100}.run();
  ChannelCase<T>{1, 1, 2}.run();
}
TEST(BatchNormKernels, Float) { channels_of_type<float>(); }
TEST(BatchNormKernels, Double) { channels_of_type<double>(); }
TEST(BatchNormKernels, Half) { channels_of_type<Half>(); }
TEST(BatchNormKernels, BFloat16) { channels_of_type<BFloat16>(); }

// All results of a forward and a backward, of shapes that are cut into chunks.
std::vector<float> all_results() {
  std::vector<float> out;
  const int64_t rows = 900, n = 70;
  const auto x = values<float>(rows * n, 1, 100), g = values<float>(rows * n, 2), w = values<float>(n, 3);
  const auto keep = [&](const std::vector<float>& v) { out.insert(out.end(), v.begin(), v.end()); };
  std::vector<float> y(x.size()), mean(static_cast<size_t>(rows)), rstd(mean.size()), dw(w.size()), db(w.size());
  for (const int64_t inner : {1, 10}) {
    const RowNormCall call{kFloat, rows, 1, n / inner, inner, true, w.data()};
    row_norm(call, x.data(), nullptr, 1e-5, y.data(), mean.data(), rstd.data());
    keep(y);
    row_norm_backward(call, g.data(), x.data(), mean.data(), rstd.data(), y.data(), dw.data(), db.data());
    for (const auto& v : {y, mean, rstd, dw, db}) keep(v);
    const ChannelPass pass{kFloat, rows, n / inner, inner};
    std::vector<float> a(static_cast<size_t>(n / inner)), b(a.size()), c(a.size());
    channel_moments(pass, x.data(), a.data(), b.data());
    channel_products(pass, g.data(), x.data(), a.data(), b.data(), c.data());
    channel_scale(pass, x.data(), a.data(), b.data(), c.data(), y.data());
    for (const auto& v : {y, a, b, c}) keep(v);
  }
  return out;
}

TEST(NormKernels, SameBitsForAnyThreadsAndVectorUnit) {
  const VectorUnit unit = vector_unit();
  const int threads = get_num_threads();
  const std::vector<float> expected = all_results();
  for (const int n : {1, 2, 5}) {
    set_num_threads(n);
    EXPECT_TRUE(all_results() == expected) << n << " threads";
  }
  set_num_threads(threads);
  for (const VectorUnit u : {VectorUnit::kAvx2, VectorUnit::kBaseline}) {
    set_vector_unit(u);
    EXPECT_TRUE(all_results() == expected) << "vector unit " << static_cast<int>(u);
  }
  set_vector_unit(unit);
}

// A spread of 1e-3 around 1000: E[x^2] - E[x]^2 in float would give anything.
TEST(NormKernels, SmallVarianceFarFromZero) {
  std::vector<float> x(4096), variance(1), mean(1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 1000 + (i % 2 ? 0.0009765625f : -0.0009765625f);
  channel_moments({kFloat, 4, 1, 1024}, x.data(), mean.data(), variance.data());
  EXPECT_FLOAT_EQ(mean[0], 1000);
  EXPECT_NEAR(variance[0], 0x1p-20, 0x1p-24);
  channel_moments({kFloat, 4096, 1, 1}, x.data(), mean.data(), variance.data());
  EXPECT_NEAR(variance[0], 0x1p-20, 0x1p-24);
}

}  // namespace
}  // namespace argand::cpu
