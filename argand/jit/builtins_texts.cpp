// Texts: TorchScript's str methods work on bytes.
#include <algorithm>
#include <cctype>
#include <cstdio>

#include "argand/jit/builtins.h"

namespace argand::jit {

namespace {

constexpr const char* kSpaces = " \t\n\r\f\v";

bool of_text(const BuiltinCall& c, size_t least, size_t most) {
  return c.size() >= least && c.size() <= most && c[0].isString();
}
const std::string& text(const BuiltinCall& c, size_t i) { return c[i].toStringRef(); }
IValue texts(const std::vector<std::string>& parts) { return std::vector<IValue>(parts.begin(), parts.end()); }

bool concatenate(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 2, 2) || !c[1].isString()) return false;
  out = text(c, 0) + text(c, 1);
  return true;
}
bool repeat(const BuiltinCall& c, IValue& out) {
  if (c.size() != 2 || !(c[0].isString() && c[1].isInt())) return false;
  check_length(c, text(c, 0).size(), c[1].toInt());
  std::string product;
  for (int64_t i = 0; !text(c, 0).empty() && i < c[1].toInt(); ++i) product += text(c, 0);
  out = std::move(product);
  return true;
}

template <int (*f)(int)>
bool each_letter(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 1, 1)) return false;
  std::string changed = text(c, 0);
  for (char& letter : changed) letter = static_cast<char>(f(static_cast<unsigned char>(letter)));
  out = std::move(changed);
  return true;
}
int swapped(int letter) { return std::isupper(letter) ? std::tolower(letter) : std::toupper(letter); }
bool capitalize(const BuiltinCall& c, IValue& out) {
  if (!each_letter<std::tolower>(c, out)) return false;
  std::string changed = out.toStringRef();
  if (!changed.empty()) changed[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(changed[0])));
  out = std::move(changed);
  return true;
}
bool title(const BuiltinCall& c, IValue& out) {
  if (!each_letter<std::tolower>(c, out)) return false;
  std::string changed = out.toStringRef();
  bool inside = false;
  for (char& letter : changed) {
    const auto byte = static_cast<unsigned char>(letter);
    if (!inside) letter = static_cast<char>(std::toupper(byte));
    inside = std::isalpha(byte) != 0;
  }
  out = std::move(changed);
  return true;
}

template <int (*f)(int)>
bool all_letters(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 1, 1)) return false;
  out = !text(c, 0).empty() &&
        std::all_of(text(c, 0).begin(), text(c, 0).end(), [](char l) { return f(static_cast<unsigned char>(l)) != 0; });
  return true;
}
// All letters that have a case are of this one, and there is one.
template <int (*yes)(int), int (*no)(int)>
bool cased(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 1, 1)) return false;
  bool found = false, other = false;
  for (const char l : text(c, 0))
    found |= yes(static_cast<unsigned char>(l)) != 0, other |= no(static_cast<unsigned char>(l)) != 0;
  out = found && !other;
  return true;
}

bool strip(const BuiltinCall& c, IValue& out, bool left, bool right) {
  if (!of_text(c, 1, 2)) return false;
  const std::string letters = c.size() > 1 && c[1].isString() ? text(c, 1) : kSpaces;
  size_t first = 0, end = text(c, 0).size();
  while (left && first < end && letters.find(text(c, 0)[first]) != std::string::npos) ++first;
  while (right && end > first && letters.find(text(c, 0)[end - 1]) != std::string::npos) --end;
  out = text(c, 0).substr(first, end - first);
  return true;
}
bool strip_both(const BuiltinCall& c, IValue& out) { return strip(c, out, true, true); }
bool strip_left(const BuiltinCall& c, IValue& out) { return strip(c, out, true, false); }
bool strip_right(const BuiltinCall& c, IValue& out) { return strip(c, out, false, true); }

// At most `most` times; -1: any.
std::vector<std::string> split_at(const std::string& from, const std::string& separator, int64_t most) {
  std::vector<std::string> out;
  size_t at = 0;
  for (size_t next; most != 0 && (next = from.find(separator, at)) != std::string::npos; --most) {
    out.push_back(from.substr(at, next - at));
    at = next + separator.size();
  }
  out.push_back(from.substr(at));
  return out;
}
std::vector<std::string> split_at_spaces(const std::string& from, int64_t most) {
  std::vector<std::string> out;
  for (size_t at = from.find_first_not_of(kSpaces); at != std::string::npos; at = from.find_first_not_of(kSpaces, at)) {
    if (most-- == 0) {
      out.push_back(from.substr(at));
      break;
    }
    const size_t end = std::min(from.find_first_of(kSpaces, at), from.size());
    out.push_back(from.substr(at, end - at));
    at = end;
  }
  return out;
}
bool split(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 1, 3)) return false;
  const int64_t most = c.size() > 2 ? c[2].toInt() : -1;
  const bool spaces = c.size() < 2 || c[1].isNone();
  c.need(spaces || !text(c, 1).empty(), "empty separator");
  out = texts(spaces ? split_at_spaces(text(c, 0), most) : split_at(text(c, 0), text(c, 1), most));
  return true;
}
bool split_from_right(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 1, 3)) return false;
  const auto turned = [](std::string s) { return std::reverse(s.begin(), s.end()), s; };
  const int64_t most = c.size() > 2 ? c[2].toInt() : -1;
  const bool spaces = c.size() < 2 || c[1].isNone();
  c.need(spaces || !text(c, 1).empty(), "empty separator");
  std::vector<std::string> parts =
      spaces ? split_at_spaces(turned(text(c, 0)), most) : split_at(turned(text(c, 0)), turned(text(c, 1)), most);
  std::reverse(parts.begin(), parts.end());
  for (std::string& part : parts) part = turned(part);
  out = texts(parts);
  return true;
}
bool split_lines(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 1, 2)) return false;
  const bool keep = c.size() > 1 && c[1].toBool();
  std::vector<std::string> lines;
  const std::string& from = text(c, 0);
  for (size_t at = 0; at < from.size();) {
    const size_t end = std::min(from.find_first_of("\n\r\v\f", at), from.size());
    const size_t next = end == from.size() ? end : from.compare(end, 2, "\r\n") == 0 ? end + 2 : end + 1;
    lines.push_back(from.substr(at, (keep ? next : end) - at));
    at = next;
  }
  out = texts(lines);
  return true;
}
bool join(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 2, 2) || !c[1].isList()) return false;
  std::string joined;
  if (length_of(c[1]) > 0) {
    const char* before = "";
    for (const IValue& part : c[1].toListRef()) {
      joined += before + part.toStringRef();
      before = text(c, 0).c_str();
    }
  }
  out = std::move(joined);
  return true;
}
bool replace(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 3, 4)) return false;
  int64_t most = c.size() > 3 ? c[3].toInt() : -1;
  c.need(!text(c, 1).empty(), "an empty text is replaced");
  std::string changed;
  const char* before = "";
  for (const std::string& part : split_at(text(c, 0), text(c, 1), most)) {
    changed += before + part;
    before = text(c, 2).c_str();
  }
  out = std::move(changed);
  return true;
}

// The part of the text from the arguments 2 and 3 on.
std::pair<size_t, size_t> within(const BuiltinCall& c) {
  const auto n = static_cast<int64_t>(text(c, 0).size());
  const auto at = [&](size_t i, int64_t otherwise) {
    int64_t v = i < c.size() && c[i].isInt() ? c[i].toInt() : otherwise;
    if (v < 0) v = v < -n ? 0 : v + n;
    return std::min(v, n);
  };
  const int64_t first = at(2, 0), end = at(3, n);
  return {static_cast<size_t>(first), static_cast<size_t>(std::max(first, end))};
}
bool find_from(const BuiltinCall& c, IValue& out, bool last) {
  if (!of_text(c, 2, 4) || !c[1].isString()) return false;
  const auto [first, end] = within(c);
  const std::string part = text(c, 0).substr(first, end - first);
  const size_t i = last ? part.rfind(text(c, 1)) : part.find(text(c, 1));
  out = i == std::string::npos ? int64_t{-1} : static_cast<int64_t>(first + i);
  return true;
}
bool find(const BuiltinCall& c, IValue& out) { return find_from(c, out, false); }
bool find_last(const BuiltinCall& c, IValue& out) { return find_from(c, out, true); }
bool index(const BuiltinCall& c, IValue& out) {
  if (!find(c, out)) return false;
  c.need(out.toInt() >= 0, "substring not found");
  return true;
}
bool index_of_last(const BuiltinCall& c, IValue& out) {
  if (!find_last(c, out)) return false;
  c.need(out.toInt() >= 0, "substring not found");
  return true;
}
bool count(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 2, 4) || !c[1].isString()) return false;
  const auto [first, end] = within(c);
  const std::string part = text(c, 0).substr(first, end - first);
  out = text(c, 1).empty() ? static_cast<int64_t>(part.size() + 1)
                           : static_cast<int64_t>(split_at(part, text(c, 1), -1).size() - 1);
  return true;
}
bool starts_with(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 2, 4)) return false;
  const auto [first, end] = within(c);
  out = text(c, 0).substr(first, end - first).starts_with(text(c, 1));
  return true;
}
bool ends_with(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 2, 4)) return false;
  const auto [first, end] = within(c);
  out = text(c, 0).substr(first, end - first).ends_with(text(c, 1));
  return true;
}
bool contains(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 2, 2) || !c[1].isString()) return false;
  out = text(c, 0).find(text(c, 1)) != std::string::npos;
  return true;
}

bool ord(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 1, 1)) return false;
  c.need(text(c, 0).size() == 1, "expected one character, got a text of length ", text(c, 0).size());
  out = int64_t{static_cast<unsigned char>(text(c, 0)[0])};
  return true;
}
bool chr(const BuiltinCall& c, IValue& out) {
  c.need(c[0].toInt() >= 0 && c[0].toInt() < 256, "expected a number below 256, got ", c[0].toInt());
  out = std::string(1, static_cast<char>(c[0].toInt()));
  return true;
}
std::string digits_of(int64_t v, unsigned base, const char* prefix) {
  uint64_t left = v < 0 ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  std::string digits;
  do digits += "0123456789abcdef"[left % base];
  while ((left /= base) > 0);
  std::reverse(digits.begin(), digits.end());
  return (v < 0 ? "-" : "") + (prefix + digits);
}
bool hex(const BuiltinCall& c, IValue& out) { return c[0].isInt() && (out = digits_of(c[0].toInt(), 16, "0x"), true); }
bool oct(const BuiltinCall& c, IValue& out) { return c[0].isInt() && (out = digits_of(c[0].toInt(), 8, "0o"), true); }
bool bin(const BuiltinCall& c, IValue& out) { return c[0].isInt() && (out = digits_of(c[0].toInt(), 2, "0b"), true); }

// "{} of {}": the places are filled in order.
bool format(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 1, c.size())) return false;
  const std::vector<std::string> parts = split_at(text(c, 0), "{}", -1);
  c.need(parts.size() <= c.size(), "Too few arguments for format string: ", text(c, 0));
  c.need(parts.size() >= c.size(), "Too many arguments for format string: ", text(c, 0));
  std::string filled = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) filled += text_of(c[i]) + parts[i];
  out = std::move(filled);
  return true;
}

// "%s has %d": without widths and precisions.
bool percent_format(const BuiltinCall& c, IValue& out) {
  if (!of_text(c, 1, c.size())) return false;
  std::string filled;
  const std::string& from = text(c, 0);
  // The values come one by one, or all in one tuple.
  std::vector<IValue> values(c.arguments.begin() + 1, c.arguments.end());
  if (values.size() == 1 && values[0].isTuple()) values = std::vector<IValue>(values[0].toTupleRef().elements());
  size_t next = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != '%') {
      filled += from[i];
      continue;
    }
    c.need(++i < from.size(), "incomplete format");
    if (from[i] == '%') {
      filled += '%';
      continue;
    }
    c.need(next < values.size(), "not enough arguments for format string");
    const IValue& v = values[next++];
    const auto real = [&](const char* form) {
      char buffer[400];
      const int n = std::snprintf(buffer, sizeof buffer, form, v.toScalar().toDouble());
      filled.append(buffer, static_cast<size_t>(std::max(n, 0)));
    };
    switch (from[i]) {
      case 's':
        filled += text_of(v);
        break;
      case 'd':
      case 'i':
        filled += std::to_string(v.toScalar().toLong());
        break;
      case 'f':
      case 'F':
        real("%f");
        break;
      case 'e':
        real("%e");
        break;
      case 'E':
        real("%E");
        break;
      case 'c':
        filled += v.isInt() ? std::string(1, static_cast<char>(v.toInt())) : v.toStringRef();
        break;
      default:
        c.need(false, "the format %", from[i], " is not supported");
    }
  }
  c.need(next == values.size(), "not all arguments converted during string formatting");
  out = std::move(filled);
  return true;
}

constexpr NamedBuiltin kTable[] = {{"add", concatenate},
                                   {"mul", repeat},
                                   {"upper", each_letter<std::toupper>},
                                   {"lower", each_letter<std::tolower>},
                                   {"swapcase", each_letter<swapped>},
                                   {"capitalize", capitalize},
                                   {"title", title},
                                   {"isdigit", all_letters<std::isdigit>},
                                   {"isdecimal", all_letters<std::isdigit>},
                                   {"isnumeric", all_letters<std::isdigit>},
                                   {"isalpha", all_letters<std::isalpha>},
                                   {"isalnum", all_letters<std::isalnum>},
                                   {"isspace", all_letters<std::isspace>},
                                   {"isupper", cased<std::isupper, std::islower>},
                                   {"islower", cased<std::islower, std::isupper>},
                                   {"strip", strip_both},
                                   {"lstrip", strip_left},
                                   {"rstrip", strip_right},
                                   {"split", split},
                                   {"rsplit", split_from_right},
                                   {"splitlines", split_lines},
                                   {"join", join},
                                   {"replace", replace},
                                   {"find", find},
                                   {"rfind", find_last},
                                   {"index", index},
                                   {"rindex", index_of_last},
                                   {"count", count},
                                   {"startswith", starts_with},
                                   {"endswith", ends_with},
                                   {"__contains__", contains},
                                   {"ord", ord},
                                   {"chr", chr},
                                   {"hex", hex},
                                   {"oct", oct},
                                   {"bin", bin},
                                   {"format", format},
                                   {"percentFormat", percent_format}};

}  // namespace

std::span<const NamedBuiltin> text_builtins() { return kTable; }

}  // namespace argand::jit
