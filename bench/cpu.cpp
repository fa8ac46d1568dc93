// The CPU rows of docs/results.md that are C++; bench/torch_cpu.py runs the same under the same names with PyTorch.
#include <benchmark/benchmark.h>

#include "argand/autograd/engine.h"
#include "argand/core/cpu_generator.h"
#include "argand/data/data_loader.h"
#include "argand/exec/window.h"
#include "argand/nn/modules/conv.h"
#include "argand/nn/modules/linear.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "argand/optim/adam.h"
#include "argand/optim/sgd.h"
#include "bench/sequences.h"

namespace argand {
namespace {

void op_mul(benchmark::State& state) {
  const Tensor x = randn({8}), y = randn({8});
  for (auto _ : state) benchmark::DoNotOptimize(x * y);
}
BENCHMARK(op_mul)->Name("op/mul8");

void op_mul_grad(benchmark::State& state) {
  const Tensor x = randn({8}).requires_grad_(), y = randn({8});
  for (auto _ : state) benchmark::DoNotOptimize(x * y);
}
BENCHMARK(op_mul_grad)->Name("op/mul8_grad");

void linear_step(benchmark::State& state) {
  manual_seed(0);
  nn::Linear net(10, 1);
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.01));
  const Tensor x = randn({32, 10}), y = randn({32, 1});
  for (auto _ : state) {
    optimizer.zero_grad();
    mse_loss(net(x), y).backward();
    optimizer.step();
  }
}
BENCHMARK(linear_step)->Name("step/linear_10_1_b32");

void mlp_step(benchmark::State& state) {
  manual_seed(0);
  nn::Linear a(64, 32), b(32, 10);
  std::vector<Tensor> parameters = a->parameters();
  for (const Tensor& p : b->parameters()) parameters.push_back(p);
  optim::Adam optimizer(parameters);
  const Tensor x = randn({64, 64}), y = randint(10, {64});
  for (auto _ : state) {
    optimizer.zero_grad();
    cross_entropy_loss(b(a(x).relu()), y).backward();
    optimizer.step();
  }
}
BENCHMARK(mlp_step)->Name("step/mlp_64_32_10_b64");

void cnn_step(benchmark::State& state) {
  manual_seed(0);
  const int64_t n = state.range(0);
  nn::Conv2d c1(nn::Conv2dOptions(3, 16, 3).padding(1)), c2(nn::Conv2dOptions(16, 32, 3).padding(1));
  nn::Linear f1(32 * 7 * 7, 128), f2(128, 10);
  std::vector<Tensor> parameters;
  for (const auto& list : {c1->parameters(), c2->parameters(), f1->parameters(), f2->parameters()})
    parameters.insert(parameters.end(), list.begin(), list.end());
  optim::Adam optimizer(parameters);
  const Tensor x = randn({n, 3, 28, 28}), y = randint(10, {n});
  for (auto _ : state) {
    optimizer.zero_grad();
    Tensor h = max_pool2d(c1(x).relu(), 2);
    h = max_pool2d(c2(h).relu(), 2);
    cross_entropy_loss(f2(f1(h.flatten(1)).relu()), y).backward();
    optimizer.step();
  }
}
BENCHMARK(cnn_step)->Name("step/cnn")->Arg(64)->Arg(512)->Unit(benchmark::kMillisecond);

const bool sequences = [] {
  for (const bench::Row& row : bench::sequences)
    benchmark::RegisterBenchmark(row.name, [row](benchmark::State& state) {
      manual_seed(0);
      const bench::Work work = row.make(kCPU);
      for (auto _ : state) work();
    });
  return true;
}();

void chain(benchmark::State& state) {
  const Tensor x = randn({16 << 20}), y = randn({16 << 20});
  for (auto _ : state) {
    const Tensor z = ((x * y + x) * 2.0 - y).relu() * x;
    exec::flush();
    benchmark::DoNotOptimize(z);
  }
}
BENCHMARK(chain)->Name("chain/16M")->Unit(benchmark::kMillisecond);

void sgemm(benchmark::State& state) {
  const Tensor a = randn({2048, 2048}), b = randn({2048, 2048});
  for (auto _ : state) benchmark::DoNotOptimize(a.mm(b));
}
BENCHMARK(sgemm)->Name("sgemm/2048")->Unit(benchmark::kMillisecond);

void softmax_rows(benchmark::State& state) {
  const Tensor x = randn({4096, 1024});
  for (auto _ : state) benchmark::DoNotOptimize(x.softmax(1));
}
BENCHMARK(softmax_rows)->Name("softmax/4096x1024")->Unit(benchmark::kMillisecond);

void layer_norm_rows(benchmark::State& state) {
  const Tensor x = randn({8192, 1024}), w = randn({1024}), b = randn({1024});
  for (auto _ : state) benchmark::DoNotOptimize(layer_norm(x, {1024}, w, b));
}
BENCHMARK(layer_norm_rows)->Name("layer_norm/8192x1024")->Unit(benchmark::kMillisecond);

void layer_norm_grad(benchmark::State& state) {
  const Tensor x = randn({8192, 1024}).requires_grad_(), g = randn({8192, 1024});
  const Tensor w = randn({1024}).requires_grad_(), b = randn({1024}).requires_grad_();
  for (auto _ : state) benchmark::DoNotOptimize(autograd::grad({layer_norm(x, {1024}, w, b)}, {x, w, b}, {g}));
}
BENCHMARK(layer_norm_grad)->Name("layer_norm_grad/8192x1024")->Unit(benchmark::kMillisecond);

void batch_norm_images(benchmark::State& state) {
  const Tensor x = randn({32, 64, 56, 56}), w = randn({64}), b = randn({64}), mean = zeros({64}), var = ones({64});
  for (auto _ : state) benchmark::DoNotOptimize(batch_norm(x, w, b, mean, var, true, 0.1, 1e-5, true));
}
BENCHMARK(batch_norm_images)->Name("batch_norm/32x64x56x56")->Unit(benchmark::kMillisecond);

void batch_norm_grad(benchmark::State& state) {
  const Tensor x = randn({32, 64, 56, 56}).requires_grad_(), g = randn({32, 64, 56, 56});
  const Tensor w = randn({64}).requires_grad_(), b = randn({64}).requires_grad_(), mean = zeros({64}), var = ones({64});
  for (auto _ : state)
    benchmark::DoNotOptimize(autograd::grad({batch_norm(x, w, b, mean, var, true, 0.1, 1e-5, true)}, {x, w, b}, {g}));
}
BENCHMARK(batch_norm_grad)->Name("batch_norm_grad/32x64x56x56")->Unit(benchmark::kMillisecond);

// One pass over 60000 shuffled samples of 784 bytes in batches of 64.
void data_loading(benchmark::State& state) {
  auto set = std::make_shared<data::TensorDataset>(randint(256, {60000, 784}).to(kByte), randint(10, {60000}));
  data::DataLoader loader(set, data::DataLoaderOptions(64).shuffle(true));
  for (auto _ : state)
    for (const data::Example<>& batch : loader) benchmark::DoNotOptimize(batch.data);
  state.counters["samples/s"] = benchmark::Counter(60000, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(data_loading)->Name("data/60000x784_b64")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace argand

BENCHMARK_MAIN();
