// Against the definition, one window at a time: both orders of the channels, windows that reach beyond every side, and
// planes whose positions need more than 16 bits.
#include "argand/kernels/cpu/pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

namespace argand::cpu {
namespace {

using Three = std::array<int64_t, 3>;

PoolShape make_shape(int64_t batch, int64_t channels, Three in, Three kernel, Three stride, Three padding,
                     Three dilation = {1, 1, 1}) {
  PoolShape s;
  s.planes = batch * channels, s.in = in, s.kernel = kernel, s.stride = stride, s.padding = padding,
  s.dilation = dilation;
  for (size_t d = 0; d < 3; ++d)
    s.out[d] = (in[d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) / stride[d] + 1;
  s.channels = channels;
  return s;
}

// visit(element of the plane) for those of window o that lie inside; returns the elements between the ends of the
// padding.
int64_t for_window(const PoolShape& s, int64_t o, const std::function<void(int64_t)>& visit) {
  const Three at{o / (s.out[1] * s.out[2]), o / s.out[2] % s.out[1], o % s.out[2]};
  int64_t padded = 1;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t begin = at[d] * s.stride[d] - s.padding[d];
    padded *= std::min(begin + s.kernel[d], s.in[d] + s.padding[d]) - begin;
  }
  for (int64_t k = 0; k < s.kernel[0] * s.kernel[1] * s.kernel[2]; ++k) {
    const Three tap{k / (s.kernel[1] * s.kernel[2]), k / s.kernel[2] % s.kernel[1], k % s.kernel[2]};
    int64_t place = 0;
    bool inside = true;
    for (size_t d = 0; d < 3; ++d) {
      const int64_t i = at[d] * s.stride[d] - s.padding[d] + tap[d] * s.dilation[d];
      inside &= i >= 0 && i < s.in[d];
      place = place * s.in[d] + i;
    }
    if (inside) visit(place);
  }
  return padded;
}

// Where element i of plane p lies among planes of `size`.
size_t at(const PoolShape& s, bool last, int64_t p, int64_t i, int64_t size) {
  return static_cast<size_t>(last ? (p / s.channels * size + i) * s.channels + p % s.channels : p * size + i);
}

PoolShape laid(const PoolShape& s, bool last) {
  PoolShape out = s;
  if (!last) out.channels = 0;
  return out;
}

template <class T>
std::vector<T> values(int64_t n, int64_t step) {
  std::vector<T> out;
  for (int64_t i = 0; i < n; ++i) out.push_back(static_cast<T>(static_cast<double>(i * step % 1009) / 64 - 7));
  return out;
}

// The largest number of a large plane stands at its end, beyond what 16 bits count.
template <class T, class I>
void check_max(const PoolShape& s, bool last, ScalarType dtype, ScalarType index) {
  const int64_t in = s.in_size(), out = s.out_size();
  std::vector<T> x = values<T>(s.planes * in, 617), y(static_cast<size_t>(s.planes * out)), gx(x.size(), T(9));
  std::vector<I> places(y.size());
  const auto gy = values<T>(s.planes * out, 389);
  max_pool(laid(s, last), dtype, x.data(), y.data(), {places.data(), index});
  max_pool_backward(laid(s, last), dtype, gy.data(), {places.data(), index}, gx.data());
  std::vector<double> expected(gx.size());
  for (int64_t p = 0; p < s.planes; ++p)
    for (int64_t o = 0; o < out; ++o) {
      int64_t best = -1;
      for_window(s, o, [&](int64_t i) {
        if (best < 0 || x[at(s, last, p, i, in)] > x[at(s, last, p, best, in)]) best = i;
      });
      const size_t to = at(s, last, p, o, out);
      ASSERT_EQ(y[to], x[at(s, last, p, best, in)]) << "plane " << p << " window " << o;
      ASSERT_EQ(static_cast<int64_t>(places[to]), best) << "plane " << p << " window " << o;
      expected[at(s, last, p, best, in)] += static_cast<double>(gy[to]);
    }
  for (size_t i = 0; i < gx.size(); ++i) ASSERT_NEAR(gx[i], expected[i], 1e-4 * (1 + std::abs(expected[i]))) << i;
}

template <class T>
void check_average(const PoolShape& s, bool last, const AverageDivisor& divisor, ScalarType dtype) {
  const int64_t in = s.in_size(), out = s.out_size();
  const auto x = values<T>(s.planes * in, 617), gy = values<T>(s.planes * out, 389);
  std::vector<T> y(gy.size()), gx(x.size(), T(9));
  avg_pool(laid(s, last), dtype, divisor, x.data(), y.data());
  avg_pool_backward(laid(s, last), dtype, divisor, gy.data(), gx.data());
  std::vector<double> expected(gx.size());
  for (int64_t p = 0; p < s.planes; ++p)
    for (int64_t o = 0; o < out; ++o) {
      double sum = 0;
      std::vector<size_t> places;
      const int64_t padded = for_window(s, o, [&](int64_t i) { places.push_back(at(s, last, p, i, in)); });
      for (const size_t i : places) sum += static_cast<double>(x[i]);
      const auto n = static_cast<double>(divisor.fixed           ? divisor.fixed
                                         : divisor.count_padding ? padded
                                                                 : static_cast<int64_t>(places.size()));
      const size_t to = at(s, last, p, o, out);
      ASSERT_NEAR(y[to], sum / n, 1e-4 * (1 + std::abs(sum / n))) << "plane " << p << " window " << o;
      for (const size_t i : places) expected[i] += static_cast<double>(gy[to]) / n;
    }
  for (size_t i = 0; i < gx.size(); ++i) ASSERT_NEAR(gx[i], expected[i], 1e-4 * (1 + std::abs(expected[i]))) << i;
}

const Three kOnes{1, 1, 1}, kZeros{0, 0, 0};

// The last has more than one block of channels, and more images than one thread takes.
std::vector<PoolShape> shapes() {
  return {make_shape(2, 3, {1, 6, 8}, {1, 2, 2}, {1, 2, 2}, kZeros),
          make_shape(2, 5, {1, 7, 9}, {1, 3, 2}, {1, 2, 1}, {0, 1, 1}),
          make_shape(1, 2, {1, 9, 11}, {1, 2, 3}, {1, 3, 2}, {0, 1, 1}),
          make_shape(2, 4, {5, 4, 6}, {3, 2, 3}, {2, 1, 3}, {1, 1, 0}),
          make_shape(3, 20, {1, 40, 37}, {1, 3, 5}, {1, 2, 3}, {0, 1, 2}),
          make_shape(1, 1, {1, 201, 211}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1}),
          make_shape(3, 300, {1, 10, 12}, {1, 3, 3}, {1, 2, 2}, {0, 1, 1})};
}

TEST(Pool, MaximaAndTheirGradients) {
  std::vector<PoolShape> all = shapes();
  all.push_back(make_shape(2, 3, {1, 11, 12}, {1, 3, 2}, {1, 1, 2}, {0, 1, 1}, {1, 2, 3}));
  for (const PoolShape& s : all)
    for (const bool last : {false, true}) {
      SCOPED_TRACE(testing::Message() << "planes " << s.planes << " in " << s.in[0] << " " << s.in[1] << " " << s.in[2]
                                      << (last ? " channels last" : ""));
      check_max<float, int64_t>(s, last, kFloat, kLong);
      check_max<double, int64_t>(s, last, kDouble, kLong);
      if (s.in_size() < INT16_MAX) check_max<float, int16_t>(s, last, kFloat, kShort);
      if (HasFatalFailure()) return;
    }
}

TEST(Pool, AveragesAndTheirGradients) {
  for (const PoolShape& s : shapes())
    for (const bool last : {false, true})
      for (const AverageDivisor& divisor :
           {AverageDivisor{true, 0}, AverageDivisor{false, 0}, AverageDivisor{true, 7}}) {
        SCOPED_TRACE(testing::Message() << "planes " << s.planes << " in " << s.in[0] << " " << s.in[1] << " "
                                        << s.in[2] << (last ? " channels last" : ""));
        check_average<float>(s, last, divisor, kFloat);
        check_average<double>(s, last, divisor, kDouble);
        if (HasFatalFailure()) return;
      }
}

}  // namespace
}  // namespace argand::cpu
