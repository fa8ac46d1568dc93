// Text from parts: `str("expected ", 3, " channels")`.  No streams, so that error messages stay cheap to compile.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace argand {

namespace detail {
void append_signed(std::string& out, long long value);
void append_unsigned(std::string& out, unsigned long long value);
void append_double(std::string& out, double value);  // shortest text that reads back as the same value
}  // namespace detail

inline void append(std::string& out, std::string_view text) { out += text; }
inline void append(std::string& out, const char* text) { out += text; }
inline void append(std::string& out, char c) { out += c; }
inline void append(std::string& out, bool b) { out += b ? "true" : "false"; }

template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
void append(std::string& out, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    detail::append_double(out, static_cast<double>(value));
  } else if constexpr (std::is_signed_v<T>) {
    detail::append_signed(out, value);
  } else {
    detail::append_unsigned(out, value);
  }
}

// Concatenates the text of its arguments.  A type takes part if lookup finds an `append(std::string&, T)` for it.
template <class... Parts>
std::string str(const Parts&... parts) {
  std::string out;
  (append(out, parts), ...);
  return out;
}

}  // namespace argand
