#include "argand/data/data_loader.h"

#include "argand/base/log.h"
#include "argand/core/cpu_generator.h"
#include "argand/ops/functions.h"
#include "argand/runtime/backend.h"
#include "argand/serialize/training_state.h"

namespace argand::data {

Tensor detail::pinned(const Tensor& t) {
  if (!t.defined() || !t.is_cpu()) return t;
  const Tensor out = t.pin_memory();
  out.impl().data();  // written, too: it is the thread that makes a batch which does the work
  return out;
}

void DataLoaderOptions::check() {
  ARGAND_CHECK(ValueError, batch_size() > 0, "DataLoader: batch_size should be a positive integer value, but got ",
               batch_size());
  ARGAND_CHECK(ValueError, workers() >= 0, "DataLoader: workers must not be negative, got ", workers());
  if (std::string why; pin_memory() && !find_accelerator(&why)) {
    warn("DataLoader: pin_memory has no effect: ", why);
    pin_memory(false);
  }
}

detail::Pipeline::Settings DataLoaderOptions::settings() const {
  const int64_t ahead = std::max<int64_t>(1, prefetch()) * std::max<int64_t>(1, workers());
  return {workers(), std::max<int64_t>(1, max_jobs().value_or(ahead)), timeout(), enforce_ordering()};
}

FullDataLoaderOptions::FullDataLoaderOptions(const DataLoaderOptions& options)
    : batch_size(static_cast<size_t>(options.batch_size())),
      workers(static_cast<size_t>(options.workers())),
      max_jobs(workers ? static_cast<size_t>(options.settings().ahead) : 0),
      enforce_ordering(options.enforce_ordering()),
      drop_last(options.drop_last()) {
  if (options.timeout().count() > 0) timeout = options.timeout();
}

DataLoader::Iterator::Iterator(std::shared_ptr<detail::Pipeline> pass, std::shared_ptr<int64_t> given)
    : pass_(std::move(pass)), given_(std::move(given)) {
  ++*this;
}

DataLoader::Iterator& DataLoader::Iterator::operator++() {
  if (!pass_) return *this;
  if (const auto batch = std::static_pointer_cast<Example<>>(pass_->next())) {
    batch_ = std::move(*batch);
    ++*given_;
  } else {
    pass_ = nullptr;
    *given_ = -1;
    batch_ = {};
  }
  return *this;
}

DataLoader::DataLoader(std::shared_ptr<const AnyDataset> dataset, DataLoaderOptions options,
                       std::unique_ptr<Sampler> sampler)
    : dataset_(std::move(dataset)), options_(std::move(options)), sampler_(std::move(sampler)) {
  ARGAND_CHECK(ValueError, dataset_, "DataLoader: the data set is null");
  options_.check();
  if (sampler_) return;
  if (options_.shuffle())
    sampler_ = std::make_unique<RandomSampler>(options_.generator());
  else
    sampler_ = std::make_unique<SequentialSampler>();
}

int64_t DataLoader::batches_of(int64_t samples) const {
  const int64_t b = options_.batch_size();
  return samples / b + (!options_.drop_last() && samples % b != 0);
}

Generator DataLoader::generator() const {
  return options_.generator().defined() ? options_.generator() : default_cpu_generator();
}

DataLoader::Iterator DataLoader::begin() {
  if (!resume_at_) return begin_at(0);
  const int64_t first = *std::exchange(resume_at_, std::nullopt);
  Generator shared = generator();
  const std::vector<uint8_t> now = shared.state();
  shared.set_state(before_);
  Iterator out = begin_at(first);
  // The loader's own generator continues after the drawn order, as it did when the pass began.
  if (!options_.generator().defined()) shared.set_state(now);
  return out;
}

StateDict DataLoader::state_dict() const {
  const int64_t batches = resume_at_ ? *resume_at_ : given_ ? *given_ : -1;
  const std::vector<uint8_t> state = batches < 0 ? generator().state() : before_;
  StateDict out;
  out.insert("batches", full({}, static_cast<double>(batches), kLong));
  out.insert("generator", serialize::tensor_of(state));
  return out;
}

void DataLoader::load_state_dict(const StateDict& state) {
  const Tensor *batches = state.find("batches"), *generator = state.find("generator");
  ARGAND_CHECK(ValueError,
               state.size() == 2 && batches && generator && batches->numel() == 1 && batches->dtype() == kLong,
               "load_state_dict: this is no state of a DataLoader");
  std::vector<uint8_t> before = serialize::bytes_of(*generator);
  Generator own = this->generator();
  own.clone().set_state(before);  // throws for what is no state
  const auto at = batches->item<int64_t>();
  ARGAND_CHECK(ValueError, at <= num_batches(), "load_state_dict: batch ", at, " of ", num_batches());
  // Between two passes, the state is that of the loader's own generator; the default generator is left alone.
  if (at < 0 && options_.generator().defined()) own.set_state(before);
  given_ = nullptr;
  before_ = std::move(before);
  resume_at_ = at < 0 ? std::nullopt : std::optional(at);
}

DataLoader::Iterator DataLoader::begin_at(int64_t first) {
  resume_at_ = std::nullopt;
  before_ = generator().state();
  std::vector<int64_t> order = sampler_->next_order(dataset_->size());
  for (const int64_t i : order)
    ARGAND_CHECK(IndexError, i >= 0 && i < dataset_->size(), "DataLoader: the sampler gave index ", i,
                 ", which is out of range for ", dataset_->size(), " examples");
  const int64_t batches = batches_of(static_cast<int64_t>(order.size()));
  ARGAND_CHECK(ValueError, first >= 0 && first <= batches, "DataLoader: first batch ", first, " is out of range for ",
               batches, " batches");
  auto source = [dataset = dataset_, order = std::make_shared<const std::vector<int64_t>>(std::move(order)),
                 size = options_.batch_size(), pin = options_.pin_memory(), at = first, batches]() mutable {
    if (at == batches) return detail::Pipeline::Work();
    const auto begin = static_cast<size_t>(at++ * size);
    const size_t count = std::min(static_cast<size_t>(size), order->size() - begin);
    return detail::Pipeline::Work{
        [dataset, order, begin, count, pin](size_t) {
          auto made = std::make_shared<Example<>>(dataset->get_batch(IntArrayRef(*order).slice(begin, count)));
          if (pin) *made = {detail::pinned(made->data), detail::pinned(made->target)};
          return made;
        },
        (*order)[begin]};
  };
  given_ = std::make_shared<int64_t>(first);
  return {std::make_shared<detail::Pipeline>(std::move(source), options_.settings(), first), given_};
}

}  // namespace argand::data
