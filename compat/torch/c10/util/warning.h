// Warnings as LibTorch's programs see them: c10::Warning and who gets it; part of c10/util/Exception.h.
#pragma once
#include <ostream>
#include <string>
#include <variant>

#include "argand/base/log.h"
#include "c10/namespaces.h"

namespace c10 {

struct SourceLocation {
  const char* function = "";
  const char* file = "";
  uint32_t line = 0;
};
inline std::ostream& operator<<(std::ostream& out, const SourceLocation& where) {
  return out << where.function << " at " << where.file << ':' << where.line;
}

class WarningHandler;

// The message and source location of TORCH_WARN.  Warnings of the library itself have no source location.
class Warning {
 public:
  class UserWarning {};
  class DeprecationWarning {};
  using warning_variant_t = std::variant<UserWarning, DeprecationWarning>;
  Warning(warning_variant_t type, const SourceLocation& source_location, std::string msg, bool verbatim)
      : type_(type), source_location_(source_location), msg_(std::move(msg)), verbatim_(verbatim) {}

  warning_variant_t type() const { return type_; }
  const SourceLocation& source_location() const { return source_location_; }
  const std::string& msg() const { return msg_; }
  bool verbatim() const { return verbatim_; }  // to be printed verbatim, without its location

  // Their location before 2.0, when Warning was a namespace.
  static WarningHandler* get_warning_handler() noexcept;
  static void set_warning_handler(WarningHandler* handler) noexcept;
  static bool get_warnAlways() { return warns_always(); }
  static void set_warnAlways(bool always) { set_warns_always(always); }

 private:
  warning_variant_t type_;
  SourceLocation source_location_;
  std::string msg_;
  bool verbatim_;
};
using UserWarning = Warning::UserWarning;
using DeprecationWarning = Warning::DeprecationWarning;

// A handler overrides one of the two.
class WarningHandler {
 public:
  virtual ~WarningHandler() = default;
  virtual void process(const Warning& warning) {
    process(warning.source_location(), warning.msg(), warning.verbatim());
  }
  // The form before 2.0; of the first handler: a line of standard error.
  virtual void process(const SourceLocation&, const std::string& msg, const bool) {
    const std::string line = "warning: " + msg + '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
};

namespace WarningUtils {
namespace detail {
inline WarningHandler& first_handler() {
  static WarningHandler& handler = *new WarningHandler;
  return handler;
}
inline WarningHandler*& handler() {
  static WarningHandler* handler = &first_handler();
  return handler;
}
}  // namespace detail
// Never null.  All threads share the handler, so it also gets warnings from worker threads of the library.
inline WarningHandler* get_warning_handler() noexcept { return detail::handler(); }
// Null restores the first one.
inline void set_warning_handler(WarningHandler* handler) noexcept {
  detail::handler() = handler ? handler : &detail::first_handler();
  if (get_warning_handler() == &detail::first_handler()) {
    argand::set_warning_handler({});
    return;
  }
  argand::set_warning_handler(
      [handler](std::string_view m) { handler->process(Warning(UserWarning(), {}, std::string(m), false)); });
}
class WarningHandlerGuard {
 public:
  explicit WarningHandlerGuard(WarningHandler* handler) : before_(get_warning_handler()) {
    set_warning_handler(handler);
  }
  ~WarningHandlerGuard() { set_warning_handler(before_); }
  WarningHandlerGuard(const WarningHandlerGuard&) = delete;
  WarningHandlerGuard& operator=(const WarningHandlerGuard&) = delete;

 private:
  WarningHandler* before_;
};
// Whether TORCH_WARN_ONCE and the library's own warnings warn each time; a setting of the process.
inline bool get_warnAlways() { return warns_always(); }
inline void set_warnAlways(bool always) { set_warns_always(always); }
class WarnAlways {
 public:
  explicit WarnAlways(bool always = true) : before_(set_warns_always(always)) {}
  ~WarnAlways() { set_warnAlways(before_); }
  WarnAlways(const WarnAlways&) = delete;
  WarnAlways& operator=(const WarnAlways&) = delete;

 private:
  bool before_;
};
}  // namespace WarningUtils

inline WarningHandler* Warning::get_warning_handler() noexcept { return WarningUtils::get_warning_handler(); }
inline void Warning::set_warning_handler(WarningHandler* handler) noexcept {
  WarningUtils::set_warning_handler(handler);
}

// Passes it to LibTorch's handler if one is set, else to Argand's.
inline void warn(const Warning& warning) {
  WarningHandler* const handler = WarningUtils::get_warning_handler();
  if (handler == &WarningUtils::detail::first_handler())
    argand::warn(warning.msg());
  else
    handler->process(warning);
}

}  // namespace c10

#define TORCH_WARN_WITH(type, ...)                                                                               \
  ::c10::warn(::c10::Warning(type(), ::c10::SourceLocation{__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, \
                             ::c10::str(__VA_ARGS__), false))
// Warns when the line is reached the first time in the process; its parts are evaluated only then.
#define ARGAND_TORCH_WARN_ONCE(type, ...)                                                      \
  do {                                                                                         \
    static ::std::atomic<bool> argand_warned{false};                                           \
    if ((!argand_warned.load(::std::memory_order_relaxed) && !argand_warned.exchange(true)) || \
        ::argand::warns_always())                                                              \
      TORCH_WARN_WITH(type, __VA_ARGS__);                                                      \
  } while (false)
#define TORCH_WARN(...) TORCH_WARN_WITH(::c10::UserWarning, __VA_ARGS__)
#define TORCH_WARN_DEPRECATION(...) TORCH_WARN_WITH(::c10::DeprecationWarning, __VA_ARGS__)
#define TORCH_WARN_ONCE(...) ARGAND_TORCH_WARN_ONCE(::c10::UserWarning, __VA_ARGS__)
#define TORCH_WARN_DEPRECATION_ONCE(...) ARGAND_TORCH_WARN_ONCE(::c10::DeprecationWarning, __VA_ARGS__)
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)
