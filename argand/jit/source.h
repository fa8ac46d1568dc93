// Where something stands in the code of an archive, for messages.
#pragma once
#include <string>

#include "argand/base/error.h"

namespace argand::jit {

// A file of the archive, or text that a test gives.
struct Source {
  std::string name;  // "code/__torch__/net.py"
  std::string text;
};

// Code that is not of the language, or not of the part of it that is supported.
class SyntaxError : public ValueError {
 public:
  SyntaxError(const std::string& file, uint32_t line, const std::string& what)
      : ValueError(str("TorchScript: ", file, ":", line, ": ", what)), line_(line) {}
  uint32_t line() const noexcept { return line_; }

 private:
  uint32_t line_;
};

}  // namespace argand::jit
