// A training step in which any one allocation fails: an error, no leak, and the step can be made again.
#include "argand/autograd/engine.h"
#include "argand/base/error.h"
#include "argand/core/cpu_generator.h"
#include "argand/exec/cuda_memory.h"
#include "argand/nn/modules/linear.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/adam.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

MemoryMonitor& monitor() { return backend_of(kCUDA).memory(cuda::current_device()); }

class Training {
 public:
  Training() {
    x_ = randn({32, 20}).cuda();
    target_ = randint(10, {32}).cuda();
    for (const Tensor& p : parameters()) EXPECT_TRUE(p.is_cuda());
  }
  void step() {
    phase_ = "forward";
    const Tensor loss = cross_entropy_loss(last_->forward(first_->forward(x_).relu()).tanh(), target_);
    phase_ = "backward";
    loss.backward();
    phase_ = "Adam";
    optimizer_.step();
    phase_ = "synchronisation";
    cuda::synchronize();
  }
  void zero_grad() { optimizer_.zero_grad(); }
  const char* phase() const { return phase_; }
  std::vector<Tensor> parameters() const { return {first_->weight, first_->bias, last_->weight, last_->bias}; }
  std::vector<Tensor> values() const {
    std::vector<Tensor> out;
    for (const Tensor& p : parameters()) out.push_back(p.detach().cpu());
    return out;
  }

 private:
  static nn::Linear on_gpu(int64_t in, int64_t out) {
    nn::Linear layer(in, out);
    layer->to(Device(kCUDA));
    return layer;
  }
  nn::Linear first_ = on_gpu(20, 64), last_ = on_gpu(64, 10);
  optim::Adam optimizer_{parameters(), optim::AdamOptions(1e-2)};
  Tensor x_, target_;
  const char* phase_ = "";
};

class CudaOutOfMemory : public CudaTest {
 protected:
  void TearDown() override {
    if (find_backend(kCUDA)) monitor().fail_allocation(0);
  }
};

// `warm_steps` before the one that fails: Adam's state is made in the first.
int fail_each_allocation(int warm_steps, bool compare) {
  const auto start = [&] {
    manual_seed(5);
    auto training = std::make_unique<Training>();
    for (int i = 0; i < warm_steps; ++i) {
      training->step();
      training->zero_grad();
    }
    cuda::synchronize();
    return training;
  };
  auto undisturbed = start();
  undisturbed->step();
  const std::vector<Tensor> expected = undisturbed->values();
  undisturbed.reset();
  cuda::synchronize();
  const int64_t without_any = cuda::memory_allocated();

  std::map<std::string, int> failed;
  bool done = false;
  for (int n = 1; !done && n < 1000; ++n) {
    SCOPED_TRACE(str("allocation ", n));
    auto training = start();
    const int64_t before = cuda::memory_allocated();
    monitor().fail_allocation(n);
    try {
      training->step();
      done = true;
    } catch (const OutOfMemoryError& e) {
      ++failed[training->phase()];
      EXPECT_NE(std::string(e.what()).find("CUDA out of memory. Tried to allocate "), std::string::npos) << e.what();
    }
    monitor().fail_allocation(0);
    if (!done) {
      training->zero_grad();
      cuda::synchronize();
      if (warm_steps > 0) {
        EXPECT_EQ(cuda::memory_allocated(), before) << "after a failure in " << training->phase();
      }
      training->step();
      if (compare) {
        const std::vector<Tensor> got = training->values();
        for (size_t i = 0; i < got.size(); ++i)
          EXPECT_TRUE(got[i].equal(expected[i])) << "parameter " << i << " after a failure in " << training->phase();
      }
    }
    training.reset();
    cuda::synchronize();
    EXPECT_EQ(cuda::memory_allocated(), without_any) << "a leak";
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_TRUE(done);
  EXPECT_GT(failed["forward"], 0);
  EXPECT_GT(failed["backward"], 0);
  int total = 0;
  for (const auto& [phase, count] : failed) total += count;
  return total;
}

TEST_F(CudaOutOfMemory, AnyAllocationOfAFirstStepMayFail) {
  EXPECT_GT(fail_each_allocation(0, kernels_run()), 16) << "Adam's state is among them";
}

TEST_F(CudaOutOfMemory, AnyAllocationOfALaterStepMayFail) { EXPECT_GT(fail_each_allocation(2, kernels_run()), 8); }

}  // namespace
}  // namespace argand
