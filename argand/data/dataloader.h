// Loaders of the class templates in datasets/ and samplers/, source-compatible with LibTorch's:
//
//   auto loader = data::make_data_loader<data::samplers::SequentialSampler>(std::move(set), 64);
//   for (auto& batch : *loader) ...
//
// Batches are made by data/pipeline.h, as DataLoader's.  One pass at a time; it may outlive its loader.
#pragma once
#include "argand/data/dataloader_options.h"
#include "argand/data/datasets/base.h"
#include "argand/data/iterator.h"
#include "argand/data/samplers/random.h"

namespace argand::data {

// The common base of loaders.  `options` are those of the loader.
template <class Dataset, class Batch, class BatchRequest>
class DataLoaderBase {
 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;

  explicit DataLoaderBase(DataLoaderOptions options) : options_(std::move(options)), full_options_(options_) {
    options_.check();
    ARGAND_CHECK(ValueError, !options_.shuffle(),
                 "make_data_loader: the sampler says what is shuffled; give make_data_loader a RandomSampler");
    ARGAND_CHECK(ValueError, !options_.pin_memory() || kCanPin,
                 "make_data_loader: pin_memory needs batches of type Example<>");
  }
  virtual ~DataLoaderBase() = default;
  DataLoaderBase(const DataLoaderBase&) = delete;
  DataLoaderBase& operator=(const DataLoaderBase&) = delete;

  // Starts a pass.  ValueError while workers still make batches of another one.
  Iterator<Batch> begin() {
    const auto before = pass_.lock();
    ARGAND_CHECK(ValueError, !before || before->is_exhausted() || options_.workers() == 0,
                 "Attempted to get a new DataLoader iterator while another iterator is not yet exhausted");
    const auto pass = std::make_shared<detail::Pass>(start_pass(), options_.settings());
    pass_ = pass;
    return Iterator<Batch>(pass);
  }
  Iterator<Batch> end() { return {}; }
  // Ends the pass, if there is one.
  void join() {
    if (const auto pass = pass_.lock()) pass->stop();
  }
  const FullDataLoaderOptions& options() const noexcept { return full_options_; }

 protected:
  DataLoaderOptions options_;
  static constexpr bool kCanPin = std::is_same_v<Batch, Example<>>;
  virtual detail::Pipeline::Source start_pass() = 0;

  static detail::Pipeline::Batch share(Batch batch, bool pin) {
    if constexpr (kCanPin)
      if (pin) batch = {detail::pinned(batch.data), detail::pinned(batch.target)};
    return std::make_shared<Batch>(std::move(batch));
  }

 private:
  const FullDataLoaderOptions full_options_;
  std::weak_ptr<detail::Pass> pass_;
};

// A sampler says what each batch holds; every worker has a copy of the data set.
template <class Dataset, class Sampler>
class StatelessDataLoader
    : public DataLoaderBase<Dataset, typename Dataset::BatchType, typename Sampler::BatchRequestType> {
 public:
  StatelessDataLoader(Dataset dataset, Sampler sampler, DataLoaderOptions options)
      : StatelessDataLoader::DataLoaderBase(std::move(options)), shared_(std::make_shared<Shared>(std::move(sampler))) {
    // The calling thread uses what it was given, a worker always a copy: data sets may count them.
    const auto workers = this->options().workers;
    shared_->datasets.reserve(std::max<size_t>(1, workers));
    for (size_t i = 0; i < workers; ++i) shared_->datasets.push_back(dataset);
    if (workers == 0) shared_->datasets.push_back(std::move(dataset));
  }

 private:
  struct Shared {
    explicit Shared(Sampler sampler) : sampler(std::move(sampler)) {}
    Sampler sampler;
    std::vector<Dataset> datasets;
  };
  detail::Pipeline::Source start_pass() override {
    shared_->sampler.reset(std::nullopt);
    return [shared = shared_, size = this->options().batch_size, drop_last = this->options().drop_last,
            pin = this->options_.pin_memory()]() -> detail::Pipeline::Work {
      auto request = shared->sampler.next(size);
      if (!request || (drop_last && request->size() < size)) return {};
      return {[shared, pin, request = std::move(*request)](size_t worker) {
        return StatelessDataLoader::share(shared->datasets[worker].get_batch(request), pin);
      }};
    };
  }
  std::shared_ptr<Shared> shared_;
};

// The data set, one for all workers, says itself what comes next.
template <class Dataset>
class StatefulDataLoader
    : public DataLoaderBase<Dataset, typename Dataset::BatchType::value_type, typename Dataset::BatchRequestType> {
 public:
  StatefulDataLoader(Dataset dataset, DataLoaderOptions options)
      : StatefulDataLoader::DataLoaderBase(std::move(options)),
        dataset_(std::make_shared<Dataset>(std::move(dataset))) {}

 private:
  detail::Pipeline::Source start_pass() override {
    dataset_->reset();
    return [dataset = dataset_, size = this->options().batch_size,
            pin = this->options_.pin_memory()]() -> detail::Pipeline::Work {
      return {[dataset, size, pin](size_t) -> detail::Pipeline::Batch {
        auto batch = dataset->get_batch(size);
        return batch ? StatefulDataLoader::share(std::move(*batch), pin) : nullptr;
      }};
    };
  }
  std::shared_ptr<Dataset> dataset_;
};

// A loader of a data set and a sampler.
template <class Dataset, class Sampler>
requires(!Dataset::is_stateful &&
         requires {
           typename Sampler::BatchRequestType;
         }) std::unique_ptr<StatelessDataLoader<Dataset, Sampler>> make_data_loader(Dataset dataset, Sampler sampler,
                                                                                    DataLoaderOptions options = {}) {
  return std::make_unique<StatelessDataLoader<Dataset, Sampler>>(std::move(dataset), std::move(sampler),
                                                                 std::move(options));
}

// A loader of a data set of known size and a sampler made from that size.
template <class Sampler = samplers::RandomSampler, class Dataset>
requires(!Dataset::is_stateful && std::is_constructible_v<Sampler, size_t>)
    std::unique_ptr<StatelessDataLoader<Dataset, Sampler>> make_data_loader(Dataset dataset,
                                                                            DataLoaderOptions options = {}) {
  const std::optional<size_t> size = dataset.size();
  ARGAND_CHECK(ValueError, size.has_value(), "Expected the dataset to be sized in order to construct the Sampler");
  return make_data_loader(std::move(dataset), Sampler(*size), std::move(options));
}

// A loader of a stateful data set.
template <class Dataset>
requires(Dataset::is_stateful) std::unique_ptr<StatefulDataLoader<Dataset>> make_data_loader(
    Dataset dataset, DataLoaderOptions options = {}) {
  return std::make_unique<StatefulDataLoader<Dataset>>(std::move(dataset), std::move(options));
}

}  // namespace argand::data
