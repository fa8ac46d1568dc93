#include "argand/runtime/cuda/background_compiler.h"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "argand/base/env.h"
#include "argand/base/error.h"
#include "argand/runtime/cuda/dry_run.h"
#include "argand/runtime/process_end.h"

namespace argand::cuda {
namespace {

// Never destroyed; its thread starts with the first job.
class BackgroundCompiler {
 public:
  void add(const std::string& key, const KernelRequest& request, const std::string& arch) {
    const std::lock_guard lock(mutex_);
    if (!jobs_.emplace(key, Job{request, arch, State::kQueued, {}}).second) return;
    queue_.push_back(key);
    changed_.notify_all();
    if (!started_) start();
  }

  bool has(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto job = jobs_.find(key);
    return job != jobs_.end() && job->second.state >= State::kDone;
  }

  std::optional<CompiledKernel> take(const std::string& key) {
    std::unique_lock lock(mutex_);
    const auto job = jobs_.find(key);
    if (job == jobs_.end()) return {};
    changed_.wait(lock, [&] { return job->second.state != State::kRunning; });
    std::optional<CompiledKernel> out;
    if (job->second.state == State::kDone) out = std::move(job->second.result);
    jobs_.erase(job);  // its place in the queue is passed over
    return out;
  }

 private:
  enum class State { kQueued, kRunning, kDone, kFailed };
  struct Job {
    KernelRequest request;
    std::string arch;
    State state;
    CompiledKernel result;
  };

  // Signals are for the program's own threads.
  void start() {
    started_ = true;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this] { run(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  // A job runs inside DeviceCalls, for which the end of the process waits.  Once the process ends, no job begins: the
  // thread waits where it would enter DeviceCalls, with no lock held and no job that take() would wait for.
  void run() {
    try {
      for (;;) {
        wait_for_a_job();
        const DeviceCalls calls;
        run_next();
      }
    } catch (const DeviceError&) {  // the process is ending
    }
  }

  void wait_for_a_job() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !queue_.empty(); });
  }

  void run_next() {
    std::unique_lock lock(mutex_);
    const auto job = jobs_.find(queue_.front());
    queue_.pop_front();
    if (job == jobs_.end() || job->second.state != State::kQueued) return;
    job->second.state = State::kRunning;
    lock.unlock();
    const bool done = compile(job->first, job->second);
    lock.lock();
    job->second.state = done ? State::kDone : State::kFailed;
    changed_.notify_all();
  }

  // The thread that takes a failed job compiles the kernel again, and gets the error.
  static bool compile(const std::string& key, Job& job) {
    try {
      MachineCode made = compile_text(job.request.source, {&job.request.name, 1}, job.arch);
      job.result = {std::move(made.names.front()), std::move(made.code)};
      write_cached(key, job.result);
      return true;
    } catch (...) {
      return false;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Job> jobs_;
  std::deque<std::string> queue_;
  bool started_ = false;
};

BackgroundCompiler& compiler() {
  static BackgroundCompiler& c = *new BackgroundCompiler;
  return c;
}

}  // namespace

bool compiles_meanwhile() {
  static const bool on = env_flag("ARGAND_CUDA_COMPILE_MEANWHILE", !dry_run());
  return on;
}

void compile_later(const std::string& key, const KernelRequest& request, const std::string& arch) {
  compiler().add(key, request, arch);
}
bool has_compiled(const std::string& key) { return compiler().has(key); }
std::optional<CompiledKernel> take_compiled(const std::string& key) { return compiler().take(key); }

}  // namespace argand::cuda
