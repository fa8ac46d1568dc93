// Batches of a data set, made ahead of time by threads.
//
//   data::DataLoader loader(dataset, data::DataLoaderOptions().batch_size(64).shuffle(true).workers(2));
//   for (const data::Example<>& batch : loader) ...
//
// Each begin() starts a pass.  Batches come in the same order, with the same contents, for any number of workers.  An
// exception in a worker is thrown where its batch would have come, as SampleError where the sample is known.  Leaving a
// pass early, or destroying the loader, stops the workers; a worker that is stuck in user code is left behind after the
// timeout, never waited for without end.
#pragma once
#include <memory>

#include "argand/data/dataloader_options.h"
#include "argand/data/dataset.h"
#include "argand/data/sampler.h"

namespace argand::data {

class DataLoader {
 public:
  class Iterator {
   public:
    using value_type = Example<>;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(std::shared_ptr<detail::Pipeline> pass);
    const Example<>& operator*() const { return batch_; }
    const Example<>* operator->() const { return &batch_; }
    Iterator& operator++();
    bool operator==(const Iterator& o) const { return pass_ == o.pass_; }

   private:
    std::shared_ptr<detail::Pipeline> pass_;
    Example<> batch_;
  };

  // ValueError for no data set, a batch size below 1 or a negative number of workers.
  DataLoader(std::shared_ptr<const Dataset> dataset, DataLoaderOptions options,
             std::unique_ptr<Sampler> sampler = nullptr);

  Iterator begin();
  Iterator end() { return {}; }
  // Starts a pass at its batch number `first`, for a run that is resumed in the middle of one.
  Iterator begin_at(int64_t first);
  // Of a pass that visits every example once, as the samplers of this library do.
  int64_t num_batches() const { return batches_of(dataset_->size()); }
  const DataLoaderOptions& options() const { return options_; }

 private:
  int64_t batches_of(int64_t samples) const;

  std::shared_ptr<const Dataset> dataset_;
  DataLoaderOptions options_;
  std::unique_ptr<Sampler> sampler_;
};

}  // namespace argand::data
