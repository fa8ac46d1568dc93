// Errors while data is loaded, with the sample at which they happened.
#pragma once
#include <exception>

#include "argand/base/error.h"

namespace argand::data {

namespace detail {
inline std::string text_of(const std::exception_ptr& cause) {
  try {
    std::rethrow_exception(cause);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}
}  // namespace detail

// An exception thrown while sample `index` was made, in whatever thread.
class SampleError : public Error {
 public:
  SampleError(int64_t index, std::exception_ptr cause)
      : Error(str("sample ", index, ": ", detail::text_of(cause))), index_(index), cause_(cause) {}
  int64_t index() const { return index_; }
  const std::exception_ptr& cause() const { return cause_; }

 private:
  int64_t index_;
  std::exception_ptr cause_;
};

// The error that a loader of make_data_loader() throws for an exception in one of its workers.
class WorkerException : public Error {
 public:
  explicit WorkerException(std::exception_ptr original)
      : Error("Caught exception in DataLoader worker thread. Original message: " + detail::text_of(original)),
        original_exception(original) {}
  std::exception_ptr original_exception;
};

// A batch took longer than DataLoaderOptions::timeout.
class LoaderTimeout : public Error {
 public:
  using Error::Error;
};

}  // namespace argand::data
