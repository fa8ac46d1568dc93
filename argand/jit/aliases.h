// An alias analysis: it finds the parameters and the attributes of modules that each variable of a function may share
// memory with.  Freezing asks it which attributes a program may change in place (Note [Freezing]).
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "argand/jit/syntax.h"

namespace argand::jit {

// A parameter by its name and null, or an attribute by the object and its name.
using Alias = std::pair<const void*, std::string>;
using AliasSet = std::set<Alias>;

// The effects of a function that its callers must know.
struct AliasSummary {
  std::vector<std::string> parameters;  // their names, without self
  AliasSet returned, changed;
};

class Aliases {
 public:
  struct Program {
    // The attribute that an expression reads; nothing for other expressions.
    std::function<std::optional<Alias>(const Expression&)> attribute;
    // The function that a call calls; null if it is not known.  Only for calls of what is no op.
    std::function<const AliasSummary*(const Expression&)> callee;
  };
  Aliases(const FunctionTree& function, Program program);

  // Takes note of a statement, without the statements inside of it.  To be called for all statements, again until
  // size() no longer changes.
  void add(const Statement& s);
  size_t size() const;
  const AliasSummary& summary() const { return summary_; }

 private:
  AliasSet of(const Expression& e);
  AliasSet call(const Expression& e);
  AliasSet op(const Expression& e, const std::string& name);
  AliasSet all(const std::vector<Expression>& parts, size_t first = 0);
  void set(const Expression& target, const AliasSet& value);
  void change(const AliasSet& what) { summary_.changed.insert(what.begin(), what.end()); }

  const Program program_;
  std::map<std::string, AliasSet> variables_;
  std::set<std::string> inner_;  // functions inside of the function
  AliasSummary summary_;
};

}  // namespace argand::jit
