// Freezing: a program that is specialised to the objects of one module.
//
// Note [Freezing]
// Each method of each module below the root becomes a method of the frozen root, with its modules known: a read of
// an attribute becomes a constant, a call of a submodule a call of a method of the root, and an `if` whose condition is
// then known becomes the branch that is taken.  What must stay an attribute is one of the root: what a method that can
// still be reached sets or changes in place (argand/jit/aliases.h), lists, dicts and objects, and what the caller wants
// to keep.  The result is text, so that it is run, saved and printed as any other program.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <set>

#include "argand/jit/aliases.h"
#include "argand/jit/builtins.h"
#include "argand/jit/class.h"
#include "argand/jit/function.h"
#include "argand/jit/module.h"
#include "argand/jit/printer.h"
#include "argand/jit/program.h"
#include "argand/jit/scope.h"
#include "argand/ops/functions.h"

namespace argand::jit {

namespace {

using Tree = Expression::Kind;
using Is = Statement::Kind;

const Object& as_object(const ObjectPtr& o) { return static_cast<const Object&>(*o); }
bool is_name_part(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || byte >= 0x80;
}
bool is_identifier(const std::string& name) {
  return !name.empty() && (name[0] < '0' || name[0] > '9') && std::all_of(name.begin(), name.end(), is_name_part);
}

// What is known of the whole module, and the names in its frozen class.
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
  bool has(const ObjectPtr& object, const std::string& name) const;
  // What a method of a module, or a function (whose object is null), does to its arguments and to attributes.
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
  // What print_all() makes.
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

// Prints one method of one module.
class MethodPrinter final : public Printer {
 public:
  MethodPrinter(Freezer& freezer, const ObjectPtr& self, const Function& function)
      : freezer_(freezer),
        function_(function),
        aliases_(function.tree(), {[this](const Expression& e) { return attribute_of(e); },
                                   [this](const Expression& e) { return callee_of(e); }}) {
    const FunctionTree& tree = function.tree();
    if (self) {
      self_ = tree.parameters[0].name;
      modules_[self_] = self;
    }
    for (const ParameterTree& p : tree.parameters) ++sets_[p.name];
    count_sets(tree.body);
  }
  std::string print(const std::string& name) { return function(function_.tree(), name, 2); }
  AliasSummary summary() {
    size_t before = 0;
    do {
      before = aliases_.size();
      (void)block(function_.tree().body, 0);
    } while (aliases_.size() != before);
    return aliases_.summary();
  }

 protected:
  std::string parameter(const ParameterTree& p) override {
    return p.name == self_ ? "self: " + freezer_.class_name() : Printer::parameter(p);
  }

  std::optional<std::string> special(const Expression& e) override {
    if (module_of(e)) refuse(e, "a module is used as a value");
    if (e.kind == Tree::kAttribute) {
      const ObjectPtr of = module_of(e.parts[0]);
      return of ? std::optional(freezer_.attribute(of, e.text)) : std::nullopt;
    }
    if (e.kind == Tree::kTernary)
      if (const std::optional<IValue> condition = fold(e.parts[0]); condition && condition->isBool())
        return "(" + expression(e.parts[condition->toBool() ? 1 : 2]) + ")";
    return e.kind == Tree::kCall ? special_call(e) : std::nullopt;
  }

  std::optional<std::string> special(const Statement& s, size_t indent) override {
    if (!is_module(s.value)) aliases_.add(s);
    if (s.kind == Is::kIf)
      if (const std::optional<IValue> condition = fold(s.value); condition && condition->isBool())
        return statements(condition->toBool() ? s.body : s.other, indent);
    if (s.kind == Is::kAugmented && s.targets[0].kind == Tree::kAttribute)
      if (const ObjectPtr of = module_of(s.targets[0].parts[0]))
        return std::string(indent, ' ') + freezer_.set_attribute(of, s.targets[0].text) + " " + s.text + "= " +
               expression(s.value) + "\n";
    if (s.kind != Is::kAssign || s.unpacks) return std::nullopt;
    const Expression& target = s.targets[0];
    if (target.kind == Tree::kAttribute) {
      const ObjectPtr of = module_of(target.parts[0]);
      if (!of) return std::nullopt;
      return std::string(indent, ' ') + freezer_.set_attribute(of, target.text) + " = " + expression(s.value) + "\n";
    }
    if (target.kind != Tree::kName) return std::nullopt;
    if (const std::string path = dotted_name(s.value); path.starts_with("__torch__.")) functions_[target.text] = path;
    const bool once = sets_[target.text] == 1;
    if (const ObjectPtr module = module_of(s.value)) {
      if (!once) refuse(s.value, str("the variable ", target.text, " is a module, and is set more than once"));
      modules_[target.text] = module;
      return "";
    }
    if (once)
      if (std::optional<IValue> value = fold(s.value)) known_[target.text] = std::move(*value);
    return std::nullopt;
  }

 private:
  [[noreturn]] void refuse(const Expression& e, const std::string& what) const {
    ARGAND_THROW(NotImplementedError, "torch::jit::freeze: ", function_.source().name, ":", e.line, ": ", what,
                 ", which is not supported");
  }

  std::optional<std::string> special_call(const Expression& e) {
    const Expression& callee = e.parts[0];
    if (const std::optional<std::pair<ObjectPtr, std::string>> read = read_by_name(e, "getattr"))
      return freezer_.attribute(read->first, read->second);
    if (const std::optional<std::pair<ObjectPtr, std::string>> read = read_by_name(e, "hasattr"))
      return freezer_.has(read->first, read->second) ? "True" : "False";
    if (callee.kind != Tree::kAttribute) return std::nullopt;
    const ObjectPtr of = module_of(callee.parts[0]);
    if (!of) return std::nullopt;
    std::string out = "(self)." + freezer_.method(of, callee.text) + "(";
    const size_t positional = e.parts.size() - e.keywords.size();
    for (size_t i = 1; i < e.parts.size(); ++i)
      out += (i < positional ? "" : e.keywords[i - positional] + "=") + expression(e.parts[i]) + ", ";
    return out + ")";
  }

  bool is_module(const Expression& e) const { return e.kind != Tree::kAbsent && module_of(e); }

  // For aliases_: the attribute that the expression reads, and the function that it calls.
  std::optional<Alias> attribute_of(const Expression& e) const {
    std::optional<std::pair<ObjectPtr, std::string>> read = read_by_name(e, "getattr");
    if (e.kind == Tree::kAttribute)
      if (const ObjectPtr of = module_of(e.parts[0])) read = std::pair(of, e.text);
    return read ? std::optional(Alias(read->first.get(), read->second)) : std::nullopt;
  }
  const AliasSummary* callee_of(const Expression& call) {
    const Expression& callee = call.parts[0];
    if (callee.kind == Tree::kAttribute)
      if (const ObjectPtr of = module_of(callee.parts[0])) {
        const Class& type = as_object(of).type();
        const uint32_t i = type.find_method(callee.text);
        return i == Class::kAbsent ? nullptr : &freezer_.summary(of, *type.methods[i]);
      }
    std::string path = dotted_name(callee);
    if (const auto named = functions_.find(path); named != functions_.end()) path = named->second;
    if (!path.starts_with("__torch__.")) return nullptr;
    const Function* found = freezer_.program().find_function(path);
    return found ? &freezer_.summary(ObjectPtr(), *found) : nullptr;
  }

  // getattr(module, "name"): the module and the name.
  std::optional<std::pair<ObjectPtr, std::string>> read_by_name(const Expression& e, const char* by) const {
    if (e.kind != Tree::kCall || !e.parts[0].is_name(by) || e.parts.size() != 3) return std::nullopt;
    if (e.parts[2].kind != Tree::kConstant || !e.parts[2].value.isString()) return std::nullopt;
    const ObjectPtr of = module_of(e.parts[1]);
    if (!of) return std::nullopt;
    return std::pair(of, e.parts[2].value.toStringRef());
  }

  // The module that an expression is; null if it is none.
  ObjectPtr module_of(const Expression& e) const {
    if (e.kind == Tree::kName) {
      const auto found = modules_.find(e.text);
      return found == modules_.end() ? ObjectPtr() : found->second;
    }
    if (e.kind == Tree::kAttribute) {
      const ObjectPtr of = module_of(e.parts[0]);
      return of ? freezer_.submodule(of, e.text) : ObjectPtr();
    }
    if (const auto read = read_by_name(e, "getattr")) return freezer_.submodule(read->first, read->second);
    if (e.kind == Tree::kCall && e.parts[0].is_name("unchecked_cast") && e.parts.size() == 3)
      return module_of(e.parts[2]);
    return {};
  }

  // The value of an expression that has the same at each call.
  std::optional<IValue> fold(const Expression& e) const {
    const auto none = [](const std::optional<IValue>& a, const std::optional<IValue>& b, bool is) {
      return a && b && (a->isNone() || b->isNone()) ? std::optional<IValue>((a->isNone() && b->isNone()) == is)
                                                    : std::nullopt;
    };
    const auto compared = [](const std::optional<IValue>& a, const std::optional<IValue>& b, bool is) {
      const bool plain = a && b && (a->isScalar() || a->isString()) && (b->isScalar() || b->isString());
      return plain ? std::optional<IValue>(equal(*a, *b) == is) : std::nullopt;
    };
    const auto negated = [](const std::optional<IValue>& a) {
      return a && a->isBool() ? std::optional<IValue>(!a->toBool()) : std::nullopt;
    };
    switch (e.kind) {
      case Tree::kConstant:
        return e.value;
      case Tree::kName: {
        const auto found = known_.find(e.text);
        return found == known_.end() ? std::nullopt : std::optional(found->second);
      }
      case Tree::kAttribute:
        if (const ObjectPtr of = module_of(e.parts[0]))
          if (const IValue* value = freezer_.known(of, e.text)) return *value;
        return std::nullopt;
      case Tree::kUnary:
        return e.text == "not" ? negated(fold(e.parts[0])) : std::nullopt;
      case Tree::kBinary: {
        if (e.text == "and" || e.text == "or") {
          const std::optional<IValue> first = fold(e.parts[0]);
          if (!first || !first->isBool()) return std::nullopt;
          return first->toBool() == (e.text == "and") ? fold(e.parts[1]) : first;
        }
        if (e.text == "is" || e.text == "is not") return none(fold(e.parts[0]), fold(e.parts[1]), e.text == "is");
        if (e.text == "==" || e.text == "!=") return compared(fold(e.parts[0]), fold(e.parts[1]), e.text == "==");
        return std::nullopt;
      }
      case Tree::kCall: {
        if (const auto read = read_by_name(e, "getattr")) {
          const IValue* value = freezer_.known(read->first, read->second);
          return value ? std::optional(*value) : std::nullopt;
        }
        if (const auto read = read_by_name(e, "hasattr")) return IValue(freezer_.has(read->first, read->second));
        const std::string name = dotted_name(e.parts[0]);
        if (e.parts.size() == 2 && name == "torch.__not__") return negated(fold(e.parts[1]));
        if (e.parts.size() != 3) return std::nullopt;
        if (name == "annotate" || name == "unchecked_cast") return fold(e.parts[2]);
        if (name == "torch.__is__" || name == "torch.__isnot__")
          return none(fold(e.parts[1]), fold(e.parts[2]), name == "torch.__is__");
        if (name == "torch.eq" || name == "torch.ne")
          return compared(fold(e.parts[1]), fold(e.parts[2]), name == "torch.eq");
        return std::nullopt;
      }
      default:
        return std::nullopt;
    }
  }

  void count_sets(const std::vector<Statement>& body) {
    for (const Statement& s : body) {
      for (const Expression& t : s.targets)
        if (t.kind == Tree::kName) sets_[t.text] += s.kind == Is::kFor || s.kind == Is::kAugmented ? 2 : 1;
      if (s.function) {
        for (const ParameterTree& p : s.function->parameters) ++sets_[p.name];
        count_sets(s.function->body);
      }
      count_sets(s.body);
      count_sets(s.other);
    }
  }

  Freezer& freezer_;
  const Function& function_;
  Aliases aliases_;
  std::string self_;
  std::map<std::string, std::string> functions_;  // variables that are functions, by their qualified names
  std::map<std::string, ObjectPtr> modules_;      // variables that are modules
  std::map<std::string, IValue> known_;           // variables whose value never changes
  std::map<std::string, int> sets_;               // how many statements set a variable
};

Freezer::Freezer(const Module& root, const std::vector<std::string>& preserved)
    : root_(root._ivalue()),
      preserved_(preserved.begin(), preserved.end()),
      program_(*as_object(root_).type().program) {
  const Class& type = as_object(root_).type();
  for (const std::string& name : preserved_)
    ARGAND_CHECK(ValueError,
                 type.find_attribute(name) != Class::kAbsent || type.find_method(name) != Class::kAbsent ||
                     type.find_constant(name),
                 "Unknown name: ", name);
  for (const Named<Module>& m : root.named_modules()) {
    paths_.emplace(m.value._ivalue().get(), m.name);
    owners_.emplace(m.value._ivalue().get(), m.value._ivalue());
  }
  std::string module = "frozen";
  for (int i = 1; program_.texts().contains("code/__torch__/" + module + ".py"); ++i) module = str("frozen_", i);
  file_ = "code/__torch__/" + module + ".py";
  class_name_ = "__torch__." + module + "." + type.name.substr(type.name.rfind('.') + 1);
}

bool Freezer::has(const ObjectPtr& object, const std::string& name) const {
  const Class& type = as_object(object).type();
  return type.find_attribute(name) != Class::kAbsent || type.find_method(name) != Class::kAbsent ||
         type.find_constant(name);
}

bool Freezer::stays(const ObjectPtr& object, uint32_t i) const {
  const IValue& v = as_object(object).place(i);
  const std::string& name = as_object(object).type().attributes[i].name;
  if (object.get() == root_.get() && preserved_.contains(name)) return true;
  if (set_.contains({object, name})) return true;
  return v.isTensor() ? !v.toTensor().defined() : !literal_of(v);
}

ObjectPtr Freezer::submodule(const ObjectPtr& object, const std::string& name) const {
  const uint32_t i = as_object(object).type().find_attribute(name);
  if (i == Class::kAbsent || !as_object(object).place(i).isModule()) return {};
  if (object.get() == root_.get() && preserved_.contains(name)) return {};
  return as_object(object).place(i).toObject();
}

const IValue* Freezer::known(const ObjectPtr& object, const std::string& name) const {
  const uint32_t i = as_object(object).type().find_attribute(name);
  if (i == Class::kAbsent) return as_object(object).type().find_constant(name);
  return stays(object, i) ? nullptr : &as_object(object).place(i);
}

const AliasSummary& Freezer::summary(const ObjectPtr& object, const Function& function) {
  constexpr uintptr_t kMaxStackBytes = uintptr_t{1} << 20;
  const auto [place, is_new] = summaries_.emplace(std::pair(object.get(), &function), AliasSummary());
  if (!is_new) return place->second;
  // A function that calls itself is seen by the inner call as one that returns and changes all that it gets.
  for (const Parameter& p : function.parameters()) {
    if (p.name == "self") continue;
    place->second.parameters.push_back(p.name);
    place->second.returned.insert({nullptr, p.name});
  }
  place->second.changed = place->second.returned;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  ARGAND_CHECK(ValueError, std::max(stack_, here) - std::min(stack_, here) < kMaxStackBytes,
               "torch::jit::freeze: functions call each other too deeply");
  place->second = MethodPrinter(*this, object, function).summary();
  for (const auto& [of, name] : place->second.changed) {
    const auto owner = owners_.find(of);
    if (owner != owners_.end()) found_set_ |= set_.insert({owner->second, name}).second;
  }
  return place->second;
}

std::string Freezer::unused_name(const ObjectPtr& object, const std::string& name, const char* before) {
  const std::string& path = paths_.at(object.get());
  std::string out = before + (path.empty() ? name : path + "_" + name);
  // Modules may have names such as "block-0".
  std::replace_if(
      out.begin(), out.end(), [](char c) { return !is_name_part(c); }, '_');
  if (!is_identifier(out)) out = "_" + out;
  const std::string start = out;
  for (int i = 1; !names_.insert(out).second; ++i) out = str(start, "_", i);
  return out;
}

std::string Freezer::method(const ObjectPtr& object, const std::string& name) {
  const Place place(object, name);
  const auto found = methods_.find(place);
  if (found != methods_.end()) return found->second;
  ARGAND_CHECK(ValueError, as_object(object).type().find_method(name) != Class::kAbsent,
               "torch::jit::freeze: ", as_object(object).type().name, " has no method '", name, "'");
  waiting_.push_back(place);
  return methods_.emplace(place, unused_name(object, name, "_")).first->second;
}

std::string Freezer::kept(const ObjectPtr& object, const std::string& name) {
  const Place place(object, name);
  auto found = attributes_.find(place);
  if (found == attributes_.end()) {
    order_.push_back(place);
    found = attributes_.emplace(place, unused_name(object, name, "")).first;
  }
  return is_identifier(found->second) ? "self." + found->second : "getattr(self, " + quoted(found->second) + ")";
}

std::string Freezer::set_attribute(const ObjectPtr& object, const std::string& name) {
  ARGAND_CHECK(ValueError, as_object(object).type().find_attribute(name) != Class::kAbsent,
               "torch::jit::freeze: ", as_object(object).type().name, " has no attribute '", name, "' to set");
  found_set_ |= set_.insert({object, name}).second;
  return kept(object, name);
}

std::string Freezer::attribute(const ObjectPtr& object, const std::string& name) {
  const Class& type = as_object(object).type();
  const uint32_t i = type.find_attribute(name);
  if (i == Class::kAbsent) {
    const auto constant =
        std::find_if(type.constants.begin(), type.constants.end(), [&](const Constant& c) { return c.name == name; });
    ARGAND_CHECK(ValueError, constant != type.constants.end(), "torch::jit::freeze: ", type.name, " has no attribute '",
                 name, "'");
    return "annotate(" + constant->type.str() + ", " + Printer().expression(constant->tree) + ")";
  }
  if (stays(object, i)) return kept(object, name);
  const IValue& v = as_object(object).place(i);
  const std::string text = v.isTensor() ? constant(v.toTensor()) : *literal_of(v);
  const Type& declared = type.attributes[i].type;
  const bool exact = declared.kind != Type::Kind::kOptional && declared.kind != Type::Kind::kUnion &&
                     declared.kind != Type::Kind::kAny && declared.kind != Type::Kind::kTuple;
  return exact ? text : "annotate(" + declared.str() + ", " + text + ")";
}

// A constant without dimensions would be a number, which has no part in type promotion, so it is kept with one.
std::string Freezer::constant(const Tensor& t) {
  const auto [place, is_new] = constant_places_.emplace(t.unsafeGetTensorImpl(), constants_.size());
  if (is_new) constants_.emplace_back(t.dim() == 0 ? t.detach().unsqueeze(0) : t.detach());
  const std::string name = str("CONSTANTS.c", place->second);
  return t.dim() == 0 ? "torch.select(" + name + ", 0, 0)" : name;
}

void Freezer::print_all() {
  found_set_ = false;
  names_.clear(), methods_.clear(), attributes_.clear(), order_.clear(), printed_.clear(), constant_places_.clear();
  summaries_.clear();
  stack_ = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  constants_ = program_.constants;
  const Class& type = as_object(root_).type();
  names_.insert(preserved_.begin(), preserved_.end());
  names_.insert("forward");
  for (const Attribute& a : type.attributes)
    if (preserved_.contains(a.name)) {
      order_.emplace_back(root_, a.name);
      attributes_.emplace(order_.back(), a.name);
    }
  for (const auto& m : type.methods)
    if (m->short_name() == "forward" || preserved_.contains(m->short_name())) {
      waiting_.emplace_back(root_, m->short_name());
      methods_.emplace(waiting_.back(), m->short_name());
    }
  while (!waiting_.empty()) {
    const Place next = waiting_.back();
    waiting_.pop_back();
    const Class& of = as_object(next.first).type();
    const Function& function = *of.methods[of.find_method(next.second)];
    (void)summary(next.first, function);
    printed_ += MethodPrinter(*this, next.first, function).print(methods_.at(next));
  }
}

std::string Freezer::class_text() const {
  std::string parameters, buffers, attributes;
  for (const Place& place : order_) {
    const Class& type = as_object(place.first).type();
    const Attribute& a = type.attributes[type.find_attribute(place.second)];
    const std::string& name = attributes_.at(place);
    if (a.is_parameter) parameters += quoted(name) + ", ";
    if (a.is_buffer) buffers += quoted(name) + ", ";
    attributes += (is_identifier(name) ? "  " + name + " : " : "  __annotations__[" + quoted(name) + "] = ") +
                  a.type.str() + "\n";
  }
  for (const Constant& c : as_object(root_).type().constants)
    if (preserved_.contains(c.name))
      attributes += "  " + c.name + " : Final[" + c.type.str() + "] = " + Printer().expression(c.tree) + "\n";
  const bool named = attributes.find("__annotations__") != std::string::npos;
  return "class " + class_name_.substr(class_name_.rfind('.') + 1) + "(Module):\n  __parameters__ = [" + parameters +
         "]\n  __buffers__ = [" + buffers + "]\n" + (named ? "  __annotations__ = []\n" : "") + attributes + printed_;
}

// The files of the old program that the text, and each of these, names.
std::map<std::string, std::string> Freezer::files(const std::string& text) const {
  std::map<std::string, std::string> out{{file_, text}};
  std::vector<std::string> unread{text};
  while (!unread.empty()) {
    const std::string next = std::move(unread.back());
    unread.pop_back();
    constexpr std::string_view kStart = "__torch__.";
    for (size_t at = next.find(kStart); at != std::string::npos; at = next.find(kStart, at + 1)) {
      std::string path = "code/";
      for (size_t i = at; i < next.size() && (is_name_part(next[i]) || next[i] == '.'); ++i) {
        if (next[i] == '.') {
          const auto found = program_.texts().find(path + ".py");
          if (found != program_.texts().end() && out.insert(*found).second) unread.push_back(found->second);
        }
        path += next[i] == '.' ? '/' : next[i];
      }
    }
  }
  return out;
}

Module Freezer::run() {
  // An attribute that a method sets is no constant, so more branches may be reachable, and set more.
  do print_all();
  while (found_set_);
  const std::shared_ptr<Program> program = Program::make(files(class_text()), program_.version());
  program->constants = constants_;
  const std::shared_ptr<const Class> type = program->find_class(class_name_);
  const intrusive_ptr<Object> out(new Object(type));
  for (const Place& place : order_)
    out->place(type->find_attribute(attributes_.at(place))) = place.first->getAttr(place.second);
  return Module(ObjectPtr(out));
}

}  // namespace

// harmless: the bool lets PyTorch fold batch norms into convolutions, which changes roundings; nothing is folded here
Module freeze(const Module& module, const std::optional<std::vector<std::string>>& preserved_attrs,
              bool /*optimize_numerics*/) {
  ARGAND_CHECK(ValueError, !module.hasattr("training") || !module.is_training(),
               "Freezing is currently only implemented for modules in eval mode. Please call .eval() before freezing");
  return Freezer(module, preserved_attrs.value_or(std::vector<std::string>())).run();
}

Module optimize_for_inference(const Module& module, const std::vector<std::string>& other_methods) {
  return freeze(module, other_methods);
}

}  // namespace argand::jit
