// TORCH_CHECK and its relatives: Argand's errors and warnings under LibTorch's macros.
#pragma once
#include <sstream>

#include "argand/base/error.h"
#include "argand/base/log.h"
#include "c10/namespaces.h"

namespace c10 {

namespace detail {
// What LibTorch says where a check has no message of its own.
template <class... Parts>
std::string check_message(const char* without_parts, const Parts&... parts) {
  if constexpr (sizeof...(Parts) == 0) {
    return without_parts;
  } else {
    std::ostringstream out;
    (out << ... << parts);
    return out.str();
  }
}
}  // namespace detail

// The parts as a stream writes them, one after the other.
template <class... Parts>
std::string str(const Parts&... parts) {
  return detail::check_message("", parts...);
}

// The elements of a container with `delimiter` between them.
template <class Container>
std::string Join(const std::string& delimiter, const Container& parts) {
  std::ostringstream out;
  const char* before = "";
  for (const auto& part : parts) out << before << part, before = delimiter.c_str();
  return out.str();
}

// Who gets warnings.  Argand's have no place in the source, and are never to be printed word for word.
struct SourceLocation {
  const char* function = "";
  const char* file = "";
  uint32_t line = 0;
};
class WarningHandler {
 public:
  virtual ~WarningHandler() = default;
  virtual void process(const SourceLocation& source_location, const std::string& msg, const bool verbatim) = 0;
};
namespace Warning {
namespace detail {
inline WarningHandler*& handler() {
  static WarningHandler* handler = nullptr;
  return handler;
}
}  // namespace detail
// None at first: warnings go to standard error.
inline WarningHandler* get_warning_handler() { return detail::handler(); }
inline void set_warning_handler(WarningHandler* handler) {
  detail::handler() = handler;
  if (!handler) {
    argand::set_warning_handler({});
    return;
  }
  argand::set_warning_handler([handler](std::string_view m) { handler->process({}, std::string(m), false); });
}
// Whether TORCH_WARN_ONCE and the library's own warn each time; of the process.
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
}  // namespace Warning

}  // namespace c10

// `text` is the condition as it was written: an argument of a macro that is passed on is expanded first.
#define ARGAND_TORCH_CHECK(error_type, text, condition, ...)                                              \
  do {                                                                                                    \
    if (!(condition)) [[unlikely]]                                                                        \
      throw ::argand::error_type(::c10::detail::check_message(                                            \
          "Expected " text                                                                                \
          " to be true, but got false.  (Could this error message be improved?  If so, please report an " \
          "enhancement request to PyTorch.)" __VA_OPT__(, ) __VA_ARGS__));                                \
  } while (false)
#define TORCH_CHECK_WITH(error_type, condition, ...) \
  ARGAND_TORCH_CHECK(error_type, #condition, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK(condition, ...) ARGAND_TORCH_CHECK(Error, #condition, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) \
  ARGAND_TORCH_CHECK(IndexError, #condition, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) \
  ARGAND_TORCH_CHECK(ValueError, #condition, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) \
  ARGAND_TORCH_CHECK(DtypeError, #condition, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
  ARGAND_TORCH_CHECK(NotImplementedError, #condition, condition __VA_OPT__(, ) __VA_ARGS__)

#define TORCH_INTERNAL_ASSERT(condition, ...)                                                                       \
  do {                                                                                                              \
    if (!(condition)) [[unlikely]]                                                                                  \
      throw ::argand::InternalError(::c10::str(#condition " INTERNAL ASSERT FAILED at \"" __FILE__ "\":", __LINE__, \
                                               ", please report a bug to the program's authors. " __VA_OPT__(, )    \
                                                   __VA_ARGS__));                                                   \
  } while (false)
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  do {                                        \
  } while (false)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif

#define AT_ERROR(...) throw ::argand::Error(::c10::str(__VA_ARGS__))
#define AT_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition, __VA_ARGS__)

#define TORCH_WARN(...) ::argand::warn(::c10::str(__VA_ARGS__))
#define TORCH_WARN_ONCE(...) ARGAND_WARN_ONCE(::c10::str(__VA_ARGS__))
