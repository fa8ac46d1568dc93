// c10d::Work: a collective or a message that may not be finished.  Programs that implement backends derive from it.
#pragma once
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "ATen/ATen.h"
#include "ATen/core/future.h"
#include "argand/parallel/work.h"
#include "c10/util/Exception.h"

constexpr auto kNoTimeout = std::chrono::milliseconds(0);

namespace c10d {

enum class OpType : uint8_t {
  BROADCAST = 0,
  ALLREDUCE = 1,
  ALLREDUCE_COALESCED = 2,
  REDUCE = 3,
  ALLGATHER = 4,
  _ALLGATHER_BASE = 5,
  ALLGATHER_COALESCED = 6,
  GATHER = 7,
  SCATTER = 8,
  REDUCE_SCATTER = 9,
  ALLTOALL_BASE = 10,
  ALLTOALL = 11,
  SEND = 12,
  RECV = 13,
  RECVANYSOURCE = 14,
  BARRIER = 15,
  _REDUCE_SCATTER_BASE = 16,
  UNKNOWN = 100,
};

class Work : public c10::intrusive_ptr_target {
 public:
  explicit Work(int rank = -1, OpType opType = OpType::UNKNOWN) : rank_(rank), opType_(opType) {}
  ~Work() override = default;

  virtual bool isCompleted() {
    const std::lock_guard lock(mutex_);
    return completed_;
  }
  virtual bool isSuccess() const {
    const std::lock_guard lock(mutex_);
    return completed_ && !exception_;
  }
  virtual std::exception_ptr exception() const {
    const std::lock_guard lock(mutex_);
    return exception_;
  }
  virtual int sourceRank() const { lacks("sourceRank"); }
  virtual std::vector<at::Tensor> result() { lacks("result"); }
  virtual void synchronize() { wait(); }
  // Waits for as long as it takes if the timeout is 0 or less; else throws after it.  Throws what went wrong.
  virtual bool wait(std::chrono::milliseconds timeout = kNoTimeout) {
    std::unique_lock lock(mutex_);
    const auto done = [this] { return completed_; };
    if (timeout <= kNoTimeout) {
      cv_.wait(lock, done);
    } else {
      TORCH_CHECK(cv_.wait_for(lock, timeout, done), "Operation timed out!");
    }
    if (exception_) std::rethrow_exception(exception_);
    return true;
  }
  virtual void abort() { lacks("abort"); }
  // Of the tensors that it writes.
  virtual c10::intrusive_ptr<c10::ivalue::Future> getFuture() { lacks("getFuture"); }
  OpType retrieveOpType() const { return opType_; }

 protected:
  void finish(std::exception_ptr exception = nullptr) {
    {
      const std::lock_guard lock(mutex_);
      completed_ = true;
      exception_ = std::move(exception);
    }
    cv_.notify_all();
  }
  void finishAndThrow(std::exception_ptr exception) {
    finish(exception);
    if (exception) std::rethrow_exception(exception);
  }

  mutable std::mutex mutex_;
  std::condition_variable cv_;
  bool completed_ = false;
  std::exception_ptr exception_;
  const int rank_;
  OpType opType_;

 private:
  [[noreturn]] static void lacks(const char* method) {
    throw argand::NotImplementedError(std::string("Work::") + method + ": this work does not have it");
  }
};

namespace detail {

// Work of this library's groups with LibTorch's names; of several parts if a call is several.
class WorkOfGroup final : public Work {
 public:
  using Ours = std::vector<argand::parallel::WorkPtr>;
  WorkOfGroup(int rank, OpType type, Ours parts) : Work(rank, type), parts_(std::move(parts)) {}

  bool isCompleted() override {
    for (const auto& part : parts_)
      if (!part->is_completed()) return false;
    return true;
  }
  bool isSuccess() const override {
    for (const auto& part : parts_)
      if (!part->is_success()) return false;
    return true;
  }
  std::exception_ptr exception() const override {
    for (const auto& part : parts_)
      if (const std::exception_ptr error = part->exception()) return error;
    return nullptr;
  }
  int sourceRank() const override { return parts_.at(0)->source_rank(); }
  std::vector<at::Tensor> result() override {
    std::vector<at::Tensor> all;
    for (const auto& part : parts_) all.insert(all.end(), part->result().begin(), part->result().end());
    return all;
  }
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    for (const auto& part : parts_) {
      if (timeout <= kNoTimeout) {
        part->wait();
        continue;
      }
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      TORCH_CHECK(part->wait_for(std::max(left, kNoTimeout)), "Operation timed out! ", part->call());
    }
    return true;
  }

  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    const auto future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::ofTensors());
    const auto left = std::make_shared<std::atomic<size_t>>(parts_.size());
    for (const auto& part : parts_)
      part->when_done([future, left, parts = parts_] {
        if (--*left > 0) return;
        std::vector<at::Tensor> all;
        for (const auto& each : parts) {
          if (const std::exception_ptr error = each->exception()) return future->setError(error);
          all.insert(all.end(), each->result().begin(), each->result().end());
        }
        future->markCompleted(all);
      });
    return future;
  }

 private:
  const Ours parts_;
};

}  // namespace detail

}  // namespace c10d
