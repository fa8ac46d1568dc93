// The state of freezing a module (Note [Freezing] in argand/jit/freeze.cpp).
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "argand/jit/aliases.h"
#include "argand/jit/class.h"
#include "argand/jit/function.h"
#include "argand/jit/module.h"
#include "argand/jit/program.h"

namespace argand::jit {

// Collects the facts about the whole module, and chooses the names in its frozen class.
class Freezer {
 public:
  Freezer(const Module& root, const std::vector<std::string>& preserved);
  Module run();

  // The name of the frozen method; it is printed later if it is new.
  std::string method(const ObjectPtr& object, const std::string& name);
  // The expression for an attribute or a constant of a module's class.
  std::string attribute(const ObjectPtr& object, const std::string& name);
  // An attribute that a method sets: it stays one.
  std::string set_attribute(const ObjectPtr& object, const std::string& name);
  // The value of an attribute that never changes; null if it may.
  const IValue* known(const ObjectPtr& object, const std::string& name) const;
  // The submodule of this name; null for other attributes, and for a submodule that is kept as it is.
  ObjectPtr submodule(const ObjectPtr& object, const std::string& name) const;
  // The effects of a method of `object`, or of a function if `object` is null, on its arguments and on attributes.
  const AliasSummary& summary(const ObjectPtr& object, const Function& function);
  Program& program() const { return program_; }
  const std::string& class_name() const { return class_name_; }

 private:
  using Place = std::pair<ObjectPtr, std::string>;
  struct Order {
    bool operator()(const Place& a, const Place& b) const {
      return std::pair(a.first.get(), std::string_view(a.second)) <
             std::pair(b.first.get(), std::string_view(b.second));
    }
  };
  bool stays(const ObjectPtr& object, uint32_t i) const;
  std::string kept(const ObjectPtr& object, const std::string& name);
  std::string constant(const Tensor& t);
  std::string unused_name(const ObjectPtr& object, const std::string& name, const char* before);
  void print_all();
  std::string class_text() const;
  std::map<std::string, std::string> files(const std::string& text) const;

  const ObjectPtr root_;
  const std::set<std::string> preserved_;
  Program& program_;
  std::string class_name_, file_;
  std::map<const void*, std::string> paths_;  // of the modules
  std::map<const void*, ObjectPtr> owners_;
  std::set<Place, Order> set_;  // attributes that methods set
  // The results of print_all():
  bool found_set_ = false;
  std::set<std::string> names_;
  std::map<Place, std::string, Order> methods_, attributes_;
  std::vector<Place> waiting_, order_;  // methods to print; kept attributes
  std::string printed_;
  std::map<std::pair<const void*, const Function*>, AliasSummary> summaries_;
  uintptr_t stack_ = 0;  // where print_all() stands on it
  std::vector<IValue> constants_;
  std::map<const void*, size_t> constant_places_;
};

}  // namespace argand::jit
