// Errors.  ARGAND_CHECK is for what a user can cause and throws a typed error; ARGAND_ASSERT is for our own bugs.
// Nothing here aborts or exits.  Every type derives from argand::Error, which derives from std::exception.
#pragma once
#include <exception>
#include <string>

#include "argand/base/str.h"

namespace argand {

class Error : public std::exception {
 public:
  explicit Error(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& msg() const noexcept { return message_; }
  // LibTorch programs call this.  Our messages never hold a backtrace.
  const char* what_without_backtrace() const noexcept { return what(); }

 private:
  std::string message_;
};

// clang-format off
class ShapeError          : public Error { public: using Error::Error; };  // sizes or ranks that do not fit together
class DtypeError          : public Error { public: using Error::Error; };  // a dtype the op does not take
class DeviceError         : public Error { public: using Error::Error; };  // operands on different devices, no such device
class IndexError          : public Error { public: using Error::Error; };  // a dimension or an index out of range
class ValueError          : public Error { public: using Error::Error; };  // any other argument out of its domain
class GradError           : public Error { public: using Error::Error; };  // misuse of autograd: no graph, freed graph, ...
class OutOfMemoryError    : public Error { public: using Error::Error; };
class IoError             : public Error { public: using Error::Error; };  // files: missing, damaged, full disk
class DistributedError    : public Error { public: using Error::Error; };
class NotImplementedError : public Error { public: using Error::Error; };
class InternalError       : public Error { public: using Error::Error; };  // a bug of Argand; please report it
// clang-format on

namespace detail {
[[noreturn]] void assert_failed(const char* condition, const char* file, int line, const std::string& message);
}

}  // namespace argand

// ARGAND_CHECK(ShapeError, a == b, "op: expected ", a, ", got ", b)
#define ARGAND_CHECK(ErrorType, condition, ...)              \
  do {                                                       \
    if (!(condition)) [[unlikely]]                           \
      throw ::argand::ErrorType(::argand::str(__VA_ARGS__)); \
  } while (false)

#define ARGAND_THROW(ErrorType, ...) throw ::argand::ErrorType(::argand::str(__VA_ARGS__))

#define ARGAND_ASSERT(condition, ...)                                                                                \
  do {                                                                                                               \
    if (!(condition)) [[unlikely]]                                                                                   \
      ::argand::detail::assert_failed(#condition, __FILE__, __LINE__, ::argand::str("" __VA_OPT__(, ) __VA_ARGS__)); \
  } while (false)
