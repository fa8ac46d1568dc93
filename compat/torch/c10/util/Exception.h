// TORCH_CHECK and its relatives: Argand's errors and warnings under LibTorch's macros.
#pragma once
#include <sstream>

#include "argand/base/error.h"
#include "argand/base/linalg_error.h"
#include "argand/parallel/store/store.h"
#include "c10/macros/Macros.h"
#include "c10/namespaces.h"
#include "c10/util/warning.h"

namespace c10 {

namespace detail {
// LibTorch's text for a check without a message of its own.
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
template <class T>
T&& check_not_null(T&& pointer, const char* text) {
  ARGAND_CHECK(Error, pointer != nullptr, "Check failed: '", text, "' must be non NULL. ");
  return std::forward<T>(pointer);
}
}  // namespace detail

using DistError = argand::DistributedError;
using DistBackendError = argand::BackendError;
using DistNetworkError = argand::NetworkError;
using DistStoreError = argand::StoreError;
using DistQueueEmptyError = argand::parallel::QueueEmptyError;

// The parts as a stream writes them, concatenated.
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

}  // namespace c10

// A block, which needs no semicolon, as programs have it from LibTorch.  `text` is the condition as it was written: an
// argument of a macro that is passed on is expanded first.
#define ARGAND_TORCH_CHECK(error_type, text, condition, ...)                                            \
  if (!(condition)) [[unlikely]] {                                                                      \
    throw ::argand::error_type(::c10::detail::check_message(                                            \
        "Expected " text                                                                                \
        " to be true, but got false.  (Could this error message be improved?  If so, please report an " \
        "enhancement request to PyTorch.)" __VA_OPT__(, ) __VA_ARGS__));                                \
  }
#define TORCH_CHECK_WITH(error_type, condition, ...) \
  ARGAND_TORCH_CHECK(error_type, #condition, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK(condition, ...) ARGAND_TORCH_CHECK(Error, #condition, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) \
  ARGAND_TORCH_CHECK(IndexError, #condition, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) \
  ARGAND_TORCH_CHECK(ValueError, #condition, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) \
  ARGAND_TORCH_CHECK(DtypeError, #condition, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_LINALG(condition, ...) \
  ARGAND_TORCH_CHECK(LinAlgError, #condition, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
  ARGAND_TORCH_CHECK(NotImplementedError, #condition, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_BUFFER(condition, ...) TORCH_CHECK_VALUE(condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_ARG(condition, number, ...) \
  TORCH_CHECK(condition, "invalid argument ", number, ": " __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_SYM_CHECK(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_IF_NOT_ON_CUDA(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)

// TORCH_CHECK_EQ(a, b): "Check failed: a == b (1 vs. 2). "
#define TORCH_CHECK_OP(a, b, op) TORCH_CHECK((a)op(b), "Check failed: " #a " " #op " " #b " (", a, " vs. ", b, "). ")
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK_OP(a, b, ==)
#define TORCH_CHECK_NE(a, b) TORCH_CHECK_OP(a, b, !=)
#define TORCH_CHECK_LE(a, b) TORCH_CHECK_OP(a, b, <=)
#define TORCH_CHECK_LT(a, b) TORCH_CHECK_OP(a, b, <)
#define TORCH_CHECK_GE(a, b) TORCH_CHECK_OP(a, b, >=)
#define TORCH_CHECK_GT(a, b) TORCH_CHECK_OP(a, b, >)
#define TORCH_CHECK_NOTNULL(pointer) (::c10::detail::check_not_null(pointer, #pointer))

#define TORCH_INTERNAL_ASSERT(condition, ...)                                                                     \
  if (!(condition)) [[unlikely]] {                                                                                \
    throw ::argand::InternalError(::c10::str(#condition " INTERNAL ASSERT FAILED at \"" __FILE__ "\":", __LINE__, \
                                             ", please report a bug to the program's authors. " __VA_OPT__(, )    \
                                                 __VA_ARGS__));                                                   \
  }
#ifdef NDEBUG
#define ARGAND_TORCH_IF_DEBUG(...) \
  while (false) {                  \
    __VA_ARGS__                    \
  }
#else
#define ARGAND_TORCH_IF_DEBUG(...) __VA_ARGS__
#endif
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) ARGAND_TORCH_IF_DEBUG(TORCH_INTERNAL_ASSERT(__VA_ARGS__))
#define TORCH_SYM_INTERNAL_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define TORCH_DCHECK_EQ(a, b) ARGAND_TORCH_IF_DEBUG(TORCH_CHECK_EQ(a, b))
#define TORCH_DCHECK_NE(a, b) ARGAND_TORCH_IF_DEBUG(TORCH_CHECK_NE(a, b))
#define TORCH_DCHECK_LE(a, b) ARGAND_TORCH_IF_DEBUG(TORCH_CHECK_LE(a, b))
#define TORCH_DCHECK_LT(a, b) ARGAND_TORCH_IF_DEBUG(TORCH_CHECK_LT(a, b))
#define TORCH_DCHECK_GE(a, b) ARGAND_TORCH_IF_DEBUG(TORCH_CHECK_GE(a, b))
#define TORCH_DCHECK_GT(a, b) ARGAND_TORCH_IF_DEBUG(TORCH_CHECK_GT(a, b))

#define TORCH_CHECK_WITH_MSG(error_type, condition, type, ...) \
  ARGAND_TORCH_CHECK(error_type, #condition, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_ALWAYS_SHOW_CPP_STACKTRACE(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
// All elements of a tensor are true.
#define TORCH_CHECK_TENSOR_ALL(tensor, ...) TORCH_CHECK((tensor).all().item().toBool() __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_DCHECK_NOTNULL(pointer) TORCH_CHECK_NOTNULL(pointer)
#define TORCH_RETHROW(error, ...) throw
#define C10_THROW_ERROR(error_type, ...) throw ::c10::error_type(::c10::str(__VA_ARGS__))
#define AT_ERROR(...) throw ::argand::Error(::c10::str(__VA_ARGS__))
#define AT_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition, __VA_ARGS__)
#define AT_CHECK(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)

#define C10_LOG_API_USAGE_ONCE(...)
