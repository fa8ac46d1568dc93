// The prefetcher on a real GPU: its copies run beside the work of the current stream.
#include "argand/data/prefetcher.h"

#include <algorithm>

#include "argand/data/data_loader.h"
#include "argand/ops/functions.h"
#include "argand/ops/operators.h"
#include "tests/cuda/device_fixture.h"

namespace argand {
namespace {

class CudaPrefetcher : public ComputingCudaTest {};

constexpr int64_t kBatches = 12, kElements = 16 << 20;  // 64 MiB each: some milliseconds on the way

// Some milliseconds of work whose result depends on the whole batch.
Tensor work(const Tensor& batch, const Tensor& matrix) {
  return batch.view({4096, 4096}).mm(matrix).sum() + batch.sum();
}

struct Pass {
  float ms;
  std::vector<double> results;
};

// Milliseconds on the current stream.
template <class F>
float timed(F f) {
  cuda::Event begin(true), end(true);
  cuda::synchronize();
  begin.record();
  f();
  end.record();
  end.synchronize();
  return begin.elapsed_time(end);
}

Pass timed_pass(const std::vector<Tensor>& host, const Tensor& matrix, bool prefetch) {
  std::vector<Tensor> results;
  size_t at = 0;
  const auto source = [&](data::Example<>& out) {
    if (at == host.size()) return false;
    out = {host[at++], {}};
    return true;
  };
  const float ms = timed([&] {
    if (prefetch) {
      data::Prefetcher batches(source, Device(kCUDA));
      for (data::Example<> batch; batches.next(batch);) results.push_back(work(batch.data, matrix));
    } else {
      for (data::Example<> batch; source(batch);) results.push_back(work(batch.data.cuda({}, true), matrix));
    }
  });
  Pass pass{ms, {}};
  for (const Tensor& r : results) pass.results.push_back(r.item<double>());
  return pass;
}

TEST_F(CudaPrefetcher, CopiesOverlapWithWork) {
  std::vector<Tensor> host;
  for (int64_t i = 0; i < kBatches; ++i) host.push_back(full({kElements}, static_cast<double>(i) / 64).pin_memory());
  const Tensor matrix = full({4096, 4096}, 1.0 / 4096, TensorOptions(kFloat).device(kCUDA));
  timed_pass(host, matrix, true);  // memory, kernels
  timed_pass(host, matrix, false);
  const float copies = timed([&] {
    for (const Tensor& batch : host) batch.cuda({}, true);
  });
  const Tensor there = host[0].cuda();
  const float products = timed([&] {
    for (int64_t i = 0; i < kBatches; ++i) work(there, matrix);
  });
  const Pass one_by_one = timed_pass(host, matrix, false), ahead = timed_pass(host, matrix, true);
  std::printf("[  NOTE    ] %lld batches of 64 MiB: copies %.2f ms, products %.2f; %.2f one by one, %.2f prefetched\n",
              static_cast<long long>(kBatches), copies, products, one_by_one.ms, ahead.ms);
  EXPECT_EQ(ahead.results, one_by_one.results);
  EXPECT_LT(ahead.ms, 0.9F * one_by_one.ms);
  // Copies and products may overlap, except for the first and the last batch.
  EXPECT_LT(ahead.ms, copies + products - 0.6F * std::min(copies, products));
}

// Batches are dropped as soon as they were used, so that memory is reused while work on it is still waiting.
TEST_F(CudaPrefetcher, MemoryIsNotReusedTooEarly) {
  const int64_t n = 1 << 22;
  const auto dataset =
      std::make_shared<data::TensorDataset>(arange(24, kFloat).view({24, 1}).expand({24, n}).contiguous());
  for (int round = 0; round < 3; ++round) {
    data::DataLoader loader(dataset, data::DataLoaderOptions(1).workers(2).pin_memory(true));
    std::vector<Tensor> extremes;
    for (const data::Example<>& batch : data::Prefetcher(loader, Device(kCUDA))) {
      Tensor x = batch.data;
      for (int i = 0; i < 20; ++i) x = (x.roll(1, 1) + batch.data) / 2;  // slower than a copy
      extremes.push_back(x.amax() + x.amin());
    }
    ASSERT_EQ(extremes.size(), 24U);
    for (size_t i = 0; i < extremes.size(); ++i)
      EXPECT_EQ(extremes[i].item<double>(), 2 * static_cast<double>(i)) << round;
  }
}

}  // namespace
}  // namespace argand
