// How a loader makes its batches.
#pragma once
#include <chrono>
#include <optional>

#include "argand/base/arg.h"
#include "argand/core/tensor.h"
#include "argand/data/pipeline.h"

namespace argand::data {

struct DataLoaderOptions {
  DataLoaderOptions() = default;
  DataLoaderOptions(int64_t batch_size) : batch_size_(batch_size) {}
  ARGAND_ARG(int64_t, batch_size) = 1;
  ARGAND_ARG(bool, shuffle) = false;             // with a RandomSampler, unless a sampler is given
  ARGAND_ARG(int64_t, workers) = 0;              // 0: batches are made in the calling thread
  ARGAND_ARG(int64_t, prefetch) = 2;             // batches made ahead, per worker
  ARGAND_ARG(std::optional<int64_t>, max_jobs);  // batches made ahead by all workers; given, it overrides prefetch
  ARGAND_ARG(bool, enforce_ordering) = true;     // false: batches come as they are done
  ARGAND_ARG(bool, drop_last) = false;
  // Batches come in page-locked memory, from which a GPU copies by itself (`to(device, dtype, true)`,
  // data::Prefetcher). Without a GPU it warns and has no effect.
  ARGAND_ARG(bool, pin_memory) = false;
  ARGAND_ARG(std::chrono::milliseconds, timeout) = std::chrono::milliseconds(0);  // for one batch; 0: none
  ARGAND_ARG(Generator, generator);  // for the shuffle; undefined: the default one

 public:
  // ValueError for a batch size below 1 or a negative number of workers.  Without a GPU, switches pin_memory off.
  void check();
  detail::Pipeline::Settings settings() const;
};

// The same as plain members, which a loader of make_data_loader() shows; LibTorch's.
struct FullDataLoaderOptions {
  explicit FullDataLoaderOptions(const DataLoaderOptions& options);
  size_t batch_size, workers;
  size_t max_jobs;  // batches made ahead by all workers; 0 without workers
  std::optional<std::chrono::milliseconds> timeout;
  bool enforce_ordering, drop_last;
};

namespace detail {
// A copy in page-locked memory of what is on the CPU.
Tensor pinned(const Tensor& t);
}  // namespace detail

}  // namespace argand::data
