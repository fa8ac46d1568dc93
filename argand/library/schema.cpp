#include "argand/library/schema.h"

#include <charconv>
#include <ostream>
#include <sstream>

namespace argand {

namespace {

using Kind = SchemaType::Kind;

struct NamedKind {
  std::string_view name;
  Kind kind;
};
// The names of types; those of whole numbers below the first.
constexpr NamedKind kKinds[] = {{"Tensor", Kind::Tensor},   {"int", Kind::Int},        {"float", Kind::Float},
                                {"bool", Kind::Bool},       {"str", Kind::Str},        {"Scalar", Kind::Scalar},
                                {"number", Kind::Scalar},   {"Device", Kind::Device},  {"Generator", Kind::Generator},
                                {"SymInt", Kind::Int},      {"ScalarType", Kind::Int}, {"Layout", Kind::Int},
                                {"MemoryFormat", Kind::Int}};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

// A recursive descent parser for the types and the defaults.
class SchemaParser {
 public:
  explicit SchemaParser(std::string_view text) : text_(text) {}

  OperatorName operator_name() {
    OperatorName out;
    out.name = word("a name");
    if (take("::")) out.name += "::" + word("a name");
    if (take(".")) out.overload_name = word("the name of an overload");
    return out;
  }

  FunctionSchema schema() {
    OperatorName name = operator_name();
    std::vector<Argument> arguments, returns;
    expect("(");
    bool kwarg_only = false;
    while (!take(")")) {
      if (!arguments.empty() || kwarg_only) expect(",");
      if (take("*")) {
        require(!kwarg_only, "at most one '*'");
        kwarg_only = true;
        continue;
      }
      arguments.push_back(argument());
      arguments.back().kwarg_only_ = kwarg_only;
    }
    expect("->");
    if (take("(")) {
      while (!take(")")) {
        if (!returns.empty()) expect(",");
        returns.push_back(result());
      }
    } else {
      returns.push_back(result());
    }
    return {std::move(name), std::move(arguments), std::move(returns)};
  }

  SchemaType type() {
    SchemaType out = name_of_type();
    suffixes(out, nullptr);
    return out;
  }

  void end() {
    space();
    require(at_ == text_.size(), "the end");
  }

 private:
  SchemaType name_of_type() {
    if (take("(")) return {Kind::Tuple, "", types_until_end(), -1};
    const size_t start = (space(), at_);
    std::string name = word("a type");
    if (name == "Dict") {
      expect("(");
      SchemaType dict{Kind::Dict, "", types_until_end(), -1};
      require(dict.element.size() == 2, "two types of a Dict");
      return dict;
    }
    for (const NamedKind& k : kKinds)
      if (k.name == name) return {k.kind, std::move(name), {}, -1};
    at_ = start;
    ARGAND_THROW(ValueError, "schema: type ", name, " is not known here, at ", at_, " of: ", text_);
  }

  std::vector<SchemaType> types_until_end() {
    std::vector<SchemaType> out;
    while (!take(")")) {
      if (!out.empty()) expect(",");
      out.push_back(type());
    }
    return out;
  }

  // [], [2], ? and (a!), in any order.
  void suffixes(SchemaType& type, Argument* aliased) {
    while (true) {
      if (take("[")) {
        int64_t size = -1;
        if (!take("]")) {
          size = number_of_elements();
          expect("]");
        }
        SchemaType list{Kind::List, "", {}, size};
        list.element.push_back(std::move(type));
        type = std::move(list);
      } else if (take("?")) {
        SchemaType optional{Kind::Optional, "", {}, -1};
        optional.element.push_back(std::move(type));
        type = std::move(optional);
      } else if (aliased && take("(")) {
        aliased->has_alias_ = true;
        aliased->alias_.set = take("*") ? "*" : word("the name of an alias set");
        aliased->alias_.is_write = take("!");
        if (take("->")) {
          if (!take("*")) word("the name of an alias set");
        }
        expect(")");
      } else {
        return;
      }
    }
  }

  int64_t number_of_elements() {
    const std::string text = word("a number");
    int64_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    require(error == std::errc() && end == text.data() + text.size(), "a number");
    return out;
  }

  Argument argument() {
    Argument out;
    out.type_ = name_of_type();
    suffixes(out.type_, &out);
    out.name_ = word("the name of an argument");
    if (take("=")) {
      const size_t start = (space(), at_);
      out.default_ = value(out.type_);
      out.default_text_ = std::string(text_.substr(start, at_ - start));
    }
    return out;
  }

  Argument result() {
    Argument out;
    out.type_ = name_of_type();
    suffixes(out.type_, &out);
    space();
    if (at_ < text_.size() && is_word(text_[at_])) out.name_ = word("a name");
    return out;
  }

  IValue value(const SchemaType& type) {
    if (type.kind == Kind::Optional) return take_word("None") ? IValue() : value(type.element[0]);
    if (type.kind == Kind::List) return list(type);
    space();
    require(at_ < text_.size(), "a default");
    if (text_[at_] == '"' || text_[at_] == '\'') return IValue(quoted());
    if (take_word("None")) return {};
    if (take_word("True")) return IValue(true);
    if (take_word("False")) return IValue(false);
    if (is_word(text_[at_]) && !std::isdigit(static_cast<unsigned char>(text_[at_]))) return named_value();
    return number(type);
  }

  // A list, or one number for a list of fixed size.
  IValue list(const SchemaType& type) {
    const SchemaType& element = type.element[0];
    std::vector<IValue> values;
    if (take("[")) {
      while (!take("]")) {
        if (!values.empty()) expect(",");
        values.push_back(value(element));
      }
    } else {
      require(type.size > 0, "'['");
      values.assign(static_cast<size_t>(type.size), value(element));
    }
    if (element.kind == Kind::Int) return IValue(numbers<int64_t>(values));
    if (element.kind == Kind::Float) return IValue(numbers<double>(values));
    return IValue(std::move(values));
  }

  template <class T>
  static std::vector<T> numbers(const std::vector<IValue>& values) {
    std::vector<T> out;
    out.reserve(values.size());
    for (const IValue& v : values) out.push_back(v.toScalar().to<T>());
    return out;
  }

  IValue number(const SchemaType& type) {
    const size_t start = at_;
    const auto part = [](char c) { return is_word(c) || c == '.' || c == '-' || c == '+'; };
    while (at_ < text_.size() && part(text_[at_])) ++at_;
    const std::string text(text_.substr(start, at_ - start));
    const bool whole = text.find_first_of(".e") == std::string::npos;
    char* end = nullptr;
    const double out = std::strtod(text.c_str(), &end);
    require(!text.empty() && *end == '\0', "a default");
    if (whole && type.kind != Kind::Float) return IValue(static_cast<int64_t>(std::strtoll(text.c_str(), nullptr, 10)));
    return IValue(out);
  }

  // The names that native schemas use for numbers: Mean, contiguous_format, float32.
  IValue named_value() {
    const std::string name = word("a default");
    if (name == "Mean") return IValue(int64_t{1});
    if (name == "Sum") return IValue(int64_t{2});
    if (name == "contiguous_format") return IValue(static_cast<int64_t>(MemoryFormat::Contiguous));
    if (name == "preserve_format") return IValue(static_cast<int64_t>(MemoryFormat::Preserve));
    if (name == "strided") return IValue(int64_t{0});
    if (name == "long") return IValue(static_cast<int64_t>(kLong));
    if (name == "float") return IValue(static_cast<int64_t>(kFloat));
    if (name == "cpu" || name == "cuda") return IValue(Device(name));
    ARGAND_THROW(ValueError, "schema: the default ", name, " is not known here, in: ", text_);
  }

  std::string quoted() {
    const char mark = text_[at_++];
    std::string out;
    while (at_ < text_.size() && text_[at_] != mark) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_++];
    }
    require(at_ < text_.size(), "the end of a text");
    ++at_;
    return out;
  }

  void space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(std::string_view token) {
    space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  bool take_word(std::string_view token) {
    space();
    const size_t end = at_ + token.size();
    if (text_.substr(at_, token.size()) != token || (end < text_.size() && is_word(text_[end]))) return false;
    at_ = end;
    return true;
  }
  void expect(std::string_view token) { require(take(token), std::string("'") + std::string(token) + "'"); }
  std::string word(const std::string& what) {
    space();
    const size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    require(at_ > start, what);
    return std::string(text_.substr(start, at_ - start));
  }
  void require(bool ok, const std::string& what) const {
    ARGAND_CHECK(ValueError, ok, "schema: expected ", what, " at ", at_, " of: ", text_);
  }

  std::string_view text_;
  size_t at_ = 0;
};

FunctionSchema parse_schema(std::string_view text) {
  SchemaParser parser(text);
  FunctionSchema out = parser.schema();
  parser.end();
  return out;
}

OperatorName parse_operator_name(std::string_view text) {
  SchemaParser parser(text);
  OperatorName out = parser.operator_name();
  parser.end();
  return out;
}

SchemaType parse_schema_type(std::string_view text) {
  SchemaParser parser(text);
  SchemaType out = parser.type();
  parser.end();
  return out;
}

std::string SchemaType::str() const {
  if (kind == Kind::Optional) return element[0].str() + "?";
  if (kind == Kind::List) return element[0].str() + "[" + (size < 0 ? "" : std::to_string(size)) + "]";
  if (kind == Kind::Dict || kind == Kind::Tuple) {
    std::string out = kind == Kind::Dict ? "Dict(" : "(";
    for (size_t i = 0; i < element.size(); ++i) out += (i ? ", " : "") + element[i].str();
    return out + ")";
  }
  return name;
}

bool SchemaType::same_kind(const SchemaType& other) const {
  if (kind != other.kind || element.size() != other.element.size()) return false;
  for (size_t i = 0; i < element.size(); ++i)
    if (!element[i].same_kind(other.element[i])) return false;
  return true;
}

bool FunctionSchema::is_mutable() const {
  for (const Argument& a : arguments_)
    if (a.alias_info() && a.alias_info()->is_write) return true;
  return false;
}

std::string FunctionSchema::str() const {
  std::ostringstream out;
  out << *this;
  return out.str();
}

std::string FunctionSchema::difference(const FunctionSchema& kernel) const {
  const auto compare = [](const std::vector<Argument>& mine, const std::vector<Argument>& theirs,
                          const char* what) -> std::string {
    if (mine.size() != theirs.size())
      return argand::str("The number of ", what, "s is different. ", mine.size(), " vs ", theirs.size(), ".");
    for (size_t i = 0; i < mine.size(); ++i)
      if (!mine[i].type().same_kind(theirs[i].type()))
        return argand::str("Type mismatch in ", what, " ", i + 1, ": ", mine[i].type().str(), " vs ",
                           theirs[i].type().str(), ".");
    return "";
  };
  const std::string arguments = compare(arguments_, kernel.arguments_, "argument");
  return arguments.empty() ? compare(returns_, kernel.returns_, "return") : arguments;
}

std::ostream& operator<<(std::ostream& out, const OperatorName& name) { return out << name.str(); }

// The alias stands behind the name of the type that has it: Tensor(a!)[]; written Tensor(a!)? and Tensor(a)[].
std::ostream& operator<<(std::ostream& out, const Argument& a) {
  std::string type = a.type().str();
  if (const AliasInfo* alias = a.alias_info())
    type.insert(type.find_first_of("[?") == std::string::npos ? type.size() : type.find_first_of("[?"),
                "(" + alias->set + (alias->is_write ? "!)" : ")"));
  out << type;
  if (!a.name().empty()) out << " " << a.name();
  if (!a.default_value()) return out;
  out << "=";
  // A number as LibTorch prints it: 1.0 as "1.".
  return a.default_value()->isDouble() ? out << *a.default_value() : out << a.default_text_;
}

std::ostream& operator<<(std::ostream& out, const FunctionSchema& schema) {
  out << schema.operator_name() << "(";
  const char* before = "";
  bool kwarg_only = false;
  for (const Argument& a : schema.arguments()) {
    out << before;
    if (a.kwarg_only() && !kwarg_only) out << "*, ", kwarg_only = true;
    out << a;
    before = ", ";
  }
  out << ") -> ";
  if (schema.returns().size() == 1) {
    std::ostringstream one;
    one << schema.returns()[0];
    if (!one.str().starts_with('(')) return out << one.str();  // a tuple's type has parentheses already
  }
  out << "(";
  before = "";
  for (const Argument& r : schema.returns()) out << before << r, before = ", ";
  return out << ")";
}

}  // namespace argand
