// What goes wrong while data is loaded, with the sample it happened at.
#pragma once
#include <exception>

#include "argand/base/error.h"

namespace argand::data {

// An exception thrown while sample `index` was made, in whatever thread.
class SampleError : public Error {
 public:
  SampleError(int64_t index, std::exception_ptr cause)
      : Error(str("sample ", index, ": ", text_of(cause))), index_(index), cause_(cause) {}
  int64_t index() const { return index_; }
  const std::exception_ptr& cause() const { return cause_; }

 private:
  static std::string text_of(const std::exception_ptr& cause) {
    try {
      std::rethrow_exception(cause);
    } catch (const std::exception& e) {
      return e.what();
    } catch (...) {
      return "an exception that is no std::exception";
    }
  }
  int64_t index_;
  std::exception_ptr cause_;
};

// A batch took longer than DataLoaderOptions::timeout.
class LoaderTimeout : public Error {
 public:
  using Error::Error;
};

}  // namespace argand::data
