// A function or method of a program: its signature, and its code once it was first called.
#pragma once
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>

#include "argand/jit/types.h"

namespace argand::jit {

class Program;
struct Class;
struct Code;  // argand/jit/code.h

struct Parameter {
  std::string name;
  Type type;
  bool has_default = false, keyword_only = false;
  IValue value;  // the default
};

class Function {
 public:
  // `tree` and `source` belong to the program, which outlives the function.  SyntaxError for types and default values
  // that are not supported.
  Function(Program& program, const Source& source, const FunctionTree& tree, std::string name);
  ~Function();

  const std::string& name() const { return name_; }  // "__torch__.net.Net.forward"
  const std::string& short_name() const { return tree_.name; }
  const std::vector<Parameter>& parameters() const { return parameters_; }  // self is the first of a method
  const Type& result() const { return result_; }
  const Source& source() const { return source_; }
  const FunctionTree& tree() const { return tree_; }
  Program& program() const { return program_; }
  // Compiles it at the first call.  Thread safe.
  const Code& code() const;

 private:
  Program& program_;
  const Source& source_;
  const FunctionTree& tree_;
  const std::string name_;
  std::vector<Parameter> parameters_;
  Type result_;
  mutable std::once_flag compiled_;
  mutable std::unique_ptr<const Code> code_;
};

// Calls with one value for each parameter, which are taken over.  Errors get the lines of the program that led to them.
IValue call(const Function& function, std::span<IValue> arguments);

// Calls the function with values from outside, by position and by name, which are checked against the types of the
// parameters.
IValue call(const Function& function, std::vector<IValue> arguments,
            const std::unordered_map<std::string, IValue>& named);

}  // namespace argand::jit
