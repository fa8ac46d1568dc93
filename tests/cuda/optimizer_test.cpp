// Steps of optimizers on a GPU beside those of the CPU: every rule, two groups, every dtype, few elements and many.  On
// the pretended GPU all kernels compile.
#include "argand/core/cpu_generator.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/adadelta.h"
#include "argand/optim/adagrad.h"
#include "argand/optim/adam.h"
#include "argand/optim/adamax.h"
#include "argand/optim/nadam.h"
#include "argand/optim/radam.h"
#include "argand/optim/rmsprop.h"
#include "argand/optim/sgd.h"
#include "tests/cuda/device_fixture.h"

namespace argand::optim {
namespace {

// What seven steps make of parameters whose groups have options of their own.
template <class O, class Options>
std::vector<Tensor> parameters_after(const Device& device, ScalarType dtype, int64_t elements, const Options& a,
                                     const Options& b) {
  manual_seed(3);
  const auto leaf = [&](const Tensor& t) { return t.to(TensorOptions(device).dtype(dtype)).requires_grad_(); };
  std::vector<Tensor> p{leaf(randn({elements})), leaf(randn({3, 5})), leaf(randn({elements / 2, 2})), leaf(randn({}))};
  const auto strided = leaf(randn({7, 4})).detach().t().requires_grad_();  // in another order than its gradients
  p.push_back(strided);
  O optimizer({OptimizerParamGroup({p[0], p[1]}, a.clone()), OptimizerParamGroup({p[2], p[3], p[4]}, b.clone())}, a);
  for (int step = 0; step < 7; ++step) {
    for (size_t i = 0; i < p.size(); ++i) {
      const Tensor grad = randn(p[i].sizes());
      p[i].mutable_grad() = step == 0 && i == 1 ? Tensor() : grad.to(TensorOptions(device).dtype(dtype));
    }
    optimizer.step();
  }
  std::vector<Tensor> out;
  for (const Tensor& t : p) out.push_back(t.detach().to(kCPU).to(kDouble));
  return out;
}

class CudaOptimizer : public CudaTest {
 protected:
  template <class O, class Options>
  static void expect_as_on_the_cpu(const Options& a, const Options& b) {
    for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16})
      for (const int64_t elements : {int64_t{50}, int64_t{300'001} * 2}) {
        SCOPED_TRACE(str(dtype, " ", elements));
        const std::vector<Tensor> device = parameters_after<O>(Device(kCUDA, 0), dtype, elements, a, b);
        if (!kernels_run()) continue;
        const std::vector<Tensor> host = parameters_after<O>(kCPU, dtype, elements, a, b);
        // A root or quotient that is rounded otherwise moves float16 and bfloat16 to a neighbour.
        const double tolerance = dtype == kDouble ? 1e-12 : dtype == kFloat ? 1e-5 : dtype == kHalf ? 4e-3 : 3e-2;
        for (size_t i = 0; i < host.size(); ++i)
          EXPECT_TRUE(allclose(device[i], host[i], tolerance, tolerance)) << "parameter " << i;
      }
  }
};

TEST_F(CudaOptimizer, Sgd) {
  expect_as_on_the_cpu<SGD>(SGDOptions(0.1), SGDOptions(0.2).weight_decay(0.1).maximize(true));
  expect_as_on_the_cpu<SGD>(SGDOptions(0.1).momentum(0.9).dampening(0.1), SGDOptions(0.1).momentum(0.5).nesterov(true));
}
TEST_F(CudaOptimizer, Adam) {
  expect_as_on_the_cpu<Adam>(AdamOptions(0.1), AdamOptions(0.01).amsgrad(true).weight_decay(0.1));
}
TEST_F(CudaOptimizer, AdamW) {
  expect_as_on_the_cpu<AdamW>(AdamWOptions(0.1), AdamWOptions(0.01).amsgrad(true).maximize(true));
}
TEST_F(CudaOptimizer, RMSprop) {
  expect_as_on_the_cpu<RMSprop>(RMSpropOptions(0.01), RMSpropOptions(0.01).centered(true).eps(0.1));
  expect_as_on_the_cpu<RMSprop>(RMSpropOptions(0.01).momentum(0.9),
                                RMSpropOptions(0.01).momentum(0.5).centered(true).eps(0.1));
}
TEST_F(CudaOptimizer, Adagrad) {
  expect_as_on_the_cpu<Adagrad>(AdagradOptions(0.1).initial_accumulator_value(0.5),
                                AdagradOptions(0.1).lr_decay(0.1).weight_decay(0.1).eps(1e-3));
}
TEST_F(CudaOptimizer, Adadelta) {
  expect_as_on_the_cpu<Adadelta>(AdadeltaOptions(1.0).eps(1e-3), AdadeltaOptions(0.5).rho(0.8).eps(1e-3));
}
TEST_F(CudaOptimizer, Adamax) {
  expect_as_on_the_cpu<Adamax>(AdamaxOptions(0.1).eps(1e-3), AdamaxOptions(0.01).weight_decay(0.1).eps(1e-3));
}
TEST_F(CudaOptimizer, NAdam) {
  expect_as_on_the_cpu<NAdam>(NAdamOptions(0.01).eps(1e-3),
                              NAdamOptions(0.01).decoupled_weight_decay(true).weight_decay(0.1).eps(1e-3));
}
// From the sixth step on steps are rectified.
TEST_F(CudaOptimizer, RAdam) {
  expect_as_on_the_cpu<RAdam>(RAdamOptions(0.01).eps(1e-3),
                              RAdamOptions(0.01).decoupled_weight_decay(true).weight_decay(0.1).eps(1e-3));
}

// One optimizer of parameters on both devices, one of which is a number of the CPU beside tensors of the GPU.
TEST_F(CudaOptimizer, ParametersOfTwoDevices) {
  const Tensor host = ones({3}).requires_grad_(), number = ones({}).requires_grad_(),
               device = ones({3}, TensorOptions(Device(kCUDA, 0))).requires_grad_();
  Adam optimizer({device, number, host}, AdamOptions(0.1));
  for (Tensor p : {host, number, device}) p.mutable_grad() = ones_like(p);
  optimizer.step();
  EXPECT_NEAR(number.item<double>(), 0.9, 1e-6);
  EXPECT_NEAR(host[2].item<double>(), 0.9, 1e-6);
  if (kernels_run()) {
    EXPECT_NEAR(device[2].item<double>(), 0.9, 1e-6);
  }
}

}  // namespace
}  // namespace argand::optim
