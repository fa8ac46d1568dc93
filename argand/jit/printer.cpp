#include "argand/jit/printer.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "argand/core/device.h"

namespace argand::jit {

namespace {

using Tree = Expression::Kind;
using Is = Statement::Kind;

std::string number(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.17g", v);
  std::string out = text.data();
  if (out.find_first_of(".e") == std::string::npos) out += '.';
  return out;
}

}  // namespace

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte >= 0x20 && byte < 0x7F) {
      out += c;
    } else {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\%03o", byte);
      out += escape.data();
    }
  }
  return out + "\"";
}

std::optional<std::string> literal_of(const IValue& v) {
  using Kind = IValue::Kind;
  switch (v.kind()) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return v.toBool() ? "True" : "False";
    case Kind::kInt:
      return std::to_string(v.toInt());
    case Kind::kDouble:
      return number(v.toDouble());
    case Kind::kString:
      return quoted(v.toStringRef());
    case Kind::kDevice:
      return "torch.device(" + quoted(v.toDevice().str()) + ")";
    case Kind::kTuple: {
      std::string out = "(";
      for (const IValue& e : v.toTupleRef().elements()) {
        const std::optional<std::string> part = literal_of(e);
        if (!part || v.toTupleRef().names()) return std::nullopt;
        out += *part + ", ";
      }
      return out + ")";
    }
    default:
      return std::nullopt;
  }
}

std::string Printer::expression(const Expression& e) {
  if (std::optional<std::string> text = special(e)) return *text;
  switch (e.kind) {
    case Tree::kConstant:
      // Imaginary numbers are the only constants of the language that are no literals here.
      return e.value.isComplexDouble() ? number(e.value.toComplexDouble().imag()) + "j" : *literal_of(e.value);
    case Tree::kName:
      return e.text;
    case Tree::kAttribute:
      return operand(e.parts[0]) + "." + e.text;
    case Tree::kCall:
      return call(e);
    case Tree::kSubscript:
      return operand(e.parts[0]) + "[" + subscript(e.parts[1]) + "]";
    case Tree::kList:
      return "[" + listed(e.parts) + "]";
    case Tree::kTuple:
      return "(" + listed(e.parts) + (e.parts.empty() ? ")" : ", )");
    case Tree::kDict: {
      std::string out = "{";
      for (size_t i = 0; i < e.parts.size(); i += 2)
        out += (i > 0 ? ", " : "") + expression(e.parts[i]) + ": " + expression(e.parts[i + 1]);
      return out + "}";
    }
    case Tree::kUnary:
      return e.text + (e.text == "not" ? " " : "") + operand(e.parts[0]);
    case Tree::kBinary:
      return operand(e.parts[0]) + " " + e.text + " " + operand(e.parts[1]);
    case Tree::kTernary:
      return operand(e.parts[1]) + " if " + operand(e.parts[0]) + " else " + operand(e.parts[2]);
    case Tree::kSlice:
    case Tree::kAbsent:
      break;
  }
  return "";
}

// Between brackets unless it binds as tightly as a name.
std::string Printer::operand(const Expression& e) {
  const std::string text = expression(e);
  const bool tight = e.kind == Tree::kName || e.kind == Tree::kAttribute || e.kind == Tree::kCall ||
                     e.kind == Tree::kSubscript || e.kind == Tree::kList || e.kind == Tree::kTuple ||
                     e.kind == Tree::kDict;
  return tight ? text : "(" + text + ")";
}

std::string Printer::listed(const std::vector<Expression>& parts, size_t first) {
  std::string out;
  for (size_t i = first; i < parts.size(); ++i) out += (i > first ? ", " : "") + expression(parts[i]);
  return out;
}

std::string Printer::call(const Expression& e) {
  std::string out = operand(e.parts[0]) + "(";
  const size_t positional = e.parts.size() - e.keywords.size();
  for (size_t i = 1; i < e.parts.size(); ++i)
    out += (i > 1 ? ", " : "") + (i < positional ? "" : e.keywords[i - positional] + "=") + expression(e.parts[i]);
  return out + ")";
}

std::string Printer::subscript(const Expression& key) {
  const auto one = [&](const Expression& e) {
    if (e.kind != Tree::kSlice) return expression(e);
    std::string out;
    for (size_t i = 0; i < 3; ++i) out += (i > 0 ? ":" : "") + (e.parts[i].is_none() ? "" : expression(e.parts[i]));
    return out;
  };
  if (key.kind != Tree::kTuple) return one(key);
  std::string out;
  for (const Expression& part : key.parts) out += one(part) + ", ";
  return out;
}

std::string Printer::parameter(const ParameterTree& p) {
  std::string out = p.name;
  if (p.type.kind != Tree::kAbsent) out += ": " + expression(p.type);
  if (p.value.kind != Tree::kAbsent) out += "=" + expression(p.value);
  return out;
}

std::string Printer::function(const FunctionTree& f, const std::string& name, size_t indent) {
  std::string out = std::string(indent, ' ') + "def " + name + "(";
  bool keyword_only = false;
  for (size_t i = 0; i < f.parameters.size(); ++i) {
    const ParameterTree& p = f.parameters[i];
    out += i > 0 ? ",\n" + std::string(indent + 4, ' ') : "";
    if (p.keyword_only && !keyword_only) out += "*, ";
    keyword_only = p.keyword_only;
    out += parameter(p);
  }
  out += ")";
  if (f.result.kind != Tree::kAbsent) out += " -> " + expression(f.result);
  return out + ":\n" + block(f.body, indent + 2);
}

std::string Printer::block(const std::vector<Statement>& all, size_t indent) {
  const std::string lines = statements(all, indent);
  return lines.empty() ? std::string(indent, ' ') + "pass\n" : lines;
}

std::string Printer::statements(const std::vector<Statement>& all, size_t indent) {
  std::string out;
  for (const Statement& s : all) {
    if (std::optional<std::string> lines = special(s, indent))
      out += *lines;
    else
      out += statement(s, indent);
  }
  return out;
}

std::string Printer::targets(const Statement& s) {
  if (!s.unpacks) return expression(s.targets[0]);
  return listed(s.targets) + ", ";
}

std::string Printer::statement(const Statement& s, size_t indent) {
  const std::string start(indent, ' ');
  switch (s.kind) {
    case Is::kIf: {
      std::string out = start + "if " + expression(s.value) + ":\n" + block(s.body, indent + 2);
      if (!s.other.empty()) out += start + "else:\n" + block(s.other, indent + 2);
      return out;
    }
    case Is::kWhile:
      return start + "while " + expression(s.value) + ":\n" + block(s.body, indent + 2);
    case Is::kFor:
      // The targets of a loop have no comma behind them.
      return start + "for " + (s.unpacks ? listed(s.targets) : targets(s)) + " in " + expression(s.value) + ":\n" +
             block(s.body, indent + 2);
    case Is::kWith:
      return start + "with " + expression(s.value) + (s.targets.empty() ? "" : " as " + expression(s.targets[0])) +
             ":\n" + block(s.body, indent + 2);
    case Is::kFunction:
      return function(*s.function, s.function->name, indent);
    default:
      return start + line_of(s) + "\n";
  }
}

std::string Printer::line_of(const Statement& s) {
  switch (s.kind) {
    case Is::kExpression:
      return expression(s.value);
    case Is::kAssign:
      return targets(s) + (s.type.kind == Tree::kAbsent ? "" : " : " + expression(s.type)) + " = " +
             expression(s.value);
    case Is::kAugmented:
      return expression(s.targets[0]) + " " + s.text + "= " + expression(s.value);
    case Is::kReturn:
      return s.value.kind == Tree::kAbsent ? "return" : "return " + expression(s.value);
    case Is::kAssert:
      return "assert " + expression(s.value) + (s.targets.empty() ? "" : ", " + expression(s.targets[0]));
    case Is::kRaise:
      return "raise " + expression(s.value);
    default:
      return "pass";
  }
}

}  // namespace argand::jit
