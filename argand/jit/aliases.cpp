#include "argand/jit/aliases.h"

#include <algorithm>

#include "argand/exec/op_info.h"
#include "argand/jit/scope.h"
#include "argand/ops/boxed.h"

namespace argand::jit {

namespace {

using Tree = Expression::Kind;
using Is = Statement::Kind;

// Ops whose result may be their argument or a view of it, although their schema does not say so.
constexpr std::string_view kMayShare[] = {"alpha_dropout",
                                          "atleast_1d",
                                          "atleast_2d",
                                          "atleast_3d",
                                          "broadcast_tensors",
                                          "conj",
                                          "contiguous",
                                          "cpu",
                                          "cuda",
                                          "data",
                                          "detach",
                                          "double",
                                          "dropout",
                                          "feature_alpha_dropout",
                                          "feature_dropout",
                                          "float",
                                          "half",
                                          "mH",
                                          "meshgrid",
                                          "moveaxis",
                                          "swapaxes",
                                          "swapdims",
                                          "to",
                                          "type_as",
                                          "unsafe_chunk",
                                          "unsafe_split"};

// Functions of jit/builtins_*.cpp that give new tensors, numbers, flags and texts.
constexpr std::string_view kMakeNew[] = {"_convolution",
                                         "convolution",
                                         "_convolution_mode",
                                         "_native_multi_head_attention",
                                         "_transformer_encoder_layer_fwd",
                                         "bilinear",
                                         "stft",
                                         "size",
                                         "stride",
                                         "dim",
                                         "len",
                                         "numel",
                                         "item",
                                         "dtype",
                                         "device",
                                         "layout",
                                         "is_cuda",
                                         "requires_grad",
                                         "is_floating_point",
                                         "is_complex",
                                         "is_contiguous",
                                         "__is__",
                                         "__isnot__",
                                         "__not__",
                                         "__contains__",
                                         "__range_length",
                                         "__derive_index",
                                         "floordiv",
                                         "format",
                                         "Int",
                                         "Float",
                                         "Bool",
                                         "str",
                                         "ord"};

bool is_in_place(const std::string& name) { return name.ends_with("_") && !name.ends_with("__"); }

// Whether the schema says that a result is a view of an argument: "narrow(Tensor(a) self, ...) -> Tensor(a)".
bool gives_view(const boxed::Function& f) {
  const std::string_view schema = f.op->schema;
  return f.op->view || schema.find("(a)", schema.find("->")) != schema.npos;
}

bool is_among(std::span<const std::string_view> names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether a result of the op may share memory with an argument.  A function that is no op, such as those of lists, may.
bool may_share(const std::string& name) {
  if (is_among(kMayShare, name)) return true;
  if (is_among(kMakeNew, name)) return false;
  const std::span<const boxed::Function> functions = boxed::find(name);
  return functions.empty() || std::any_of(functions.begin(), functions.end(), gives_view);
}

// Functions that put their other arguments into the first.
bool is_container_write(const std::string& name) {
  return name == "append" || name == "insert" || name == "extend" || name == "_set_item" || name == "__setitem__" ||
         name == "add_" || name == "update" || name == "setdefault";
}

}  // namespace

Aliases::Aliases(const FunctionTree& function, Program program) : program_(std::move(program)) {
  for (const ParameterTree& p : function.parameters) {
    if (p.name == "self") continue;
    summary_.parameters.push_back(p.name);
    variables_[p.name] = {{nullptr, p.name}};
  }
}

size_t Aliases::size() const {
  size_t out = summary_.returned.size() + summary_.changed.size();
  for (const auto& [name, aliases] : variables_) out += aliases.size();
  return out;
}

AliasSet Aliases::all(const std::vector<Expression>& parts, size_t first) {
  AliasSet out;
  for (size_t i = first; i < parts.size(); ++i) out.merge(of(parts[i]));
  return out;
}

AliasSet Aliases::of(const Expression& e) {
  if (const std::optional<Alias> attribute = program_.attribute(e)) return {*attribute};
  switch (e.kind) {
    case Tree::kName: {
      const auto found = variables_.find(e.text);
      return found == variables_.end() ? AliasSet() : found->second;
    }
    case Tree::kCall:
      return call(e);
    case Tree::kUnary:
    case Tree::kBinary:
      (void)all(e.parts);
      return {};  // a flag, a number or a new tensor
    default:
      return all(e.parts);
  }
}

AliasSet Aliases::call(const Expression& e) {
  const std::string path = dotted_name(e.parts[0]);
  if (path.starts_with("torch.") || path.starts_with("math.") || path.starts_with("ops."))
    return op(e, path.substr(path.rfind('.') + 1));
  if (path == "annotate" || path == "unchecked_cast") return e.parts.size() == 3 ? of(e.parts[2]) : AliasSet();
  const AliasSummary* known = program_.callee(e);
  const bool plain = path.find('.') == std::string::npos && path != "fork" && !path.empty();
  if (!known && plain && !inner_.contains(path) && !variables_.contains(path)) return all(e.parts, 1);  // int(x)
  if (!known) {
    AliasSet given = e.parts[0].kind == Tree::kAttribute ? of(e.parts[0].parts[0]) : AliasSet();
    given.merge(all(e.parts, 1));
    change(given);
    return given;
  }
  const size_t given = e.parts.size() - 1, positional = given - std::min(e.keywords.size(), given);
  std::map<std::string, AliasSet> arguments;
  for (size_t i = 0; i < given; ++i) {
    const bool named = i >= positional;
    if (!named && i >= known->parameters.size()) break;
    arguments[named ? e.keywords[i - positional] : known->parameters[i]] = of(e.parts[i + 1]);
  }
  const auto seen_here = [&](const AliasSet& there) {
    AliasSet out;
    for (const Alias& a : there) {
      if (a.first)
        out.insert(a);
      else
        out.merge(AliasSet(arguments[a.second]));
    }
    return out;
  };
  change(seen_here(known->changed));
  return seen_here(known->returned);
}

AliasSet Aliases::op(const Expression& e, const std::string& name) {
  if (e.parts.size() < 2) return {};
  const AliasSet first = of(e.parts[1]), rest = all(e.parts, 2);
  if (is_container_write(name) && e.parts[1].kind == Tree::kName) {
    variables_[e.parts[1].text].insert(rest.begin(), rest.end());
  } else if (is_container_write(name)) {
    change(rest);
  }
  if (is_in_place(name) || name == "_set_item" || name == "__setitem__") {
    change(first);
    return first;
  }
  if (std::find(e.keywords.begin(), e.keywords.end(), "out") != e.keywords.end()) {
    change(rest);
    return rest;
  }
  if (!may_share(name)) return {};
  AliasSet both = first;
  both.insert(rest.begin(), rest.end());
  return both;
}

void Aliases::set(const Expression& target, const AliasSet& value) {
  switch (target.kind) {
    case Tree::kName:
      variables_[target.text].insert(value.begin(), value.end());
      return;
    case Tree::kSubscript:
      change(of(target.parts[0]));
      set(target.parts[0], value);
      return;
    default:
      change(value);  // another attribute now refers to it
  }
}

void Aliases::add(const Statement& s) {
  if (s.kind == Is::kFunction) {  // its calls are those of an unknown function
    inner_.insert(s.function->name);
    for (const auto& [name, aliases] : std::map(variables_)) change(aliases);
    return;
  }
  const AliasSet value = s.value.kind == Tree::kAbsent ? AliasSet() : of(s.value);
  switch (s.kind) {
    case Is::kAugmented:
      change(of(s.targets[0]));
      set(s.targets[0], value);
      return;
    case Is::kAssign:
    case Is::kFor:
    case Is::kWith:
      for (const Expression& target : s.targets) set(target, value);
      return;
    case Is::kReturn:
      summary_.returned.insert(value.begin(), value.end());
      return;
    default:
      return;
  }
}

}  // namespace argand::jit
