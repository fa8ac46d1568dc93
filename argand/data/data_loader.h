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
#include <optional>
#include <vector>

#include "argand/core/state_dict.h"
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
    // `given` counts the batches, and is -1 after the last one.
    Iterator(std::shared_ptr<detail::Pipeline> pass, std::shared_ptr<int64_t> given);
    const Example<>& operator*() const { return batch_; }
    const Example<>* operator->() const { return &batch_; }
    Iterator& operator++();
    bool operator==(const Iterator& o) const { return pass_ == o.pass_; }

   private:
    std::shared_ptr<detail::Pipeline> pass_;
    std::shared_ptr<int64_t> given_;
    Example<> batch_;
  };

  // ValueError for no data set, a batch size below 1 or a negative number of workers.
  DataLoader(std::shared_ptr<const AnyDataset> dataset, DataLoaderOptions options,
             std::unique_ptr<Sampler> sampler = nullptr);

  Iterator begin();
  Iterator end() { return {}; }
  // Starts a pass at its batch number `first`, for a run that is resumed in the middle of one.
  Iterator begin_at(int64_t first);

  // The position of the latest pass: "batches", the number given out, and the state of the shuffle's generator before
  // it.  After load_state_dict(), here or in another process, begin() continues after those batches in the same order,
  // and leaves the default generator as it is.  A program that takes batches ahead (Prefetcher) must count them itself
  // and use begin_at(), as must a program whose sampler draws from its own generator.
  StateDict state_dict() const;
  void load_state_dict(const StateDict& state);  // ValueError for what is no such state
  // The batches of a pass that visits every example once, as with the samplers of this library.
  int64_t num_batches() const { return batches_of(dataset_->size()); }
  const DataLoaderOptions& options() const { return options_; }

 private:
  int64_t batches_of(int64_t samples) const;
  Generator generator() const;  // the generator of the shuffle

  std::shared_ptr<const AnyDataset> dataset_;
  DataLoaderOptions options_;
  std::unique_ptr<Sampler> sampler_;
  std::shared_ptr<int64_t> given_;    // count of the latest pass; null before the first pass
  std::vector<uint8_t> before_;       // the generator's state then
  std::optional<int64_t> resume_at_;  // begin() goes on from here, and from before_
};

}  // namespace argand::data
