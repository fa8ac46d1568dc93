// Products, running products, running sums of exponentials and recurrences of complex numbers in every form of their
// kernels (short and long rows, columns, lines cut into chunks) against the CPU in complex128.
#include <limits>

#include "argand/base/str.h"
#include "argand/core/cpu_generator.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

class CudaComplex : public ComputingCudaTest {
 protected:
  void SetUp() override {
    ComputingCudaTest::SetUp();
    manual_seed(5);
  }

  // Random numbers of absolute value 1.
  static Tensor numbers(const std::vector<int64_t>& sizes) {
    const Tensor z = randn(sizes, kComplexDouble);
    return z / z.abs();
  }
  static double largest_difference(const Tensor& on_gpu, const Tensor& on_cpu) {
    return (on_gpu.cpu().to(kComplexDouble) - on_cpu).abs().max().item<double>();
  }
  // `tolerance` is kComplexFloat's.
  template <class F>
  static void compare(const char* what, const std::vector<int64_t>& sizes, double tolerance, F f) {
    for (const ScalarType type : {kComplexFloat, kComplexDouble}) {
      const Tensor x = numbers(sizes).to(type);
      const Tensor first = f(x.cuda()), again = f(x.cuda());
      const double limit = type == kComplexDouble ? tolerance * 1e-6 : tolerance;
      EXPECT_LE(largest_difference(first, f(x.to(kComplexDouble))), limit) << str(what, " ", type, " of ", x.sizes());
      EXPECT_TRUE(first.equal(again)) << what << ": other bits the second time";
    }
  }
};

const std::vector<int64_t> kSizes[] = {{3, 7}, {40, 600}, {5, 20000}, {1, 300001}, {20000, 20}, {2, 300000}, {0, 3}};

TEST_F(CudaComplex, Prod) {
  for (const auto& sizes : kSizes)
    for (const int64_t dim : {0, 1})
      if (sizes[0] > 0) compare("prod", sizes, 1e-3, [dim](const Tensor& t) { return t.prod(dim); });
  compare("prod", {300001}, 1e-2, [](const Tensor& t) { return t.prod(); });
  EXPECT_EQ(zeros({0}, TensorOptions(kComplexFloat).device(kCUDA)).prod().cpu().item<std::complex<float>>(), 1.0F);
}

TEST_F(CudaComplex, Cumprod) {
  for (const auto& sizes : kSizes)
    for (const int64_t dim : {0, 1})
      if (sizes[0] > 0) compare("cumprod", sizes, 1e-5, [dim](const Tensor& t) { return t.cumprod(dim); });
}

// The numbers have angles of at most 1, so that no running sum is near the branch cut of the logarithm.
TEST_F(CudaComplex, Logcumsumexp) {
  for (const auto& sizes : kSizes)
    for (const int64_t dim : {0, 1})
      if (sizes[0] > 0) compare("logcumsumexp", sizes, 1e-4, [dim](const Tensor& t) { return t.logcumsumexp(dim); });
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x = complex(tensor({-inf, -inf, 1.0, -inf}, kDouble), tensor({2.0, 0.0, 0.5, 3.0}, kDouble));
  EXPECT_TRUE(x.cuda().logcumsumexp(0).cpu().equal(x.logcumsumexp(0)));
}

TEST_F(CudaComplex, LinearScan) {
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{3, 7}, {40, 600}, {5, 20000}, {2000, 20}})
    for (const int64_t dim : {0, 1})
      for (const bool reverse : {false, true})
        compare("_linear_scan", sizes, 1e-4, [&](const Tensor& t) { return _linear_scan(t, t * 0.875, dim, reverse); });
}

TEST_F(CudaComplex, Gradients) {
  const Tensor values = numbers({6, 50}), weights = numbers({6, 50});
  const auto gradient = [&](const Tensor& given) {
    const Tensor x = given.detach().requires_grad_();
    (x.cumprod(1) * weights.to(x.device()).to(x.scalar_type())).abs().sum().backward();
    const Tensor g = x.grad().detach();
    (x.logcumsumexp(1) * weights.to(x.device()).to(x.scalar_type())).abs().sum().backward();
    x.prod(0).abs().sum().backward();
    return stack({g, x.grad().detach()});
  };
  EXPECT_LE(largest_difference(gradient(values.cuda()), gradient(values)), 1e-9);
}

}  // namespace
}  // namespace argand
