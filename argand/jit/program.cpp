#include "argand/jit/program.h"

#include <algorithm>

#include "argand/jit/compiler.h"
#include "argand/jit/parser.h"

namespace argand::jit {

struct Program::File {
  Source source;
  FileTree tree;
  std::unordered_map<std::string, const ClassTree*> classes;
  std::unordered_map<std::string, const FunctionTree*> functions;
};

Program::Program(std::map<std::string, std::string> files, int64_t version)
    : texts_(std::move(files)), version_(version) {}
Program::~Program() = default;

std::shared_ptr<Program> Program::make(std::map<std::string, std::string> files, int64_t version) {
  return std::shared_ptr<Program>(new Program(std::move(files), version));
}

// The class or function __torch__.a.b.Name stands as Name in the file whose path is made of __torch__, a and b.
Program::File* Program::file_of(const std::string& name, std::string& last) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return nullptr;
  last = name.substr(dot + 1);
  std::string path = "code/" + name.substr(0, dot) + ".py";
  std::replace(path.begin() + 5, path.end() - 3, '.', '/');
  const auto known = files_.find(path);
  if (known != files_.end()) return known->second.get();
  const auto text = texts_.find(path);
  if (text == texts_.end()) return nullptr;
  auto file = std::make_unique<File>();
  file->source = {path, text->second};
  file->tree = parse(file->source);
  for (const ClassTree& c : file->tree.classes)
    if (!file->classes.emplace(c.name, &c).second)
      throw SyntaxError(path, c.line, str("a second class of the name ", c.name));
  for (const FunctionTree& f : file->tree.functions)
    if (!file->functions.emplace(f.name, &f).second || file->classes.contains(f.name))
      throw SyntaxError(path, f.line, str("a second function of the name ", f.name));
  return files_.emplace(path, std::move(file)).first->second.get();
}

std::shared_ptr<const Class> Program::find_class(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto known = classes_.find(name);
  if (known != classes_.end()) return {shared_from_this(), known->second.get()};
  std::string last;
  const File* file = file_of(name, last);
  if (!file) return nullptr;
  const auto tree = file->classes.find(last);
  return tree == file->classes.end() ? nullptr : make_class(*file, *tree->second, name);
}

std::shared_ptr<const Class> Program::make_class(const File& file, const ClassTree& tree, const std::string& name) {
  const auto refuse = [&](uint32_t line, const std::string& what) { throw SyntaxError(file.source.name, line, what); };
  auto out = std::make_unique<Class>();
  out->name = name;
  out->program = this;
  if (tree.base == "Module")
    out->kind = Class::Kind::kModule;
  else if (tree.base == "NamedTuple")
    out->kind = Class::Kind::kNamedTuple;
  else if (tree.base == "Interface" || tree.base == "ModuleInterface")
    out->kind = Class::Kind::kInterface;
  else if (!tree.base.empty())
    refuse(tree.line, str("the class ", tree.name, " is derived from ", tree.base, ", which is not supported"));
  const auto listed = [](const std::vector<std::string>& names, const std::string& n) {
    return std::find(names.begin(), names.end(), n) != names.end();
  };
  auto fields = std::make_shared<ivalue::Tuple::Names>();
  fields->type = name;
  for (const AttributeTree& a : tree.attributes) {
    if (a.type.kind == Expression::Kind::kAbsent) refuse(a.line, str("the attribute ", a.name, " has no type"));
    const bool constant = a.value.kind != Expression::Kind::kAbsent;
    if (out->kind == Class::Kind::kNamedTuple) {
      fields->fields.push_back(a.name);
      if (constant)
        out->defaults.push_back(constant_of(a.value, type_of(a.type, file.source), *this, file.source));
      else if (!out->defaults.empty())
        refuse(a.line, "a field without a default behind one that has one");
      continue;
    }
    const Type type = type_of(a.type, file.source);
    if (constant) {
      out->constants.push_back({a.name, type, constant_of(a.value, type, *this, file.source), a.value});
      continue;
    }
    if (!out->attribute_places.emplace(a.name, static_cast<uint32_t>(out->attributes.size())).second)
      refuse(a.line, str("a second attribute of the name ", a.name));
    out->attributes.push_back({a.name, type, listed(tree.parameters, a.name), listed(tree.buffers, a.name)});
  }
  if (out->kind == Class::Kind::kNamedTuple) out->fields = std::move(fields);
  if (out->kind != Class::Kind::kInterface)
    for (const FunctionTree& m : tree.methods) {
      if (m.parameters.empty()) refuse(m.line, str("the method ", m.name, " has no self"));
      if (!out->method_places.emplace(m.name, static_cast<uint32_t>(out->methods.size())).second)
        refuse(m.line, str("a second method of the name ", m.name));
      out->methods.push_back(std::make_unique<Function>(*this, file.source, m, name + "." + m.name));
    }
  const Class* made = classes_.emplace(name, std::move(out)).first->second.get();
  return {shared_from_this(), made};
}

const Function* Program::find_function(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto known = functions_.find(name);
  if (known != functions_.end()) return known->second.get();
  std::string last;
  const File* file = file_of(name, last);
  if (!file) return nullptr;
  const auto tree = file->functions.find(last);
  if (tree == file->functions.end()) return nullptr;
  auto made = std::make_unique<Function>(*this, file->source, *tree->second, name);
  return functions_.emplace(name, std::move(made)).first->second.get();
}

void Program::compile_all() {
  for (const auto& [path, text] : texts_) {
    if (!path.starts_with("code/") || !path.ends_with(".py")) continue;
    std::string prefix = path.substr(5, path.size() - 8);
    std::replace(prefix.begin(), prefix.end(), '/', '.');
    std::string last;
    const File* file = nullptr;
    {
      const std::lock_guard lock(mutex_);
      file = file_of(prefix + ".x", last);
    }
    for (const ClassTree& c : file->tree.classes)
      for (const auto& method : find_class(prefix + "." + c.name)->methods) (void)method->code();
    for (const FunctionTree& f : file->tree.functions) (void)find_function(prefix + "." + f.name)->code();
  }
}

}  // namespace argand::jit
