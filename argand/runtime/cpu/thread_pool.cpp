#include "argand/runtime/cpu/thread_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "argand/base/error.h"

namespace argand {
namespace {

constexpr int kMaxThreads = 65535;                         // the joined-workers field of Pool::state_ has 16 bits
constexpr auto kSpinTime = std::chrono::microseconds(50);  // about the cost of one sleep and wake-up

thread_local bool t_in_region = false;
thread_local int t_thread_num = 0;
std::atomic<bool> g_pool_gone{false};  // a forked child has no workers; after exit has begun they are joined

inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Polls until done() or until kSpinTime is over; returns whether it was done.
template <class Done>
bool spin_until(const Done& done) {
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      cpu_relax();
    }
  } while (std::chrono::steady_clock::now() - start < kSpinTime);
  return done();
}

struct Job {
  Job(int64_t first, int64_t last, int64_t chunk, const function_ref<void(int64_t, int64_t)>& f)
      : begin(first), end(last), grain(chunk), chunks((last - first - 1) / chunk + 1), body(f) {}

  const int64_t begin, end, grain, chunks;
  const function_ref<void(int64_t, int64_t)>& body;
  alignas(64) std::atomic<int64_t> next{0};
  std::mutex error_mutex;
  int64_t error_chunk = std::numeric_limits<int64_t>::max();
  std::exception_ptr error;

  void run_chunk(int64_t chunk) {
    const int64_t b = begin + chunk * grain;
    body(b, end - b > grain ? b + grain : end);
  }

  // Takes chunks until none is left.  They are handed out in order, so when a chunk throws, every lower one has been
  // taken already and will finish: which exception wins does not depend on timing.
  void work() {
    for (;;) {
      const int64_t chunk = next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= chunks) return;
      try {
        run_chunk(chunk);
      } catch (...) {
        next.store(chunks, std::memory_order_relaxed);
        const std::lock_guard lock(error_mutex);
        if (chunk < error_chunk) {
          error_chunk = chunk;
          error = std::current_exception();
        }
      }
    }
  }
};

// One job at a time.  state_ says who may touch job_: its upper half counts the workers that may still join, its lower
// half those that have joined and not left.  A worker joins by moving one from the upper to the lower half; whoever
// finds no chunk left zeroes the upper half; the job is over when both are zero.  So the caller waits only for workers
// that are running, never for one that is still waking up.
class Pool {
 public:
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stop_.store(true, std::memory_order_seq_cst);
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  // Returns false, and does nothing, if another thread uses the pool.
  bool try_run(Job& job, int threads) {
    const std::unique_lock lock(submit_mutex_, std::try_to_lock);
    if (!lock.owns_lock() || g_pool_gone.load(std::memory_order_relaxed)) return false;
    const auto wanted = static_cast<size_t>(std::min<int64_t>(threads, job.chunks) - 1);
    start_workers(wanted);
    const auto helpers = static_cast<uint32_t>(std::min(wanted, workers_.size()));
    job_ = &job;
    state_.store(helpers << kJoinShift, std::memory_order_seq_cst);
    wake_sleepers(helpers);
    t_in_region = true;
    job.work();
    t_in_region = false;
    close();
    wait_until_left();
    return true;
  }

  // Waits for a running job and keeps new ones out.
  void shut() {
    const std::lock_guard lock(submit_mutex_);
    g_pool_gone.store(true, std::memory_order_relaxed);
  }

 private:
  static constexpr int kJoinShift = 16;
  static constexpr uint32_t kActiveMask = (1u << kJoinShift) - 1;

  bool joinable() const { return (state_.load(std::memory_order_seq_cst) >> kJoinShift) != 0; }
  bool left() const { return (state_.load(std::memory_order_seq_cst) & kActiveMask) == 0; }
  bool stopped() const { return stop_.load(std::memory_order_seq_cst); }
  void close() { state_.fetch_and(kActiveMask, std::memory_order_acq_rel); }

  void start_workers(size_t wanted) {
    if (workers_.size() >= wanted) return;
    sigset_t all, before;  // signals are for the program's own threads; faults are those of the thread that met them
    sigfillset(&all);
    for (const int fault : {SIGBUS, SIGFPE, SIGILL, SIGSEGV}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      while (workers_.size() < wanted) workers_.emplace_back([this] { worker_loop(); });
    } catch (const std::exception&) {  // no more threads, or no memory for them: fewer do the same work
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void wake_sleepers(uint32_t count) {
    if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
    { const std::lock_guard lock(mutex_); }  // a worker that saw no job is in wait() by now
    for (uint32_t i = 0; i < count; ++i) wake_.notify_one();
  }

  bool try_join() {
    uint32_t state = state_.load(std::memory_order_relaxed);
    while ((state >> kJoinShift) != 0)
      if (state_.compare_exchange_weak(state, state - (1u << kJoinShift) + 1, std::memory_order_acq_rel)) {
        t_thread_num = static_cast<int>(state >> kJoinShift);  // each join of a job finds another number there
        return true;
      }
    return false;
  }

  void leave() {
    const uint32_t before = state_.fetch_sub(1, std::memory_order_seq_cst);
    if (before == 1 && caller_sleeps_.load(std::memory_order_seq_cst)) {
      const std::lock_guard lock(mutex_);
      left_.notify_one();
    }
  }

  void worker_loop() {
    t_in_region = true;
    while (!stopped()) {
      if (try_join()) {
        job_->work();
        close();
        leave();
      } else if (!spin_until([this] { return joinable() || stopped(); })) {
        std::unique_lock lock(mutex_);
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        wake_.wait(lock, [this] { return joinable() || stopped(); });
        sleepers_.fetch_sub(1, std::memory_order_seq_cst);
      }
    }
  }

  void wait_until_left() {
    if (left() || spin_until([this] { return left(); })) return;
    std::unique_lock lock(mutex_);
    caller_sleeps_.store(true, std::memory_order_seq_cst);
    left_.wait(lock, [this] { return left(); });
    caller_sleeps_.store(false, std::memory_order_seq_cst);
  }

  alignas(64) std::atomic<uint32_t> state_{0};
  std::atomic<uint32_t> sleepers_{0};
  std::atomic<bool> caller_sleeps_{false};
  std::atomic<bool> stop_{false};
  Job* job_ = nullptr;
  std::mutex submit_mutex_;  // held while a job runs; guards workers_
  std::mutex mutex_;         // for the two condition variables
  std::condition_variable wake_, left_;
  std::vector<std::thread> workers_;
};

// The pool's memory is never freed, so that a thread that is still running while the program exits finds it.
class PoolOwner {
 public:
  PoolOwner() : pool_(new Pool) {
    pthread_atfork(nullptr, nullptr, [] { g_pool_gone.store(true, std::memory_order_relaxed); });
  }
  ~PoolOwner() {
    // exit() was called from the body of a parallel_for: its caller still holds the pool.
    if (g_pool_gone.load(std::memory_order_relaxed) || t_in_region) return;
    pool_->shut();
    pool_->~Pool();
  }
  Pool& get() { return *pool_; }

 private:
  Pool* pool_;
};

Pool& pool() {
  static PoolOwner owner;
  return owner.get();
}

int threads_from_env(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return 0;
  char* rest = nullptr;
  const long value = std::strtol(text, &rest, 10);  // OMP_NUM_THREADS may be a list, one entry per nesting level
  return rest != text && value >= 1 && value <= kMaxThreads ? static_cast<int>(value) : 0;
}

int default_num_threads() {
  for (const char* name : {"ARGAND_NUM_THREADS", "OMP_NUM_THREADS"})
    if (const int count = threads_from_env(name); count > 0) return count;
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxThreads);
}

std::atomic<int>& num_threads() {
  static std::atomic<int> count{default_num_threads()};
  return count;
}

}  // namespace

namespace detail {

void parallel_for_chunks(int64_t begin, int64_t end, int64_t grain, const function_ref<void(int64_t, int64_t)>& body) {
  Job job(begin, end, std::max<int64_t>(grain, 1), body);
  const int threads = get_num_threads();
  const bool alone = threads == 1 || job.chunks == 1 || t_in_region || g_pool_gone.load(std::memory_order_relaxed);
  if (alone || !pool().try_run(job, threads)) {
    for (int64_t chunk = 0; chunk < job.chunks; ++chunk) job.run_chunk(chunk);
  } else if (job.error) {
    std::rethrow_exception(job.error);
  }
}

}  // namespace detail

int get_num_threads() { return num_threads().load(std::memory_order_relaxed); }

void set_num_threads(int count) {
  ARGAND_CHECK(ValueError, count >= 1 && count <= kMaxThreads, "set_num_threads: expected a number from 1 to ",
               kMaxThreads, ", got ", count);
  num_threads().store(count, std::memory_order_relaxed);
}

bool in_parallel_region() { return t_in_region; }

int get_thread_num() { return t_thread_num; }

}  // namespace argand
