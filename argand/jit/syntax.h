// The syntax tree of TorchScript's code, as the parser makes it: names are texts, nothing is resolved.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "argand/autograd/ivalue.h"

namespace argand::jit {

struct Expression {
  enum class Kind : uint8_t {
    kConstant,   // value
    kName,       // text
    kAttribute,  // parts[0] . text
    kCall,       // parts[0] ( parts[1..] ); the last arguments have the names `keywords`
    kSubscript,  // parts[0] [ parts[1] ]
    kSlice,      // parts: start, stop, step; a constant None for what is left out; in a subscript only
    kList,
    kTuple,
    kDict,     // parts: key, value, key, value, ...
    kUnary,    // text: "-", "~", "not"
    kBinary,   // text: the operator, also of a comparison, and "and", "or", "in", "not in", "is", "is not"
    kTernary,  // parts: condition, value, other value
    kAbsent    // nothing: a default value that is not there
  };
  Kind kind = Kind::kAbsent;
  uint32_t line = 0;
  std::string text;
  IValue value;
  std::vector<Expression> parts;
  std::vector<std::string> keywords;

  bool is_name(std::string_view name) const { return kind == Kind::kName && text == name; }
  bool is_none() const { return kind == Kind::kConstant && value.isNone(); }
};

struct FunctionTree;

struct Statement {
  enum class Kind : uint8_t {
    kExpression,  // value
    kAssign,      // targets = value; several targets unpack it; the annotation is in `type`
    kAugmented,   // targets[0] text= value
    kReturn,      // value, or kAbsent
    kIf,          // value: condition; body, other
    kWhile,       // value: condition; body
    kFor,         // targets in value; body
    kWith,        // value, as targets[0] if there is one; body
    kAssert,      // value; targets[0] is the message if there is one
    kRaise,       // value
    kPass,
    kFunction  // function
  };
  Kind kind = Kind::kPass;
  uint32_t line = 0;
  std::string text;
  bool unpacks = false;  // `a, = x` unpacks although there is one target
  std::vector<Expression> targets;
  Expression value, type;
  std::vector<Statement> body, other;
  std::unique_ptr<FunctionTree> function;
};

struct ParameterTree {
  std::string name;
  Expression type, value;  // value: the default
  bool keyword_only = false;
};

struct FunctionTree {
  std::string name;
  uint32_t line = 0;
  std::vector<ParameterTree> parameters;
  Expression result;
  std::vector<Statement> body;
};

struct AttributeTree {
  std::string name;
  uint32_t line = 0;
  Expression type, value;  // value: of a constant, or the default of a field
};

struct ClassTree {
  std::string name, base;  // base: "Module", "NamedTuple", "ModuleInterface", ...; empty for a plain class
  uint32_t line = 0;
  std::vector<std::string> parameters, buffers;
  std::vector<AttributeTree> attributes;
  std::vector<FunctionTree> methods;
};

struct FileTree {
  std::vector<ClassTree> classes;
  std::vector<FunctionTree> functions;
};

}  // namespace argand::jit
