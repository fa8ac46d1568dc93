// DistributedDataParallel over ranks that are threads, and over processes, against one process that has the whole
// batch, in float64.
#include "argand/parallel/distributed_data_parallel.h"

#include <gtest/gtest.h>

#include "argand/argand.h"
#include "argand/parallel/backends.h"
#include "argand/parallel/threads_world_test.h"
#include "tests/distributed/ranks.h"

namespace argand::parallel {
namespace {

using testing::run_ranks;

struct NetImpl : nn::Module {
  explicit NetImpl(int64_t seed) {
    manual_seed(static_cast<uint64_t>(seed));
    first = register_module("first", nn::Linear(6, 16));
    norm = register_module("norm", nn::BatchNorm1d(nn::BatchNormOptions(16).momentum(0.5)));
    second = register_module("second", nn::Linear(16, 3));
    never = register_module("never", nn::Linear(2, 2));
    never_trained = register_module("never_trained", nn::Linear(3, 3));
    for (const Tensor& p : never_trained->parameters()) p.set_requires_grad(false);
    to(kDouble);
  }
  Tensor forward(const Tensor& x) {
    // Without the batch norm: its statistics are those of each rank.
    return second(first(x).tanh()) + never_trained(x.narrow(1, 0, 3));
  }
  nn::Linear first{nullptr}, second{nullptr}, never{nullptr}, never_trained{nullptr};
  nn::BatchNorm1d norm{nullptr};
};
ARGAND_MODULE(Net);

Tensor inputs() { return (arange(12 * 6, kDouble).reshape({12, 6}) * 0.11).cos(); }
Tensor targets() { return (arange(12 * 3, kDouble).reshape({12, 3}) * 0.7).sin(); }
// `parts` of equal size: that of a rank.
Tensor part(const Tensor& t, int parts, int64_t i) { return t.chunk(parts)[static_cast<size_t>(i)]; }

std::shared_ptr<ProcessGroup> shared(ProcessGroup& group) {
  return {&group, [](ProcessGroup*) {}};
}
DistributedDataParallelOptions options_of(ProcessGroup& group) {
  return DistributedDataParallelOptions().process_group(shared(group));
}

void expect_same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(allclose(a[i], b[i], 1e-12, 1e-14)) << i;
}

// Made one after the other: manual_seed() is that of the process, and ranks may be its threads.
Net net(int64_t seed) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return Net(seed);
}

// Five steps of Adam: parameters are those of one process with the whole batch.
void train(const std::shared_ptr<ProcessGroup>& group, double bucket_mb) {
  Net alone = net(0), mine = net(group ? group->rank() : default_process_group()->rank());
  optim::Adam optimizer(mine->parameters(), optim::AdamOptions(0.05)),
      other(alone->parameters(), optim::AdamOptions(0.05));
  DistributedDataParallel model(mine, DistributedDataParallelOptions().process_group(group).bucket_cap_mb(bucket_mb));
  const int size = model.process_group().size(), rank = model.process_group().rank();
  expect_same(mine->parameters(), alone->parameters());
  for (int step = 0; step < 5; ++step) {
    optimizer.zero_grad();
    mse_loss(model(part(inputs(), size, rank)), part(targets(), size, rank)).backward();
    optimizer.step();
    other.zero_grad();
    mse_loss(alone->forward(inputs()), targets()).backward();
    EXPECT_TRUE(allclose(mine->first->weight.grad(), alone->first->weight.grad(), 1e-12, 1e-14));
    EXPECT_FALSE(mine->never->weight.grad().defined());
    other.step();
    expect_same(mine->parameters(), alone->parameters());
  }
}

TEST(DistributedDataParallel, TrainsAsOneProcessWithTheWholeBatch) {
  for (const int size : {1, 2, 3, 4})
    for (const double mb : {1e-5, 25.}) run_ranks(size, [&](ProcessGroup& group) { train(shared(group), mb); });
}

TEST(DistributedDataParallel, AccumulatesWithoutSending) {
  run_ranks(2, [&](ProcessGroup& group) {
    Net alone = net(0);
    DistributedDataParallel model(net(0), options_of(group));
    const auto grads_of = [&](int64_t i) { mse_loss(model(part(inputs(), 6, i)), part(targets(), 6, i)).backward(); };
    {
      const auto unsent = model.no_sync();
      grads_of(group.rank());
      grads_of(2 + group.rank());
    }
    grads_of(4 + group.rank());
    for (int64_t i = 0; i < 6; ++i)
      (mse_loss(alone->forward(part(inputs(), 6, i)), part(targets(), 6, i)) / 2).backward();
    EXPECT_TRUE(allclose(model.module()->first->weight.grad(), alone->first->weight.grad(), 1e-12, 1e-14));
    EXPECT_TRUE(allclose(model.module()->second->bias.grad(), alone->second->bias.grad(), 1e-12, 1e-14));
  });
}

TEST(DistributedDataParallel, BuffersAreThoseOfRank0) {
  const Tensor x = arange(4, kDouble).reshape({2, 2});  // means 1, 2
  for (const bool broadcast : {true, false})
    run_ranks(3, [&](ProcessGroup& group) {
      const auto norm = std::make_shared<nn::BatchNorm1dImpl>(nn::BatchNormOptions(2).momentum(1.));
      norm->to(kDouble);
      DistributedDataParallel model(norm, options_of(group).broadcast_buffers(broadcast));
      model(x * (1 + group.rank())).sum().backward();
      EXPECT_EQ(norm->running_mean[0].item<double>(), 1 + group.rank());  // they are sent before a forward
      const Tensor saved = norm->running_mean.detach(), before = saved.clone();
      norm->eval();
      model(x);
      EXPECT_EQ(norm->running_mean[0].item<double>(), broadcast ? 1 : 1 + group.rank());
      EXPECT_TRUE(equal(saved, before));  // what the first forward may have saved
    });
}

TEST(DistributedDataParallel, ParametersThatSomeRanksUse) {
  struct Branches : nn::Module {
    Branches() : a(nn::LinearOptions(6, 3)), b(nn::LinearOptions(6, 3)) {
      register_module("a", a);
      register_module("b", b);
      to(kDouble);
    }
    Tensor forward(const Tensor& x, bool which) { return which ? a(x) : b(x); }
    nn::Linear a, b;
  };
  run_ranks(2, [&](ProcessGroup& group) {
    DistributedDataParallel model(std::make_shared<Branches>(), options_of(group));
    model(inputs(), group.rank() == 0).sum().backward();
    for (const nn::Linear& branch : {model.module()->a, model.module()->b})
      EXPECT_TRUE(allclose(branch->bias.grad(), full({3}, 6., kDouble), 1e-12, 0));
  });
}

TEST(DistributedDataParallel, ARankWithoutExamplesSendsZeros) {
  run_ranks(3, [&](ProcessGroup& group) {
    Net alone = net(0);
    DistributedDataParallel model(net(0), options_of(group));
    if (group.rank() == 2) {
      model.shadow();
    } else {
      (mse_loss(model(part(inputs(), 2, group.rank())), part(targets(), 2, group.rank())) * 3 / 2).backward();
    }
    mse_loss(alone->forward(inputs()), targets()).backward();
    EXPECT_TRUE(allclose(model.module()->first->weight.grad(), alone->first->weight.grad(), 1e-12, 1e-14));
  });
}

TEST(DistributedDataParallel, AHookReplacesTheMean) {
  run_ranks(2, [&](ProcessGroup& group) {
    Net alone = net(0);
    DistributedDataParallel model(net(0), options_of(group));
    model.register_comm_hook([&](const GradBucket& bucket) -> std::function<Tensor()> {
      const WorkPtr work = group.all_reduce({bucket.buffer});
      return [work] {
        work->wait();
        return work->result()[0];
      };
    });
    mse_loss(model(inputs()), targets()).backward();
    mse_loss(alone->forward(inputs()), targets()).backward();
    EXPECT_TRUE(allclose(model.module()->first->weight.grad(), alone->first->weight.grad() * 2, 1e-12, 1e-14));
  });
}

TEST(DistributedDataParallel, OneTensorOfSeveralNames) {
  struct Tied : nn::Module {
    Tied() : a(nn::LinearOptions(6, 6)), b(nn::LinearOptions(6, 6)) {
      b->weight = a->weight;
      register_parameter("a", a->weight);
      register_parameter("b", b->weight);
      to(kDouble);
    }
    Tensor forward(const Tensor& x) { return x.matmul(a->weight).tanh().matmul(b->weight); }
    nn::Linear a, b;
  };
  run_ranks(2, [&](ProcessGroup& group) {
    const auto tied = std::make_shared<Tied>();
    tied->a->weight.set_data(inputs().narrow(0, 0, 6).clone());
    DistributedDataParallel model(tied, options_of(group));
    model(inputs()).sum().backward();
    const Tensor mean = tied->a->weight.grad().clone();
    const Tensor w = tied->a->weight.detach().clone().set_requires_grad(true);
    inputs().matmul(w).tanh().matmul(w).sum().backward();
    EXPECT_TRUE(allclose(mean, w.grad(), 1e-12, 1e-14));
  });
}

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(DistributedDataParallel, ModelsThatDiffer) {
  run_ranks(2, [&](ProcessGroup& group) {
    EXPECT_EQ(
        message_of([&] {
          DistributedDataParallel(nn::Linear(nn::LinearOptions(2, 2).bias(group.rank() == 0)), options_of(group));
        }),
        "DDP expects same model across all ranks, but Rank 0 has 2 params, while rank 1 has inconsistent 1 params.");
    EXPECT_EQ(
        message_of([&] { DistributedDataParallel(nn::Linear(2, 3 + group.rank()), options_of(group)); }),
        "DDP expects same model across all ranks: rank 0 has weight of float32 [3, 2], rank 1 has weight of float32 "
        "[4, 2] in its place");
    nn::Conv2d ordered(nn::Conv2dOptions(3, 4, 2).bias(false));
    if (group.rank() == 1) ordered->weight.set_data(ordered->weight.detach().contiguous(MemoryFormat::ChannelsLast));
    EXPECT_EQ(
        message_of([&] { DistributedDataParallel(ordered, options_of(group)); }),
        "DDP expects same model across all ranks: rank 0 has weight of float32 [4, 3, 2, 2], rank 1 has weight of "
        "float32 [4, 3, 2, 2] with strides [12, 1, 6, 3] in its place");
    nn::Linear frozen(2, 2);
    for (const Tensor& p : frozen->parameters()) p.set_requires_grad(false);
    EXPECT_EQ(
        message_of([&] { DistributedDataParallel(frozen, options_of(group)); }),
        "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient.");
    EXPECT_EQ(message_of([&] { DistributedDataParallel(nn::Linear(2, 2), options_of(group).bucket_cap_mb(0)); }),
              "DistributedDataParallel: expected bucket_cap_mb to be above 0, got 0");
  });
  EXPECT_EQ(message_of([] { DistributedDataParallel(nn::Linear(2, 2)); }),
            "Default process group has not been initialized, please make sure to call init_process_group.");
}

// In each of the processes that the next tests start.
TEST(Rank, DISABLED_Trains) {
  const auto group = init_process_group();
  EXPECT_TRUE(is_initialized());
  EXPECT_THROW(init_process_group(), Error);
  train(nullptr, 25);
  destroy_process_group();
  EXPECT_FALSE(is_initialized());
  init_process_group()->barrier()->wait();  // again; the end of the process leaves
}

// The same on a GPU for each process, in float32.
TEST(Rank, DISABLED_TrainsOnGpus) {
  const Device gpu(kCUDA, static_cast<DeviceIndex>(find_launch().value().rank));
  cuda::set_device(gpu.index());
  const auto group = init_process_group("nccl");
  manual_seed(0);
  nn::Sequential net(nn::Linear(6, 64), nn::Tanh(), nn::Linear(64, 3));
  const auto alone = std::dynamic_pointer_cast<nn::SequentialImpl>(net->clone());
  net->to(gpu);
  DistributedDataParallel model(net, DistributedDataParallelOptions().bucket_cap_mb(1e-4));
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.1)), other(alone->parameters(), optim::SGDOptions(0.1));
  const Tensor x = inputs().to(kFloat), y = targets().to(kFloat);
  for (int step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    mse_loss(model(part(x, group->size(), group->rank()).to(gpu)), part(y, group->size(), group->rank()).to(gpu))
        .backward();
    optimizer.step();
    other.zero_grad();
    mse_loss(alone->forward(x), y).backward();
    other.step();
  }
  for (size_t i = 0; i < net->parameters().size(); ++i)
    EXPECT_TRUE(allclose(net->parameters()[i].cpu(), alone->parameters()[i], 1e-4, 1e-5)) << i;
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

class Processes : public ::testing::TestWithParam<int> {};
TEST_P(Processes, TrainAsOneProcess) {
  if (const std::string why = why_no_backend("gloo"); !why.empty()) GTEST_SKIP() << why;
  if (kSanitized) GTEST_SKIP() << "libgloo is compiled without sanitizers, which see races in it";
  EXPECT_EQ(test::run_processes(GetParam(), "Rank.DISABLED_Trains"), 0);
}
INSTANTIATE_TEST_SUITE_P(Sizes, Processes, ::testing::Values(2, 3));

TEST(GpuProcesses, TrainAsOneProcess) {
  if (const std::string why_not = why_no_backend("nccl"); !why_not.empty()) GTEST_SKIP() << why_not;
  const int gpus = std::min(cuda::device_count(), 4);
  if (gpus < 2) GTEST_SKIP() << "needs two GPUs";
  EXPECT_EQ(test::run_processes(gpus == 3 ? 2 : gpus, "Rank.DISABLED_TrainsOnGpus"), 0);
}

TEST(MpiProcesses, TrainAsOneProcess) {
  if (const std::string why = why_no_backend("mpi"); !why.empty()) GTEST_SKIP() << why;
  if (kSanitized) GTEST_SKIP() << "Open MPI has leaks and races of its own";
  EXPECT_EQ(test::run_by_mpirun(2, "Rank.DISABLED_Trains"), 0);
}

}  // namespace
}  // namespace argand::parallel
