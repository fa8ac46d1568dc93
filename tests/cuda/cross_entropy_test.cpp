// Logits whose loss makes their gradient too (Note [Gradient of cross entropy ahead of time]): the same bits as
// the op _cross_entropy, whatever gradient was expected, and graphs that are used twice or differentiated twice.
#include <limits>

#include "argand/base/str.h"
#include "argand/core/cpu_generator.h"
#include "argand/exec/cuda_graph.h"
#include "argand/exec/cuda_memory.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

class CudaCrossEntropy : public ComputingCudaTest {
 protected:
  static constexpr std::pair<int64_t, int64_t> kManyAndFew[] = {{512, 16384}, {64, 10}};
  void SetUp() override {
    ComputingCudaTest::SetUp();
    manual_seed(3);
  }
  // Targets of which some are ignored.
  static Tensor targets(int64_t rows, int64_t classes) {
    Tensor t = randint(classes, {rows}).cuda();
    t.slice(0, 0, rows, 7).fill_(-100);
    return t;
  }
  static Tensor logits(int64_t rows, int64_t classes, ScalarType type) {
    return (randn({rows, classes}, TensorOptions(kCUDA)) * 3.0).to(type).requires_grad_();
  }
  static Tensor apart(const Tensor& x, const Tensor& y, int64_t reduction) {
    return std::get<0>(_cross_entropy(x, y, {}, reduction, -100, 0.0));
  }
  static Tensor ahead(const Tensor& x, const Tensor& y, int64_t reduction) {
    return cross_entropy_loss(x, y, {}, reduction);
  }
  static Tensor gradient(const Tensor& x) {
    Tensor g = x.grad();
    x.mutable_grad() = Tensor();
    return g;
  }
};

TEST_F(CudaCrossEntropy, GivesTheSameBitsAsApart) {
  for (const ScalarType type : {kBFloat16, kHalf, kFloat, kDouble})
    for (const int64_t classes : {1040, 4096, 5008, 12000, 50304})
      for (const int64_t reduction : {int64_t{Reduction::Mean}, int64_t{Reduction::Sum}}) {
        const int64_t rows = (int64_t{20} << 20) / (classes * element_size(type)) + 1;
        const Tensor x = logits(rows, classes, type), y = targets(rows, classes);
        for (const double scale : {1.0, 0.25, 0.25}) {
          (ahead(x, y, reduction) * scale).backward();
          const Tensor got = gradient(x);
          (apart(x, y, reduction) * scale).backward();
          EXPECT_TRUE(equal(got, gradient(x))) << str(type, " ", classes, " ", reduction, " ", scale);
          EXPECT_TRUE(equal(ahead(x, y, reduction), apart(x, y, reduction))) << str(type, " ", classes);
        }
      }
}

// For few logits, the gradient is computed ahead of time, for a gradient of the loss that is known to be 1.
TEST_F(CudaCrossEntropy, FewGiveTheSameBitsAsApart) {
  for (const ScalarType type : {kBFloat16, kHalf, kFloat, kDouble})
    for (const auto& [rows, classes] : {std::pair{1, 1}, {64, 10}, {7, 129}, {130, 7}, {1024, 32}, {40, 819}})
      for (const int64_t reduction : {int64_t{Reduction::Mean}, int64_t{Reduction::Sum}}) {
        const Tensor x = logits(rows, classes, type), y = targets(rows, classes);
        Tensor gradients[2][2];
        for (const bool scaled : {false, true})
          for (const bool both : {false, true}) {
            const Tensor loss = both ? ahead(x, y, reduction) : apart(x, y, reduction);
            (scaled ? loss * 0.25 : loss).backward();
            gradients[scaled][both] = gradient(x);
          }
        const std::string what = str(type, " ", rows, " x ", classes, " ", reduction);
        for (const bool scaled : {false, true})
          EXPECT_TRUE(equal(gradients[scaled][0].nan_to_num(), gradients[scaled][1].nan_to_num())) << what;
        EXPECT_TRUE(equal(ahead(x, y, reduction).nan_to_num(), apart(x, y, reduction).nan_to_num())) << what;
      }
}

TEST_F(CudaCrossEntropy, AGraphThatIsKeptGivesItsGradientAgain) {
  for (const auto& [rows, classes] : kManyAndFew) {
    const Tensor x = logits(rows, classes, kBFloat16), y = targets(rows, classes);
    const Tensor loss = ahead(x, y, Reduction::Mean);
    loss.backward({}, true);
    const Tensor first = gradient(x), copy = first.clone();
    first.zero_();
    loss.backward({}, true);
    const Tensor second = gradient(x);
    loss.backward();
    EXPECT_TRUE(equal(second, copy));
    EXPECT_TRUE(equal(gradient(x), copy));
    EXPECT_FALSE(equal(first, copy));
    EXPECT_THROW(loss.backward(), GradError);
  }
}

TEST_F(CudaCrossEntropy, CanBeDifferentiatedTwice) {
  for (const auto& [rows, classes] : kManyAndFew) {
    const Tensor x = logits(rows, classes, kFloat), y = targets(rows, classes), v = randn_like(x);
    Tensor seconds[2];
    for (const bool both : {false, true}) {
      const Tensor loss = both ? ahead(x, y, Reduction::Mean) : apart(x, y, Reduction::Mean);
      loss.backward({}, true, true);
      (gradient(x) * v).sum().backward();
      seconds[both] = gradient(x);
    }
    EXPECT_TRUE(equal(seconds[0], seconds[1]));
    EXPECT_GT(seconds[0].abs().max().item<float>(), 0);
  }
}

TEST_F(CudaCrossEntropy, NoticesLogitsThatWereWritten) {
  for (const auto& [rows, classes] : kManyAndFew) {
    const Tensor x = logits(rows, classes, kBFloat16), y = targets(rows, classes), z = x * 2.0;
    const Tensor loss = ahead(z, y, Reduction::Mean);
    z.add_(1);
    EXPECT_THROW(loss.backward(), GradError);
  }
}

// The gradient that a replay writes belongs to the graph.
TEST_F(CudaCrossEntropy, AGradientOutsideOfTheGraphIsNotWrittenByIt) {
  const Tensor x = logits(64, 10, kFloat), y = targets(64, 10);
  ahead(x, y, Reduction::Mean).backward();
  const Tensor expected = gradient(x);
  cuda::CUDAGraph graph;
  Tensor loss;
  {
    const cuda::GraphCapture capture(graph);
    loss = ahead(x, y, Reduction::Mean);
  }
  graph.replay();
  cuda::synchronize();
  loss.backward();
  const Tensor got = gradient(x);
  EXPECT_TRUE(equal(got, expected));
  got.zero_();
  graph.replay();
  EXPECT_EQ(got.abs().max().item<float>(), 0);
}

TEST_F(CudaCrossEntropy, LogitsWithoutFiniteValues) {
  const Tensor y = randint(16384, {512}).cuda();
  Tensor values = randn({512, 16384}, TensorOptions(kCUDA)).to(kBFloat16);
  const double inf = std::numeric_limits<double>::infinity();
  values.select(0, 1).fill_(-inf);
  values.select(0, 2).select(0, 5).fill_(inf);
  values.select(0, 3).slice(0, 100, 16000).fill_(-inf);
  const Tensor x = values.requires_grad_();
  ahead(x, y, Reduction::Sum).backward();
  const Tensor got = gradient(x);
  apart(x, y, Reduction::Sum).backward();
  const Tensor expected = gradient(x);
  EXPECT_TRUE(equal(got.isnan(), expected.isnan()));
  EXPECT_TRUE(equal(got.nan_to_num(), expected.nan_to_num()));
  EXPECT_EQ(got.isnan().sum().item<int64_t>() > 0, true);
}

TEST_F(CudaCrossEntropy, RowsMatchTheCpu) {
  const Tensor x = logits(600, 8192, kFloat), y = targets(600, 8192);
  const Tensor loss = ahead(x, y, Reduction::Mean);
  loss.backward();
  const Tensor host = x.detach().cpu().to(kDouble).requires_grad_();
  const Tensor expected = cross_entropy_loss(host, y.cpu());
  expected.backward();
  EXPECT_TRUE(allclose(loss.detach().cpu().to(kDouble), expected.detach(), 1e-5, 1e-6));
  EXPECT_TRUE(allclose(gradient(x).cpu().to(kDouble), gradient(host), 1e-4, 1e-9));
}

// The losses that one block makes, and those just too large for it, against float64.
TEST_F(CudaCrossEntropy, SmallOnesMatchTheCpu) {
  for (const auto& [rows, classes] : {std::pair{1, 1},
                                      {1, 2000},
                                      {7, 2},
                                      {64, 10},
                                      {3, 129},
                                      {129, 33},
                                      {1000, 4},
                                      {1024, 32},
                                      {1025, 10},
                                      {40, 820}})
    for (const ScalarType type : {kFloat, kBFloat16, kDouble})
      for (const double smoothing : {0.0, 0.1})
        for (const bool weighted : {false, true})
          for (const int64_t reduction : {int64_t{Reduction::Mean}, int64_t{Reduction::Sum}}) {
            const Tensor x = logits(rows, classes, type);
            Tensor y = randint(classes, {rows}).cuda();
            if (rows > 1) y.slice(0, 0, rows, 7).fill_(-100);
            const Tensor weight = rand({classes}) + 0.5, w = weighted ? weight.to(type) : Tensor();
            const Tensor loss = cross_entropy_loss(x, y, weighted ? w.cuda() : w, reduction, -100, smoothing);
            loss.backward();
            const Tensor host = x.detach().cpu().to(kDouble).requires_grad_();
            const Tensor expected =
                cross_entropy_loss(host, y.cpu(), weighted ? w.to(kDouble) : w, reduction, -100, smoothing);
            expected.backward();
            const double close = type == kDouble ? 1e-12 : type == kFloat ? 1e-5 : 1e-2;
            const std::string what =
                str(rows, " x ", classes, " ", type, " ", smoothing, " ", weighted, " ", reduction);
            EXPECT_TRUE(allclose(loss.detach().cpu().to(kDouble), expected.detach(), close, close)) << what;
            // A softmax minus 1 at the target, times the weight: the error is one of the 1.
            const double scale = reduction == Reduction::Sum ? 1 : 1.0 / rows;
            EXPECT_TRUE(allclose(gradient(x).cpu().to(kDouble), gradient(host), 10 * close, close * scale)) << what;
          }
}

// A captured loss computes no gradient ahead of time, as a replay would not use it.  Memory use shows this, also in the
// dry run.
TEST_F(CudaTest, CapturedCrossEntropyMakesNoGradientAhead) {
  const Tensor x = zeros({512, 16384}, TensorOptions(kCUDA)).requires_grad_();
  const Tensor y = zeros({512}, TensorOptions(kCUDA).dtype(kLong));
  const auto allocated = [&] {
    const int64_t before = cuda::memory_allocated();
    const Tensor loss = cross_entropy_loss(x, y);
    return cuda::memory_allocated() - before;
  };
  const int64_t gradient = 512 * 16384 * 4;
  EXPECT_GE(allocated(), gradient);
  cuda::CUDAGraph graph;
  const cuda::GraphCapture capture(graph);
  EXPECT_LT(allocated(), gradient);
}

}  // namespace
}  // namespace argand
