#include "argand/jit/frozen_method.h"

#include <map>

#include "argand/jit/builtins.h"
#include "argand/jit/printer.h"
#include "argand/jit/scope.h"

namespace argand::jit {

namespace {

using Tree = Expression::Kind;
using Is = Statement::Kind;

const Object& as_object(const ObjectPtr& o) { return static_cast<const Object&>(*o); }

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
      return as_object(read->first).type().has(read->second) ? "True" : "False";
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
        if (const auto read = read_by_name(e, "hasattr"))
          return IValue(as_object(read->first).type().has(read->second));
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

}  // namespace

std::string frozen_method(Freezer& freezer, const ObjectPtr& self, const Function& function, const std::string& name) {
  return MethodPrinter(freezer, self, function).print(name);
}
AliasSummary summary_of(Freezer& freezer, const ObjectPtr& self, const Function& function) {
  return MethodPrinter(freezer, self, function).summary();
}

}  // namespace argand::jit
