#include "argand/jit/parser.h"

#include <array>
#include <charconv>
#include <limits>

#include "argand/jit/lexer.h"

namespace argand::jit {

namespace {

using Kind = Expression::Kind;
using Is = Token::Kind;

// Operators that bind tighter have a higher level.
struct Operator {
  std::string_view text;
  int level;
};
constexpr std::array<Operator, 20> kOperators = {
    {{"or", 1}, {"and", 2}, {"in", 4}, {"is", 4}, {"<", 4},  {">", 4}, {"<=", 4}, {">=", 4}, {"==", 4}, {"!=", 4},
     {"|", 5},  {"^", 6},   {"&", 7},  {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"//", 10}}};
constexpr int kNot = 3, kComparison = 4, kProduct = 10, kUnary = 11;

int level_of(std::string_view text) {
  if (text == "%" || text == "@") return kProduct;
  for (const Operator& o : kOperators)
    if (o.text == text) return o.level;
  return 0;
}

class Parser {
 public:
  Parser(const Source& source, const ParseLimits& limits)
      : source_(source), limits_(limits), tokens_(tokens_of(source)) {}

  FileTree run() {
    FileTree out;
    while (!at(Is::kEnd)) {
      if (is("class")) {
        out.classes.push_back(class_tree());
      } else if (is("def")) {
        out.functions.push_back(function());
      } else if (take("import")) {
        while (!at(Is::kNewline)) next();
        end_of_line();
      } else if (at(Is::kName) && peek(1).text == "=") {  // op_version_set = 1, in old archives
        next(), next();
        (void)expression();
        end_of_line();
      } else {
        fail("expected a class, a function or an import");
      }
    }
    return out;
  }

 private:
  // ---- tokens

  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool at(Is kind) const { return peek().kind == kind; }
  // Whether the next token is this word or symbol.
  bool is(std::string_view text) const { return (at(Is::kName) || at(Is::kSymbol)) && peek().text == text; }
  bool take(std::string_view text) {
    if (!is(text)) return false;
    next();
    return true;
  }
  [[noreturn]] void fail(const std::string& what) const {
    static constexpr std::array<const char*, 10> kNames = {
        "a name",           "a number",           "a number",           "a number", "a text", "", "the end of the line",
        "an indented line", "the end of a block", "the end of the file"};
    const Token& t = peek();
    const bool shown = t.kind == Is::kName || t.kind == Is::kSymbol || t.kind == Is::kInt;
    throw SyntaxError(
        source_.name, t.line,
        str(what, ", got ", shown ? "'" + t.text.substr(0, 40) + "'" : kNames[static_cast<size_t>(t.kind)]));
  }
  void expect(std::string_view text) {
    if (!take(text)) fail(str("expected '", text, "'"));
  }
  std::string name() {
    if (!at(Is::kName)) fail("expected a name");
    return next().text;
  }
  void end_of_line() {
    if (take(";")) return;
    if (!at(Is::kNewline)) fail("expected the end of the line");
    next();
  }

  // Bounds the depth of the tree.
  struct Nesting {
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser.depth_ > parser.limits_.nesting)
        parser.fail(str("code nested deeper than ", parser.limits_.nesting));
    }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    Parser& parser_;
  };

  Expression make(Kind kind, std::vector<Expression> parts = {}, std::string text = "") const {
    Expression out;
    out.kind = kind;
    out.line = peek().line;
    out.parts = std::move(parts);
    out.text = std::move(text);
    return out;
  }
  Expression constant(IValue value) const {
    Expression out = make(Kind::kConstant);
    out.value = std::move(value);
    return out;
  }

  // ---- expressions

  Expression expression() {
    const Nesting nesting(*this);
    Expression value = binary(1);
    if (!take("if")) return value;
    Expression condition = binary(1);
    expect("else");
    std::vector<Expression> parts;
    parts.push_back(std::move(condition));
    parts.push_back(std::move(value));
    parts.push_back(expression());
    return make(Kind::kTernary, std::move(parts));
  }

  // The operator at this place, or "".
  std::string operator_here() const {
    if (!at(Is::kName) && !at(Is::kSymbol)) return "";
    if (is("not") && peek(1).text == "in") return "not in";
    if (is("is") && peek(1).text == "not") return "is not";
    return level_of(peek().text) > 0 ? peek().text : "";
  }

  Expression binary(int least) {
    const Nesting nesting(*this);
    Expression left = least <= kNot && is("not") ? negation() : unary();
    bool compared = false;
    for (size_t depth = 0;; ++depth) {
      const std::string op = operator_here();
      const int level = op == "not in" || op == "is not" ? kComparison : level_of(op);
      if (op.empty() || level < least) return left;
      if (level == kComparison && compared) fail("comparisons in a chain are not supported");
      compared = level == kComparison;
      if (depth + depth_ > limits_.nesting) fail(str("code nested deeper than ", limits_.nesting));
      next();
      if (op == "not in" || op == "is not") next();
      std::vector<Expression> parts;
      parts.push_back(std::move(left));
      parts.push_back(binary(level + 1));
      left = make(Kind::kBinary, std::move(parts), op);
    }
  }

  Expression negation() {
    expect("not");
    std::vector<Expression> parts;
    parts.push_back(binary(kNot));
    return make(Kind::kUnary, std::move(parts), "not");
  }

  Expression unary() {
    const Nesting nesting(*this);
    for (const char* sign : {"-", "+", "~"}) {
      if (!take(sign)) continue;
      const bool number = at(Is::kInt) || at(Is::kFloat) || at(Is::kImaginary);
      if (*sign == '-' && at(Is::kInt)) return postfix(integer("-"));
      Expression value = unary();
      if (*sign == '+') return value;
      if (*sign == '-' && number && value.kind == Kind::kConstant) {
        value.value = value.value.isDouble() ? IValue(-value.value.toDouble()) : IValue(-value.value.toScalar());
        return value;
      }
      std::vector<Expression> parts;
      parts.push_back(std::move(value));
      return make(Kind::kUnary, std::move(parts), sign);
    }
    Expression base = postfix(atom());
    if (!take("**")) return base;
    std::vector<Expression> parts;
    parts.push_back(std::move(base));
    parts.push_back(unary());
    return make(Kind::kBinary, std::move(parts), "**");
  }

  Expression integer(const std::string& sign) {
    const std::string text = sign + next().text;
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      throw SyntaxError(source_.name, peek().line, str("an integer beyond 64 bits: ", text.substr(0, 40)));
    return constant(value);
  }
  double decimal() {
    const std::string text = next().text;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) {  // as Python: infinity or zero
      const size_t e = text.find_first_of("eE");
      return e != std::string::npos && e + 1 < text.size() && text[e + 1] == '-'
                 ? 0.0
                 : std::numeric_limits<double>::infinity();
    }
    if (error != std::errc() || end != text.data() + text.size()) fail("expected a number");
    return value;
  }

  Expression atom() {
    switch (peek().kind) {
      case Is::kInt:
        return integer("");
      case Is::kFloat:
        return constant(decimal());
      case Is::kImaginary:
        return constant(IValue(std::complex<double>(0, decimal())));
      case Is::kString: {
        Expression out = constant(std::string(next().text));
        while (at(Is::kString)) out.value = IValue(out.value.toStringRef() + next().text);
        return out;
      }
      case Is::kName:
        return word();
      default:
        break;
    }
    if (take("(")) return parenthesis();
    if (take("[")) return make(Kind::kList, until("]"));
    if (take("{")) {
      std::vector<Expression> parts;
      while (!take("}")) {
        parts.push_back(expression());
        expect(":");
        parts.push_back(expression());
        if (!take(",") && !is("}")) fail("expected ',' or '}'");
      }
      return make(Kind::kDict, std::move(parts));
    }
    fail("expected an expression");
  }

  Expression word() {
    static constexpr std::array<std::string_view, 20> kReserved = {
        "if",  "else",  "elif",   "while",  "for",    "in",   "is",     "and",   "or",    "not",
        "def", "class", "return", "import", "lambda", "with", "assert", "raise", "yield", "del"};
    for (const std::string_view reserved : kReserved)
      if (is(reserved)) fail("expected an expression");
    if (take("True")) return constant(true);
    if (take("False")) return constant(false);
    if (take("None")) return constant(IValue());
    return make(Kind::kName, {}, next().text);
  }

  Expression parenthesis() {
    if (take(")")) return make(Kind::kTuple);
    Expression first = expression();
    if (take(")")) return first;
    expect(",");
    std::vector<Expression> parts;
    parts.push_back(std::move(first));
    for (Expression& part : until(")")) parts.push_back(std::move(part));
    return make(Kind::kTuple, std::move(parts));
  }

  // Expressions with commas between them, and one after the last if it likes.
  std::vector<Expression> until(std::string_view end) {
    std::vector<Expression> out;
    while (!take(end)) {
      out.push_back(expression());
      if (!take(",") && !is(end)) fail(str("expected ',' or '", end, "'"));
    }
    return out;
  }

  Expression postfix(Expression base) {
    for (size_t depth = 0;; ++depth) {
      if (depth + depth_ > limits_.nesting) fail(str("code nested deeper than ", limits_.nesting));
      std::vector<Expression> parts;
      if (take(".")) {
        parts.push_back(std::move(base));
        std::string attribute = name();
        base = make(Kind::kAttribute, std::move(parts), std::move(attribute));
      } else if (take("(")) {
        parts.push_back(std::move(base));
        base = call(std::move(parts));
      } else if (take("[")) {
        parts.push_back(std::move(base));
        parts.push_back(subscript());
        base = make(Kind::kSubscript, std::move(parts));
      } else {
        return base;
      }
    }
  }

  Expression call(std::vector<Expression> parts) {
    std::vector<std::string> keywords;
    while (!take(")")) {
      if (at(Is::kName) && peek(1).kind == Is::kSymbol && peek(1).text == "=") {
        keywords.push_back(next().text);
        next();
      } else if (!keywords.empty()) {
        fail("a positional argument behind one with a name");
      }
      parts.push_back(expression());
      if (!take(",") && !is(")")) fail("expected ',' or ')'");
    }
    Expression out = make(Kind::kCall, std::move(parts));
    out.keywords = std::move(keywords);
    return out;
  }

  // Parses the part between the brackets of a subscript; several parts with commas are a tuple.
  Expression subscript() {
    std::vector<Expression> items;
    bool comma = false;
    while (!take("]")) {
      items.push_back(index());
      comma |= is(",");
      if (!take(",") && !is("]")) fail("expected ',' or ']'");
    }
    if (items.empty()) fail("expected an index");
    if (items.size() == 1 && !comma) return std::move(items[0]);
    return make(Kind::kTuple, std::move(items));
  }
  Expression index() {
    Expression start = is(":") ? constant(IValue()) : expression();
    if (!take(":")) return start;
    std::vector<Expression> parts;
    parts.push_back(std::move(start));
    parts.push_back(is("]") || is(",") || is(":") ? constant(IValue()) : expression());
    parts.push_back(!take(":") || is("]") || is(",") ? constant(IValue()) : expression());
    return make(Kind::kSlice, std::move(parts));
  }

  // ---- statements

  std::vector<Statement> block() {
    const Nesting nesting(*this);
    expect(":");
    std::vector<Statement> out;
    if (!at(Is::kNewline)) {  // on the same line
      out.push_back(statement());
      return out;
    }
    next();
    if (!at(Is::kIndent)) fail("expected an indented block");
    next();
    while (!at(Is::kDedent)) {
      if (at(Is::kEnd)) fail("expected a statement");
      out.push_back(statement());
    }
    next();
    return out;
  }

  Statement statement() {
    Statement out;
    out.line = peek().line;
    const auto compound = [&](Statement::Kind kind) {
      out.kind = kind;
      out.value = expression();
      out.body = block();
    };
    if (take("if")) {
      compound(Statement::Kind::kIf);
      if (take("else")) {
        out.other = block();
      } else if (is("elif")) {
        const Nesting nesting(*this);
        tokens_[at_].text = "if";
        out.other.push_back(statement());
      }
    } else if (take("while")) {
      compound(Statement::Kind::kWhile);
    } else if (take("for")) {
      out.targets = targets(out.unpacks);
      expect("in");
      compound(Statement::Kind::kFor);
    } else if (take("with")) {
      out.kind = Statement::Kind::kWith;
      out.value = expression();
      if (take("as")) out.targets.push_back(make(Kind::kName, {}, name()));
      out.body = block();
    } else if (is("def")) {
      const Nesting nesting(*this);
      out.kind = Statement::Kind::kFunction;
      out.function = std::make_unique<FunctionTree>(function());
    } else {
      simple(out);
      end_of_line();
    }
    return out;
  }

  void simple(Statement& out) {
    if (take("pass")) return;
    if (take("return")) {
      out.kind = Statement::Kind::kReturn;
      if (!at(Is::kNewline)) out.value = tuple_or_one();
    } else if (take("assert")) {
      out.kind = Statement::Kind::kAssert;
      out.value = expression();
      if (take(",")) out.targets.push_back(expression());
    } else if (take("raise")) {
      out.kind = Statement::Kind::kRaise;
      out.value = expression();
    } else if (is("break") || is("continue") || is("global") || is("nonlocal") || is("try") || is("async") ||
               is("del")) {
      fail("this statement is not supported");
    } else {
      assignment(out);
    }
  }

  void assignment(Statement& out) {
    const size_t begin = at_;
    out.value = tuple_or_one();
    if (take(":")) {
      out.type = expression();
      expect("=");
      set_targets(out, begin);
      out.value = tuple_or_one();
    } else if (take("=")) {
      set_targets(out, begin);
      out.value = tuple_or_one();
      if (is("=")) fail("several assignments in one statement are not supported");
    } else if (at(Is::kSymbol) && peek().text.size() >= 2 && peek().text.back() == '=' &&
               level_of(peek().text.substr(0, peek().text.size() - 1)) != 0 && level_of(peek().text) == 0) {
      out.kind = Statement::Kind::kAugmented;
      out.text = next().text;
      out.text.pop_back();
      out.targets.push_back(std::move(out.value));
      check_target(out.targets[0]);
      out.value = tuple_or_one();
    } else if (is("**=")) {
      fail("this statement is not supported");
    } else {
      out.kind = Statement::Kind::kExpression;
    }
  }

  // Turns the expression that began at the token `begin` into targets.
  void set_targets(Statement& out, size_t begin) {
    out.kind = Statement::Kind::kAssign;
    out.unpacks = out.value.kind == Kind::kTuple;
    if (out.unpacks)
      out.targets = std::move(out.value.parts);
    else
      out.targets.push_back(std::move(out.value));
    if (begin >= at_ || out.targets.empty()) fail("expected a target");
    for (const Expression& target : out.targets) check_target(target);
  }
  void check_target(const Expression& target) const {
    if (target.kind != Kind::kName && target.kind != Kind::kAttribute && target.kind != Kind::kSubscript)
      fail("expected a name, an attribute or an element before '='");
  }

  std::vector<Expression> targets(bool& unpacks) {
    std::vector<Expression> out;
    const bool bracket = take("(");
    do {
      if (bracket ? is(")") : is("in")) break;
      out.push_back(make(Kind::kName, {}, name()));
      unpacks |= is(",");
    } while (take(","));
    if (bracket) expect(")");
    return out;
  }

  Expression tuple_or_one() {
    Expression first = expression();
    if (!is(",")) return first;
    std::vector<Expression> parts;
    parts.push_back(std::move(first));
    while (take(",")) {
      if (is("=") || at(Is::kNewline)) break;
      parts.push_back(expression());
    }
    return make(Kind::kTuple, std::move(parts));
  }

  // ---- definitions

  FunctionTree function() {
    const Nesting nesting(*this);
    FunctionTree out;
    out.line = peek().line;
    expect("def");
    out.name = name();
    expect("(");
    bool keyword_only = false;
    while (!take(")")) {
      if (take("*")) {
        keyword_only = true;
      } else {
        ParameterTree& p = out.parameters.emplace_back();
        p.name = name();
        p.keyword_only = keyword_only;
        if (take(":")) p.type = expression();
        if (take("=")) p.value = expression();
      }
      if (!take(",") && !is(")")) fail("expected ',' or ')'");
    }
    if (take("->")) out.result = expression();
    out.body = block();
    return out;
  }

  ClassTree class_tree() {
    const Nesting nesting(*this);
    ClassTree out;
    out.line = peek().line;
    expect("class");
    out.name = name();
    if (take("(")) {
      if (!is(")")) out.base = name();
      expect(")");
    }
    expect(":");
    if (!at(Is::kNewline)) fail("expected the end of the line");
    next();
    if (!at(Is::kIndent)) fail("expected an indented block");
    next();
    while (!at(Is::kDedent)) {
      if (at(Is::kEnd)) fail("expected an attribute or a method");
      if (is("def"))
        out.methods.push_back(function());
      else
        class_line(out);
    }
    next();
    return out;
  }

  std::vector<std::string> texts() {
    expect("[");
    std::vector<std::string> out;
    for (const Expression& e : until("]")) {
      if (e.kind != Kind::kConstant || !e.value.isString()) fail("expected texts");
      out.push_back(e.value.toStringRef());
    }
    return out;
  }

  void class_line(ClassTree& out) {
    const uint32_t line = peek().line;
    if (take("pass")) return end_of_line();
    if (at(Is::kString)) {  // a comment
      next();
      return end_of_line();
    }
    std::string attribute = name();
    if (attribute == "__annotations__") {  // of a name that is no word: __annotations__["0"] = Type
      if (take("=")) {
        (void)texts();
        return end_of_line();
      }
      expect("[");
      if (!at(Is::kString)) fail("expected a text");
      AttributeTree& a = out.attributes.emplace_back();
      a.name = next().text;
      a.line = line;
      expect("]");
      expect("=");
      a.type = expression();
      return end_of_line();
    }
    if (take("=")) {
      if (attribute == "__parameters__")
        out.parameters = texts();
      else if (attribute == "__buffers__")
        out.buffers = texts();
      else if (attribute == "__constants__" || attribute == "__slots__")
        (void)texts();
      else if (attribute == "__forward_hooks__" || attribute == "__forward_pre_hooks__")
        hooks(texts(), attribute);
      else {  // a member of an enum
        AttributeTree& a = out.attributes.emplace_back();
        a.name = std::move(attribute);
        a.line = line;
        a.value = expression();
      }
      return end_of_line();
    }
    expect(":");
    AttributeTree& a = out.attributes.emplace_back();
    a.name = std::move(attribute);
    a.line = line;
    a.type = expression();
    if (take("=")) a.value = expression();
    end_of_line();
  }

  void hooks(const std::vector<std::string>& names, const std::string& kind) const {
    if (!names.empty()) fail(str("modules with ", kind, " are not supported"));
  }

  const Source& source_;
  const ParseLimits& limits_;
  std::vector<Token> tokens_;
  size_t at_ = 0, depth_ = 0;
};

}  // namespace

FileTree parse(const Source& source, const ParseLimits& limits) { return Parser(source, limits).run(); }

}  // namespace argand::jit
