// The GPU rows of docs/results.md that are C++; bench/torch_cuda.py runs the same under the same names with PyTorch.
// Not a number of seconds but of iterations: the time told to the harness is that of one of the repeats.
// Each iteration issues the work `repeats` times and waits once, so that the time is that of a loop that never waits.
#include "argand/exec/cuda.h"

#include <benchmark/benchmark.h>

#include "argand/core/cpu_generator.h"
#include "argand/core/float32_precision.h"
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

template <class Work>
void measure(benchmark::State& state, int repeats, Work work) {
  for (int i = 0; i < 20; ++i) work();  // compiles kernels, fills caches
  cuda::synchronize();
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) work();
    cuda::synchronize();
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / repeats);
  }
}
#define ARGAND_TIMED(row) row->UseManualTime()->Iterations(15)->Unit(benchmark::kMicrosecond)
#define ARGAND_ROW(function, name) ARGAND_TIMED(BENCHMARK(function)->Name(name))

Tensor random(IntArrayRef sizes) { return randn(sizes, TensorOptions(kCUDA)); }

void op_mul(benchmark::State& state) {
  const Tensor x = random({8}), y = random({8});
  measure(state, 1000, [&] {
    const Tensor z = x * y;
    exec::flush();
  });
}
ARGAND_ROW(op_mul, "op/mul8");

void op_mul_window(benchmark::State& state) {
  const Tensor x = random({8}), y = random({8});
  measure(state, 1000, [&] { const Tensor z = x * y; });
}
ARGAND_ROW(op_mul_window, "op/mul8_windowed");

void linear_step(benchmark::State& state) {
  manual_seed(0);
  nn::Linear net(10, 1);
  net->to(Device(kCUDA));
  optim::SGD optimizer(net->parameters(), optim::SGDOptions(0.01));
  const Tensor x = random({32, 10}), y = random({32, 1});
  measure(state, 100, [&] {
    optimizer.zero_grad();
    mse_loss(net(x), y).backward();
    optimizer.step();
  });
}
ARGAND_ROW(linear_step, "step/linear_10_1_b32");

void mlp_step(benchmark::State& state) {
  manual_seed(0);
  nn::Linear a(64, 32), b(32, 10);
  a->to(Device(kCUDA));
  b->to(Device(kCUDA));
  std::vector<Tensor> parameters = a->parameters();
  for (const Tensor& p : b->parameters()) parameters.push_back(p);
  optim::Adam optimizer(parameters);
  const Tensor x = random({64, 64}), y = randint(10, {64}).cuda();
  measure(state, 100, [&] {
    optimizer.zero_grad();
    Tensor h = a(x);
    h = h.relu();  // what came before is gone, as in Python
    cross_entropy_loss(b(h), y).backward();
    optimizer.step();
  });
}
ARGAND_ROW(mlp_step, "step/mlp_64_32_10_b64");

void cnn_step(benchmark::State& state) {
  manual_seed(0);
  const int64_t n = state.range(0);
  nn::Conv2d c1(nn::Conv2dOptions(3, 16, 3).padding(1)), c2(nn::Conv2dOptions(16, 32, 3).padding(1));
  nn::Linear f1(32 * 7 * 7, 128), f2(128, 10);
  c1->to(Device(kCUDA));
  c2->to(Device(kCUDA));
  f1->to(Device(kCUDA));
  f2->to(Device(kCUDA));
  std::vector<Tensor> parameters;
  for (const auto& list : {c1->parameters(), c2->parameters(), f1->parameters(), f2->parameters()})
    parameters.insert(parameters.end(), list.begin(), list.end());
  optim::Adam optimizer(parameters);
  const Tensor x = random({n, 3, 28, 28}), y = randint(10, {n}).cuda();
  measure(state, 20, [&] {
    optimizer.zero_grad();
    Tensor h = c1(x);
    h = h.relu();
    h = max_pool2d(h, 2);
    h = c2(h);
    h = h.relu();
    h = max_pool2d(h, 2).flatten(1);
    h = f1(h);
    h = h.relu();
    cross_entropy_loss(f2(h), y).backward();
    optimizer.step();
  });
}
ARGAND_ROW(cnn_step, "step/cnn")->Arg(64)->Arg(4096);

const bool sequences = [] {
  for (const bench::Row& row : bench::sequences)
    ARGAND_TIMED(benchmark::RegisterBenchmark(row.name, [row](benchmark::State& state) {
      manual_seed(0);
      measure(state, 10, row.make(kCUDA));
    }));
  return true;
}();

// Where the time of the CNN of batch 4096 goes: its second convolution and what surrounds it, one by one.
struct CnnPart {
  Tensor x = random({4096, 16, 14, 14}), w = random({32, 16, 3, 3}), g = random({4096, 32, 14, 14});
};
void conv_forward(benchmark::State& state) {
  const CnnPart p;
  measure(state, 10, [&] { _convolution_nd(p.x, p.w, {}, {1, 1}, {1, 1}, {1, 1}, 1); });
}
ARGAND_ROW(conv_forward, "cnn_part/conv_forward");
void conv_input_grad(benchmark::State& state) {
  const CnnPart p;
  measure(state, 10, [&] { _conv_input_grad(p.g, p.w, p.x.sizes(), {1, 1}, {1, 1}, {1, 1}, 1); });
}
ARGAND_ROW(conv_input_grad, "cnn_part/conv_input_grad");
void conv_weight_grad(benchmark::State& state) {
  const CnnPart p;
  measure(state, 10, [&] { _conv_weight_grad(p.g, p.x, p.w.sizes(), {1, 1}, {1, 1}, {1, 1}, 1, false); });
}
ARGAND_ROW(conv_weight_grad, "cnn_part/conv_weight_grad");
void conv_bias_grad(benchmark::State& state) {
  const CnnPart p;
  measure(state, 10, [&] { p.g.sum({0, 2, 3}); });
}
ARGAND_ROW(conv_bias_grad, "cnn_part/conv_bias_grad");
void conv_parameter_grads(benchmark::State& state) {
  const CnnPart p;
  measure(state, 10, [&] { _conv_weight_grad(p.g, p.x, p.w.sizes(), {1, 1}, {1, 1}, {1, 1}, 1, true); });
}
ARGAND_ROW(conv_parameter_grads, "cnn_part/conv_parameter_grads");
void pool_forward(benchmark::State& state) {
  const CnnPart p;
  measure(state, 10, [&] { max_pool2d(p.g, 2); });
}
ARGAND_ROW(pool_forward, "cnn_part/max_pool");
void pool_both(benchmark::State& state) {
  const CnnPart p;
  const Tensor x = p.g.detach().requires_grad_(), g = random({4096, 32, 7, 7});
  measure(state, 10, [&] {
    x.mutable_grad() = Tensor();
    max_pool2d(x, 2).backward(g);
  });
}
ARGAND_ROW(pool_both, "cnn_part/max_pool_and_backward");
void relu_rows(benchmark::State& state) {
  const CnnPart p;
  measure(state, 10, [&] {
    const Tensor y = p.g.relu();
    exec::flush();  // while somebody wants the result: nobody would see a difference if it were left out
  });
}
ARGAND_ROW(relu_rows, "cnn_part/relu");

// A convolution of ResNet-50 in bfloat16 with bias and relu, and its gradients, in either memory format.
struct LayerOfResnet {
  explicit LayerOfResnet(MemoryFormat format)
      : x(random({64, 64, 56, 56}).to(kBFloat16).contiguous(format)),
        w(random({64, 64, 3, 3}).to(kBFloat16).contiguous(format)),
        b(random({64}).to(kBFloat16)),
        g(random({64, 64, 56, 56}).to(kBFloat16).contiguous(format)) {}
  Tensor x, w, b, g;
};
void conv_bf16(benchmark::State& state, MemoryFormat format) {
  const LayerOfResnet p(format);
  measure(state, 10, [&] {
    const Tensor y = conv2d(p.x, p.w, p.b, {1, 1}, {1, 1}).relu();
    exec::flush();
  });
}
void conv_grads_bf16(benchmark::State& state, MemoryFormat format) {
  const LayerOfResnet p(format);
  measure(state, 10, [&] {
    _conv_weight_grad(p.g, p.x, p.w.sizes(), {1, 1}, {1, 1}, {1, 1}, 1, true);
    _conv_input_grad(p.g, p.w, p.x.sizes(), {1, 1}, {1, 1}, {1, 1}, 1);
  });
}
#define ARGAND_FORMATS(function, name)                                                           \
  void function##_first(benchmark::State& state) { function(state, MemoryFormat::Contiguous); }  \
  void function##_last(benchmark::State& state) { function(state, MemoryFormat::ChannelsLast); } \
  ARGAND_ROW(function##_first, name);                                                            \
  ARGAND_ROW(function##_last, name "_channels_last")
ARGAND_FORMATS(conv_bf16, "conv_bias_relu/64x64x56_bf16");
ARGAND_FORMATS(conv_grads_bf16, "conv_grads/64x64x56_bf16");

void conv_input_grad_fp32(benchmark::State& state) {
  const Tensor x = random({64, 64, 56, 56}), w = random({64, 64, 3, 3}), g = random({64, 64, 56, 56});
  measure(state, 10, [&] { _conv_input_grad(g, w, x.sizes(), {1, 1}, {1, 1}, {1, 1}, 1); });
}
ARGAND_ROW(conv_input_grad_fp32, "conv_input_grad/64x64x56_fp32");

void linear_relu(benchmark::State& state) {
  const Tensor x = random({8192, 4096}).to(kBFloat16), w = random({4096, 4096}).to(kBFloat16),
               b = random({4096}).to(kBFloat16);
  measure(state, 10, [&] {
    const Tensor y = linear(x, w, b).relu();
    exec::flush();
  });
}
ARGAND_ROW(linear_relu, "linear_relu/8192x4096_bf16");

void chain(benchmark::State& state) {
  const Tensor x = random({64 << 20}), y = random({64 << 20});
  measure(state, 10, [&] {
    const Tensor z = ((x * y + x) * 2.0 - y).relu() * x;
    exec::flush();
  });
}
ARGAND_ROW(chain, "chain/64M");

// f(x) for a matrix of 8192 x 8192.
template <class F>
void matrix(benchmark::State& state, F f) {
  const Tensor x = random({8192, 8192});
  measure(state, 10, [&] {
    const Tensor y = f(x);
    exec::flush();
  });
}
void softmax_rows(benchmark::State& state) {
  matrix(state, [](const Tensor& x) { return x.softmax(1); });
}
ARGAND_ROW(softmax_rows, "softmax/8192x8192");
void layer_norm_rows(benchmark::State& state) {
  const Tensor w = random({8192}), b = random({8192});
  matrix(state, [&](const Tensor& x) { return layer_norm(x, {8192}, w, b); });
}
ARGAND_ROW(layer_norm_rows, "layer_norm/8192x8192");
void transpose(benchmark::State& state) {
  matrix(state, [](const Tensor& x) { return x.t().contiguous(); });
}
ARGAND_ROW(transpose, "transpose/8192x8192");
void sum_all(benchmark::State& state) {
  matrix(state, [](const Tensor& x) { return x.sum(); });
}
ARGAND_ROW(sum_all, "sum/whole");
void sum_columns(benchmark::State& state) {
  matrix(state, [](const Tensor& x) { return x.sum(0); });
}
ARGAND_ROW(sum_columns, "sum/dim0");
void sum_rows(benchmark::State& state) {
  matrix(state, [](const Tensor& x) { return x.sum(1); });
}
ARGAND_ROW(sum_rows, "sum/dim1");
void cumsum_rows(benchmark::State& state) {
  matrix(state, [](const Tensor& x) { return x.cumsum(1); });
}
ARGAND_ROW(cumsum_rows, "cumsum/dim1");

void topk_rows(benchmark::State& state) {
  matrix(state, [](const Tensor& x) { return std::get<0>(x.topk(50, 1)); });
}
ARGAND_ROW(topk_rows, "topk/50_of_8192x8192");
void sort_keys(benchmark::State& state) {
  const Tensor x = random({64 << 20});
  measure(state, 2, [&] { x.sort(); });
}
ARGAND_ROW(sort_keys, "sort/64M");

void cross_entropy_step(benchmark::State& state) {
  const Tensor x = random({8192, 50304}).to(kBFloat16).requires_grad_(), y = randint(50304, {8192}).cuda();
  measure(state, 5, [&] {
    x.mutable_grad() = Tensor();
    cross_entropy_loss(x, y).backward();
  });
}
ARGAND_ROW(cross_entropy_step, "cross_entropy/8192x50304_bf16");

void matmul(benchmark::State& state, ScalarType type) {
  const Tensor a = random({8192, 8192}).to(type), b = random({8192, 8192}).to(type);
  measure(state, 5, [&] { a.mm(b); });
}
void matmul_bf16(benchmark::State& state) { matmul(state, kBFloat16); }
void matmul_fp32(benchmark::State& state) { matmul(state, kFloat); }
void matmul_tf32(benchmark::State& state) {
  set_allow_tf32_matmul(true);
  matmul(state, kFloat);
  set_allow_tf32_matmul(false);
}
ARGAND_ROW(matmul_bf16, "matmul/8192_bf16");
ARGAND_ROW(matmul_fp32, "matmul/8192_fp32");
ARGAND_ROW(matmul_tf32, "matmul/8192_tf32");

void embedding_rows(benchmark::State& state) {
  const Tensor table = random({50304, 768}), index = randint(50304, {8192}).cuda();
  measure(state, 50, [&] { embedding(table, index); });
}
ARGAND_ROW(embedding_rows, "embedding/8192_of_50304x768");

// The shapes of ResNet-50's parameters, roughly: 25.6 M elements in 161 tensors.
void adam_step(benchmark::State& state) {
  std::vector<Tensor> parameters;
  const int64_t widths[] = {64, 128, 256, 512}, depths[] = {3, 4, 6, 3};
  const auto add = [&](IntArrayRef sizes) {
    parameters.push_back(random(sizes).requires_grad_());
    parameters.back().mutable_grad() = random(sizes);
  };
  add({64, 3, 7, 7});
  int64_t in = 64;
  for (int stage = 0; stage < 4; ++stage)
    for (int64_t block = 0; block < depths[stage]; ++block) {
      const int64_t w = widths[stage];
      add({w, in, 1, 1});
      add({w, w, 3, 3});
      add({4 * w, w, 1, 1});
      if (block == 0) add({4 * w, in, 1, 1});
      for (const int64_t c : {w, w, 4 * w})
        for (int i = 0; i < 2; ++i) add({c});
      in = 4 * w;
    }
  add({1000, 2048});
  add({1000});
  optim::Adam optimizer(parameters);
  measure(state, 20, [&] { optimizer.step(); });
}
ARGAND_ROW(adam_step, "adam/resnet50");

void to_device(benchmark::State& state) {
  const Tensor x = randn({256 << 20});
  measure(state, 1, [&] { x.cuda(); });
}
ARGAND_ROW(to_device, "copy/pageable_1GiB");
void to_device_pinned(benchmark::State& state) {
  const Tensor x = randn({256 << 20}).pin_memory();
  measure(state, 1, [&] { x.cuda(); });
}
ARGAND_ROW(to_device_pinned, "copy/pinned_1GiB");

}  // namespace
}  // namespace argand

BENCHMARK_MAIN();
