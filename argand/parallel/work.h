// Collectives and messages that may be unfinished.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "argand/core/tensor.h"

namespace argand::parallel {

// Safe from any thread.
class Work {
 public:
  // wait() throws after `longest_wait`; with 0, something else must end the wait.
  Work(std::string call, std::vector<Tensor> result, std::chrono::milliseconds longest_wait = {})
      : call_(std::move(call)), result_(std::move(result)), longest_wait_(longest_wait) {}

  virtual ~Work() = default;
  virtual bool is_completed();
  bool is_success() { return is_completed() && !exception(); }
  std::exception_ptr exception();  // null while it is not finished, and if nothing went wrong
  // Waits; throws the error of the work, and the one that interrupts waits of this thread (interrupt.h).  False if it
  // is not finished after `timeout`.
  virtual bool wait_for(std::chrono::milliseconds timeout);
  virtual void wait();
  // Calls f once it is finished: on the thread that does the work, or at once if it is finished.  f must not throw.
  virtual void when_done(std::function<void()> f);
  // What it writes, and what broadcast() and reduce() send.
  const std::vector<Tensor>& result() const { return result_; }
  // The sender of a received message, in the group.
  int source_rank() const { return source_rank_; }
  // Names the call in errors.
  const std::string& call() const { return call_; }

  // Called by whoever does the work.
  void finish(std::exception_ptr error = nullptr, int source_rank = -1);

 private:
  const std::string call_;
  const std::vector<Tensor> result_;
  const std::chrono::milliseconds longest_wait_;
  std::mutex mutex_;
  std::condition_variable finished_;
  bool done_ = false;
  std::exception_ptr error_;
  int source_rank_ = -1;
  std::vector<std::function<void()>> callbacks_;
};
using WorkPtr = std::shared_ptr<Work>;

}  // namespace argand::parallel
