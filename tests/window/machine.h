// Runs programs on the library.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "argand/exec/window.h"
#include "tests/window/program.h"

namespace argand::fuzz {

// Threads that run one thing at a time, when told: thread 0 is the caller.  Each has its own issue window.
class Threads {
 public:
  Threads();
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  // Returns when `work` has run; what it throws is thrown here.
  void run(int thread, const std::function<void()>& work);

 private:
  void loop(int thread);
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
  int turn_ = 0;  // the thread that has `work_` to do; -1: end
  std::exception_ptr thrown_;
  std::vector<std::thread> threads_;
};

class Machine {
 public:
  Machine(Threads& threads, exec::WindowMode mode, bool threaded);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void run(const Call& call);
  void finish();
  const Seen& seen() const { return seen_; }
  Tensor& slot(int i) {
    if (slots_.size() <= static_cast<size_t>(i)) slots_.resize(static_cast<size_t>(i) + 1);
    return slots_[static_cast<size_t>(i)];
  }
  // The size and dtype of exposed memory, which calls refer to by number.
  size_t memory_size(int64_t i) const { return memory_[static_cast<size_t>(i)].nbytes; }
  ScalarType memory_type(int64_t i) const { return memory_[static_cast<size_t>(i)].dtype; }

 private:
  struct Memory {
    char* address = nullptr;
    size_t nbytes = 0;
    ScalarType dtype = kFloat;
    std::shared_ptr<std::vector<std::max_align_t>> owned;  // behind from_blob
    Tensor tensor;                                         // behind data_ptr(): keeps the address good
  };
  void on_all_threads(const std::function<void()>& work);
  void run_here(const Call& call);
  void remember(int64_t i, Memory m);

  Threads& threads_;
  const bool threaded_;
  std::vector<Tensor> slots_;
  std::vector<Memory> memory_;
  Seen seen_;
};

}  // namespace argand::fuzz
