#include "argand/base/fork_mutex.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include "argand/base/ignored.h"
#include "argand/base/log.h"
#include "argand/base/permanent_name.h"

namespace argand {
namespace {

// The exit status of a child that runs the function; it has ten seconds.
int status_of_child(const std::function<bool()>& does) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);  // instead of waiting for ever
    // Not _exit(), in which ThreadSanitizer would report threads of the parent that had ended and were not yet joined.
    syscall(SYS_exit_group, does() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

// Calls f() while another thread holds the lock that `hold` takes; the thread ends afterwards.
template <class Lock>
void while_held(std::mutex& mutex, const std::function<void()>& f) {
  std::promise<void> held, done;
  std::thread holder([&] {
    const Lock lock(mutex);
    held.set_value();
    done.get_future().wait();
  });
  held.get_future().wait();
  f();
  done.set_value();
  holder.join();
}

TEST(ForkMutex, AForkWaitsForWhoHoldsAProcessMutex) {
  static constinit ProcessMutex mutex;
  static int half_done = 0;
  std::promise<void> held;
  std::thread holder([&] {
    const std::lock_guard lock(mutex);
    half_done = 1;
    held.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    half_done = 2;
  });
  held.get_future().wait();
  EXPECT_EQ(status_of_child([] {
              const std::lock_guard lock(mutex);
              return half_done == 2;
            }),
            0);
  holder.join();
  const std::lock_guard lock(mutex);  // the parent's is free, too
}

TEST(ForkMutex, AChildFindsFreeWhatAnotherThreadHeld) {
  std::mutex first, second;
  while_held<ObjectLock>(first, [&] {
    while_held<ObjectLock>(second, [&] {
      EXPECT_EQ(status_of_child([&] {
                  const ObjectLock lock(first);
                  const ObjectLock also(second);
                  return true;
                }),
                0);
    });
    EXPECT_FALSE(first.try_lock()) << "the parent's thread still has it";
  });
  EXPECT_TRUE(first.try_lock());
  first.unlock();
}

TEST(ForkMutex, TheThreadThatForksKeepsWhatItHolds) {
  std::mutex mine, others, nested;
  while_held<ObjectLock>(others, [&] {
    const ObjectLock lock(mine);
    std::promise<void> waits;
    std::thread waiter([&] {
      waits.set_value();
      const ObjectLock own(mine);  // is noted as one of this thread's, too
    });
    waits.get_future().wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(status_of_child([&] {
                const ObjectLock inner(nested);
                // The thread asks for a mutex that it holds itself.  POSIX allows that, std::mutex::try_lock() does
                // not.  Another thread cannot ask: ThreadSanitizer lets a forked child start none.
                return others.try_lock() && pthread_mutex_trylock(mine.native_handle()) == EBUSY;
              }),
              0);
    waiter.detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  while (!mine.try_lock()) std::this_thread::yield();
  mine.unlock();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until the waiter has left
}

// Threads that lock continuously, so that forks happen at every point of locking; children of children, too.
TEST(ForkMutex, ChildrenOfBusyThreadsEnd) {
  static std::atomic<bool> stop{false};
  static std::mutex object;
  std::vector<std::thread> threads;
  for (int n = 0; n < 3; ++n)
    threads.emplace_back([n] {
      const WarningFunction nobody = [](std::string_view) {};
      for (int i = 0; !stop; ++i) {
        { const ObjectLock lock(object); }
        permanent_name(str("name ", n, " ", i % 1000));
        set_warning_handler(nobody);
        warn_ignored("op", str("argument ", n), "nobody reads it");
        std::thread([] { const ObjectLock lock(object); }).join();
      }
    });
  const auto use_all = [] {
    { const ObjectLock lock(object); }
    set_warning_handler([](std::string_view) {});
    warn_ignored("op", "argument of a child", "nobody reads it");
    return std::string_view(permanent_name("name").c_str()) == "name";
  };
  set_warning_handler([](std::string_view) {});
  int failed = 0;
  for (int i = 0; i < 200; ++i)
    failed += status_of_child([&] { return use_all() && status_of_child(use_all) == 0; }) != 0;
  stop = true;
  for (std::thread& t : threads) t.join();
  set_warning_handler({});
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace argand
