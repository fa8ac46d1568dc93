// Warnings: one line each, to standard error unless a handler takes them.  Thread-safe.
#pragma once
#include <atomic>
#include <functional>
#include <string_view>

#include "argand/base/str.h"

namespace argand {

using WarningFunction = std::function<void(std::string_view message)>;

// Installs a handler and returns the one before; an empty one stands for the default, which prints "warning: message".
// The handler runs on the thread that warns, possibly on several at once, with no lock held: it may warn, or install
// another.  What it throws reaches the code that warned.
WarningFunction set_warning_handler(WarningFunction handler);

namespace detail {
void emit_warning(std::string_view message);
}

template <class... Parts>
void warn(const Parts&... parts) {
  detail::emit_warning(str(parts...));
}

// Whether warnings that normally appear once appear each time; false at first.  One setting for the process.
bool warns_always();
bool set_warns_always(bool always);  // returns the previous value

}  // namespace argand

// Warns when this line is reached the first time in the process; its parts are not evaluated again.
#define ARGAND_WARN_ONCE(...)                                                                  \
  do {                                                                                         \
    static ::std::atomic<bool> argand_warned{false};                                           \
    if ((!argand_warned.load(::std::memory_order_relaxed) && !argand_warned.exchange(true)) || \
        ::argand::warns_always())                                                              \
      ::argand::warn(__VA_ARGS__);                                                             \
  } while (false)
