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

constexpr int kAsk[] = {SIGINT, SIGTERM}, kIgnore[] = {SIGXFSZ, SIGPIPE};
struct sigaction previous[4];
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
  struct sigaction* old = previous;
  const auto handle = [&](int number, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    ::sigaction(number, nullptr, old);
    if (old->sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);
    ++old;
  };
  for (const int number : kAsk) handle(number, on_signal);
  for (const int number : kIgnore) handle(number, SIG_IGN);
}

StopOnSignal::~StopOnSignal() {
  const struct sigaction* old = previous;
  for (const int number : kAsk) ::sigaction(number, old++, nullptr);
  for (const int number : kIgnore) ::sigaction(number, old++, nullptr);
  installed = false;
}

int StopOnSignal::signal() noexcept { return received.load(std::memory_order_relaxed); }

}  // namespace argand::cli
