#include "argand/parallel/data_parallel.h"

#include <gtest/gtest.h>

#include "argand/autograd/engine.h"
#include "argand/nn/modules/linear.h"
#include "argand/ops/functions.h"

namespace argand::nn {
namespace {

// Replicas on one device do what those on several do.
TEST(DataParallel, GradientsArriveAtTheModule) {
  Linear linear(3, 2);
  const Tensor x = randn({5, 3}).set_requires_grad(true);
  const auto reference = autograd::grad({linear->forward(x).square().sum()}, {linear->weight, linear->bias, x});
  const std::vector<Device> devices{kCPU, kCPU};
  const Tensor y = parallel::data_parallel(linear, x, devices);
  EXPECT_TRUE(y.allclose(linear->forward(x)));
  y.square().sum().backward();
  EXPECT_TRUE(linear->weight.grad().allclose(reference[0]));
  EXPECT_TRUE(linear->bias.grad().allclose(reference[1]));
  EXPECT_TRUE(x.grad().allclose(reference[2]));
  const NoGradGuard no_grad;
  EXPECT_FALSE(parallel::data_parallel(linear, x, devices).requires_grad());
}

TEST(DataParallel, OneDeviceAndSmallBatches) {
  Linear linear(3, 2);
  const Tensor x = randn({2, 3});
  EXPECT_TRUE(parallel::data_parallel(linear, x, std::vector<Device>{kCPU}).allclose(linear->forward(x)));
  EXPECT_TRUE(parallel::data_parallel(linear, x, std::vector<Device>{kCPU, kCPU, kCPU}).allclose(linear->forward(x)));
}

TEST(DataParallel, ReplicasAreClonesAndErrorsArrive) {
  Linear linear(3, 2);
  auto replicas = parallel::replicate(linear, {kCPU, kCPU});
  ASSERT_EQ(replicas.size(), 2U);
  EXPECT_TRUE(replicas[1]->weight.equal(linear->weight));
  EXPECT_NE(replicas[1]->weight.data_ptr(), linear->weight.data_ptr());
  EXPECT_THROW(parallel::parallel_apply(replicas, {ones({1, 3}), ones({1, 4})}), ShapeError);
  EXPECT_THROW(parallel::parallel_apply(replicas, {ones({1, 3})}), ValueError);
}

}  // namespace
}  // namespace argand::nn
