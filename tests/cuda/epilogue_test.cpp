// Activations become epilogues of the kernels before them (Note [Epilogues]): fewer launches, the same bits.  Nothing
// of it happens while work is not held back, which is what results are compared with; skipped where there is no GPU.
#include <functional>
#include <limits>

#include "argand/base/env.h"
#include "argand/base/str.h"
#include "argand/exec/window.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

using Results = std::vector<Tensor>;

class Epilogue : public ComputingCudaTest {
 protected:
  void TearDown() override {
    if (!IsSkipped()) cuda::set_replay_enabled(true);
  }
  // The bits of all results are the same with and without; `fewer`: launches that are spared.
  static void expect_same(const char* what, uint64_t fewer, const std::function<Results()>& f) {
    SCOPED_TRACE(what);
    uint64_t launches[2];
    Results got[2];
    f();  // kernels are compiled, numbers copied
    for (const bool on : {false, true}) {
      cuda::set_replay_enabled(on);
      exec::flush();
      const uint64_t before = exec::stats().issue.launches;
      Results results = f();
      exec::flush();
      launches[on] = exec::stats().issue.launches - before;
      for (const Tensor& t : results) got[on].push_back(t.detach().cpu());
    }
    // Guards, and memory of the driver's own, put work between an op and the next.
    if (!env_flag("ARGAND_CUDA_GUARD", false) && env_flag("ARGAND_CUDA_CACHING", true)) {
      EXPECT_EQ(launches[false] - launches[true], fewer) << "of " << launches[false];
    }
    ASSERT_EQ(got[false].size(), got[true].size());
    for (size_t i = 0; i < got[0].size(); ++i) {
      const auto bits = [&](bool on) { return got[on][i].contiguous().view(kByte); };
      EXPECT_TRUE(bits(false).equal(bits(true))) << "result " << i;
    }
  }
  static Tensor random(IntArrayRef sizes, ScalarType dtype = kFloat) {
    return randn(sizes, TensorOptions(kCUDA).dtype(kFloat)).to(dtype);
  }
};

TEST_F(Epilogue, OfSmallProducts) {
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16}) {
    SCOPED_TRACE(str(dtype));
    Tensor x = random({33, 20}, dtype);
    x[3][4].fill_(std::numeric_limits<double>::quiet_NaN());
    const Tensor w = random({7, 20}, dtype), b = random({7}, dtype);
    expect_same("nobody looks at the product", 1, [&] { return Results{linear(x, w, b).relu()}; });
    expect_same("somebody does", 1, [&] {
      const Tensor h = linear(x, w, b);
      return Results{h.relu(), h};
    });
    expect_same("in place", 1, [&] {
      Tensor h = linear(x, w, b);
      h.relu_();
      return Results{h};
    });
    expect_same("batched, and nobody looks", 1, [&] {
      return Results{x.reshape({3, 11, 20}).bmm(w.t().expand({3, 20, 7})).relu()};
    });
    expect_same("a view of the product is alive", 1, [&] {
      const Tensor h = linear(x, w, b);
      const Tensor part = h.narrow(0, 2, 5);
      return Results{h.relu(), part.clone()};
    });
    expect_same("of a part only", 0, [&] { return Results{linear(x, w, b).narrow(0, 2, 5).relu()}; });
    expect_same("with more than the activation", 0, [&] { return Results{linear(x, w, b).relu() * 2.0}; });
    expect_same("another activation", 0, [&] { return Results{linear(x, w, b).sigmoid()}; });
  }
}

// Memory that a layer has given back comes back as the result of the next.
TEST_F(Epilogue, OfLayersThatTakeTurnsInMemory) {
  const Tensor w = random({64, 64}), x = random({64, 64});
  expect_same("64 layers", 0, [&] {
    Tensor h = x;
    for (int i = 0; i < 64; ++i) {
      h = linear(h, w);
      h = h * 0.1;
      h = h.relu() + 0.1;
    }
    return Results{h};
  });
  for (const int layers : {1, 2, 3, 17}) {
    Results got[2];
    for (const bool on : {false, true}) {
      cuda::set_replay_enabled(on);
      Tensor h = x;
      for (int i = 0; i < layers; ++i) {
        h = linear(h, w);
        h = h.relu();
      }
      got[on].push_back(h.cpu());
    }
    EXPECT_TRUE(got[0][0].equal(got[1][0])) << layers << " layers";
  }
}

TEST_F(Epilogue, OfSmallNetworks) {
  const Tensor x = random({32, 64}), w2 = random({10, 32}).requires_grad_(true), b2 = random({10}).requires_grad_(true),
               w1 = random({32, 64}).requires_grad_(true), b1 = random({32}).requires_grad_(true);
  expect_same("forward and backward", 2, [&] {
    for (const Tensor& p : {w1, b1, w2, b2}) p.mutable_grad() = Tensor();
    linear(linear(x, w1, b1).relu(), w2, b2).sum().backward();
    return Results{w1.grad(), b1.grad(), w2.grad(), b2.grad()};
  });
}

// Relu after a bias, by cuBLASLt: where its kernel for the product keeps NaN then, which not all do.
TEST_F(Epilogue, OfProductsByTheLibrary) {
  struct Case {
    ScalarType dtype;
    int64_t m, n, k;
    bool taken;
  };
  for (const Case& c : {Case{kFloat, 300, 200, 5000, true},
                        {kFloat, 1024, 1024, 1024, true},
                        {kFloat, 33, 1000, 4097, true},
                        {kDouble, 130, 200, 5000, true},
                        {kHalf, 512, 512, 512, true},
                        {kBFloat16, 2048, 1024, 512, true},
                        {kBFloat16, 4096, 4096, 4096, true},
                        {kHalf, 2048, 10, 512, false},
                        {kBFloat16, 2048, 10, 512, false}}) {
    SCOPED_TRACE(str(c.dtype, " ", c.m, " x ", c.n, " x ", c.k));
    Tensor x = random({c.m, c.k}, c.dtype);
    x[1][2].fill_(std::numeric_limits<double>::quiet_NaN());
    x[2].fill_(std::numeric_limits<double>::infinity());
    x[3].fill_(-1e-7);  // results that underflow in half
    const Tensor w = random({c.n, c.k}, c.dtype), b = random({c.n}, c.dtype);
    expect_same("nobody looks at the product", c.taken, [&] { return Results{linear(x, w, b).relu()}; });
    expect_same("somebody does", 0, [&] {
      const Tensor h = linear(x, w, b);
      return Results{h.relu(), h};
    });
    expect_same("in place", c.taken, [&] {
      Tensor h = linear(x, w, b);
      h.relu_();
      return Results{h};
    });
    expect_same("no bias", 0, [&] { return Results{linear(x, w).relu()}; });
  }
}

// The same by cuDNN, and by the pass that adds a bias where its engines do not.
TEST_F(Epilogue, OfConvolutionsByTheLibrary) {
  struct Case {
    ScalarType dtype;
    MemoryFormat format;
    int64_t channels, kernel;
    bool taken;
  };
  const MemoryFormat first = MemoryFormat::Contiguous, last = MemoryFormat::ChannelsLast;
  for (const Case& c : {Case{kFloat, first, 80, 3, true},
                        {kFloat, first, 96, 1, true},
                        {kFloat, last, 80, 3, false},
                        {kDouble, first, 20, 3, true},
                        {kHalf, last, 64, 3, true},
                        {kBFloat16, last, 64, 1, true},
                        {kBFloat16, last, 7, 3, true},
                        {kHalf, first, 64, 1, true},
                        {kBFloat16, first, 64, 3, false}}) {
    SCOPED_TRACE(
        str(c.dtype, c.format == last ? " channels last, " : ", ", c.channels, " channels, kernel ", c.kernel));
    Tensor x = random({8, c.channels, 14, 12}, c.dtype).contiguous(c.format);
    x[1][2][3][4].fill_(std::numeric_limits<double>::quiet_NaN());
    const Tensor w = random({72, c.channels, c.kernel, c.kernel}, c.dtype), b = random({72}, c.dtype);
    const Dims padding(2, c.kernel / 2);
    expect_same("nobody looks at the result", c.taken, [&] {
      return Results{conv2d(x, w, b, {1, 1}, padding).relu()};
    });
    expect_same("in place", c.taken, [&] {
      Tensor h = conv2d(x, w, b, {1, 1}, padding);
      h.relu_();
      return Results{h};
    });
    expect_same("no bias", 0, [&] { return Results{conv2d(x, w, {}, {1, 1}, padding).relu()}; });
  }
}

TEST_F(Epilogue, OfBatchNorm) {
  for (const ScalarType dtype : {kFloat, kDouble, kBFloat16})
    for (const bool channels_last : {false, true}) {
      SCOPED_TRACE(str(dtype, channels_last ? ", channels last" : ""));
      Tensor x = random({5, 16, 6, 7}, dtype);
      if (channels_last) x = x.contiguous(MemoryFormat::ChannelsLast);
      const Tensor w = random({16}, dtype), b = random({16}, dtype);
      const auto norm = [&](const Tensor& t) {
        return std::get<0>(native_batch_norm(t, w, b, Tensor(), Tensor(), true, 0.1, 1e-5));
      };
      expect_same("nobody looks at its result", 1, [&] { return Results{norm(x).relu()}; });
      expect_same("in place", 1, [&] {
        Tensor y = norm(x);
        y.relu_();
        return Results{y};
      });
      // Over a MiB, so that relu's result does not come to lie where the scales were, which are given back by then: an
      // epilogue may not write there.
      Tensor large = random({8, 16, 60, 70}, dtype);
      if (channels_last) large = large.contiguous(MemoryFormat::ChannelsLast);
      expect_same("somebody does", 1, [&] {
        const Tensor y = norm(large);
        return Results{y.relu(), y};
      });
      expect_same("with a sum before", 0, [&] { return Results{(norm(x) + x).relu()}; });
      expect_same("with more after it, in one kernel", 0, [&] {
        const Tensor leaf = x.detach().requires_grad_();
        const Tensor y = norm(leaf).relu();
        y.square().sum().backward();
        return Results{y, leaf.grad()};
      });
    }
}

TEST_F(Epilogue, OfConvolutionsAndPooling) {
  for (const int64_t images : {64, 700}) {
    SCOPED_TRACE(images);
    const Tensor x = random({images, 3, 28, 28}), w = random({16, 3, 3, 3}).requires_grad_(true),
                 b = random({16}).requires_grad_(true), w2 = random({8, 16, 3, 3}).requires_grad_(true);
    expect_same("pooling after the activation", 2, [&] {
      for (const Tensor& p : {w, b}) p.mutable_grad() = Tensor();
      const Tensor y = max_pool2d(conv2d(x, w, b, {1, 1}, {1, 1}).relu(), {2, 2});
      y.sum().backward();
      return Results{y, w.grad(), b.grad()};
    });
    expect_same("a convolution after it", 2, [&] {
      for (const Tensor& p : {w, b, w2}) p.mutable_grad() = Tensor();
      const Tensor y = conv2d(conv2d(x, w, b, {1, 1}, {1, 1}).relu(), w2, {}, {1, 1}, {1, 1});
      y.sum().backward();
      return Results{y, w.grad(), b.grad(), w2.grad()};
    });
  }
  for (const ScalarType dtype : {kDouble, kHalf}) {
    const Tensor x = random({3, 5, 96}, dtype).requires_grad_(true);
    expect_same("backward of pooling and relu", 1, [&] {
      x.mutable_grad() = Tensor();
      max_pool2d(x.reshape({3, 5, 8, 12}).relu(), {2, 2}).sum().backward();
      return Results{x.grad()};
    });
  }
}

}  // namespace
}  // namespace argand
