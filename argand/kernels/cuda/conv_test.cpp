// Our kernels, which the tests of the ops do not reach where cuDNN has kernels, and cuDNN's, compared with the CPU.
#include "argand/kernels/cpu/conv.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <random>

#include "argand/base/str.h"
#include "argand/core/float32_precision.h"
#include "argand/kernels/blocks.h"
#include "argand/kernels/cuda/conv.h"
#include "argand/kernels/cuda/device_array.h"
#include "argand/kernels/cuda/kernel_source.h"

namespace argand::cuda {
namespace {

class Convolution : public OnDevice {
 protected:
  Convolution() { set_float32_precision("exact"); }

  int64_t random(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(generator_);
  }

  ConvShape random_shape(int spatial) {
    ConvShape s;
    s.groups = random(1, 3);
    s.n = random(1, 3);
    s.c = s.groups * random(1, 9);
    s.o = s.groups * random(1, 40);
    for (auto d = static_cast<size_t>(3 - spatial); d < 3; ++d) {
      s.kernel[d] = random(1, 3);
      s.stride[d] = random(1, 3);
      s.padding[d] = random(0, 2);
      s.dilation[d] = random(1, 3);
      const int64_t reach = s.dilation[d] * (s.kernel[d] - 1) + 1;
      s.in[d] = std::max<int64_t>(1, reach - 2 * s.padding[d]) + random(0, 12);
      s.out[d] = (s.in[d] + 2 * s.padding[d] - reach) / s.stride[d] + 1;
    }
    return s;
  }

  template <class T>
  std::vector<T> random_values(int64_t n) {
    std::vector<T> out(static_cast<size_t>(n));
    for (T& x : out) fill(x);
    return out;
  }

  template <class T>
  static void expect_near(const std::vector<T>& expected, const std::vector<T>& got, double tolerance,
                          const std::string& what) {
    double worst = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      const double error = std::abs(expected[i] - got[i]);
      if (!(error <= worst)) worst = error;  // a NaN is the worst
    }
    EXPECT_LE(worst, tolerance) << what;
  }

  template <class T>
  void compare(ScalarType dtype, double tolerance, bool own_kernels) {
    for (int i = 0; i < 24; ++i) {
      const ConvShape s = random_shape(1 + i % 3);
      const auto x = random_values<T>(s.n * s.c * s.in_size()),
                 w = random_values<T>(s.o * (s.c / s.groups) * s.kernel_size()),
                 gy = random_values<T>(s.n * s.o * s.out_size()), bias = random_values<T>(s.o);
      auto y = gy, gx = x, gw = w;
      const DeviceArray<T> dx(x), dw(w), dgy(gy), dbias(bias), dy(y), dgx(gx), dgw(gw);
      cpu::conv_forward(s, dtype, x.data(), w.data(), bias.data(), y.data());
      cpu::conv_input_grad(s, dtype, gy.data(), w.data(), gx.data());
      cpu::conv_weight_grad(s, dtype, gy.data(), x.data(), gw.data());
      (own_kernels ? own::conv_forward : blocks::conv_forward.of(kCUDA))(s, dtype, dx.data(), dw.data(), dbias.data(),
                                                                         dy.data());
      (own_kernels ? own::conv_input_grad : blocks::conv_input_grad.of(kCUDA))(s, dtype, dgy.data(), dw.data(),
                                                                               dgx.data());
      (own_kernels ? own::conv_weight_grad : blocks::conv_weight_grad.of(kCUDA))(s, dtype, dgy.data(), dx.data(),
                                                                                 dgw.data());
      const std::string what = str("shape ", i, " of ", 1 + i % 3, " dimensions");
      expect_near(y, dy.values(), tolerance, what + ", forward");
      expect_near(gx, dgx.values(), tolerance, what + ", input gradient");
      expect_near(gw, dgw.values(), tolerance, what + ", weight gradient");
    }
  }

  static float channel_sum(const ConvShape& s, const std::vector<float>& y, int64_t channel) {
    double sum = 0;
    for (int64_t n = 0; n < s.n; ++n) {
      const auto plane = y.begin() + (n * s.o + channel) * s.out_size();
      sum = std::accumulate(plane, plane + s.out_size(), sum);
    }
    return static_cast<float>(sum);
  }

  void compare_few_channels() {
    int forward = 0, input_grad = 0, weight_grad = 0;
    for (int i = 0; i < 26; ++i) {
      ConvShape s;
      s.n = i % 4 == 0 ? 300 : random(1, 9);
      s.c = random(1, 20);
      s.o = random(1, 45);
      for (size_t d = 1; d < 3; ++d) {
        s.kernel[d] = 3;
        s.padding[d] = random(0, 3);
        s.in[d] = random(3, 40);
      }
      // Shapes of a usual network, whose sums several warps share.
      if (i == 24) s.n = 64, s.c = 3, s.o = 16, s.padding = {0, 1, 1}, s.in = {1, 28, 28};
      if (i == 25) s.n = 64, s.c = 16, s.o = 32, s.padding = {0, 1, 1}, s.in = {1, 14, 14};
      for (size_t d = 1; d < 3; ++d) s.out[d] = s.in[d] + 2 * s.padding[d] - 2;
      const auto x = random_values<float>(s.n * s.c * s.in_size()), w = random_values<float>(s.o * s.c * 9),
                 gy = random_values<float>(s.n * s.o * s.out_size()), bias = random_values<float>(s.o);
      auto y = gy, gx = x, gw = w, gb = bias;
      const DeviceArray<float> dx(x), dw(w), dgy(gy), dbias(bias), dy(y), dgx(gx), dgw(gw), dgb(gb);
      const std::string what = str("shape ", i);
      const double sum_of_one = 1e-4, sum_of_all = 1e-4 * std::sqrt(static_cast<double>(s.n * s.out_size()));
      const float* const with_bias = i % 2 == 0 ? dbias.data() : nullptr;
      if (own::few_channels_forward(s, kFloat, dx.data(), dw.data(), with_bias, dy.data())) {
        ++forward;
        cpu::conv_forward(s, kFloat, x.data(), w.data(), with_bias ? bias.data() : nullptr, y.data());
        expect_near(y, dy.values(), sum_of_one, what + ", forward");
      }
      if (own::few_channels_input_grad(s, kFloat, dgy.data(), dw.data(), dgx.data())) {
        ++input_grad;
        cpu::conv_input_grad(s, kFloat, gy.data(), w.data(), gx.data());
        expect_near(gx, dgx.values(), sum_of_one, what + ", input gradient");
      }
      if (own::few_channels_weight_grad(s, kFloat, dgy.data(), dx.data(), dgw.data(), nullptr)) {
        ++weight_grad;
        cpu::conv_weight_grad(s, kFloat, gy.data(), x.data(), gw.data());
        expect_near(gw, dgw.values(), sum_of_all, what + ", weight gradient");
        const auto alone = dgw.values();
        EXPECT_TRUE(own::few_channels_weight_grad(s, kFloat, dgy.data(), dx.data(), dgw.data(), dgb.data())) << what;
        EXPECT_EQ(alone, dgw.values()) << what << ", weight gradient beside the bias's";
        for (int64_t o = 0; o < s.o; ++o) gb[static_cast<size_t>(o)] = channel_sum(s, gy, o);
        expect_near(gb, dgb.values(), sum_of_all, what + ", bias gradient");
      }
    }
    EXPECT_GT(forward, 15);
    EXPECT_GT(input_grad, 10);
    EXPECT_GT(weight_grad, 15);
  }

 private:
  template <class T>
  void fill(T& x) {
    x = std::uniform_real_distribution<T>(-1, 1)(generator_);
  }
  template <class T>
  void fill(std::complex<T>& x) {
    T parts[2];
    for (T& part : parts) fill(part);
    x = {parts[0], parts[1]};
  }

  std::mt19937 generator_{1};
};

TEST_F(Convolution, KernelsOfOneNameAreApart) {
  const char* name = "add_parts<double>";
  EXPECT_NE(kernel("argand/kernels/cuda/conv.cuh", name).function(),
            kernel("argand/kernels/cuda/column_sums.cuh", name).function());
}
TEST_F(Convolution, OwnKernelsInFloat) { compare<float>(kFloat, 1e-3, true); }
TEST_F(Convolution, OwnKernelsInDouble) { compare<double>(kDouble, 1e-11, true); }
TEST_F(Convolution, OwnKernelsInComplexFloat) { compare<std::complex<float>>(kComplexFloat, 1e-3, true); }
TEST_F(Convolution, OwnKernelsInComplexDouble) { compare<std::complex<double>>(kComplexDouble, 1e-11, true); }
TEST_F(Convolution, FewChannels) { compare_few_channels(); }
TEST_F(Convolution, BlocksInFloat) { compare<float>(kFloat, 1e-3, false); }
TEST_F(Convolution, BlocksInDouble) { compare<double>(kDouble, 1e-11, false); }
TEST_F(Convolution, BlocksInComplexFloat) { compare<std::complex<float>>(kComplexFloat, 1e-3, false); }

}  // namespace
}  // namespace argand::cuda
