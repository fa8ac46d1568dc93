// Fourier transforms by cuFFT against the CPU in complex128: every way in which dimensions, batches and layouts become
// calls of the library; plans, streams, graphs, and what happens without the library.
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include "argand/autograd/engine.h"
#include "argand/base/error.h"
#include "argand/base/str.h"
#include "argand/core/cpu_generator.h"
#include "argand/exec/cuda_graph.h"
#include "argand/exec/cuda_memory.h"
#include "argand/kernels/blocks.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"
#include "tests/cuda/warnings.h"

namespace argand {
namespace {

FourierPlans& plans() { return blocks::fourier_plans.on(Device(kCUDA, cuda::current_device()))(); }

class CudaFourierPlans : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    manual_seed(5);
  }
  void TearDown() override {
    if (!IsSkipped()) plans().set_max_size(4096);
  }
};

class CudaFourier : public ComputingCudaTest {
 protected:
  void SetUp() override {
    ComputingCudaTest::SetUp();
    manual_seed(5);
  }
  void TearDown() override {
    if (!IsSkipped()) plans().set_max_size(4096);
    EXPECT_EQ(warnings_.texts(), std::vector<std::string>());  // nothing ran on the CPU
  }

  static double epsilon(const Tensor& t) {
    const ScalarType type = t.scalar_type();
    return type == kFloat || type == kComplexFloat ? std::numeric_limits<float>::epsilon()
                                                   : std::numeric_limits<double>::epsilon();
  }
  // The root of the mean of the squares, and the largest error, which is a few times the mean one: about
  // epsilon * sqrt(log2(points)) of that root.
  static void expect_near(const Tensor& got, const Tensor& expected, double points, const std::string& where) {
    ASSERT_EQ(got.sizes().vec(), expected.sizes().vec()) << where;
    if (expected.numel() == 0) return;
    const double root = std::sqrt(expected.abs().pow(2).mean().item<double>());
    const double error = (got.cpu().to(expected.scalar_type()) - expected).abs().max().item<double>();
    EXPECT_LE(error, 6 * epsilon(got) * std::log2(points + 1) * (root + 1e-300)) << where;
  }

  // f(GPU tensor) against f(the same in double precision on the CPU), in single and double precision.
  template <class F>
  static void compare(const std::string& what, const Tensor& x, double points, F f) {
    const bool complex = x.is_complex();
    for (const ScalarType type : {complex ? kComplexFloat : kFloat, complex ? kComplexDouble : kDouble}) {
      const Tensor given = x.to(type), on_gpu = given.cuda();
      const Tensor first = f(on_gpu), again = f(on_gpu);
      const std::string where = str(what, " of ", type, " ", x.sizes());
      EXPECT_TRUE(first.is_cuda()) << where;
      expect_near(first, f(given.to(complex ? kComplexDouble : kDouble)), points, where);
      EXPECT_TRUE(first.equal(again)) << where << ": other bits the second time";
      EXPECT_TRUE(on_gpu.cpu().equal(given)) << where << ": the input was overwritten";
    }
  }

  // All kinds of transforms along `dims` of random numbers of these sizes.
  static void all_kinds(const std::vector<int64_t>& sizes, const std::vector<int64_t>& dims) {
    double points = 1;
    for (const int64_t d : dims) points *= static_cast<double>(sizes[static_cast<size_t>(d)]);
    const Tensor real = randn(sizes, kDouble), z = randn(sizes, kComplexDouble);
    std::vector<int64_t> half = sizes;
    const auto last = static_cast<size_t>(dims.back());
    half[last] = sizes[last] / 2 + 1;
    // Random numbers, which are no spectrum of real ones: what mirrors itself counts by its symmetric part.
    const Tensor spectrum = randn(half, kComplexDouble);
    const auto name = [&](const char* op) { return str(op, " along ", IntArrayRef(dims)); };
    for (const int64_t normalization : {0, 1, 2}) {
      compare(name("c2c"), z, points, [&](const Tensor& t) { return _fft_c2c(t, dims, normalization, true); });
      compare(name("c2c back"), z, points, [&](const Tensor& t) { return _fft_c2c(t, dims, normalization, false); });
      compare(name("r2c"), real, points, [&](const Tensor& t) { return _fft_r2c(t, dims, normalization, true); });
      compare(name("r2c whole"), real, points,
              [&](const Tensor& t) { return _fft_r2c(t, dims, normalization, false); });
      compare(name("c2r"), spectrum, points,
              [&](const Tensor& t) { return _fft_c2r(t, dims, normalization, sizes[last]); });
    }
  }

 private:
  Warnings warnings_;
};

TEST_F(CudaFourier, LengthsOfEveryKind) {
  for (const int64_t n : {1,   2,   3,   4,   5,   6,    7,    8,    15,   16,   17,   31,   64,    100,
                          127, 128, 243, 251, 343, 1000, 1009, 1024, 4096, 4099, 7919, 8192, 10007, 65536}) {
    all_kinds({n}, {0});
    all_kinds({3, n}, {1});
    all_kinds({n, 5}, {0});
  }
}

// With a dimension before and one behind: slices, and transposed.
TEST_F(CudaFourier, DimensionsInTheMiddle) {
  all_kinds({3, 16, 5}, {1});
  all_kinds({7, 15, 33}, {1});
  all_kinds({2, 1024, 300}, {1});
  all_kinds({3, 1025, 301}, {1});  // slices that are not aligned to complex numbers
  all_kinds({5, 12, 9, 4}, {1, 2});
}

TEST_F(CudaFourier, SeveralDimensions) {
  all_kinds({6, 10}, {0, 1});
  all_kinds({6, 10}, {1, 0});
  all_kinds({4, 5, 6}, {0, 1, 2});
  all_kinds({4, 5, 6}, {0, 2});
  all_kinds({4, 5, 6}, {2, 0});
  all_kinds({4, 5, 6}, {2, 1, 0});
  all_kinds({3, 4, 5, 6}, {0, 1, 2, 3});
  all_kinds({3, 4, 5, 6}, {1, 2, 3});
  all_kinds({3, 4, 5, 6}, {0, 1, 3});
  all_kinds({3, 4, 5, 6}, {3, 1, 0});
  all_kinds({2, 3, 2, 5, 3}, {0, 1, 2, 3, 4});
  all_kinds({2, 3, 2, 5, 3, 2}, {5, 4, 3, 2, 1, 0});
  all_kinds({9, 64, 33}, {1, 2});
  all_kinds({17, 101}, {0, 1});
}

TEST_F(CudaFourier, DimensionsOfOnePoint) {
  all_kinds({1}, {0});
  all_kinds({4, 1, 6}, {0, 1, 2});
  all_kinds({4, 1, 6}, {0, 2, 1});
  all_kinds({1, 5, 1}, {2, 1, 0});
  all_kinds({1, 1}, {0, 1});
  all_kinds({3, 1, 8}, {1});
}

TEST_F(CudaFourier, Nothing) {
  for (const Tensor& t : {_fft_c2c(empty({0, 4}, TensorOptions(kComplexFloat).device(kCUDA)), {1}, 0, true),
                          _fft_r2c(empty({4, 0}, TensorOptions(kFloat).device(kCUDA)), {0}, 0, true)})
    EXPECT_EQ(t.numel(), 0);
  const Tensor z = randn({3, 4}, kComplexDouble);
  EXPECT_TRUE(_fft_c2c(z.cuda(), std::vector<int64_t>{}, 0, true).cpu().equal(z));
}

TEST_F(CudaFourier, ManyBatchesAndLargeSizes) {
  compare("rfft", randn({1024, 4096}, kDouble), 4096, [](const Tensor& t) { return fft_rfft(t); });
  compare("fft2", randn({64, 256, 256}, kComplexDouble), 65536, [](const Tensor& t) { return fft_fft2(t); });
  compare("fft", randn({1 << 20}, kComplexDouble), 1 << 20, [](const Tensor& t) { return fft_fft(t); });
  compare("fft of real", randn({100003}, kDouble), 100003, [](const Tensor& t) { return fft_fft(t); });
  compare("irfft", randn({512, 2049}, kComplexDouble), 4096, [](const Tensor& t) { return fft_irfft(t); });
}

// All rows are equal, so the last one, beyond 2^31 numbers, must be as the first.
TEST_F(CudaFourier, MoreThan2To31Numbers) {
  if (cuda::mem_get_info().first < size_t{64} << 30) GTEST_SKIP() << "needs 64 GiB of free memory of the GPU";
  constexpr int64_t kRows = (1 << 21) + 3;
  const Tensor row = randn({1024}, kDouble).to(kFloat), expected = fft_fft(row.to(kDouble));
  const Tensor spectrum = fft_fft(row.cuda().expand({kRows, 1024}));
  for (const int64_t i : {int64_t{0}, kRows / 2, kRows - 1}) expect_near(spectrum[i], expected, 1024, str("row ", i));
  EXPECT_TRUE(spectrum[kRows - 1].equal(spectrum[0]));
  const Tensor back = fft_ifft(spectrum);
  expect_near(back[kRows - 1], row.to(kComplexDouble), 1024, "the last row back");
  EXPECT_TRUE(back[kRows - 1].equal(back[0]));
}

TEST_F(CudaFourier, StridedPaddedAndTrimmed) {
  const auto strided = [](const Tensor& t) { return t.transpose(0, 1).slice(1, 1, 40, 3); };
  compare("fft of a view", randn({50, 12}, kComplexDouble), 20,
          [&](const Tensor& t) { return fft_fft(strided(t), std::nullopt, -2); });
  compare("rfft of a view", randn({50, 12}, kDouble), 20, [&](const Tensor& t) { return fft_rfft(strided(t)); });
  compare("irfft of a view", randn({50, 12}, kComplexDouble), 30,
          [&](const Tensor& t) { return fft_irfft(strided(t)); });
  // The first element is aligned to a real number only.
  compare("rfft of what is not aligned", randn({1001}, kDouble), 1000,
          [](const Tensor& t) { return fft_rfft(t.slice(0, 1)); });
  compare("padded", randn({4, 30}, kDouble), 64, [](const Tensor& t) { return fft_rfft(t, 64); });
  compare("trimmed", randn({4, 30}, kDouble), 17, [](const Tensor& t) { return fft_rfft(t, 17); });
  compare("expanded", randn({1, 30}, kDouble), 30, [](const Tensor& t) { return fft_rfft(t.expand({5, 30})); });
  const Tensor out = zeros({1001}, TensorOptions(kDouble).device(kCUDA)), spectrum = randn({501}, kComplexDouble);
  Tensor inner = out.slice(0, 1);
  fft_irfft_out(inner, spectrum.cuda());
  expect_near(out.slice(0, 1), fft_irfft(spectrum), 1000, "irfft to what is not aligned");
}

TEST_F(CudaFourier, IntegersAndBool) {
  const Tensor x = randint(100, {6, 20});
  expect_near(fft_fft(x.cuda()), fft_fft(x.to(kDouble)), 20, "fft of int64");
  expect_near(fft_rfft2(x.gt(50).cuda()), fft_rfft2(x.gt(50).to(kDouble)), 120, "rfft2 of bool");
}

TEST_F(CudaFourier, Gradients) {
  const Tensor x = randn({5, 4, 9}, kDouble), direction = randn({5, 4, 9}, kDouble);
  const auto gradient = [&](const Device& device) {
    const Tensor given = x.to(device).detach().requires_grad_();
    const Tensor y =
        fft_irfftn(fft_rfftn(given, std::nullopt, IntArrayRef{1, 2}) * 2, IntArrayRef{4, 9}, IntArrayRef{1, 2});
    const Tensor z = fft_fft(given, std::nullopt, 0).abs().pow(2);
    return autograd::grad({(y * direction.to(device)).sum() + z.sum()}, {given})[0];
  };
  expect_near(gradient(kCUDA), gradient(kCPU), 180, "gradient");
}

TEST_F(CudaFourier, FramesOfSignals) {
  for (const auto& [length, n, hop] :
       {std::tuple{3000, 400, 100}, std::tuple{1000, 64, 16}, std::tuple{700, 101, 33}, std::tuple{90, 80, 1}}) {
    const Tensor signal = randn({3, length}, kDouble), window = hann_window(n, true, TensorOptions(kDouble));
    const auto frames = [&](const Tensor& t) {
      return stft(t, n, hop, n, window.to(t.scalar_type()).to(t.device()), true, "reflect", false, true, true);
    };
    compare("stft", signal, n, frames);
    const auto back = [&](const Tensor& t) {
      return istft(t, n, hop, n,
                   window.to(t.is_complex() && t.scalar_type() == kComplexFloat ? kFloat : kDouble).to(t.device()));
    };
    compare("istft", frames(signal), n * 4, back);
    expect_near(back(frames(signal.cuda())), back(frames(signal)), n * 4, "there and back");
  }
}

TEST_F(CudaFourier, TwoThreadsWithStreamsOfTheirOwn) {
  const Tensor x = randn({8, 3001}, kDouble);
  const Tensor expected = fft_rfft(x.cuda()).cpu();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      const cuda::StreamGuard on(cuda::stream_from_pool());
      const Tensor mine = x.cuda();
      for (int i = 0; i < 200; ++i)
        if (!fft_rfft(mine).cpu().equal(expected)) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CudaFourier, RepeatedCallsAreReplayed) {
  const Tensor x = randn({32, 256}, kComplexDouble).to(kComplexFloat).cuda();
  const auto step = [&] { return fft_ifft2(fft_fft2(x) * 2) + fft_ifft(x); };
  const Tensor expected = step().cpu();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(step().cpu().equal(expected)) << i;
}

TEST_F(CudaFourier, APlanOutlivesWhatRefersToIt) {
  Tensor x = randn({16, 600}, kDouble).cuda(), out = empty({16, 301}, TensorOptions(kComplexDouble).device(kCUDA));
  const auto step = [&] { out.copy_(fft_rfft(x)); };
  step();
  for (const bool warm : {true, false}) {
    if (!warm) plans().clear();  // the plan is made in the capture
    cuda::CUDAGraph graph;
    {
      const cuda::GraphCapture capture(graph);
      step();
    }
    plans().clear();
    EXPECT_EQ(plans().size(), 0);
    for (int i = 0; i < 3; ++i) {
      const Tensor next = randn({16, 600}, kDouble);
      x.copy_(next);
      out.zero_();
      graph.replay();
      expect_near(out, fft_rfft(next), 600, str("replay ", i, warm ? "" : ", of a plan that was made in the capture"));
    }
  }
  // Delayed launches, and graphs of a launch tape.
  std::vector<Tensor> results;
  for (int i = 0; i < 30; ++i) {
    results.push_back(fft_rfft(x));
    plans().clear();
  }
  for (const Tensor& result : results) expect_near(result, fft_rfft(x.cpu()), 600, "after clear()");
}

TEST_F(CudaFourier, ThousandsOfSizesKeepMemoryFlat) {
  plans().clear();
  plans().set_max_size(32);
  const auto taken = [] {
    cuda::synchronize();
    cuda::empty_cache();
    const auto [free, total] = cuda::mem_get_info();
    return static_cast<int64_t>(total - free);
  };
  const auto transform = [](int64_t n) { fft_rfft(ones({2, n}, TensorOptions(kFloat).device(kCUDA))); };
  for (int64_t n = 100; n < 400; ++n) transform(n);
  const int64_t before = taken();
  for (int64_t n = 400; n < 3400; ++n) {
    transform(n);
    ASSERT_LE(plans().size(), 32) << n;
  }
  EXPECT_LE(taken() - before, int64_t{32} << 20);
}

TEST_F(CudaFourierPlans, Settings) {
  EXPECT_EQ(plans().max_size(), 4096);
  plans().set_max_size(3);
  EXPECT_EQ(plans().max_size(), 3);
  const Tensor x = ones({64}, TensorOptions(kComplexFloat).device(kCUDA));
  for (int64_t n = 20; n < 30; ++n) fft_fft(x, n);
  EXPECT_EQ(plans().size(), kernels_run() ? 3 : 0);
  plans().set_max_size(0);
  EXPECT_EQ(plans().size(), 0);
  const Tensor y = fft_fft(x, 31);
  EXPECT_EQ(plans().size(), 0);
  if (kernels_run()) {
    EXPECT_NEAR(y.abs().max().item<float>(), 31, 1e-4);
  }
  plans().clear();
}

void refuse(const FourierCall&) { throw NotOnDevice("Fourier transforms without libcufft"); }

// Without the library: on the CPU, with one warning.  No CudaFourier test, which expects none.
TEST_F(CudaFourierPlans, WithoutTheLibrary) {
  auto& with = blocks::fourier.of(kCUDA);
  const Warnings warnings;
  const Tensor x = randn({5, 40}, kDouble);
  blocks::fourier.set(kCUDA, refuse);
  Tensor first, again;
  try {
    first = fft_rfft(x.cuda());
    again = fft_rfft(x.cuda());
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
  blocks::fourier.set(kCUDA, with);
  ASSERT_TRUE(first.is_cuda());
  EXPECT_TRUE(first.cpu().equal(fft_rfft(x)));  // on a pretended GPU too
  EXPECT_TRUE(again.equal(first));
  ASSERT_EQ(warnings.texts().size(), 1u);
  EXPECT_NE(warnings.texts()[0].find("Fourier transforms without libcufft"), std::string::npos) << warnings.texts()[0];
}

}  // namespace
}  // namespace argand
