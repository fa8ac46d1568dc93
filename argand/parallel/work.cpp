#include "argand/parallel/work.h"

#include <algorithm>

#include "argand/parallel/interrupt.h"
#include "argand/runtime/transport.h"

namespace argand::parallel {

bool Work::is_completed() {
  const std::lock_guard lock(mutex_);
  return done_;
}

std::exception_ptr Work::exception() {
  const std::lock_guard lock(mutex_);
  return error_;
}

bool Work::wait_for(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::unique_lock lock(mutex_);
  while (!done_) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) return false;
    finished_.wait_until(lock, std::min(deadline, now + kInterruptInterval));
    if (done_) break;
    lock.unlock();
    check_interrupt();
    lock.lock();
  }
  if (error_) std::rethrow_exception(error_);
  return true;
}

void Work::wait() {
  if (longest_wait_.count() > 0) {
    ARGAND_CHECK(BackendError, wait_for(longest_wait_), call_, ": not finished after ",
                 static_cast<double>(longest_wait_.count()) / 1e3, " s, the timeout of the group");
    return;
  }
  while (!wait_for(std::chrono::hours(1))) {
  }
}

void Work::when_done(std::function<void()> f) {
  {
    const std::lock_guard lock(mutex_);
    if (!done_) return callbacks_.push_back(std::move(f));
  }
  f();
}

void Work::finish(std::exception_ptr error, int source_rank) {
  std::vector<std::function<void()>> callbacks;
  {
    const std::lock_guard lock(mutex_);
    if (done_) return;
    done_ = true;
    error_ = std::move(error);
    source_rank_ = source_rank;
    callbacks.swap(callbacks_);
  }
  finished_.notify_all();
  for (const auto& f : callbacks) f();
}

}  // namespace argand::parallel
