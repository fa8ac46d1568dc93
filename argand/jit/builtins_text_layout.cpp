// Texts: padding, parts, and questions about all their letters.
#include <algorithm>
#include <cctype>

#include "argand/jit/builtins.h"

namespace argand::jit {

namespace {

bool of_text(const BuiltinCall& c, size_t least, size_t most) {
  return c.size() >= least && c.size() <= most && c[0].isString();
}
const std::string& text(const BuiltinCall& c) { return c[0].toStringRef(); }

// How many letters the text lacks to the width of the second argument.
size_t missing(const BuiltinCall& c) {
  const int64_t width = c[1].toInt(), size = static_cast<int64_t>(text(c).size());
  check_length(c, 1, width);
  return static_cast<size_t>(std::max<int64_t>(width - size, 0));
}
char fill_of(const BuiltinCall& c) {
  const IValue* fill = c.given(2, "fillchar");
  if (!fill) return ' ';
  c.need(fill->toStringRef().size() == 1, "TypeError: The fill character must be exactly one character long");
  return fill->toStringRef()[0];
}

bool pad_both(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 2, 3)) return false;
  const size_t pad = missing(c), left = pad / 2 + (pad & static_cast<size_t>(c[1].toInt()) & 1);
  out = std::string(left, fill_of(c)) + text(c) + std::string(pad - left, fill_of(c));
  return true;
}
bool pad_right(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 2, 3)) return false;
  out = text(c) + std::string(missing(c), fill_of(c));
  return true;
}
bool pad_left(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 2, 3)) return false;
  out = std::string(missing(c), fill_of(c)) + text(c);
  return true;
}
// Unlike Python's, a sign stays behind the zeros.
bool pad_with_zeros(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 2, 2)) return false;
  out = std::string(missing(c), '0') + text(c);
  return true;
}

// Unlike Python's, columns go on behind the end of a line.
bool expand_tabs(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 1, 2)) return false;
  const IValue* given = c.given(1, "tabsize");
  const int64_t size = given ? given->toInt() : 8;
  check_length(c, std::max<size_t>(text(c).size(), 1), size);
  std::string expanded;
  for (const char letter : text(c)) {
    if (letter != '\t')
      expanded += letter;
    else if (size > 0)
      expanded.append(static_cast<size_t>(size) - expanded.size() % static_cast<size_t>(size), ' ');
  }
  out = std::move(expanded);
  return true;
}

IValue parts(const std::string& first, const std::string& middle, const std::string& last) {
  return ivalue::Tuple::create({IValue(first), IValue(middle), IValue(last)});
}
bool partition(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 2, 2)) return false;
  const std::string& by = c[1].toStringRef();
  const size_t at = text(c).find(by);
  out = at == std::string::npos ? parts(text(c), "", "")
                                : parts(text(c).substr(0, at), by, text(c).substr(at + by.size()));
  return true;
}
bool partition_last(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 2, 2)) return false;
  const std::string& by = c[1].toStringRef();
  const size_t at = text(c).rfind(by);
  out = at == std::string::npos ? parts("", "", text(c))
                                : parts(text(c).substr(0, at), by, text(c).substr(at + by.size()));
  return true;
}

template <class F>
bool all_of(const std::string& letters, F f) {
  return std::all_of(letters.begin(), letters.end(), [&](char l) { return f(static_cast<unsigned char>(l)) != 0; });
}
// Letters and digits; an underscore is none of them, unlike Python's.
bool is_identifier(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 1, 1)) return false;
  out = !text(c).empty() && std::isdigit(static_cast<unsigned char>(text(c)[0])) == 0 &&
        all_of(text(c), [](int l) { return std::isalnum(l); });
  return true;
}
bool is_printable(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 1, 1)) return false;
  out = all_of(text(c), [](int l) { return std::isalnum(l) || std::ispunct(l) || l == ' '; });
  return true;
}
bool is_title(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 1, 1)) return false;
  bool found = false, inside = false, fits = true;
  for (const char letter : text(c)) {
    const auto byte = static_cast<unsigned char>(letter);
    fits &= byte == (inside ? std::tolower(byte) : std::toupper(byte));
    inside = std::isalpha(byte) != 0;
    found |= inside;
  }
  out = found && fits;
  return true;
}

constexpr NamedBuiltin kTable[] = {{"center", pad_both},
                                   {"ljust", pad_right},
                                   {"rjust", pad_left},
                                   {"zfill", pad_with_zeros},
                                   {"expandtabs", expand_tabs},
                                   {"partition", partition},
                                   {"rpartition", partition_last},
                                   {"isidentifier", is_identifier},
                                   {"isprintable", is_printable},
                                   {"istitle", is_title}};

}  // namespace

std::span<const NamedBuiltin> text_layout_builtins() { return kTable; }

}  // namespace argand::jit
