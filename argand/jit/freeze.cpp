// Freezing: a program that is specialised to the objects of one module.
//
// Note [Freezing]
// Each method of each module below the root becomes a method of the frozen root, with its modules known: a read of
// an attribute becomes a constant, a call of a submodule a call of a method of the root, and an `if` whose condition is
// then known becomes the branch that is taken.  What must stay an attribute is one of the root: what a method that can
// still be reached sets or changes in place (argand/jit/aliases.h), lists, dicts and objects, and what the caller wants
// to keep.  The result is text, so that it is run, saved and printed as any other program.
#include <algorithm>

#include "argand/jit/freezer.h"
#include "argand/jit/frozen_method.h"
#include "argand/jit/lexer.h"
#include "argand/jit/printer.h"
#include "argand/ops/functions.h"

namespace argand::jit {

namespace {

const Object& as_object(const ObjectPtr& o) { return static_cast<const Object&>(*o); }
bool is_identifier(const std::string& name) {
  return !name.empty() && starts_name(name[0]) && std::all_of(name.begin(), name.end(), continues_name);
}

}  // namespace

Freezer::Freezer(const Module& root, const std::vector<std::string>& preserved)
    : root_(root._ivalue()),
      preserved_(preserved.begin(), preserved.end()),
      program_(*as_object(root_).type().program) {
  const Class& type = as_object(root_).type();
  for (const std::string& name : preserved_) ARGAND_CHECK(ValueError, type.has(name), "Unknown name: ", name);
  for (const Named<Module>& m : root.named_modules()) {
    paths_.emplace(m.value._ivalue().get(), m.name);
    owners_.emplace(m.value._ivalue().get(), m.value._ivalue());
  }
  std::string module = "frozen";
  for (int i = 1; program_.texts().contains("code/__torch__/" + module + ".py"); ++i) module = str("frozen_", i);
  file_ = "code/__torch__/" + module + ".py";
  class_name_ = "__torch__." + module + "." + type.name.substr(type.name.rfind('.') + 1);
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
  if (i == Class::kAbsent) {
    const Constant* const constant = as_object(object).type().find_constant(name);
    return constant ? &constant->value : nullptr;
  }
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
  place->second = summary_of(*this, object, function);
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
      out.begin(), out.end(), [](char c) { return !continues_name(c); }, '_');
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
    const Constant* const constant = type.find_constant(name);
    ARGAND_CHECK(ValueError, constant, "torch::jit::freeze: ", type.name, " has no attribute '", name, "'");
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
    printed_ += frozen_method(*this, next.first, function, methods_.at(next));
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
      for (size_t i = at; i < next.size() && (continues_name(next[i]) || next[i] == '.'); ++i) {
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
