// Pieces of LibTorch's loader, for programs that are built from them: a queue between threads.  Argand's own loaders
// hand out and order batches in one place, argand/data/pipeline.h.
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "argand/data/errors.h"
#include "torch/types.h"

namespace torch::data::detail {

// A FIFO queue; thread-safe.
template <class T>
class Queue {
 public:
  void push(T value) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(value));
    }
    changed_.notify_one();
  }
  // Waits for a value; LoaderTimeout after `timeout`, if one is given.
  T pop(std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    std::unique_lock lock(mutex_);
    const auto filled = [this] { return !queue_.empty(); };
    if (!timeout)
      changed_.wait(lock, filled);
    else if (!changed_.wait_for(lock, *timeout, filled))
      throw LoaderTimeout(
          str("Timeout in DataLoader queue while waiting for next batch (timeout was ", timeout->count(), " ms)"));
    T value = std::move(queue_.front());
    queue_.pop_front();
    return value;
  }
  // Drops all values; returns how many there were.
  size_t clear() {
    const std::lock_guard lock(mutex_);
    const size_t size = queue_.size();
    queue_.clear();
    return size;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> queue_;
};

}  // namespace torch::data::detail
