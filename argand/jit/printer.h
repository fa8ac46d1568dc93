// Prints syntax trees as the code that they were parsed from, or as code that means the same.  What a derived class
// handles itself is printed otherwise (argand/jit/freeze.cpp).
#pragma once
#include <optional>
#include <string>

#include "argand/jit/syntax.h"

namespace argand::jit {

// A number, a text, None, a device, or a tuple of them as an expression; nothing for other values.
std::optional<std::string> literal_of(const IValue& value);
// A text between quotes, with escapes.
std::string quoted(const std::string& text);

class Printer {
 public:
  virtual ~Printer() = default;
  std::string expression(const Expression& e);
  // Indented lines, each with its end; "pass" if nothing is printed for the statements.
  std::string block(const std::vector<Statement>& statements, size_t indent);
  std::string function(const FunctionTree& f, const std::string& name, size_t indent);

 protected:
  // The text for an expression that is printed otherwise.
  virtual std::optional<std::string> special(const Expression&) { return std::nullopt; }
  // The lines for a statement that is printed otherwise.
  virtual std::optional<std::string> special(const Statement&, size_t /*indent*/) { return std::nullopt; }
  virtual std::string parameter(const ParameterTree& p);
  std::string statements(const std::vector<Statement>& statements, size_t indent);

 private:
  std::string statement(const Statement& s, size_t indent);
  std::string line_of(const Statement& s);
  std::string targets(const Statement& s);
  std::string operand(const Expression& e);
  std::string listed(const std::vector<Expression>& parts, size_t first = 0);
  std::string call(const Expression& e);
  std::string subscript(const Expression& key);
};

}  // namespace argand::jit
