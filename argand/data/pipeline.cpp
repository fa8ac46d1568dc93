#include "argand/data/pipeline.h"

#include <condition_variable>
#include <map>
#include <mutex>

#include "argand/core/grad_mode.h"
#include "argand/data/errors.h"

namespace argand::data::detail {

// One pass as its workers see it.  Workers share ownership, so that one left behind never touches freed memory.
class Pipeline::Shared {
 public:
  Shared(Source source, const Settings& settings, int64_t first)
      : source_(std::move(source)), settings_(settings), to_make_(first), to_take_(first) {}

  void work(size_t worker) {
    const NoGradGuard no_grad;
    std::unique_lock lock(mutex_);
    while (true) {
      room_.wait(lock, [&] { return stop_ || ended_ || to_make_ < to_take_ + settings_.ahead; });
      if (stop_ || ended_) break;
      Made made;
      Work work;
      const int64_t number = to_make_;
      try {
        work = source_();
        if (!work.make) {
          end();
          break;
        }
      } catch (...) {
        made.error = std::current_exception();
      }
      ++to_make_;
      under_way_.emplace(number, work.first_sample);
      lock.unlock();
      try {
        if (!made.error) made.batch = work.make(worker);
      } catch (...) {
        made.error = std::current_exception();
      }
      work = {};  // frees its captures before the batch is seen
      lock.lock();
      under_way_.erase(number);
      if (!made.batch && !made.error) end();
      // Without ordering, the end must not come before batches that others still make.
      if (settings_.ordered || made.batch || made.error)
        made_.emplace(number, std::move(made));
      else
        ++to_take_;
      ready_.notify_one();
    }
    ++finished_;
    ready_.notify_one();
  }

  Batch take() {
    std::unique_lock lock(mutex_);
    const auto found = [&] { return settings_.ordered ? made_.find(to_take_) : made_.begin(); };
    const auto is_ready = [&] { return found() != made_.end() || (ended_ && to_take_ == to_make_); };
    Made made;
    // A worker that found the end may have an earlier number than one that found the last batch.
    while (!made.batch && !made.error) {
      if (settings_.timeout.count() == 0) {
        ready_.wait(lock, is_ready);
      } else if (!ready_.wait_for(lock, settings_.timeout, is_ready)) {
        throw LoaderTimeout(str("DataLoader: Timeout, batch ", to_take_, sample_text(), " was not made within ",
                                settings_.timeout.count(), " ms"));
      }
      if (found() == made_.end()) return nullptr;
      made = std::move(made_.extract(found()).mapped());
      ++to_take_;
      room_.notify_one();
    }
    lock.unlock();
    if (made.error) std::rethrow_exception(made.error);
    return std::move(made.batch);
  }
  Batch make_next() {
    if (ended_) return nullptr;
    const NoGradGuard no_grad;
    const Work work = source_();
    Batch batch = work.make ? work.make(0) : nullptr;
    ended_ = !batch;
    return batch;
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
    if (settings_.timeout.count() == 0) return ready_.wait(lock, all), true;
    return ready_.wait_for(lock, settings_.timeout, all);
  }

 private:
  struct Made {
    Batch batch;
    std::exception_ptr error;
  };
  void end() {
    ended_ = true;
    room_.notify_all();
  }
  std::string sample_text() const {
    const auto it = under_way_.find(to_take_);
    return it == under_way_.end() || it->second < 0 ? "" : str(" (sample ", it->second, " and following)");
  }

  const Source source_;
  const Settings settings_;

  std::mutex mutex_;
  std::condition_variable room_, ready_;
  std::map<int64_t, Made> made_;
  std::map<int64_t, int64_t> under_way_;  // number of a batch -> its first sample
  int64_t to_make_, to_take_, finished_ = 0;
  bool stop_ = false, ended_ = false;
};

Pipeline::Pipeline(Source source, const Settings& settings, int64_t first)
    : shared_(std::make_shared<Shared>(std::move(source), settings, first)) {
  try {
    for (int64_t i = 0; i < settings.workers; ++i)
      threads_.emplace_back([shared = shared_, i] { shared->work(static_cast<size_t>(i)); });
  } catch (...) {  // no more threads: those that run must leave, or their destructors would end the process
    leave();
    throw;
  }
}

Pipeline::~Pipeline() { leave(); }

Pipeline::Batch Pipeline::next() { return threads_.empty() ? shared_->make_next() : shared_->take(); }

void Pipeline::leave() {
  shared_->stop();
  const bool finished = threads_.empty() || shared_->wait_until_finished(static_cast<int64_t>(threads_.size()));
  for (std::thread& t : threads_) {
    if (finished)
      t.join();
    else
      t.detach();
  }
}

Pass::Pass(Pipeline::Source source, const Pipeline::Settings& settings)
    : pipeline_(std::make_unique<Pipeline>(std::move(source), settings)), has_workers_(settings.workers > 0) {}

void* Pass::current() {
  if (fetched_ || !pipeline_) return batch_.get();
  try {
    batch_ = pipeline_->next();
  } catch (const LoaderTimeout&) {
    throw;
  } catch (...) {
    if (!has_workers_) throw;
    throw WorkerException(std::current_exception());
  }
  fetched_ = true;
  if (!batch_) pipeline_ = nullptr;
  return batch_.get();
}

void Pass::stop() {
  pipeline_ = nullptr;
  batch_ = nullptr;
  fetched_ = true;
}

}  // namespace argand::data::detail
