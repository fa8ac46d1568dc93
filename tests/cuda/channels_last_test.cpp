// Ops that work on channels last as they lie, and pointwise ones over operands of several orders: the CPU's results, in
// the CPU's layout.  Values whose sums are exact in any order.
#include <functional>

#include "argand/autograd/engine.h"
#include "argand/base/str.h"
#include "argand/core/cpu_generator.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

class CudaChannelsLast : public CudaTest {
 protected:
  static Tensor integers(IntArrayRef sizes, ScalarType dtype) { return (randint(9, sizes) - 4).to(dtype); }
  static Tensor last(const Tensor& t) {
    return t.contiguous(t.dim() == 5 ? MemoryFormat::ChannelsLast3d : MemoryFormat::ChannelsLast);
  }

  using Network = std::function<Tensor(const std::vector<Tensor>&)>;
  // Output and gradients.  In a dry run the kernels are compiled and nothing is compared.
  static void expect_same(const Network& network, const std::vector<Tensor>& inputs, const std::string& what,
                          double tolerance = 0) {
    const auto run = [&](const Device& device) {
      std::vector<Tensor> leaves;
      for (const Tensor& t : inputs) leaves.push_back(t.to(device).requires_grad_());
      std::vector<Tensor> results{network(leaves)};
      manual_seed(3);
      Tensor g = integers(results[0].sizes(), results[0].dtype());
      if (!results[0].is_contiguous()) g = last(g);
      for (const Tensor& t : autograd::grad({results[0]}, leaves, {g.to(device)})) results.push_back(t);
      return results;
    };
    const auto expected = run(Device(kCPU)), got = run(Device(kCUDA));
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(expected[i].strides(), got[i].strides()) << what << ", result " << i;
      const Tensor there = got[i].cpu();
      if (kernels_run()) {
        EXPECT_TRUE(allclose(expected[i], there, tolerance, tolerance)) << what << ", result " << i;
      }
    }
  }
};

TEST_F(CudaChannelsLast, Pooling) {
  manual_seed(1);
  for (const ScalarType dtype : {kHalf, kFloat, kDouble})
    for (const int64_t channels : {3, 72, 8, 20}) {
      if (!kernels_run() && (dtype == kDouble || channels < 20)) continue;  // few of the kernels differ
      const Tensor x = last(integers({3, channels, 12, 8}, dtype));
      const std::string what = str(dtype, ", ", channels, " channels");
      const auto check = [&](const char* name, const Network& f) { expect_same(f, {x}, str(name, ", ", what)); };
      check("max", [](const auto& t) { return max_pool2d(t[0], {3, 3}, {2, 2}, {1, 1}); });
      check("max, dilated", [](const auto& t) { return max_pool2d(t[0], {2, 3}, {1, 2}, {0, 1}, {2, 1}, true); });
      check("max, tiles", [](const auto& t) { return max_pool2d(t[0], {2, 2}); });
      check("average", [](const auto& t) { return avg_pool2d(t[0], {4, 2}, {2, 2}, {1, 1}, false, false, 8); });
      check("average of all", [](const auto& t) { return adaptive_avg_pool2d(t[0] * 24, {1, 1}); });
      check("adaptive average", [](const auto& t) { return adaptive_avg_pool2d(t[0] * 8, {6, 2}); });
    }
}

TEST_F(CudaChannelsLast, PositionsOfMaxima) {
  if (!kernels_run()) GTEST_SKIP() << "the dry run computes nothing";
  manual_seed(2);
  Tensor x = integers({2, 16, 9, 7}, kFloat);
  x.masked_fill_(x == 4, std::numeric_limits<double>::quiet_NaN());
  x = last(x);
  const auto [y, at] = max_pool2d_with_indices(x, {3, 2}, {2, 1}, {1, 1});
  const auto [there, at_there] = max_pool2d_with_indices(x.to(Device(kCUDA)), {3, 2}, {2, 1}, {1, 1});
  EXPECT_TRUE(equal(at, at_there.cpu()));
  EXPECT_TRUE(allclose(y, there.cpu(), 0, 0, true));
  EXPECT_EQ(at.strides(), at_there.strides());
}

TEST_F(CudaChannelsLast, BatchNorm) {
  manual_seed(8);
  for (const ScalarType dtype : {kHalf, kFloat})
    for (const int64_t channels : {6, 64}) {
      const Tensor x = last(integers({4, channels, 8, 4}, dtype));
      const Tensor w = integers({channels}, kFloat), b = integers({channels}, kFloat);
      expect_same(
          [](const auto& t) {
            return std::get<0>(native_batch_norm(t[0], t[1], t[2], Tensor(), Tensor(), true, 0.1, 1e-5));
          },
          {x, w, b}, str(dtype, ", ", channels, " channels"), dtype == kHalf ? 2e-2 : 1e-4);
    }
}

// A volume without a batch lies like an image with its channels last.
// Blocks that read several rows at once, the last of which are not whole; whose threads do not fill a warp; one row.
TEST_F(CudaChannelsLast, BatchNormOfFewChannels) {
  manual_seed(2);
  for (const ScalarType dtype : {kBFloat16, kFloat, kDouble})
    for (const int64_t channels : {1, 3, 16, 24, 40, 64, 72, 512, 520, 1032})
      for (const IntArrayRef batch : {IntArrayRef({37, 23, 29}), IntArrayRef({2, 1, 1})}) {
        if (!kernels_run() && (dtype == kDouble || channels != 24 || batch[0] == 2)) continue;  // one of each kernel
        if (channels > 512 && batch[0] > 2 && dtype == kDouble) continue;                       // the CPU takes seconds
        const Tensor x = last(randn({batch[0], channels, batch[1], batch[2]}) + 3).to(dtype);
        const Tensor w = rand({channels}).to(dtype) + 0.5, b = randn({channels}).to(dtype);
        expect_same(
            [](const auto& t) {
              return std::get<0>(native_batch_norm(t[0], t[1], t[2], Tensor(), Tensor(), true, 0.1, 1e-5));
            },
            {x, w, b}, str(dtype, ", ", channels, " channels of ", batch[0]), dtype == kBFloat16 ? 0.05 : 2e-3);
      }
}

TEST_F(CudaChannelsLast, VolumeWithoutBatch) {
  manual_seed(4);
  const Tensor x = last(integers({3, 4, 6, 8}, kFloat));
  expect_same([](const auto& t) { return max_pool3d(t[0], {2, 2, 2}); }, {x}, "max");
  expect_same([](const auto& t) { return adaptive_avg_pool3d(t[0] * 192, {1, 1, 1}); }, {x}, "average");
}

TEST_F(CudaChannelsLast, GroupsOfOneChannel) {
  manual_seed(5);
  struct Shape {
    int64_t c, h, w, window, stride, padding;
  };
  for (const ScalarType dtype : {kHalf, kBFloat16, kFloat})
    for (const Shape& s : {Shape{16, 11, 9, 3, 1, 1},
                           {72, 12, 13, 5, 2, 2},
                           {120, 7, 7, 5, 1, 2},
                           {8, 6, 5, 3, 2, 0},
                           {24, 9, 10, 3, 2, 1},
                           {8, 9, 14, 7, 2, 3},
                           {64, 3, 3, 7, 1, 3}}) {
      const Tensor x = last((randint(2, {3, s.c, s.h, s.w}) * 2 - 1).to(dtype)),
                   w = (randint(3, {s.c, 1, s.window, s.window}) - 1).to(dtype);
      const Tensor b = integers({s.c}, dtype);
      const auto conv = [&](const std::vector<Tensor>& t) {
        return conv2d(t[0], t[1], t[2], {s.stride, s.stride}, {s.padding, s.padding}, {1, 1}, s.c);
      };
      const std::string what = str(dtype, ", ", s.c, " channels, windows of ", s.window, ", stride ", s.stride);
      expect_same(conv, {x, w, b}, what);
      expect_same([&](const auto& t) { return relu(conv(t)); }, {x, w, b}, what + ", relu");
    }
}

// Enough products that pixels are regrouped: few channels with and without a stride, 1 x 1 kernels with one.
TEST_F(CudaChannelsLast, RegroupedPixels) {
  if (!kernels_run()) GTEST_SKIP() << "the dry run has no library that would gain by it";
  manual_seed(6);
  struct Shape {
    int64_t c, h, w;
    Dims kernel, padding;
    int64_t stride;
  };
  for (const Shape& s : {Shape{3, 40, 40, {7, 7}, {3, 3}, 2},
                         {3, 41, 38, {3, 3}, {1, 1}, 2},
                         {1, 40, 43, {5, 4}, {2, 0}, 2},
                         {4, 40, 40, {3, 6}, {0, 3}, 2},
                         {3, 30, 31, {3, 3}, {1, 1}, 1},
                         {2, 30, 30, {2, 2}, {0, 0}, 1},
                         {64, 41, 40, {1, 1}, {0, 0}, 2},
                         {64, 41, 43, {1, 1}, {0, 0}, 3}}) {
    const Tensor x = last((randint(2, {16, s.c, s.h, s.w}) * 2 - 1).to(kHalf));
    const Tensor w = last((randint(3, {80, s.c, s.kernel[0], s.kernel[1]}) - 1).to(kHalf)), b = integers({80}, kHalf);
    const auto output = [&](const Device& device) {
      return relu(conv2d(x.to(device), w.to(device), b.to(device), {s.stride, s.stride}, s.padding)).cpu();
    };
    EXPECT_TRUE(equal(output(Device(kCPU)), output(Device(kCUDA))))
        << str(s.c, " channels, kernel ", s.kernel, ", stride ", s.stride);
  }
}

TEST_F(CudaChannelsLast, OperandsOfSeveralOrders) {
  manual_seed(7);
  const Tensor a = integers({8, 32, 80, 64}, kFloat), b = last(integers({8, 32, 80, 64}, kFloat));
  const Tensor row = integers({8, 32, 1, 1}, kFloat);
  const auto check = [&](const char* name, const Network& f) {
    const auto on = [&](const Device& device) {
      const Tensor t = f({a.to(device), b.to(device), row.to(device)});
      return t.cpu();
    };
    const Tensor expected = on(Device(kCPU)), got = on(Device(kCUDA));
    EXPECT_EQ(expected.strides(), got.strides()) << name;
    if (kernels_run()) {
      EXPECT_TRUE(equal(expected, got)) << name;
    }
  };
  check("sum, channels first", [](const auto& t) { return t[0] + t[1]; });
  check("sum, channels last", [](const auto& t) { return t[1] + t[0]; });
  check("chain", [](const auto& t) { return (relu(t[1]) * t[2] + t[0]).contiguous(); });
  check("both results", [](const auto& t) {
    const Tensor r = t[1] * 2;
    const Tensor c = (r + 1).contiguous();
    return c + r;
  });
  check("in place", [](const auto& t) {
    Tensor r = t[0] * 1;
    r.add_(t[1]).mul_(t[2]);
    return r;
  });
  check("into a turned view", [](const auto& t) {
    const Tensor r = t[0] * 1;
    r.permute({0, 1, 3, 2}).add_(t[1].permute({0, 1, 3, 2}));
    return r;
  });
  check("other types", [](const auto& t) { return t[0].to(kHalf) + t[1].to(kInt); });
}

}  // namespace
}  // namespace argand
