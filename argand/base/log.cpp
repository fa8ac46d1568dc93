#include "argand/base/log.h"

#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

#include "argand/base/fork_mutex.h"

namespace argand {

namespace {

constinit ProcessMutex mutex;

struct State {
  std::shared_ptr<const WarningFunction> handler;
};

State& state() {  // with the mutex held; never destroyed: static destructors may warn
  static State* const s = new State;
  return *s;
}

std::atomic<bool> always{false};

}  // namespace

bool warns_always() { return always.load(std::memory_order_relaxed); }
bool set_warns_always(bool on) { return always.exchange(on); }

WarningFunction set_warning_handler(WarningFunction handler) {
  auto next = handler ? std::make_shared<const WarningFunction>(std::move(handler)) : nullptr;
  {
    const std::lock_guard lock(mutex);
    state().handler.swap(next);
  }
  return next ? *next : WarningFunction();
}

void detail::emit_warning(std::string_view message) {
  std::shared_ptr<const WarningFunction> handler;
  {
    const std::lock_guard lock(mutex);
    handler = state().handler;
  }
  if (handler) return (*handler)(message);
  const std::string line = str("warning: ", message, "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);  // one call, so lines of several threads do not mix
}

}  // namespace argand
