#include "tools/argand/signals.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "argand/base/error.h"

namespace argand::cli {

namespace {

std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may touch lock-free atomics only");

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGXFSZ};
struct sigaction previous[3];
bool installed = false;

// Calls nothing that is not async-signal-safe: write and _exit.
void on_signal(int number) {
  const int saved = errno;
  int none = 0;
  if (!received.compare_exchange_strong(none, number)) ::_exit(128 + number);
  constexpr char kText[] = "\nfinishing the step, then saving (once more to stop at once)\n";
  (void)!::write(STDERR_FILENO, kText, sizeof(kText) - 1);
  errno = saved;
}

}  // namespace

StopOnSignal::StopOnSignal() {
  ARGAND_ASSERT(!installed, "one StopOnSignal at a time");
  installed = true;
  received = 0;
  for (int i = 0; i < 3; ++i) {
    struct sigaction action {};
    action.sa_handler = kSignals[i] == SIGXFSZ ? SIG_IGN : on_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(kSignals[i], nullptr, &previous[i]);
    if (previous[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
  }
}

StopOnSignal::~StopOnSignal() {
  for (int i = 0; i < 3; ++i) ::sigaction(kSignals[i], &previous[i], nullptr);
  installed = false;
}

int StopOnSignal::signal() noexcept { return received.load(std::memory_order_relaxed); }

}  // namespace argand::cli
