// Reductions where samples say little: NaN, infinities, ties, zeros.  Expected values are those of PyTorch 2.15 unless
// a test says otherwise.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "argand/autograd/engine.h"
#include "argand/autograd/gradcheck.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"

namespace argand {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor numbers(const std::vector<double>& values) {
  const Tensor t = empty({static_cast<int64_t>(values.size())}, kDouble);
  std::copy(values.begin(), values.end(), t.data_ptr<double>());
  return t;
}

void expect_values(const Tensor& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.numel(), static_cast<int64_t>(expected.size()));
  const Tensor dense = got.to(kDouble).contiguous();
  for (size_t i = 0; i < expected.size(); ++i) {
    const double v = dense.data_ptr<double>()[i];
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(v)) << "at " << i << ": " << v;
    else if (std::isinf(expected[i]))
      EXPECT_EQ(v, expected[i]) << "at " << i;
    else
      EXPECT_NEAR(v, expected[i], 1e-14) << "at " << i;
  }
}

// The gradient of the sum of f(x).
template <class F>
Tensor gradient(F f, const Tensor& x) {
  const Tensor leaf = x.detach().clone().requires_grad_();
  f(leaf).sum().backward();
  return leaf.grad();
}

void expect_twice_differentiable(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  const auto checked = [&](const std::vector<Tensor>& in) { return std::vector<Tensor>{f(in[0])}; };
  const std::vector<Tensor> in{x.detach().clone().requires_grad_()};
  EXPECT_TRUE(autograd::gradcheck(checked, in));
  EXPECT_TRUE(autograd::gradgradcheck(checked, in));
}

TEST(Reduce, ProductsWithZerosHaveExactGradients) {
  const auto product = [](const Tensor& t) { return t.prod(); };
  expect_values(gradient(product, numbers({1, 0, 3})), {0, 3, 0});
  expect_values(gradient(product, numbers({0, 0, 3})), {0, 0, 0});
  expect_values(gradient([](const Tensor& t) { return t.cumprod(0); }, numbers({1, 0, 3, 0, 2})), {1, 4, 0, 0, 0});
  for (const auto& x : {numbers({2, 0, 3, 1}), numbers({0, 2, 0, 1}), numbers({0, 0, 0})}) {
    expect_twice_differentiable(product, x);
    expect_twice_differentiable([](const Tensor& t) { return t.cumprod(0); }, x);
  }
}

TEST(Reduce, NaNIsLeftOutWhereAsked) {
  const Tensor x = numbers({1, kNaN, 3});
  expect_values(nansum(x), {4});
  expect_values(nansum(x.to(kHalf)), {4});
  expect_values(nansum(x, std::nullopt, false, kLong), {4});
  expect_values(nanmean(x), {2});
  expect_values(nanmean(numbers({kNaN})), {kNaN});
  expect_values(gradient([](const Tensor& t) { return nansum(t); }, x), {1, 0, 1});
  expect_values(gradient([](const Tensor& t) { return nanmean(t); }, x), {0.5, 0, 0.5});
}

TEST(Reduce, NaNWinsElsewhere) {
  const Tensor x = numbers({1, kNaN, kNaN, 0});
  for (const Tensor& t : {x.max(), x.min(), x.amax(), x.amin(), std::get<0>(x.aminmax()), x.sum(), x.prod()})
    expect_values(t, {kNaN});
  expect_values(gradient([](const Tensor& t) { return t.max(); }, x), {0, 0.5, 0.5, 0});
  expect_values(x.any(), {1});
  expect_values(x.all(), {0});
  expect_values(x.count_nonzero(), {3});
}

TEST(Reduce, TiesShareTheGradient) {
  const Tensor x = numbers({3, 1, 3, 3, 1});
  const std::vector<double> of_max{1 / 3.0, 0, 1 / 3.0, 1 / 3.0, 0}, of_min{0, 0.5, 0, 0, 0.5};
  expect_values(gradient([](const Tensor& t) { return t.max(); }, x), of_max);
  expect_values(gradient([](const Tensor& t) { return t.amax(0); }, x), of_max);
  expect_values(gradient([](const Tensor& t) { return std::get<1>(t.aminmax(0)); }, x), of_max);
  expect_values(gradient([](const Tensor& t) { return t.min(); }, x), of_min);
  expect_values(gradient([](const Tensor& t) { return t.amin({0}, true); }, x), of_min);
  expect_values(gradient([](const Tensor& t) { return t.norm(kInf); }, -x), {-1 / 3.0, 0, -1 / 3.0, -1 / 3.0, 0});
}

TEST(Reduce, NormsHaveSubgradientZeroAtZero) {
  const Tensor origin = zeros({3}, kDouble);
  for (const double p : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, kInf, -kInf}) {
    SCOPED_TRACE(str("p = ", p));
    expect_values(gradient([p](const Tensor& t) { return t.norm(p); }, origin), {0, 0, 0});
  }
  expect_values(gradient([](const Tensor& t) { return t.std(0, Scalar(1)); }, ones({3}, kDouble)), {0, 0, 0});
  // Second gradients there are finite, where PyTorch gives NaN.
  for (const double p : {1.0, 1.5, 2.0, 3.0}) {
    const Tensor x = zeros({3}, kDouble).requires_grad_();
    const Tensor first = autograd::grad({x.norm(p)}, {x}, {}, std::nullopt, true)[0];
    if (!first.requires_grad()) continue;
    const Tensor second = autograd::grad({first.sum()}, {x}, {}, std::nullopt, false, true)[0];
    if (second.defined()) expect_values(second.isfinite().all(), {1});
  }
  // A zero among others, which has the subgradient 0 at every p.
  for (const double p : {0.5, 1.5, 2.5}) {
    const Tensor g = gradient([p](const Tensor& t) { return t.norm(p); }, numbers({0, 2}));
    EXPECT_EQ(g.data_ptr<double>()[0], 0) << p;
  }
}

TEST(Reduce, LogSumExpOfInfinities) {
  const auto of = [](const Tensor& t) { return t.logsumexp(0); };
  expect_values(of(numbers({-kInf, -kInf})), {-kInf});
  expect_values(of(numbers({-kInf, 1})), {1});
  expect_values(of(numbers({kInf, 1})), {kInf});
  expect_values(of(numbers({1000, 1000})), {1000 + std::log(2)});
  expect_values(gradient(of, numbers({-kInf, 1})), {0, 1});
  // Probability 0 has no gradient; PyTorch gives NaN.
  expect_values(gradient(of, numbers({-kInf, -kInf})), {0, 0});
  const auto running = [](const Tensor& t) { return t.logcumsumexp(0); };
  expect_values(gradient(running, numbers({-kInf, -kInf, 0})), {0, 0, 1});
  expect_values(gradient(running, numbers({1, -kInf, 2})), {2.2689414213699951, 0, 0.7310585786300049});
}

TEST(Reduce, VarianceWithoutFreedom) {
  expect_values(var(numbers({1}), 0, Scalar(1)), {kNaN});
  expect_values(var(numbers({1, 2}), 0, Scalar(3)), {kInf});
  expect_values(var(numbers({1, 3}), false), {1});
  expect_values(var(numbers({1, 3}), true), {2});
  // Far from 0, where the mean of squares less the square of the mean has no digit left.
  expect_values(var((numbers({0, 1, 2, 3}) + 4096).to(kFloat), 0, Scalar(0)), {1.25});
}

TEST(Reduce, OverlappingViewsAddTheirGradients) {
  const auto windows = [](const Tensor& t) { return t.as_strided({3, 2}, {1, 1}); };
  expect_values(gradient(windows, numbers({1, 2, 3, 4})), {1, 2, 2, 1});
  expect_values(gradient(
                    [](const Tensor& t) {
                      return t.expand({3, 2}).as_strided({3, 2}, {0, 1});
                    },
                    numbers({1, 2})),
                {3, 3});
  expect_values(gradient(
                    [&](const Tensor& t) {
                      return windows(t).as_strided({2, 2}, {2, 1});
                    },
                    numbers({1, 2, 3, 4})),
                {1, 1, 1, 1});
}

TEST(DtypeViews, ShareMemoryAndWritesReachTheGraph) {
  const Tensor x = numbers({1, 2, 3, 4}).requires_grad_();
  const Tensor base = x * 2, pairs = base.view({2, 2});
  const Tensor z = view_as_complex(pairs);
  expect_values(real(z), {2, 6});
  real(z).mul_(10);  // a view of a view of another dtype
  expect_values(base, {20, 4, 60, 8});
  base.sum().backward();
  expect_values(x.grad(), {20, 2, 20, 2});
}

TEST(DtypeViews, PartsOfComplexNumbersAreWrittenApart) {
  const Tensor x = numbers({1, 2}).requires_grad_(), y = numbers({3, 4}).requires_grad_();
  const Tensor z = complex(x, y);
  real(z).mul_(10);
  expect_values(real(z), {10, 20});
  (real(z).sum() + imag(z).sum()).backward();
  expect_values(x.grad(), {10, 10});
  expect_values(y.grad(), {1, 1});
}

TEST(DtypeViews, PairsAreWrittenAsComplexNumbers) {
  const Tensor x = numbers({1, 2, 3, 4}).requires_grad_();
  const Tensor base = x.view({2, 2}) * 2;
  view_as_complex(base).mul_(std::complex<double>(0, 1));  // (a, b) becomes (-b, a)
  expect_values(base, {-4, 2, -8, 6});
  base.select(1, 0).sum().backward();
  expect_values(x.grad(), {0, -2, 0, -2});
}

TEST(DtypeViews, PendingWritesAreSeenThroughTheOtherDtype) {
  Tensor x = ones({100000}, kFloat);
  x.add_(1);  // large enough to wait
  const Tensor bits = x.view(kInt);
  EXPECT_EQ(bits.select(0, 77).item<int>(), 0x40000000);
  x.mul_(2);
  EXPECT_EQ((bits + 1).select(0, 99999).item<int>(), 0x40800001);
}

// The difference of the ends overflows.
TEST(Histc, TheWholeRangeOfFloat32) {
  const Tensor x = numbers({-3e38, 0, 3e38}).to(kFloat);
  expect_values(x.histc(4), {1, 0, 1, 1});
}

}  // namespace
}  // namespace argand
