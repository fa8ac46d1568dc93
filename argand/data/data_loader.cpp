#include "argand/data/data_loader.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "argand/base/log.h"
#include "argand/core/grad_mode.h"
#include "argand/data/errors.h"
#include "argand/runtime/backend.h"

namespace argand::data {
namespace {

// Written, too: it is the thread that makes a batch which does the work.
Tensor pinned(const Tensor& t) {
  if (!t.defined() || !t.is_cpu()) return t;
  const Tensor out = t.pin_memory();
  out.impl().data();
  return out;
}

// One pass as its workers see it.  Workers share ownership, so that one left behind never touches freed memory.
class Shared {
 public:
  Shared(std::shared_ptr<const Dataset> dataset, std::vector<int64_t> order, const DataLoaderOptions& o, int64_t first,
         int64_t batches)
      : dataset_(std::move(dataset)),
        order_(std::move(order)),
        batch_size_(o.batch_size()),
        ahead_(std::max<int64_t>(1, o.prefetch()) * std::max<int64_t>(1, o.workers())),
        pin_(o.pin_memory()),
        timeout_(o.timeout()),
        batches_(batches),
        to_make_(first),
        to_take_(first) {}

  Example make(int64_t batch) const {
    const auto begin = static_cast<size_t>(batch * batch_size_);
    const size_t count = std::min(static_cast<size_t>(batch_size_), order_.size() - begin);
    Example made = dataset_->get_batch(IntArrayRef(order_).slice(begin, count));
    return pin_ ? Example{pinned(made.data), pinned(made.target)} : made;
  }

  void work() {
    const NoGradGuard no_grad;
    std::unique_lock lock(mutex_);
    while (true) {
      room_.wait(lock, [&] { return stop_ || to_make_ == batches_ || to_make_ < to_take_ + ahead_; });
      if (stop_ || to_make_ == batches_) break;
      const int64_t batch = to_make_++;
      lock.unlock();
      Made made;
      try {
        made.example = make(batch);
      } catch (...) {
        made.error = std::current_exception();
      }
      lock.lock();
      made_.emplace(batch, std::move(made));
      ready_.notify_one();
    }
    ++finished_;
    ready_.notify_one();
  }

  // The next batch in order, or false at the end of the pass.
  bool take(Example& out) {
    std::unique_lock lock(mutex_);
    if (to_take_ == batches_) return false;
    const auto is_ready = [&] { return made_.count(to_take_) > 0; };
    if (timeout_.count() == 0) {
      ready_.wait(lock, is_ready);
    } else if (!ready_.wait_for(lock, timeout_, is_ready)) {
      throw LoaderTimeout(str("DataLoader: batch ", to_take_, " (sample ",
                              order_[static_cast<size_t>(to_take_ * batch_size_)],
                              " and following) was not made within ", timeout_.count(), " ms"));
    }
    Made made = std::move(made_.extract(to_take_).mapped());
    ++to_take_;
    room_.notify_one();
    lock.unlock();
    if (made.error) std::rethrow_exception(made.error);
    out = std::move(made.example);
    return true;
  }
  bool make_next(Example& out) {
    if (to_take_ == batches_) return false;
    const NoGradGuard no_grad;
    out = make(to_take_++);
    return true;
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    room_.notify_all();
  }
  // Whether all workers have left within the deadline.
  bool wait_until_finished(int64_t workers) {
    std::unique_lock lock(mutex_);
    const auto all = [&] { return finished_ == workers; };
    if (timeout_.count() == 0) return ready_.wait(lock, all), true;
    return ready_.wait_for(lock, timeout_, all);
  }

 private:
  struct Made {
    Example example;
    std::exception_ptr error;
  };
  const std::shared_ptr<const Dataset> dataset_;
  const std::vector<int64_t> order_;
  const int64_t batch_size_, ahead_;
  const bool pin_;
  const std::chrono::milliseconds timeout_;
  const int64_t batches_;

  std::mutex mutex_;
  std::condition_variable room_, ready_;
  std::map<int64_t, Made> made_;
  int64_t to_make_, to_take_, finished_ = 0;
  bool stop_ = false;
};

}  // namespace

class DataLoader::Pass {
 public:
  Pass(std::shared_ptr<Shared> shared, int64_t workers) : shared_(std::move(shared)) {
    try {
      for (int64_t i = 0; i < workers; ++i) threads_.emplace_back([shared = shared_] { shared->work(); });
    } catch (...) {  // no more threads: those that run must leave, or their destructors would end the process
      leave();
      throw;
    }
  }
  ~Pass() { leave(); }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;
  bool next(Example& out) { return threads_.empty() ? shared_->make_next(out) : shared_->take(out); }

 private:
  void leave() {
    shared_->stop();
    const bool finished = threads_.empty() || shared_->wait_until_finished(static_cast<int64_t>(threads_.size()));
    for (std::thread& t : threads_) {
      if (finished)
        t.join();
      else
        t.detach();
    }
  }

  std::shared_ptr<Shared> shared_;
  std::vector<std::thread> threads_;
};

DataLoader::Iterator::Iterator(std::shared_ptr<Pass> pass) : pass_(std::move(pass)) { ++*this; }

DataLoader::Iterator& DataLoader::Iterator::operator++() {
  if (pass_ && !pass_->next(batch_)) {
    pass_ = nullptr;
    batch_ = {};
  }
  return *this;
}

DataLoader::DataLoader(std::shared_ptr<const Dataset> dataset, DataLoaderOptions options,
                       std::unique_ptr<Sampler> sampler)
    : dataset_(std::move(dataset)), options_(std::move(options)), sampler_(std::move(sampler)) {
  ARGAND_CHECK(ValueError, dataset_, "DataLoader: the data set is null");
  ARGAND_CHECK(ValueError, options_.batch_size() > 0,
               "DataLoader: batch_size should be a positive integer value, but got ", options_.batch_size());
  ARGAND_CHECK(ValueError, options_.workers() >= 0, "DataLoader: workers must not be negative, got ",
               options_.workers());
  if (std::string why; options_.pin_memory() && !find_backend(kCUDA, &why)) {
    warn("DataLoader: pin_memory has no effect: ", why);
    options_.pin_memory(false);
  }
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

DataLoader::Iterator DataLoader::begin() { return begin_at(0); }

DataLoader::Iterator DataLoader::begin_at(int64_t first) {
  std::vector<int64_t> order = sampler_->next_order(dataset_->size());
  for (const int64_t i : order)
    ARGAND_CHECK(IndexError, i >= 0 && i < dataset_->size(), "DataLoader: the sampler gave index ", i,
                 ", which is out of range for ", dataset_->size(), " examples");
  const int64_t batches = batches_of(static_cast<int64_t>(order.size()));
  ARGAND_CHECK(ValueError, first >= 0 && first <= batches, "DataLoader: first batch ", first, " is out of range for ",
               batches, " batches");
  auto shared = std::make_shared<Shared>(dataset_, std::move(order), options_, first, batches);
  return Iterator(std::make_shared<Pass>(std::move(shared), options_.workers()));
}

}  // namespace argand::data
