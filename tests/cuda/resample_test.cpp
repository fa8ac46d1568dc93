// interpolate's kernels at sizes beyond those of samples against the CPU in float64; and that nobody waits for them.
#include "argand/base/str.h"
#include "argand/core/cpu_generator.h"
#include "argand/exec/cuda_graph.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

class CudaResample : public ComputingCudaTest {
 protected:
  void SetUp() override {
    ComputingCudaTest::SetUp();
    manual_seed(11);
  }
};

class CudaNoWait : public CudaTest {};

TEST_F(CudaResample, LikeTheCpu) {
  struct Sizes {
    Dims in, out;
  };
  const Sizes all[] = {{{2, 3, 1000}, {333}},       {{1, 2, 7}, {4099}},         {{2, 3, 33, 40}, {66, 80}},
                       {{1, 3, 130, 257}, {17, 9}}, {{1, 1, 5, 300}, {64, 301}}, {{1, 2, 9, 10, 11}, {18, 5, 30}},
                       {{1, 1, 1, 1}, {3, 4}}};
  for (const Sizes& s : all)
    for (int64_t filter = 0; filter < 6; ++filter)
      for (const bool align : {false, true}) {
        if (align && filter < 2) continue;
        const auto f = [&](const Tensor& x) { return _upsample(x, s.out, filter, align, {}); };
        const Tensor x = randn(s.in, kDouble), grad = randn(f(x).sizes(), kDouble);
        for (const ScalarType type : {kFloat, kDouble, kHalf}) {
          // The positions are found in float for all but double: the CPU's of that type are compared with.
          const ScalarType wide = type == kHalf ? kFloat : type;
          Tensor results[2][2];
          for (const bool on_gpu : {false, true}) {
            const Tensor given = x.to(type).to(wide);
            const Tensor in = (on_gpu ? given.to(type).cuda() : given).detach().requires_grad_();
            const Tensor y = f(in);
            y.backward(on_gpu ? grad.to(type).cuda() : grad.to(type).to(wide));
            results[on_gpu][0] = y.detach().cpu().to(kDouble);
            results[on_gpu][1] = in.grad().cpu().to(kDouble);
          }
          const double tolerance = type == kDouble ? 1e-12 : type == kFloat ? 1e-5 : 4e-3;
          for (int i = 0; i < 2; ++i) {
            const double scale = results[0][i].abs().max().item<double>(),
                         error = (results[0][i] - results[1][i]).abs().max().item<double>();
            EXPECT_LE(error, tolerance * scale) << str("filter ", filter, align ? " aligned " : " ", s.in, " to ",
                                                       s.out, " ", type, i == 0 ? ", result" : ", gradient");
          }
        }
      }
}

// A capture refuses what waits for the device or copies from the host.
TEST_F(CudaNoWait, CallsThatOnceCopiedTables) {
  const Tensor x = randn({1, 2, 8, 8}).cuda();
  const Tensor table = randn({5, 3}).cuda(), indices = full({4}, 2, kLong).cuda();
  Tensor offsets = zeros({2}, kLong);
  offsets[1] = 3;
  offsets = offsets.cuda();
  std::vector<Tensor> results;
  const auto step = [&] {
    const Tensor in = x.detach().requires_grad_();
    const Tensor up = upsample_bilinear2d(in, {16, 16}, false), shrunk = _upsample_bicubic2d_aa(in, {3, 5}, false);
    (up.sum() + shrunk.sum()).backward();
    const Tensor probs = log_softmax(x.view({8, 2, 8}), 2), targets = full({2, 3}, 1, probs.options().dtype(kLong));
    results = {up.detach(),
               in.grad(),
               upsample_nearest2d(x, {5, 20}),
               pad(x, {2, 1, 2, 3}, "reflect"),
               im2col(x, {3, 3}, {1, 1}, {1, 1}, {1, 1}),
               ctc_loss(probs, targets, Dims{8, 7}, Dims{3, 2}),
               std::get<0>(embedding_bag(table, indices, offsets)),
               std::get<0>(embedding_bag(table, indices, offsets, false, 1, false, {}, true))};
  };
  step();  // makes what is made once
  const std::vector<Tensor> eager = results;
  cuda::CUDAGraph graph;
  {
    const cuda::GraphCapture capture(graph);
    step();
  }
  if (!kernels_run()) return;
  graph.replay();
  cuda::synchronize();
  for (size_t i = 0; i < eager.size(); ++i) EXPECT_TRUE(equal(results[i], eager[i])) << "result " << i;
}

}  // namespace
}  // namespace argand
