#include "argand/jit/scope.h"

#include "argand/jit/program.h"

namespace argand::jit {

using Tree = Expression::Kind;
using Is = Statement::Kind;

std::string dotted_name(const Expression& e) {
  if (e.kind == Tree::kName) return e.text;
  if (e.kind != Tree::kAttribute) return "";
  const std::string before = dotted_name(e.parts[0]);
  return before.empty() ? "" : before + "." + e.text;
}

Scope::Scope(Program& program, const Source& source, const std::vector<std::string>& parameters,
             const std::vector<Statement>& body, const Scope* around)
    : program_(program), source_(source) {
  if (around) functions_ = around->functions_;
  for (const std::string& p : parameters)
    if (!slots_.emplace(p, static_cast<uint32_t>(slots_.size())).second)
      refuse(0, str("two parameters of the name ", p));
  collect(body, around);
  Slots set(slots_.size());
  for (uint32_t i = 0; i < parameters.size(); ++i) set.add(i);
  check(body, set);
}

void Scope::refuse(uint32_t line, const std::string& what) const { throw SyntaxError(source_.name, line, what); }

const uint32_t* Scope::find(const std::string& name) const {
  const auto it = slots_.find(name);
  return it == slots_.end() ? nullptr : &it->second;
}
const Function* Scope::function(const std::string& name) const {
  const auto it = functions_.find(name);
  return it == functions_.end() ? nullptr : it->second;
}
const NestedFunction* Scope::nested(const std::string& name) const {
  const auto it = nested_.find(name);
  return it == nested_.end() ? nullptr : &it->second;
}

// ---- names

void Scope::collect_target(const Expression& target) {
  if (target.kind == Tree::kName && !find(target.text))
    slots_.emplace(target.text, static_cast<uint32_t>(slots_.size()));
}

namespace {

// Names that a function inside reads and that are variables outside.
void free_names(const Expression& e, const Scope& outside, std::map<std::string, bool>& out) {
  if (e.kind == Tree::kName && outside.find(e.text)) out[e.text] = true;
  for (const Expression& part : e.parts) free_names(part, outside, out);
}
void free_names(const std::vector<Statement>& body, const Scope& outside, std::map<std::string, bool>& out) {
  for (const Statement& s : body) {
    for (const Expression& target : s.targets)
      if (target.kind != Tree::kName || s.kind == Is::kAugmented || s.kind == Is::kAssert)
        free_names(target, outside, out);
    free_names(s.value, outside, out);
    free_names(s.body, outside, out);
    free_names(s.other, outside, out);
  }
}

}  // namespace

void Scope::collect(const std::vector<Statement>& body, const Scope* around) {
  for (const Statement& s : body) {
    if (s.kind == Is::kFunction) {
      if (around) refuse(s.line, "a function inside of a function inside of a function is not supported");
      NestedFunction inside{s.function.get(), {}};
      if (!inside.tree->parameters.empty()) refuse(s.line, "a function inside of a function has parameters");
      std::map<std::string, bool> names;
      free_names(inside.tree->body, *this, names);
      for (const auto& [name, read] : names) inside.captured.push_back(name);
      if (!nested_.emplace(inside.tree->name, std::move(inside)).second)
        refuse(s.line, "two functions inside have the same name");
      continue;
    }
    const std::string path = dotted_name(s.value);
    if (s.kind == Is::kAssign && !s.unpacks && s.targets[0].kind == Tree::kName && path.starts_with("__torch__.")) {
      const Function* f = program_.find_function(path);
      if (!f) refuse(s.line, str("there is no function ", path));
      functions_[s.targets[0].text] = f;
      continue;
    }
    if (s.kind != Is::kAssert)
      for (const Expression& target : s.targets) collect_target(target);
    collect(s.body, around);
    collect(s.other, around);
  }
  for (const auto& [name, f] : functions_)
    if (find(name)) refuse(0, str(name, " is a function in one place and a value in another"));
}

// ---- where they are set

void Scope::check(const Expression& e, const Slots& set) const {
  if (e.kind == Tree::kName) {
    if (const uint32_t* slot = find(e.text); slot && !set.has(*slot))
      refuse(e.line, str("the variable ", e.text, " may be read before it is set"));
    if (const NestedFunction* inside = nested(e.text))
      for (const std::string& name : inside->captured)
        if (!set.has(*find(name))) refuse(e.line, str("the variable ", name, " may be read before it is set"));
  }
  for (const Expression& part : e.parts) check(part, set);
}

void Scope::set_targets(const Statement& s, Slots& set) const {
  for (const Expression& target : s.targets) {
    if (target.kind != Tree::kName)
      check(target, set);
    else if (const uint32_t* slot = find(target.text))
      set.add(*slot);
  }
}

void Scope::check(const std::vector<Statement>& body, Slots& set) const {
  for (const Statement& s : body) {
    check(s.value, set);
    switch (s.kind) {
      case Is::kAssign:
        set_targets(s, set);
        break;
      case Is::kAugmented:
      case Is::kAssert:
        for (const Expression& target : s.targets) check(target, set);
        break;
      case Is::kIf: {
        Slots other = set;
        check(s.body, set);
        check(s.other, other);
        set &= other;
        break;
      }
      case Is::kWhile:
      case Is::kFor: {
        Slots inside = set;
        set_targets(s, inside);
        check(s.body, inside);
        break;
      }
      case Is::kWith:
        set_targets(s, set);
        check(s.body, set);
        break;
      default:
        break;
    }
  }
}

// ---- where they are read

void Scope::add_reads(const Expression& e, Slots& out) const {
  if (e.kind == Tree::kName) {
    if (const uint32_t* slot = find(e.text)) out.add(*slot);
    if (const NestedFunction* inside = nested(e.text))
      for (const std::string& name : inside->captured) out.add(*find(name));
  }
  for (const Expression& part : e.parts) add_reads(part, out);
}

void Scope::add_reads(const std::vector<Statement>& body, Slots& live) const {
  for (auto s = body.rbegin(); s != body.rend(); ++s) {
    const auto unset = [&] {
      for (const Expression& target : s->targets)
        if (target.kind == Tree::kName && find(target.text)) live.remove(*find(target.text));
      for (const Expression& target : s->targets)
        if (target.kind != Tree::kName) add_reads(target, live);
    };
    switch (s->kind) {
      case Is::kAssign:
        unset();
        break;
      case Is::kAugmented:
      case Is::kAssert:
        for (const Expression& target : s->targets) add_reads(target, live);
        break;
      case Is::kIf: {
        Slots other = live;
        add_reads(s->body, live);
        add_reads(s->other, other);
        live |= other;
        break;
      }
      case Is::kWhile:
      case Is::kFor: {
        // The variables are live that the next round reads, and those that are read behind the loop.
        Slots once(size());
        add_reads(s->body, once);
        live |= once;
        break;
      }
      case Is::kWith:
        add_reads(s->body, live);
        unset();
        break;
      default:
        break;
    }
    add_reads(s->value, live);
  }
}

}  // namespace argand::jit
