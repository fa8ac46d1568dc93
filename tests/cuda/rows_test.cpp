// Kernels of rows in every form they take (a warp or a block a row, rows too long for registers, whole vectors or not)
// against the CPU in float64.
#include <functional>

#include "argand/base/str.h"
#include "argand/core/cpu_generator.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/adam.h"
#include "argand/optim/rmsprop.h"
#include "argand/optim/sgd.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

class CudaRows : public ComputingCudaTest {
 protected:
  void SetUp() override {
    ComputingCudaTest::SetUp();
    manual_seed(5);
  }
  static constexpr int64_t kLengths[] = {1,    31,   128,   130,   513,   1024,  4096,
                                         5001, 8192, 16384, 16388, 32768, 40000, 40004};

  // Result and gradients of f(inputs...) on the GPU, rounded to `type`, near those on the CPU in float64.
  template <class F>
  static void compare(const std::string& what, ScalarType type, std::vector<Tensor> inputs, F f) {
    std::vector<Tensor> results[2];
    const Tensor grad = randn(f(inputs).sizes()).to(type).to(kDouble);
    for (const bool on_gpu : {false, true}) {
      std::vector<Tensor> given;
      for (const Tensor& t : inputs) {
        const Tensor x = t.to(type).to(kDouble);
        given.push_back((on_gpu ? x.cuda().to(type) : x).requires_grad_());
      }
      const Tensor y = f(given);
      y.backward(on_gpu ? grad.cuda().to(type) : grad);
      results[on_gpu].push_back(y.detach().cpu().to(kDouble));
      for (const Tensor& t : given) results[on_gpu].push_back(t.grad().cpu().to(kDouble));
    }
    const double tolerance = type == kDouble ? 1e-11 : type == kFloat ? 2e-5 : type == kHalf ? 4e-3 : 3e-2;
    for (size_t i = 0; i < results[0].size(); ++i) {
      const double scale = results[0][i].abs().max().item<double>();
      const double error = (results[0][i] - results[1][i]).abs().max().item<double>();
      EXPECT_LE(error, tolerance * (scale + 1e-30)) << what << " " << str(type) << ", result " << i;
    }
  }
};

TEST_F(CudaRows, Softmax) {
  for (const int64_t n : kLengths)
    for (const ScalarType type : {kFloat, kBFloat16, kHalf, kDouble}) {
      const Tensor x = randn({3, n}) * 2.0;
      compare(str("softmax ", n), type, {x}, [](const std::vector<Tensor>& in) { return softmax(in[0], 1); });
      compare(str("log_softmax ", n), type, {x}, [](const std::vector<Tensor>& in) { return log_softmax(in[0], 1); });
    }
}

TEST_F(CudaRows, SoftmaxOfInfinities) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const int64_t n : kLengths) {
    if (n < 128) continue;
    Tensor x = randn({6, n});
    x.select(0, 0).fill_(-inf);
    x.select(0, 1).slice(0, 1, n - 1).fill_(-inf);
    x.select(0, 2).select(0, n - 3).fill_(inf);
    x.select(0, 3).select(0, n / 2).fill_(nan);
    x.select(0, 4).fill_(-1000).select(0, 7).fill_(-inf);
    const Tensor expected = softmax(x, 1), got = softmax(x.cuda(), 1).cpu();
    EXPECT_TRUE(allclose(got, expected, 1e-5, 1e-7, true)) << n;
    EXPECT_TRUE(allclose(log_softmax(x.cuda(), 1).cpu(), log_softmax(x, 1), 1e-5, 1e-5, true)) << n;
  }
}

TEST_F(CudaRows, LayerNorm) {
  for (const int64_t n : kLengths)
    for (const ScalarType type : {kFloat, kBFloat16, kDouble}) {
      if (n == 1) continue;  // the result is the bias, its gradient rounding errors
      compare(str("layer_norm ", n), type, {randn({3, n}) + 1.0, randn({n}), randn({n})},
              [n](const std::vector<Tensor>& in) { return layer_norm(in[0], {n}, in[1], in[2]); });
      compare(str("rms_norm ", n), type, {randn({3, n}), randn({n})},
              [n](const std::vector<Tensor>& in) { return rms_norm(in[0], {n}, in[1], 1e-5); });
    }
}

TEST_F(CudaRows, CrossEntropy) {
  for (const int64_t n : kLengths)
    for (const ScalarType type : {kFloat, kBFloat16, kHalf, kDouble})
      for (const double smoothing : {0.0, 0.1}) {
        if (n == 1) continue;  // gradients are rounding errors
        const Tensor y = randint(n, {5});
        compare(str("cross_entropy ", n), type, {randn({5, n})}, [&](const std::vector<Tensor>& in) {
          return cross_entropy_loss(in[0], in[0].is_cuda() ? y.cuda() : y, {}, Reduction::None, -100, smoothing);
        });
      }
}

TEST_F(CudaRows, Embedding) {
  for (const int64_t width : {1, 7, 32, 127, 128, 130, 768, 1000, 1025})
    for (const ScalarType type : {kFloat, kBFloat16, kDouble, kComplexDouble})
      for (const ScalarType index_type : {kLong, kInt}) {
        const Tensor table = randn({50, width}).to(type), index = randint(50, {9, 11}).to(index_type);
        EXPECT_TRUE(equal(embedding(table.cuda(), index.cuda()).cpu(), embedding(table, index)))
            << width << " " << str(type);
        EXPECT_TRUE(
            equal(index_select(table.cuda(), 0, index.flatten().cuda()).cpu(), index_select(table, 0, index.flatten())))
            << width << " " << str(type);
      }
  const Tensor table = randn({50, 768}, TensorOptions(kCUDA));
  for (const int64_t bad : {int64_t{-1}, int64_t{50}}) {
    embedding(table, full({3}, bad).to(kLong).cuda());
    const std::string message = message_of<IndexError>([] { cuda::synchronize(); });
    EXPECT_NE(message.find(str("embedding: index ", bad, " is out of bounds for dimension 0 with size 50")),
              std::string::npos)
        << message;
  }
}

// Numbers of tensors that take one launch or several, with whole and partial tiles.
TEST_F(CudaRows, AdamOfManyTensors) {
  for (const int64_t count : {1, 16, 17, 65, 513, 600}) {
    std::vector<Tensor> parameters[2];
    for (int64_t i = 0; i < count; ++i) {
      const Tensor p = randn({1 + i * 977 % 5003}), g = randn_like(p);
      for (const bool on_gpu : {false, true}) {
        parameters[on_gpu].push_back((on_gpu ? p.cuda() : p.clone()).requires_grad_());
        parameters[on_gpu].back().mutable_grad() = on_gpu ? g.cuda() : g.clone();
      }
    }
    for (std::vector<Tensor>& list : parameters) {
      optim::Adam adam(list, optim::AdamOptions(0.1).weight_decay(0.01));
      for (int i = 0; i < 3; ++i) adam.step();
    }
    for (size_t i = 0; i < parameters[0].size(); ++i)
      EXPECT_TRUE(allclose(parameters[1][i].detach().cpu(), parameters[0][i].detach(), 1e-5, 1e-6))
          << i << " of " << count;
  }
}

// One element per thread, and vectors, for arrays that are aligned to a vector and for others.
TEST_F(CudaRows, OptimizersOfFewAndManyElements) {
  using Params = std::vector<Tensor>;
  using Make = std::function<std::unique_ptr<optim::Optimizer>(Params)>;
  const Make makers[] = {
      [](Params p) { return std::make_unique<optim::SGD>(std::move(p), optim::SGDOptions(0.1)); },
      [](Params p) {
        return std::make_unique<optim::SGD>(std::move(p), optim::SGDOptions(0.1).momentum(0.9).nesterov(true));
      },
      [](Params p) { return std::make_unique<optim::AdamW>(std::move(p), optim::AdamWOptions(0.1).amsgrad(true)); },
      [](Params p) {
        return std::make_unique<optim::RMSprop>(std::move(p), optim::RMSpropOptions(0.1).centered(true).momentum(0.9));
      }};
  for (const Make& make : makers)
    for (const ScalarType type : {kFloat, kDouble, kBFloat16})
      for (const int64_t numel : {int64_t{1001}, int64_t{400003}})
        for (const int64_t offset : {0, 1}) {
          const Tensor start = randn({numel + offset}).to(type), gradient = randn({numel}).to(type);
          Tensor ends[2];
          for (const bool on_gpu : {false, true}) {
            Tensor p = (on_gpu ? start.cuda() : start.clone()).narrow(0, offset, numel);
            p.requires_grad_();
            p.mutable_grad() = on_gpu ? gradient.cuda() : gradient.clone();
            const auto optimizer = make({p});
            for (int i = 0; i < 3; ++i) optimizer->step();
            ends[on_gpu] = p.detach().cpu().to(kDouble);
          }
          const double close = type == kDouble ? 1e-12 : type == kFloat ? 1e-5 : 1e-2;
          EXPECT_TRUE(allclose(ends[1], ends[0], close, close))
              << &make - makers << " " << str(type) << " " << numel << " " << offset;
        }
}

}  // namespace
}  // namespace argand
