// Jobs to workers, and results back to the one thread that gives them.
#pragma once
#include "torch/data/detail/queue.h"

namespace torch::data::detail {

template <class Job, class Result>
class DataShuttle {
 public:
  void push_job(Job job) {
    jobs_.push(std::move(job));
    ++in_flight_;
  }
  void push_result(Result result) { results_.push(std::move(result)); }
  Job pop_job() { return jobs_.pop(); }
  // Empty if no job is under way; LoaderTimeout as Queue::pop.
  std::optional<Result> pop_result(std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    if (in_flight_ == 0) return std::nullopt;
    std::optional<Result> result(results_.pop(timeout));
    --in_flight_;
    return result;
  }
  // Drops the jobs that no worker has taken, and waits for the results of the others.
  void drain() {
    in_flight_ -= jobs_.clear();
    while (in_flight_ > 0) pop_result();
  }
  size_t in_flight_jobs() const noexcept { return in_flight_; }

 private:
  size_t in_flight_ = 0;  // jobs without a result yet
  Queue<Job> jobs_;
  Queue<Result> results_;
};

}  // namespace torch::data::detail
