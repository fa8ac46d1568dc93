// The variables of one function: their slots, where they are set, and which are still read.
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "argand/jit/function.h"

namespace argand::jit {

// A set of slots.
class Slots {
 public:
  explicit Slots(size_t count) : words_((count + 63) / 64) {}
  bool has(uint32_t slot) const { return (words_[slot / 64] >> (slot % 64) & 1) != 0; }
  void add(uint32_t slot) { words_[slot / 64] |= uint64_t{1} << (slot % 64); }
  void remove(uint32_t slot) { words_[slot / 64] &= ~(uint64_t{1} << (slot % 64)); }
  Slots& operator|=(const Slots& o) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= o.words_[i];
    return *this;
  }
  Slots& operator&=(const Slots& o) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] &= o.words_[i];
    return *this;
  }

 private:
  std::vector<uint64_t> words_;
};

// A function inside of a function; `captured` are the variables around it that it reads, in the order of its slots.
struct NestedFunction {
  const FunctionTree* tree = nullptr;
  std::vector<std::string> captured;
};

class Scope {
 public:
  // Gives a slot to each parameter and each name that the body assigns, and finds the names that stand for functions.
  // SyntaxError for a variable that is read where it may not be set.  `around`: for a function inside, the scope
  // outside.
  Scope(Program& program, const Source& source, const std::vector<std::string>& parameters,
        const std::vector<Statement>& body, const Scope* around = nullptr);

  size_t size() const { return slots_.size(); }
  // Null if the name is no variable.
  const uint32_t* find(const std::string& name) const;
  const Function* function(const std::string& name) const;
  const NestedFunction* nested(const std::string& name) const;

  // Adds the variables that an expression reads.
  void add_reads(const Expression& e, Slots& out) const;
  // `live`: the variables that are read behind the statements; becomes those that are read from their start on.
  void add_reads(const std::vector<Statement>& body, Slots& live) const;

 private:
  void collect(const std::vector<Statement>& body, const Scope* around);
  void collect_target(const Expression& target);
  void check(const std::vector<Statement>& body, Slots& set) const;
  void check(const Expression& e, const Slots& set) const;
  void set_targets(const Statement& s, Slots& set) const;
  [[noreturn]] void refuse(uint32_t line, const std::string& what) const;

  Program& program_;
  const Source& source_;
  std::unordered_map<std::string, uint32_t> slots_;
  std::unordered_map<std::string, const Function*> functions_;
  std::unordered_map<std::string, NestedFunction> nested_;
};

// "a.b.c" of names and attributes, or "" for another expression.
std::string dotted_name(const Expression& e);

}  // namespace argand::jit
