// Batches of any type made by worker threads, ahead of the thread that takes them: what all loaders share.
//
// Work is handed out in order and, unless that is switched off, taken in that order whatever the number of workers.  An
// exception is thrown where its batch would have come.  Leaving early stops the workers; one that is stuck in user code
// is left behind after the timeout, never waited for without end.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace argand::data::detail {

class Pipeline {
 public:
  using Batch = std::shared_ptr<void>;
  struct Work {
    // Run by worker number 0, 1, ..., several at once; null: there are no more batches.
    std::function<Batch(size_t worker)> make;
    int64_t first_sample = -1;  // for the message of a timeout, if known
  };
  // The next work, or one without `make` at the end.  Called by one thread at a time.
  using Source = std::function<Work()>;

  struct Settings {
    int64_t workers = 0;  // 0: the calling thread makes each batch when it is taken
    int64_t ahead = 1;    // batches made or under way at a time
    std::chrono::milliseconds timeout{0};
    bool ordered = true;
  };
  // `first` is the number of the first batch, for messages.
  Pipeline(Source source, const Settings& settings, int64_t first = 0);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // The next batch; null at the end.  LoaderTimeout where it takes too long.
  Batch next();

 private:
  class Shared;
  void leave();
  std::shared_ptr<Shared> shared_;
  std::vector<std::thread> threads_;
};

// A pass as an iterator sees it: the batch it is at.
class Pass {
 public:
  Pass(Pipeline::Source source, const Pipeline::Settings& settings);
  // The batch; made, or waited for, when first asked for.  Null at the end.
  void* current();
  void advance() { batch_ = nullptr, fetched_ = false; }
  // Whether all batches were taken.
  bool is_exhausted() const { return fetched_ && !batch_; }
  // Stops the workers; the pass is at its end.
  void stop();

 private:
  std::unique_ptr<Pipeline> pipeline_;
  Pipeline::Batch batch_;
  bool fetched_ = false, has_workers_;
};

}  // namespace argand::data::detail
