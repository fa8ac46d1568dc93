#include "argand/jit/compiler.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>

#include "argand/exec/invoke.h"
#include "argand/jit/program.h"
#include "argand/jit/scope.h"
#include "argand/jit/steps.h"

namespace argand::jit {

namespace {

using Tree = Expression::Kind;
using Is = Statement::Kind;

// Python's operators by the names of ops.
constexpr std::pair<std::string_view, std::string_view> kOperators[] = {
    {"+", "add"},           {"-", "sub"},     {"*", "mul"},         {"/", "div"},         {"//", "floordiv"},
    {"%", "remainder"},     {"**", "pow"},    {"@", "matmul"},      {"<", "lt"},          {">", "gt"},
    {"<=", "le"},           {">=", "ge"},     {"==", "eq"},         {"!=", "ne"},         {"&", "__and__"},
    {"|", "__or__"},        {"^", "__xor__"}, {"<<", "__lshift__"}, {">>", "__rshift__"}, {"is", "__is__"},
    {"is not", "__isnot__"}};
// Functions without a namespace.
constexpr std::pair<std::string_view, std::string_view> kFunctions[] = {
    {"int", "Int"},       {"float", "Float"},     {"bool", "Bool"},  {"complex", "Complex"}, {"str", "str"},
    {"len", "len"},       {"print", "print"},     {"min", "min"},    {"max", "max"},         {"abs", "abs"},
    {"sorted", "sorted"}, {"round", "round"},     {"ord", "ord"},    {"chr", "chr"},         {"hex", "hex"},
    {"oct", "oct"},       {"bin", "bin"},         {"list", "list"},  {"dict", "dict"},       {"sum", "sum"},
    {"any", "any"},       {"all", "all"},         {"pow", "pow"},    {"hash", "hash"},       {"divmod", "divmod"},
    {"wait", "wait"},     {"range", "rangelist"}, {"tuple", "tuple"}};

template <size_t n>
std::string_view lookup(const std::pair<std::string_view, std::string_view> (&table)[n], std::string_view name) {
  for (const auto& [from, to] : table)
    if (from == name) return to;
  return {};
}

class Compiler {
 public:
  Compiler(Program& program, const Source& source, const Scope& scope, Code& code)
      : program_(program), source_(source), scope_(scope), code_(code), live_(scope.size()) {}

  Steps body(const std::vector<Statement>& statements) { return steps(statements); }
  ExprPtr expression(const Expression& e, const Type* hint = nullptr) {
    switch (e.kind) {
      case Tree::kConstant:
        return constant(e.value);
      case Tree::kName:
        return name(e);
      case Tree::kAttribute:
        return attribute(e);
      case Tree::kCall:
        return call(e);
      case Tree::kSubscript:
        return subscript(e);
      case Tree::kList:
        return list(e, hint);
      case Tree::kTuple:
        return tuple(e, hint);
      case Tree::kDict: {
        auto out = std::make_unique<DictExpr>();
        const bool typed = hint && hint->kind == Type::Kind::kDict;
        out->parts.resize(e.parts.size());
        for (size_t i = e.parts.size(); i-- > 0;)
          out->parts[i] = expression(e.parts[i], typed ? &hint->elements[i % 2] : nullptr);
        return out;
      }
      case Tree::kUnary:
        return unary(e);
      case Tree::kBinary:
        return binary(e);
      case Tree::kTernary: {
        auto out = std::make_unique<TernaryExpr>();
        out->other = expression(e.parts[2], hint);
        out->value = expression(e.parts[1], hint);
        out->condition = expression(e.parts[0]);
        return out;
      }
      default:
        refuse(e.line, "this expression is not supported here");
    }
  }

 private:
  [[noreturn]] void refuse(uint32_t line, const std::string& what) const {
    throw SyntaxError(source_.name, line, what);
  }
  static ExprPtr constant(IValue v) { return std::make_unique<ConstantExpr>(std::move(v)); }

  // ---- statements, from the last to the first (Note [Last uses])

  Steps steps(const std::vector<Statement>& statements) {
    Steps out;
    for (auto s = statements.rbegin(); s != statements.rend(); ++s)
      if (auto made = step(*s)) {
        made->line = s->line;
        out.push_back(std::move(made));
      }
    std::reverse(out.begin(), out.end());
    return out;
  }

  std::unique_ptr<Step> step(const Statement& s) {
    switch (s.kind) {
      case Is::kExpression: {
        if (s.value.kind == Tree::kConstant) return nullptr;
        auto out = std::make_unique<ExpressionStep>();
        out->value = expression(s.value);
        return out;
      }
      case Is::kAssign:
        return assignment(s);
      case Is::kAugmented:
        return augmented(s);
      case Is::kReturn: {
        auto out = std::make_unique<ReturnStep>();
        if (s.value.kind != Tree::kAbsent) out->value = expression(s.value, result_);
        return out;
      }
      case Is::kIf: {
        auto out = std::make_unique<IfStep>();
        const Slots behind = live_;
        out->other = steps(s.other);
        Slots before = live_;
        live_ = behind;
        out->body = steps(s.body);
        live_ |= before;
        out->condition = expression(s.value);
        return out;
      }
      case Is::kWhile: {
        auto out = std::make_unique<WhileStep>();
        const Slots behind = start_loop(s);
        out->body = steps(s.body);
        live_ |= behind;
        out->condition = expression(s.value);
        return out;
      }
      case Is::kFor:
        return loop(s);
      case Is::kWith: {
        auto out = std::make_unique<WithStep>();
        out->body = steps(s.body);
        if (!s.targets.empty()) set(out->target, s.targets[0]);
        out->value = expression(s.value);
        return out;
      }
      case Is::kAssert: {
        auto out = std::make_unique<RaiseStep>();
        out->class_name = "builtins.AssertionError";
        if (!s.targets.empty()) out->message = expression(s.targets[0]);
        out->condition = expression(s.value);
        return out;
      }
      case Is::kRaise:
        return raise(s);
      default:
        return nullptr;
    }
  }

  // Makes live what the next round reads; what was live behind the loop.
  Slots start_loop(const Statement& s) {
    const Slots behind = live_;
    Slots once(scope_.size());
    scope_.add_reads(s.body, once);
    if (s.kind == Is::kWhile) scope_.add_reads(s.value, once);
    live_ |= once;
    return behind;
  }

  void set(Target& target, const Expression& e) {
    switch (e.kind) {
      case Tree::kName: {
        const uint32_t slot = *scope_.find(e.text);
        target.kind = live_.has(slot) ? Target::Kind::kSlot : Target::Kind::kNowhere;
        target.slot = slot;
        live_.remove(slot);
        return;
      }
      case Tree::kAttribute:
        target.kind = Target::Kind::kAttribute;
        target.name = e.text;
        target.object = expression(e.parts[0]);
        return;
      default:
        if (e.parts[1].kind == Tree::kSlice) refuse(e.line, "an assignment to a slice is not supported");
        target.kind = Target::Kind::kElement;
        target.key = expression(e.parts[1]);
        target.object = expression(e.parts[0]);
    }
  }

  std::vector<std::unique_ptr<Target>> set_all(const std::vector<Expression>& targets) {
    std::vector<std::unique_ptr<Target>> out(targets.size());
    for (size_t i = targets.size(); i-- > 0;) {
      out[i] = std::make_unique<Target>();
      set(*out[i], targets[i]);
    }
    return out;
  }

  std::unique_ptr<Step> assignment(const Statement& s) {
    if (!s.unpacks && s.targets[0].kind == Tree::kName && scope_.function(s.targets[0].text)) return nullptr;
    std::optional<Type> type;
    if (s.type.kind != Tree::kAbsent) type = type_of(s.type, source_);
    if (s.unpacks) {
      auto out = std::make_unique<UnpackStep>();
      out->targets = set_all(s.targets);
      out->value = expression(s.value);
      return out;
    }
    auto out = std::make_unique<AssignStep>();
    set(out->target, s.targets[0]);
    out->value = expression(s.value, type ? &*type : nullptr);
    return out;
  }

  // x += y is x = x + y for numbers, texts and tuples, and changes a tensor or a list in place.
  std::unique_ptr<Step> augmented(const Statement& s) {
    const std::string_view op = lookup(kOperators, s.text);
    if (op.empty()) refuse(s.line, "this operator is not supported");
    auto out = std::make_unique<AssignStep>();
    set(out->target, s.targets[0]);
    auto value = std::make_unique<AugmentedExpr>(std::string(op));
    value->right = expression(s.value);
    value->left = expression(s.targets[0]);
    out->value = std::move(value);
    return out;
  }

  std::unique_ptr<Step> loop(const Statement& s) {
    const bool ranges = s.value.kind == Tree::kCall && s.value.parts[0].is_name("range") && !scope_.find("range");
    const Slots behind = start_loop(s);
    const auto finish = [&](auto& out) { out.body = steps(s.body); };
    if (ranges && !s.unpacks) {
      const size_t count = s.value.parts.size() - 1;
      if (count < 1 || count > 3 || !s.value.keywords.empty()) refuse(s.line, "range() takes one to three numbers");
      auto out = std::make_unique<RangeStep>();
      finish(*out);
      set(out->target, s.targets[0]);
      live_ |= behind;
      if (count == 3) out->step = expression(s.value.parts[3]);
      out->stop = expression(s.value.parts[count == 1 ? 1 : 2]);
      if (count >= 2) out->start = expression(s.value.parts[1]);
      return out;
    }
    auto out = std::make_unique<EachStep>();
    finish(*out);
    out->targets = set_all(s.targets);
    out->unpacks = s.unpacks;
    live_ |= behind;
    out->values = expression(s.value);
    return out;
  }

  // raise Name("text"), raise Name
  std::unique_ptr<Step> raise(const Statement& s) {
    auto out = std::make_unique<RaiseStep>();
    const bool called = s.value.kind == Tree::kCall;
    const std::string name = dotted_name(called ? s.value.parts[0] : s.value);
    if (name.empty() || name.find('.') != std::string::npos || scope_.find(name) ||
        (called && s.value.parts.size() > 2))
      refuse(s.line, "expected an exception with at most one text");
    out->class_name = "builtins." + name;
    if (called && s.value.parts.size() == 2) out->message = expression(s.value.parts[1]);
    return out;
  }

  // ---- expressions; what runs later is compiled earlier

  ExprPtr name(const Expression& e) {
    if (const uint32_t* slot = scope_.find(e.text)) {
      const bool last = !live_.has(*slot);
      live_.add(*slot);
      return std::make_unique<LoadExpr>(*slot, last);
    }
    if (e.text == "inf") return constant(std::numeric_limits<double>::infinity());
    if (e.text == "nan") return constant(std::numeric_limits<double>::quiet_NaN());
    if (e.text == "infj") return constant(std::complex<double>(0, std::numeric_limits<double>::infinity()));
    if (e.text == "nanj") return constant(std::complex<double>(0, std::numeric_limits<double>::quiet_NaN()));
    refuse(e.line, str("the name ", e.text, " is not defined"));
  }

  // A tensor of the constants without dimensions stands for a number, such as the 1.5 of a traced `x + 1.5`: PyTorch
  // gives it the lower priority in type promotion, whatever it was.
  static IValue as_number(const IValue& v) {
    if (!v.isTensor() || !v.toTensor().defined() || v.toTensor().dim() != 0) return v;
    const Tensor number = exec::alias(v.toTensor());
    number.impl().wrapped_number = true;
    return number;
  }

  ExprPtr attribute(const Expression& e) {
    const std::string path = dotted_name(e);
    if (path.starts_with("CONSTANTS.c") && !scope_.find("CONSTANTS")) {
      size_t i = 0;
      for (const char c : path.substr(11)) {
        if (c < '0' || c > '9' || i > program_.constants.size()) refuse(e.line, str("there is no constant ", path));
        i = 10 * i + static_cast<size_t>(c - '0');
      }
      if (path.size() == 11 || i >= program_.constants.size()) refuse(e.line, str("there is no constant ", path));
      return constant(as_number(program_.constants[i]));
    }
    if (path == "math.pi") return constant(3.14159265358979323846);
    if (path == "math.inf") return constant(std::numeric_limits<double>::infinity());
    if (path == "math.nan") return constant(std::numeric_limits<double>::quiet_NaN());
    return std::make_unique<AttributeExpr>(expression(e.parts[0]), e.text);
  }

  ExprPtr subscript(const Expression& e) {
    const Expression& key = e.parts[1];
    if (key.kind == Tree::kSlice) {
      auto out = std::make_unique<SliceExpr>();
      out->step = expression(key.parts[2]);
      out->stop = expression(key.parts[1]);
      out->start = expression(key.parts[0]);
      out->base = expression(e.parts[0]);
      return out;
    }
    ExprPtr k = expression(key);
    return std::make_unique<SubscriptExpr>(expression(e.parts[0]), std::move(k));
  }

  ExprPtr list(const Expression& e, const Type* hint) {
    while (hint && hint->kind == Type::Kind::kOptional) hint = &hint->elements[0];
    auto out = std::make_unique<ListExpr>();
    if (hint && hint->kind == Type::Kind::kList) {
      out->typed = true;
      out->element = hint->elements[0];
    }
    out->elements.resize(e.parts.size());
    for (size_t i = e.parts.size(); i-- > 0;)
      out->elements[i] = expression(e.parts[i], out->typed ? &out->element : nullptr);
    return out;
  }

  ExprPtr tuple(const Expression& e, const Type* hint) {
    auto out = std::make_unique<TupleExpr>();
    const bool typed = hint && hint->kind == Type::Kind::kTuple && hint->elements.size() == e.parts.size();
    out->elements.resize(e.parts.size());
    for (size_t i = e.parts.size(); i-- > 0;)
      out->elements[i] = expression(e.parts[i], typed ? &hint->elements[i] : nullptr);
    return out;
  }

  ExprPtr unary(const Expression& e) {
    return op("aten", e.text == "-" ? "neg" : e.text == "~" ? "bitwise_not" : "__not__", e, 0, {});
  }

  ExprPtr binary(const Expression& e) {
    if (e.text == "and" || e.text == "or") {
      auto out = std::make_unique<LogicExpr>();
      out->is_and = e.text == "and";
      out->right = expression(e.parts[1]);
      out->left = expression(e.parts[0]);
      return out;
    }
    if (e.text == "in" || e.text == "not in") {
      auto found = std::make_unique<OpExpr>("aten", "__contains__", std::vector<std::string>());
      found->arguments.resize(2);
      found->arguments[0] = expression(e.parts[1]);
      found->arguments[1] = expression(e.parts[0]);
      if (e.text == "in") return found;
      auto out = std::make_unique<OpExpr>("aten", "__not__", std::vector<std::string>());
      out->arguments.push_back(std::move(found));
      return out;
    }
    return op("aten", std::string(lookup(kOperators, e.text)), e, 0, {});
  }

  // A call of an op with the parts of `e` from `first` on as arguments.
  ExprPtr op(std::string space, std::string op_name, const Expression& e, size_t first,
             const std::vector<std::string>& keywords) {
    if (op_name.empty()) refuse(e.line, "this operator is not supported");
    if (space == "aten" && program_.version() < 4 && (op_name == "div" || op_name == "div_"))
      op_name = "__old__" + op_name;
    auto out = std::make_unique<OpExpr>(std::move(space), std::move(op_name), keywords);
    out->arguments = arguments(e, first);
    return out;
  }
  std::vector<ExprPtr> arguments(const Expression& e, size_t first) {
    std::vector<ExprPtr> out(e.parts.size() - first);
    for (size_t i = out.size(); i-- > 0;) out[i] = expression(e.parts[first + i]);
    return out;
  }

  // ---- calls

  ExprPtr call(const Expression& e) {
    const Expression& callee = e.parts[0];
    if (callee.kind == Tree::kName) {
      if (const Function* f = scope_.function(callee.text)) return function(*f, e);
      if (const NestedFunction* inside = scope_.nested(callee.text)) return nested(*inside, e);
      if (!scope_.find(callee.text)) return named(e);
      auto out = std::make_unique<MethodExpr>("__call__", e.keywords);
      return method(std::move(out), e, callee);
    }
    if (callee.kind != Tree::kAttribute) refuse(e.line, "this expression cannot be called");
    const std::string path = dotted_name(callee);
    const std::string root = path.substr(0, path.find('.'));
    if (path.empty() || scope_.find(root))
      return method(std::make_unique<MethodExpr>(callee.text, e.keywords), e, callee.parts[0]);
    const std::string rest = path.substr(root.size() + 1);
    if (root == "torch" || root == "math" || root == "ops") return namespaced(e, root, rest);
    if (root == "__torch__") return defined(e, path);
    refuse(e.line, str("the name ", root, " is not defined"));
  }

  ExprPtr namespaced(const Expression& e, const std::string& root, const std::string& rest) {
    if (root != "ops") {
      if (rest.find('.') != std::string::npos)
        refuse(e.line, str("the function ", root, ".", rest, " is not supported"));
      return op("aten", rest, e, 1, e.keywords);
    }
    const size_t dot = rest.find('.');
    if (dot == std::string::npos || rest.find('.', dot + 1) != std::string::npos)
      refuse(e.line, str("expected ops.NAMESPACE.NAME, got ops.", rest));
    return op(rest.substr(0, dot), rest.substr(dot + 1), e, 1, e.keywords);
  }

  // Functions of the program, named tuples, and objects: Class.__new__(Class).
  ExprPtr defined(const Expression& e, const std::string& path) {
    constexpr std::string_view kNew = ".__new__";
    if (path.ends_with(kNew)) {
      auto out = std::make_unique<NewExpr>();
      const std::string of = path.substr(0, path.size() - kNew.size());
      out->type = program_.find_class(of).get();
      if (!out->type || out->type->kind == Class::Kind::kNamedTuple || out->type->kind == Class::Kind::kInterface)
        refuse(e.line, str("there is no class ", of, " of objects"));
      return out;
    }
    if (const Function* f = program_.find_function(path)) return function(*f, e);
    const std::shared_ptr<const Class> type = program_.find_class(path);
    if (!type) refuse(e.line, str("there is no function or class ", path));
    if (type->kind != Class::Kind::kNamedTuple) refuse(e.line, str("the class ", path, " is called"));
    return named_tuple(e, *type);
  }

  ExprPtr named_tuple(const Expression& e, const Class& type) {
    const std::vector<std::string>& fields = type.fields->fields;
    const size_t given = e.parts.size() - 1, required = fields.size() - type.defaults.size();
    if (given > fields.size() || !e.keywords.empty() || given < required)
      refuse(e.line, str(type.name, " takes ", fields.size(), " values, got ", given));
    auto out = std::make_unique<TupleExpr>();
    out->names = type.fields;
    out->elements = arguments(e, 1);
    for (size_t i = given; i < fields.size(); ++i) out->elements.push_back(constant(type.defaults[i - required]));
    return out;
  }

  ExprPtr function(const Function& f, const Expression& e) {
    const std::vector<Parameter>& parameters = f.parameters();
    const size_t given = e.parts.size() - 1, positional = given - e.keywords.size();
    std::vector<int> places(parameters.size(), -1);
    for (size_t i = 0; i < given; ++i) {
      size_t at = i;
      if (i >= positional)
        for (at = 0; at < parameters.size() && parameters[at].name != e.keywords[i - positional];) ++at;
      if (at >= parameters.size() || places[at] >= 0)
        refuse(e.line,
               str(f.name(), " takes ", parameters.size(), " arguments; the argument ", i + 1, " does not fit"));
      places[at] = static_cast<int>(i);
    }
    auto out = std::make_unique<FunctionExpr>();
    out->function = &f;
    out->arguments.resize(parameters.size());
    // They are computed in the order of the parameters.
    for (size_t i = parameters.size(); i-- > 0;) {
      if (places[i] < 0 && !parameters[i].has_default)
        refuse(e.line, str(f.name(), " is called without its argument '", parameters[i].name, "'"));
      out->arguments[i] = places[i] < 0 ? constant(parameters[i].value)
                                        : expression(e.parts[static_cast<size_t>(places[i]) + 1], &parameters[i].type);
    }
    return out;
  }

  ExprPtr nested(const NestedFunction& inside, const Expression& e) {
    if (e.parts.size() > 1 && !e.parts[0].is_name("fork")) refuse(e.line, "a function inside takes no arguments");
    auto code = std::make_unique<Code>();
    const Scope scope(program_, source_, inside.captured, inside.tree->body, &scope_);
    Compiler compiler(program_, source_, scope, *code);
    code->steps = compiler.body(inside.tree->body);
    code->slots = scope.size();
    auto out = std::make_unique<NestedExpr>();
    out->code = code.get();
    code_.nested.push_back(std::move(code));
    out->arguments.resize(inside.captured.size());
    for (size_t i = inside.captured.size(); i-- > 0;) {
      Expression variable;
      variable.kind = Tree::kName;
      variable.line = e.line;
      variable.text = inside.captured[i];
      out->arguments[i] = name(variable);
    }
    return out;
  }

  ExprPtr method(std::unique_ptr<MethodExpr> out, const Expression& e, const Expression& object) {
    out->arguments = arguments(e, 1);
    out->object = expression(object);
    return out;
  }

  // Functions without a namespace.
  ExprPtr named(const Expression& e) {
    const std::string& f = e.parts[0].text;
    const size_t count = e.parts.size() - 1;
    const auto need = [&](size_t n) {
      if (count != n || !e.keywords.empty()) refuse(e.line, str(f, "() takes ", n, " arguments, got ", count));
    };
    if (f == "annotate" || f == "unchecked_cast") {
      need(2);
      const Type type = type_of(e.parts[1], source_);
      const Expression& value = e.parts[2];
      if (f == "unchecked_cast" || value.kind == Tree::kList || value.kind == Tree::kDict ||
          value.kind == Tree::kTuple || value.is_none())
        return expression(value, &type);
      auto out = std::make_unique<AnnotateExpr>();
      out->type = type;
      out->value = expression(value, &type);
      return out;
    }
    if (f == "uninitialized") {
      need(1);
      (void)type_of(e.parts[1], source_);
      return constant(IValue());
    }
    if (f == "isinstance") {
      need(2);
      auto out = std::make_unique<IsInstanceExpr>();
      const Expression& types = e.parts[2];
      if (types.kind == Tree::kTuple || types.kind == Tree::kList)
        for (const Expression& t : types.parts) out->types.push_back(type_of(t, source_));
      else
        out->types.push_back(type_of(types, source_));
      out->value = expression(e.parts[1]);
      return out;
    }
    if (f == "getattr" || f == "hasattr") {
      need(2);
      if (e.parts[2].kind != Tree::kConstant || !e.parts[2].value.isString()) refuse(e.line, str(f, "() takes a text"));
      const std::string attribute = e.parts[2].value.toStringRef();
      if (f == "getattr") return std::make_unique<AttributeExpr>(expression(e.parts[1]), attribute);
      auto out = std::make_unique<HasAttributeExpr>();
      out->name = attribute;
      out->object = expression(e.parts[1]);
      return out;
    }
    // Runs at once; its value stands for the future.
    if (f == "fork") {
      if (count < 1 || e.parts[1].kind != Tree::kName) refuse(e.line, "fork() takes a function");
      if (const NestedFunction* inside = scope_.nested(e.parts[1].text)) {
        need(1);
        return nested(*inside, e);
      }
      const Function* forked = scope_.function(e.parts[1].text);
      if (!forked) refuse(e.line, "fork() takes a function");
      if (!e.keywords.empty()) refuse(e.line, "fork() with names of arguments is not supported");
      Expression direct;
      direct.kind = Tree::kCall;
      direct.line = e.line;
      direct.parts.assign(e.parts.begin() + 1, e.parts.end());
      return function(*forked, direct);
    }
    const std::string_view known = lookup(kFunctions, f);
    if (known.empty()) refuse(e.line, str("the function ", f, " is not defined"));
    return op("aten", std::string(known), e, 1, e.keywords);
  }

  Program& program_;
  const Source& source_;
  const Scope& scope_;
  Code& code_;
  Slots live_;  // the variables that are read behind the place that is compiled

 public:
  const Type* result_ = nullptr;
};

}  // namespace

std::unique_ptr<const Code> compile(const Function& function) {
  std::vector<std::string> names;
  for (const Parameter& p : function.parameters()) names.push_back(p.name);
  const Scope scope(function.program(), function.source(), names, function.tree().body);
  auto code = std::make_unique<Code>();
  Compiler compiler(function.program(), function.source(), scope, *code);
  compiler.result_ = &function.result();
  code->steps = compiler.body(function.tree().body);
  code->slots = scope.size();
  return code;
}

// Whether evaluating the expression calls nothing of the archive and no op, so that it ends soon.
static bool is_constant(const Expression& e) {
  using Tree = Expression::Kind;
  const auto all = [](std::span<const Expression> parts) {
    return std::all_of(parts.begin(), parts.end(), is_constant);
  };
  switch (e.kind) {
    case Tree::kConstant:
      return true;
    case Tree::kName:
      return e.text == "inf" || e.text == "nan" || e.text == "infj" || e.text == "nanj";
    case Tree::kAttribute:
      return e.parts[0].is_name("CONSTANTS") || e.parts[0].is_name("math");
    case Tree::kList:
    case Tree::kTuple:
    case Tree::kDict:
      return all(e.parts);
    case Tree::kUnary:
      return e.text == "-" && all(e.parts);
    case Tree::kCall: {
      const Expression& f = e.parts[0];
      if (f.is_name("annotate")) return e.parts.size() == 3 && is_constant(e.parts[2]);
      const bool is_device = f.kind == Tree::kAttribute && f.text == "device" && f.parts[0].is_name("torch");
      return is_device && all(std::span(e.parts).subspan(1));
    }
    default:
      return false;
  }
}

IValue constant_of(const Expression& tree, const Type& type, Program& program, const Source& source) {
  if (!is_constant(tree)) throw SyntaxError(source.name, tree.line, "expected a constant");
  const Scope scope(program, source, {}, {});
  Code code;
  Frame frame{nullptr};
  IValue out = Compiler(program, source, scope, code).expression(tree, &type)->run(frame);
  if (!conform(out, type)) throw SyntaxError(source.name, tree.line, str("expected a value of type ", type.str()));
  return out;
}

}  // namespace argand::jit
