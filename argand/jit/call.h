// The heart of the interpreter: a frame for each call, bounds on depth, and where errors get their places.
#pragma once
#include <span>

#include "argand/jit/code.h"

namespace argand::jit {

// Runs compiled code with the values of its first slots, which are taken over.  Sets `line` to where it was when it
// ended.
IValue run_code(const Code& code, std::span<IValue> arguments, uint32_t& line);

// The exception that a program raises: ops.prim.RaiseException("text", "builtins.ValueError").
class Exception : public Error {
 public:
  // A text of the form "builtins.ValueError: text", as PyTorch's.
  static Exception raised(const std::string& text, const std::string& class_name) {
    return {class_name.empty() ? text : class_name + ": " + text, class_name};
  }
  Exception(const std::string& message, std::string class_name) : Error(message), class_name_(std::move(class_name)) {}
  const std::string& class_name() const noexcept { return class_name_; }  // empty if the program names none

 private:
  std::string class_name_;
};

}  // namespace argand::jit
