// Note [Turns]
// Threads that run replicas of a module share the interpreter's lock.  Each call of an op gives it away and takes it
// back, and where another thread wants it, that costs more than the op: two forwards at once took 5 times as long as
// one.  But a forward only issues work to its GPU.  So the next one begins when this one has ended, or when it waits:
// for its GPU, which is noted, or for anything else, in which case its thread uses no CPU time.
#include <time.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "argand/exec/window.h"
#include "bindings/modules.h"

namespace argand::python {
namespace {

class Turns {
 public:
  explicit Turns(size_t n) : threads_(n) {}

  // Waits for the turn of number i; by the thread that then runs it.
  void begin(size_t i) {
    std::unique_lock lock(mutex_);
    while (i > 0 && !may_follow(threads_.at(i - 1))) changed_.wait_for(lock, std::chrono::milliseconds(1));
    One& mine = threads_.at(i);
    ARGAND_CHECK(Error, pthread_getcpuclockid(pthread_self(), &mine.clock) == 0, "a thread has no clock");
    mine.cpu_time = time_of(mine.clock);
    mine.looked = Clock::now();
    mine.begun = true;
    exec::watch_waits(&mine.waited);
  }
  void end(size_t i) {
    exec::watch_waits(nullptr);
    const std::lock_guard lock(mutex_);
    threads_.at(i).ended = true;
    changed_.notify_all();
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Duration = std::chrono::nanoseconds;
  struct One {
    bool begun = false, ended = false;
    std::atomic<bool> waited{false};
    clockid_t clock{};  // of the thread's CPU time, until it has ended
    Duration cpu_time{};
    Clock::time_point looked;
  };

  static Duration time_of(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return std::chrono::seconds(t.tv_sec) + Duration(t.tv_nsec);
  }
  static bool may_follow(One& before) {
    if (!before.begun) return false;
    if (before.ended || before.waited) return true;
    const auto now = Clock::now();
    const Duration passed = now - before.looked, cpu_time = time_of(before.clock);
    if (passed < std::chrono::milliseconds(10)) return false;
    const bool works = (cpu_time - before.cpu_time) * 20 > passed;  // the machine may have other work, too
    before.cpu_time = cpu_time;
    before.looked = now;
    return !works;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<One> threads_;
};

}  // namespace

void add_turns(nb::module_& module) {
  using NoLock = nb::call_guard<NoGil>;
  nb::class_<Turns>(module, "_Turns")
      .def(nb::init<size_t>(), nb::arg("n"))
      .def("begin", &Turns::begin, nb::arg("i"), NoLock())
      .def("end", &Turns::end, nb::arg("i"), NoLock());
}

}  // namespace argand::python
