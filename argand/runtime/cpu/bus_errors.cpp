#include "argand/runtime/cpu/bus_errors.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

#include "argand/base/fork_mutex.h"
#include "argand/core/watched_bytes.h"

namespace argand {
namespace {

// ---- code of the handler: it uses only system calls and memory that was allocated before

struct sigaction previous;
uintptr_t page_bytes;

void say(const char* text) noexcept {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, strlen(text));
}

// Another thread may have put pages there already; they are not read any more, since the range is torn.
bool put_zeros(WatchedRange& range, uintptr_t missing) noexcept {
  const uintptr_t from = missing / page_bytes * page_bytes, end = range.begin.load() + range.nbytes.load();
  const bool first = !range.torn.exchange(true);
  if (mmap(reinterpret_cast<void*>(from), end - from, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS,
           -1, 0) == MAP_FAILED)
    return false;
  if (first) {
    say("argand: ");
    say(range.name);
    say(" was cut, or cannot be read, while it is mapped; what is missing reads as 0 until its tensor is next used, "
        "which is an error\n");
  }
  return true;
}

void pass_on(int number, siginfo_t* info, void* context) noexcept {
  if (previous.sa_flags & SA_SIGINFO) return previous.sa_sigaction(number, info, context);
  if (previous.sa_handler == SIG_IGN && info->si_code <= 0) return;  // a process sent it
  if (previous.sa_handler != SIG_IGN && previous.sa_handler != SIG_DFL) return previous.sa_handler(number);
  // The system then ends the process as usual: the instruction fails again, and a signal that was sent is sent again.
  sigaction(number, &previous, nullptr);
  if (info->si_code <= 0) raise(number);
}

void on_bus_error(int number, siginfo_t* info, void* context) {
  const int error = errno;
  WatchedRange* const range = info->si_code > 0 ? watched_range_of(info->si_addr) : nullptr;
  if (!range || !put_zeros(*range, reinterpret_cast<uintptr_t>(info->si_addr))) pass_on(number, info, context);
  errno = error;
}

}  // namespace

void survive_bus_errors() {
  static constinit ProcessMutex mutex;
  static constinit bool done = false;
  const std::lock_guard lock(mutex);
  if (std::exchange(done, true)) return;
  page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, nullptr, &previous);  // first: the handler may be called at once
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace argand
