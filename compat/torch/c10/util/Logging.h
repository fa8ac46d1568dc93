// LOG(INFO) << ..., CHECK(condition) << ..., CAFFE_ENFORCE, and streams of containers, as <torch/torch.h> brings them.
//
// A line goes to standard error from the level on that c10::FLAGS_caffe2_log_level names (WARNING at first), VLOG(n)
// from -n on; LOG(FATAL) and a CHECK that fails throw c10::Error with the text.
#pragma once
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <vector>

#include "argand/base/shared.h"
#include "c10/util/Exception.h"

namespace c10 {

enum LogSeverity : int { GLOG_INFO = 0, GLOG_WARNING = 1, GLOG_ERROR = 2, GLOG_FATAL = 3 };
inline const int INFO = GLOG_INFO, WARNING = GLOG_WARNING, ERROR = GLOG_ERROR, FATAL = GLOG_FATAL;
ARGAND_SHARED inline int FLAGS_caffe2_log_level = GLOG_WARNING;
inline void ShowLogInfoToStderr() { FLAGS_caffe2_log_level = GLOG_INFO; }
inline void SetLogLevel(int level) { FLAGS_caffe2_log_level = level; }

// A line that is written, or thrown, at the end of the statement.
class MessageLogger {
 public:
  MessageLogger(const char* file, int line, int severity) : severity_(severity) {
    const std::string_view path = file;
    text_ << '[' << (severity < 0 ? 'V' : "IWEF"[severity]) << ' ' << path.substr(path.rfind('/') + 1) << ':' << line
          << "] ";
  }
  ~MessageLogger() noexcept(false) {
    text_ << '\n';
    const std::string line = text_.str();
    if (severity_ >= FLAGS_caffe2_log_level) std::fwrite(line.data(), 1, line.size(), stderr);
    if (severity_ >= GLOG_FATAL) throw Error(line);
  }
  MessageLogger(const MessageLogger&) = delete;
  MessageLogger& operator=(const MessageLogger&) = delete;
  std::ostream& stream() { return text_; }

 private:
  std::ostringstream text_;
  int severity_;
};
// Converts a stream to void, so that both branches of a condition have a type.
struct LoggerVoidify {
  void operator&(std::ostream&) const {}
};

// The elements, separated by spaces; at most 100 of them.
template <class Iterator>
void PrintSequence(Iterator begin, Iterator end, std::ostream& out) {
  for (int i = 0; begin != end; ++begin, ++i) {
    if (i == 100) {
      out << " ...";
      return;
    }
    if (i > 0) out << ' ';
    out << *begin;
  }
}

}  // namespace c10

// As in LibTorch: there, a program finds them for containers of anything, from whatever namespace it writes.
namespace std {
template <class... T>
ostream& operator<<(ostream& out, const vector<T...>& values) {
  c10::PrintSequence(values.begin(), values.end(), out);
  return out;
}
template <class... T>
ostream& operator<<(ostream& out, const map<T...>& values) {
  c10::PrintSequence(values.begin(), values.end(), out);
  return out;
}
template <class... T>
ostream& operator<<(ostream& out, const set<T...>& values) {
  c10::PrintSequence(values.begin(), values.end(), out);
  return out;
}
}  // namespace std

#define LOG(level)                                                                              \
  ::c10::GLOG_##level < ::c10::FLAGS_caffe2_log_level&& ::c10::GLOG_##level < ::c10::GLOG_FATAL \
      ? (void)0                                                                                 \
      : ::c10::LoggerVoidify() & ::c10::MessageLogger(__FILE__, __LINE__, ::c10::GLOG_##level).stream()
#define LOG_IF(level, condition) \
  !(condition) ? (void)0         \
               : ::c10::LoggerVoidify() & ::c10::MessageLogger(__FILE__, __LINE__, ::c10::GLOG_##level).stream()
#define VLOG_IS_ON(verbosity) (::c10::FLAGS_caffe2_log_level <= -(verbosity))
#define VLOG(verbosity)            \
  !VLOG_IS_ON(verbosity) ? (void)0 \
                         : ::c10::LoggerVoidify() & ::c10::MessageLogger(__FILE__, __LINE__, -(verbosity)).stream()
#define VLOG_IF(verbosity, condition)     \
  !(VLOG_IS_ON(verbosity) && (condition)) \
      ? (void)0                           \
      : ::c10::LoggerVoidify() & ::c10::MessageLogger(__FILE__, __LINE__, -(verbosity)).stream()
#define CHECK(condition)                                                                                      \
  (condition) ? (void)0                                                                                       \
              : ::c10::LoggerVoidify() & ::c10::MessageLogger(__FILE__, __LINE__, ::c10::GLOG_FATAL).stream() \
                                             << "Check failed: " #condition " "
#define ARGAND_TORCH_CHECK_OP(a, b, op)                                                                         \
  ((a)op(b)) ? (void)0                                                                                          \
             : ::c10::LoggerVoidify() & ::c10::MessageLogger(__FILE__, __LINE__, ::c10::GLOG_FATAL).stream()    \
                                            << "Check failed: " #a " " #op " " #b " (" << (a) << " vs. " << (b) \
                                            << ") "
#define CHECK_EQ(a, b) ARGAND_TORCH_CHECK_OP(a, b, ==)
#define CHECK_NE(a, b) ARGAND_TORCH_CHECK_OP(a, b, !=)
#define CHECK_LE(a, b) ARGAND_TORCH_CHECK_OP(a, b, <=)
#define CHECK_LT(a, b) ARGAND_TORCH_CHECK_OP(a, b, <)
#define CHECK_GE(a, b) ARGAND_TORCH_CHECK_OP(a, b, >=)
#define CHECK_GT(a, b) ARGAND_TORCH_CHECK_OP(a, b, >)
#define CHECK_NOTNULL(pointer) TORCH_CHECK_NOTNULL(pointer)
#ifdef NDEBUG
#define ARGAND_TORCH_DEBUG(...) \
  while (false) __VA_ARGS__
#else
#define ARGAND_TORCH_DEBUG(...) __VA_ARGS__
#endif
#define DLOG(level) ARGAND_TORCH_DEBUG(LOG(level))
#define DCHECK(condition) ARGAND_TORCH_DEBUG(CHECK(condition))
#define DCHECK_EQ(a, b) ARGAND_TORCH_DEBUG(CHECK_EQ(a, b))
#define DCHECK_NE(a, b) ARGAND_TORCH_DEBUG(CHECK_NE(a, b))
#define DCHECK_LE(a, b) ARGAND_TORCH_DEBUG(CHECK_LE(a, b))
#define DCHECK_LT(a, b) ARGAND_TORCH_DEBUG(CHECK_LT(a, b))
#define DCHECK_GE(a, b) ARGAND_TORCH_DEBUG(CHECK_GE(a, b))
#define DCHECK_GT(a, b) ARGAND_TORCH_DEBUG(CHECK_GT(a, b))

#define CAFFE_ENFORCE(condition, ...) \
  TORCH_CHECK(condition, "[enforce fail at " __FILE__ ":", __LINE__, "] " #condition ". " __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_THROW(...) throw ::argand::Error(::c10::str(__VA_ARGS__))
#define ARGAND_TORCH_ENFORCE(a, b, op, ...) CAFFE_ENFORCE((a)op(b), a, " vs ", b, ". " __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_EQ(a, b, ...) ARGAND_TORCH_ENFORCE(a, b, == __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_NE(a, b, ...) ARGAND_TORCH_ENFORCE(a, b, != __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_LE(a, b, ...) ARGAND_TORCH_ENFORCE(a, b, <= __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_LT(a, b, ...) ARGAND_TORCH_ENFORCE(a, b, < __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_GE(a, b, ...) ARGAND_TORCH_ENFORCE(a, b, >= __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_GT(a, b, ...) ARGAND_TORCH_ENFORCE(a, b, > __VA_OPT__(, ) __VA_ARGS__)

#define C10_LOG_API_USAGE_ONCE(...)
#define C10_LOG_FIRST_N(level, n) LOG(level)
