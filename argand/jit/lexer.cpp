#include "argand/jit/lexer.h"

#include <algorithm>
#include <array>

#include "argand/io/utf8.h"

namespace argand::jit {

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool continues_name(char c) { return starts_name(c) || (c >= '0' && c <= '9'); }

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Longer ones first.
constexpr std::array<std::string_view, 25> kLongSymbols = {"**=", "//=", "<<=", ">>=", "->", "**",  "//", "<<", ">>",
                                                           "<=",  ">=",  "==",  "!=",  "+=", "-=",  "*=", "/=", "%=",
                                                           "&=",  "|=",  "^=",  "@=",  ":=", "...", "<>"};
constexpr std::string_view kSymbols = "()[]{}:,.=+-*/%<>&|^~@;";

class Lexer {
 public:
  Lexer(const Source& source, size_t max_tokens) : source_(source), text_(source.text), max_tokens_(max_tokens) {}

  std::vector<Token> run() {
    need(io::is_utf8(text_), "the code is not UTF-8");
    bool line_starts = true;
    while (at_ < text_.size()) {
      if (line_starts) {
        indentation();
        line_starts = false;
        continue;
      }
      const char c = text_[at_];
      if (c == '\n') {
        if (open_ == 0 && !out_.empty() && !ends_line(out_.back())) add(Token::Kind::kNewline);
        ++at_, ++line_;
        line_starts = open_ == 0;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
        at_ += 2, ++line_;
      } else {
        token(c);
      }
    }
    need(open_ == 0, "a bracket that is not closed");
    if (!out_.empty() && !ends_line(out_.back())) add(Token::Kind::kNewline);
    for (; indents_.size() > 1; indents_.pop_back()) add(Token::Kind::kDedent);
    add(Token::Kind::kEnd);
    return std::move(out_);
  }

 private:
  template <class... Parts>
  void need(bool condition, const Parts&... parts) const {
    if (!condition) throw SyntaxError(source_.name, line_, str(parts...));
  }
  static bool ends_line(const Token& t) { return t.kind >= Token::Kind::kNewline; }
  void add(Token::Kind kind, std::string text = "") {
    need(out_.size() < max_tokens_, "more than ", max_tokens_, " tokens");
    out_.push_back({kind, line_, std::move(text)});
  }

  // At the start of a line outside of brackets; empty lines do not count.
  void indentation() {
    size_t end = at_;
    while (end < text_.size() && text_[end] == ' ') ++end;
    if (end == text_.size() || text_[end] == '\n' || text_[end] == '\r' || text_[end] == '#') {
      at_ = end;
      return;
    }
    need(text_[end] != '\t', "a tab before a statement");
    const size_t width = end - at_;
    at_ = end;
    if (width > indents_.back()) {
      indents_.push_back(width);
      add(Token::Kind::kIndent);
    }
    for (; width < indents_.back(); indents_.pop_back()) add(Token::Kind::kDedent);
    need(width == indents_.back(), "an indentation that is that of no line before");
  }

  void token(char c) {
    if (starts_name(c)) return name();
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) return number();
    if (c == '"' || c == '\'') return string(c);
    const std::string_view rest = std::string_view(text_).substr(at_);
    for (const std::string_view symbol : kLongSymbols)
      if (rest.starts_with(symbol)) {
        at_ += symbol.size();
        return add(Token::Kind::kSymbol, std::string(symbol));
      }
    need(kSymbols.find(c) != std::string_view::npos, "a character that begins no token");
    if (c == '(' || c == '[' || c == '{') ++open_;
    if (c == ')' || c == ']' || c == '}') {
      need(open_ > 0, "a bracket that was not opened");
      --open_;
    }
    ++at_;
    add(Token::Kind::kSymbol, std::string(1, c));
  }

  void name() {
    const size_t begin = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    add(Token::Kind::kName, text_.substr(begin, at_ - begin));
  }

  void number() {
    const size_t begin = at_;
    bool whole = true;
    const auto digits = [&] {
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    };
    digits();
    if (at_ < text_.size() && text_[at_] == '.') whole = false, ++at_, digits();
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      whole = false;
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      need(at_ < text_.size() && is_digit(text_[at_]), "an exponent without digits");
      digits();
    }
    std::string digits_text = text_.substr(begin, at_ - begin);
    const bool imaginary = at_ < text_.size() && text_[at_] == 'j';
    if (imaginary) ++at_;
    need(at_ == text_.size() || !starts_name(text_[at_]), "a number that ends in letters");
    add(imaginary ? Token::Kind::kImaginary : whole ? Token::Kind::kInt : Token::Kind::kFloat, std::move(digits_text));
  }

  void string(char quote) {
    const uint32_t line = line_;
    const std::string three(3, quote);
    const bool long_string = text_.compare(at_, 3, three) == 0;
    at_ += long_string ? 3 : 1;
    std::string content;
    for (;;) {
      need(at_ < text_.size() && (long_string || text_[at_] != '\n'), "a text that does not end");
      if (long_string ? text_.compare(at_, 3, three) == 0 : text_[at_] == quote) break;
      if (text_[at_] == '\n') ++line_;
      content += text_[at_] == '\\' ? escape() : text_[at_++];
    }
    at_ += long_string ? 3 : 1;
    add(Token::Kind::kString, std::move(content));
    out_.back().line = line;
  }

  // Bytes above 0x7F are written as escapes in octal, each by itself.
  char escape() {
    need(at_ + 1 < text_.size(), "a text that does not end");
    const char c = text_[at_ + 1];
    at_ += 2;
    constexpr std::string_view from = "abfnrtv\\'\"", to = "\a\b\f\n\r\t\v\\'\"";
    if (const size_t i = from.find(c); i != std::string_view::npos) return to[i];
    need(c == 'x' || (c >= '0' && c <= '7'), "an unknown escape in a text");
    const bool hex = c == 'x';
    if (!hex) --at_;
    unsigned value = 0;
    size_t count = 0;
    for (; count < (hex ? 2 : 3) && at_ < text_.size(); ++count, ++at_) {
      const char d = text_[at_];
      const int digit = is_digit(d)                   ? d - '0'
                        : hex && d >= 'a' && d <= 'f' ? d - 'a' + 10
                        : hex && d >= 'A' && d <= 'F' ? d - 'A' + 10
                                                      : 99;
      if (digit >= (hex ? 16 : 8)) break;
      value = value * (hex ? 16 : 8) + static_cast<unsigned>(digit);
    }
    need(count > 0 && value < 256 && (!hex || count == 2), "an escape that is no byte");
    return static_cast<char>(value);
  }

  const Source& source_;
  const std::string& text_;
  const size_t max_tokens_;
  size_t at_ = 0, open_ = 0;
  uint32_t line_ = 1;
  std::vector<size_t> indents_{0};
  std::vector<Token> out_;
};

}  // namespace

std::vector<Token> tokens_of(const Source& source, size_t max_tokens) { return Lexer(source, max_tokens).run(); }

}  // namespace argand::jit
