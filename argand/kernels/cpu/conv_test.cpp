#include "argand/kernels/cpu/conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "argand/base/bfloat16.h"
#include "argand/base/half.h"
#include "argand/kernels/cpu/vector_unit.h"
#include "argand/runtime/cpu/thread_pool.h"

namespace argand::cpu {
namespace {

using Three = std::array<int64_t, 3>;

ConvShape make_shape(int64_t n, int64_t c, int64_t o, int64_t groups, Three in, Three kernel, Three stride,
                     Three padding, Three dilation, Three extra = {0, 0, 0}) {
  ConvShape s;
  s.n = n, s.c = c, s.o = o, s.groups = groups;
  s.in = in, s.kernel = kernel, s.stride = stride, s.padding = padding, s.dilation = dilation;
  for (size_t d = 0; d < 3; ++d) {
    s.out[d] = (in[d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) / stride[d] + 1;
    s.in[d] += extra[d];  // rows that no output reads, as output_padding of a transposed convolution makes them
  }
  return s;
}

std::string text(const ConvShape& s) {
  const auto t = [](const Three& v) { return str("(", v[0], ",", v[1], ",", v[2], ")"); };
  return str("n ", s.n, " c ", s.c, " o ", s.o, " groups ", s.groups, " in ", t(s.in), " out ", t(s.out), " kernel ",
             t(s.kernel), " stride ", t(s.stride), " padding ", t(s.padding), " dilation ", t(s.dilation),
             s.channels_last ? " channels last" : "");
}

template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T> || ReducedFloat<T>, double, std::complex<double>>;

template <class T>
Wide<T> wide(T x) {
  return static_cast<Wide<T>>(x);
}

template <class T>
std::vector<T> random_values(int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<T> v(static_cast<size_t>(n));
  for (T& x : v) {
    if constexpr (std::is_same_v<Wide<T>, double>) {
      x = static_cast<T>(uniform(random));
    } else {
      x = T(uniform(random), uniform(random));
    }
  }
  return v;
}

// Calls visit(index in x, index in w, index in y) for every product of the convolution: its definition, once.
template <class Visit>
void for_each_product(const ConvShape& s, Visit visit) {
  const int64_t channels = s.c / s.groups, outs = s.o / s.groups;
  for (int64_t n = 0; n < s.n; ++n)
    for (int64_t o = 0; o < s.o; ++o)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t y = 0; y < s.out_size(); ++y)
          for (int64_t k = 0; k < s.kernel_size(); ++k) {
            const Three at{y / (s.out[1] * s.out[2]), y / s.out[2] % s.out[1], y % s.out[2]};
            const Three tap{k / (s.kernel[1] * s.kernel[2]), k / s.kernel[2] % s.kernel[1], k % s.kernel[2]};
            int64_t x = n * s.c + o / outs * channels + c;
            bool inside = true;
            for (size_t d = 0; d < 3; ++d) {
              const int64_t i = at[d] * s.stride[d] - s.padding[d] + tap[d] * s.dilation[d];
              inside &= i >= 0 && i < s.in[d];
              x = x * s.in[d] + i;
            }
            if (inside) visit(x, (o * channels + c) * s.kernel_size() + k, (n * s.o + o) * s.out_size() + y);
          }
}

template <class T>
double tolerance(double magnitudes, int64_t terms) {
  using Real = std::conditional_t<std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>>, double, float>;
  double bound =
      (static_cast<double>(terms) + 4) * static_cast<double>(std::numeric_limits<Real>::epsilon()) * magnitudes;
  if constexpr (ReducedFloat<T>) bound += static_cast<double>(std::numeric_limits<T>::epsilon()) * (magnitudes + 1);
  return bound;
}

template <class T>
void expect_close(const std::vector<T>& got, const std::vector<Wide<T>>& expected,
                  const std::vector<double>& magnitudes, int64_t terms, const char* what) {
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_LE(std::abs(wide(got[i]) - expected[i]), tolerance<T>(magnitudes[i], terms)) << what << " at " << i;
}

template <class T>
constexpr ScalarType dtype() {
  return scalar_type_of<T>::value;
}

// [n, channels, size] of [n, size, channels]; the reverse if the two are exchanged.
template <class T>
std::vector<T> turned(const std::vector<T>& v, int64_t size, int64_t channels) {
  std::vector<T> out(v.size());
  const auto image = static_cast<size_t>(size * channels);
  for (size_t i = 0; i < v.size(); ++i) {
    const size_t p = i % image / static_cast<size_t>(channels), c = i % static_cast<size_t>(channels);
    out[i / image * image + c * static_cast<size_t>(size) + p] = v[i];
  }
  return out;
}

template <class T>
struct Operands {
  std::vector<T> x, w, bias, gy;
};
template <class T>
struct Results {
  std::vector<T> y, y_without_bias, gx, gw;
};

template <class T>
Results<T> run_all(const ConvShape& s, Operands<T> o) {
  const bool last = s.channels_last;
  const int64_t in = s.in_size(), out = s.out_size(), taps = s.kernel_size(), c = s.c / s.groups;
  if (last) o.x = turned(o.x, s.c, in), o.w = turned(o.w, c, taps), o.gy = turned(o.gy, s.o, out);
  const T junk = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
  Results<T> r;
  r.y.assign(o.gy.size(), junk), r.y_without_bias = r.y, r.gx.assign(o.x.size(), junk), r.gw.assign(o.w.size(), junk);
  conv_forward(s, dtype<T>(), o.x.data(), o.w.data(), o.bias.data(), r.y.data());
  conv_forward(s, dtype<T>(), o.x.data(), o.w.data(), nullptr, r.y_without_bias.data());
  conv_input_grad(s, dtype<T>(), o.gy.data(), o.w.data(), r.gx.data());
  conv_weight_grad(s, dtype<T>(), o.gy.data(), o.x.data(), r.gw.data());
  if (last) r.y = turned(r.y, out, s.o), r.y_without_bias = turned(r.y_without_bias, out, s.o);
  if (last) r.gx = turned(r.gx, in, s.c), r.gw = turned(r.gw, taps, c);
  return r;
}

template <class T>
void check(const ConvShape& s) {
  SCOPED_TRACE(text(s));
  const auto x = random_values<T>(s.n * s.c * s.in_size(), 1),
             w = random_values<T>(s.o * (s.c / s.groups) * s.kernel_size(), 2);
  const auto bias = random_values<T>(s.o, 3), gy = random_values<T>(s.n * s.o * s.out_size(), 4);
  std::vector<Wide<T>> y(gy.size()), gx(x.size()), gw(w.size());
  std::vector<double> my(gy.size()), mx(x.size()), mw(w.size());
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] = wide(bias[i / static_cast<size_t>(s.out_size()) % static_cast<size_t>(s.o)]);
    my[i] = std::abs(y[i]);
  }
  for_each_product(s, [&](int64_t xi, int64_t wi, int64_t yi) {
    const auto a = static_cast<size_t>(xi), b = static_cast<size_t>(wi), c = static_cast<size_t>(yi);
    const auto add = [](Wide<T>& sum, double& magnitude, Wide<T> p) { sum += p, magnitude += std::abs(p); };
    add(y[c], my[c], wide(x[a]) * wide(w[b]));
    add(gx[a], mx[a], wide(gy[c]) * wide(w[b]));
    add(gw[b], mw[b], wide(gy[c]) * wide(x[a]));
  });
  auto y_without_bias = y;
  for (size_t i = 0; i < y.size(); ++i)
    y_without_bias[i] -= wide(bias[i / static_cast<size_t>(s.out_size()) % static_cast<size_t>(s.o)]);
  const int64_t k = s.c / s.groups * s.kernel_size();
  for (const bool last : {false, true}) {
    if (last && !conv_takes_channels_last(s, dtype<T>(), true)) continue;
    SCOPED_TRACE(last ? "channels last" : "channels first");
    ConvShape laid = s;
    laid.channels_last = last;
    const Results<T> got = run_all<T>(laid, {x, w, bias, gy});
    expect_close(got.y, y, my, k, "y");
    expect_close(got.gx, gx, mx, s.o / s.groups * s.kernel_size(), "gx");
    expect_close(got.gw, gw, mw, s.n * s.out_size(), "gw");
    expect_close(got.y_without_bias, y_without_bias, my, k, "y without bias");
  }
}

constexpr Three kOnes{1, 1, 1}, kZeros{0, 0, 0};

std::vector<ConvShape> small_shapes() {
  return {
      make_shape(2, 3, 4, 1, {1, 1, 9}, {1, 1, 3}, kOnes, {0, 0, 1}, kOnes),
      make_shape(2, 2, 3, 1, {1, 1, 40}, {1, 1, 5}, {1, 1, 2}, {0, 0, 3}, {1, 1, 2}),
      make_shape(2, 3, 5, 1, {1, 6, 7}, {1, 3, 3}, kOnes, {0, 1, 1}, kOnes),
      make_shape(1, 2, 16, 1, {1, 8, 17}, {1, 3, 3}, kOnes, {0, 1, 1}, kOnes),
      make_shape(3, 4, 6, 2, {1, 9, 8}, {1, 3, 2}, {1, 2, 1}, {0, 1, 0}, kOnes),
      make_shape(2, 6, 6, 6, {1, 7, 9}, {1, 3, 3}, kOnes, {0, 1, 1}, kOnes),
      make_shape(2, 5, 5, 5, {1, 30, 37}, {1, 5, 5}, {1, 2, 2}, {0, 2, 2}, kOnes),
      make_shape(2, 3, 3, 3, {1, 17, 21}, {1, 3, 4}, {1, 3, 1}, {0, 2, 1}, {1, 2, 1}, {0, 1, 1}),
      make_shape(2, 3, 3, 3, {1, 9, 8}, {1, 1, 1}, {1, 2, 2}, {0, 1, 1}, kOnes),
      make_shape(2, 3, 3, 3, {1, 1, 50}, {1, 1, 7}, {1, 1, 2}, {0, 0, 3}, kOnes),
      make_shape(2, 3, 4, 1, {1, 12, 11}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}, kOnes),
      make_shape(2, 3, 4, 1, {1, 12, 11}, {1, 3, 3}, {1, 3, 2}, {0, 2, 0}, {1, 2, 3}),
      make_shape(2, 3, 4, 1, {1, 12, 11}, {1, 3, 2}, kOnes, {0, 1, 2}, {1, 3, 2}),
      make_shape(2, 3, 4, 1, {1, 10, 9}, {1, 1, 1}, {1, 2, 2}, kZeros, kOnes),
      make_shape(2, 3, 4, 1, {1, 5, 6}, {1, 1, 1}, kOnes, kZeros, kOnes),
      make_shape(2, 3, 4, 1, {1, 5, 6}, {1, 1, 1}, kOnes, {0, 1, 2}, kOnes),
      make_shape(2, 2, 3, 1, {1, 5, 5}, {1, 5, 5}, kOnes, kZeros, kOnes),
      make_shape(2, 2, 3, 1, {1, 7, 8}, {1, 4, 3}, {1, 2, 3}, {0, 1, 1}, kOnes, {0, 1, 2}),
      make_shape(2, 2, 3, 1, {4, 5, 6}, {3, 2, 3}, kOnes, {1, 0, 1}, kOnes),
      make_shape(1, 4, 2, 2, {6, 5, 7}, {2, 3, 3}, {2, 1, 2}, {1, 1, 0}, {2, 1, 1}),
      make_shape(2, 2, 3, 1, {4, 5, 6}, {1, 3, 3}, kOnes, {0, 1, 1}, kOnes),
      make_shape(1, 1, 1, 1, {1, 1, 1}, {1, 1, 1}, {1, 5, 1}, {0, 1, 0}, kOnes),
      make_shape(0, 2, 3, 1, {1, 5, 6}, {1, 3, 3}, kOnes, kZeros, kOnes),
  };
}

template <class T>
class ConvTest : public testing::Test {};
using AllTypes = testing::Types<float, double, Half, BFloat16, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ConvTest, AllTypes);

TYPED_TEST(ConvTest, SmallShapes) {
  for (const ConvShape& s : small_shapes()) {
    check<TypeParam>(s);
    if (this->HasFatalFailure()) return;
  }
}

// More elements than are converted to float at once.
TEST(ConvInFloat, LargeTensors) {
  check<BFloat16>(make_shape(1, 2, 2, 1, {1, 1, 40000}, {1, 1, 3}, kOnes, {0, 0, 1}, kOnes));
}

template <class T>
class DirectConvTest : public testing::Test {
 protected:
  void TearDown() override {
    set_vector_unit(before_);
    set_num_threads(threads_);
  }
  const VectorUnit before_ = vector_unit();
  const int threads_ = get_num_threads();
};
using DirectTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(DirectConvTest, DirectTypes);

TYPED_TEST(DirectConvTest, EveryVectorUnit) {
  for (VectorUnit unit : {VectorUnit::kBaseline, VectorUnit::kAvx2, VectorUnit::kAvx512}) {
    set_vector_unit(unit);
    for (const ConvShape& s : small_shapes()) {
      check<TypeParam>(s);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(DirectConvTest, EveryNumberOfOutputChannelsAndWidth) {
  for (VectorUnit unit : {VectorUnit::kBaseline, VectorUnit::kAvx2, VectorUnit::kAvx512}) {
    set_vector_unit(unit);
    for (int64_t o = 1; o <= 30; ++o) {
      check<TypeParam>(make_shape(2, 2, o, 1, {1, 3, 5 + 3 * o}, {1, 3, 3}, kOnes, {0, 1, 1}, kOnes));
      if (this->HasFatalFailure()) return;
    }
  }
}

// Several slabs of rows, several pieces of k, several parts and blocks of the weight gradient.
std::vector<ConvShape> large_shapes() {
  return {
      make_shape(2, 64, 16, 1, {1, 41, 70}, {1, 3, 3}, kOnes, {0, 1, 1}, kOnes),
      make_shape(2, 130, 20, 1, {1, 8, 9}, {1, 3, 3}, kOnes, {0, 1, 1}, kOnes),
      make_shape(2, 90, 64, 2, {1, 7, 7}, {1, 3, 3}, kOnes, {0, 1, 1}, kOnes),
      make_shape(1, 20, 130, 1, {1, 9, 9}, {1, 3, 3}, kOnes, {0, 1, 1}, kOnes),
      make_shape(9, 5, 32, 1, {1, 27, 30}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}, kOnes),
      make_shape(1, 3, 8, 1, {1, 1, 120000}, {1, 1, 7}, {1, 1, 2}, {0, 0, 3}, kOnes),
      make_shape(40, 2, 5, 1, {1, 20, 20}, {1, 5, 5}, {1, 1, 1}, {0, 2, 2}, kOnes),
      make_shape(2, 24, 4, 1, {12, 40, 30}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, kOnes),
      make_shape(8, 33, 33, 33, {1, 30, 41}, {1, 3, 3}, kOnes, {0, 1, 1}, kOnes),
  };
}

TYPED_TEST(DirectConvTest, LargeShapes) {
  for (const ConvShape& s : large_shapes()) {
    check<TypeParam>(s);
    if (this->HasFatalFailure()) return;
  }
}

template <class T>
std::vector<T> everything(const ConvShape& s, int threads) {
  set_num_threads(threads);
  const Results<T> r = run_all<T>(
      s, {random_values<T>(s.n * s.c * s.in_size(), 1), random_values<T>(s.o * (s.c / s.groups) * s.kernel_size(), 2),
          random_values<T>(s.o, 3), random_values<T>(s.n * s.o * s.out_size(), 4)});
  std::vector<T> out = r.y;
  for (const auto& part : {r.y_without_bias, r.gx, r.gw}) out.insert(out.end(), part.begin(), part.end());
  return out;
}

TYPED_TEST(DirectConvTest, SameBitsForAnyNumberOfThreads) {
  auto shapes = large_shapes();
  for (const ConvShape& s : small_shapes()) shapes.push_back(s);
  for (size_t i = 0, n = shapes.size(); i < n; ++i)
    if (conv_takes_channels_last(shapes[i], kFloat, true))
      shapes.push_back(shapes[i]), shapes.back().channels_last = true;
  for (const ConvShape& s : shapes) {
    const auto alone = everything<TypeParam>(s, 1);
    for (int threads : {2, 5, 64})
      ASSERT_EQ(alone, everything<TypeParam>(s, threads)) << text(s) << ", " << threads << " threads";
  }
}

}  // namespace
}  // namespace argand::cpu
