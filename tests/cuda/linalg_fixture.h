// For tests of linear algebra on a GPU: matrices of every dtype and size, and how far results are from what they
// should be.
#pragma once
#include <limits>
#include <optional>

#include "argand/base/linalg_error.h"
#include "argand/base/str.h"
#include "argand/core/cpu_generator.h"
#include "argand/ops/create/literal.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"
#include "tests/cuda/warnings.h"

namespace argand {

class CudaLinalg : public ComputingCudaTest {
 protected:
  void SetUp() override {
    ComputingCudaTest::SetUp();
    manual_seed(7);
    warnings_.emplace();
  }
  // No op but those that docs/design/0017-linear-algebra.md names runs on the CPU.
  void TearDown() override {
    if (!warnings_) return;
    const auto lines = warnings_->texts();
    warnings_.reset();
    for (const std::string& line : lines)
      EXPECT_TRUE(line.find("there is no kernel") == std::string::npos ||
                  line.find("batches of small general matrices") != std::string::npos)
          << line;
  }

  static constexpr ScalarType kTypes[] = {kFloat, kDouble, kComplexFloat, kComplexDouble};
  // One matrix and batches, in both of the forms that the library has for small and for large ones; none at all.
  static std::vector<std::vector<int64_t>> batches_for(int64_t n) {
    if (n >= 200) return {{}, {2}};
    return {{}, {0}, {1}, {3}, {2, 70}};
  }
  static std::vector<int64_t> with(std::vector<int64_t> batch, int64_t m, int64_t n) {
    batch.push_back(m);
    batch.push_back(n);
    return batch;
  }

  // Random numbers on the CPU.
  static Tensor numbers(const std::vector<int64_t>& sizes, ScalarType type) {
    return randn(sizes, is_complex(type) ? kComplexDouble : kDouble).to(type);
  }
  // A Hermitian matrix, with eigenvalues of at least 1 if `positive`.
  static Tensor hermitian(const std::vector<int64_t>& sizes, ScalarType type, bool positive) {
    const Tensor x = numbers(sizes, is_complex(type) ? kComplexDouble : kDouble);
    const Tensor sum = positive ? x.matmul(mH(x)) + eye(sizes.back(), x.options()) : x + mH(x);
    return sum.to(type);
  }

  static Tensor wide(const Tensor& t) {
    const Tensor host = t.detach().cpu();
    return host.to(host.is_complex() ? kComplexDouble : kDouble);
  }
  static double largest(const Tensor& t) { return t.numel() == 0 ? 0 : wide(t).abs().max().item<double>(); }
  // The most that rounding may explain, for matrices of n rows whose elements are up to `scale`.
  static double limit(const Tensor& like, double n, double scale) {
    const bool is_double = to_real_type(like.scalar_type()) == kDouble;
    return 20 * (n + 4) * std::max(scale, 1e-30) *
           (is_double ? std::numeric_limits<double>::epsilon()
                      : static_cast<double>(std::numeric_limits<float>::epsilon()));
  }
  static void expect_near(const Tensor& got, const Tensor& expected, double most, const std::string& what) {
    ASSERT_EQ(got.sizes(), expected.sizes()) << what;
    if (got.numel() == 0) return;
    EXPECT_LE(largest(wide(got) - wide(expected)), most) << what;
  }
  static void expect_orthonormal(const Tensor& q, const std::string& what) {
    const Tensor x = wide(q);
    if (x.numel() == 0) return;
    const Tensor product = mH(x).matmul(x);
    expect_near(product, eye(x.size(-1), x.options()).expand(product.sizes()),
                limit(q, static_cast<double>(q.size(-2)), 1), what);
  }
  // f gives the same bits again.
  template <class F>
  static void expect_same_twice(const char* what, F f) {
    const std::vector<Tensor> first = f(), again = f();
    for (size_t i = 0; i < first.size(); ++i)
      EXPECT_TRUE(first[i].equal(again[i])) << what << ": other bits the second time in result " << i;
  }

  static std::string name(const char* op, const Tensor& t) { return str(op, " of ", t.scalar_type(), " ", t.sizes()); }

 private:
  std::optional<Warnings> warnings_;
};

}  // namespace argand
