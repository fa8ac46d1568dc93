#include "argand/base/ignored.h"

#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "argand/base/error.h"
#include "argand/base/fork_mutex.h"
#include "argand/base/log.h"

namespace argand {
namespace {

constinit ProcessMutex mutex;

struct State {
  std::shared_ptr<const IgnoredFunction> handler;
  std::set<std::string> shown;
};

State& state() {  // with the mutex held; never destroyed: static destructors may call ops
  static State* const s = new State;
  return *s;
}

bool is_strict() {
  const char* const value = std::getenv("ARGAND_STRICT");
  return value && *value && std::string_view(value) != "0";
}

}  // namespace

void warn_ignored(std::string_view op, std::string_view argument, std::string_view reason) {
  const std::string what = str(op, ": ", argument);
  std::shared_ptr<const IgnoredFunction> handler;
  bool is_new;
  {
    const std::lock_guard lock(mutex);
    handler = state().handler;
    is_new = !handler && state().shown.insert(what).second;
  }
  if (handler) return (*handler)(op, argument, reason);
  if (is_strict()) ARGAND_THROW(ValueError, what, " is ignored: ", reason);
  if (is_new || warns_always()) warn(what, " is ignored: ", reason);
}

IgnoredFunction set_ignored_handler(IgnoredFunction handler) {
  auto next = handler ? std::make_shared<const IgnoredFunction>(std::move(handler)) : nullptr;
  {
    const std::lock_guard lock(mutex);
    state().handler.swap(next);
  }
  return next ? *next : IgnoredFunction();
}

}  // namespace argand
