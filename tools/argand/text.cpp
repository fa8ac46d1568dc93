#include "tools/argand/text.h"

#include <charconv>
#include <cmath>

#include "argand/base/str.h"

namespace argand::cli {

std::string fixed(double value, int digits) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  char buffer[512];  // the largest double has 309 digits before the point
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed, digits).ptr;
  return {buffer, end};
}

std::string thousands(int64_t value) {
  std::string digits = std::to_string(value);
  const size_t first = value < 0 ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3;) digits.insert(i -= 3, ",");
  return digits;
}

std::string duration(double seconds) {
  if (!(seconds >= 0) || seconds > 3600.0 * 24 * 365) return "?";
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 60) return str(whole, " s");
  const auto two = [](int64_t n) { return str(n < 10 ? "0" : "", n); };
  if (whole < 3600) return str(whole / 60, ":", two(whole % 60));
  return str(whole / 3600, ":", two(whole / 60 % 60), ":", two(whole % 60));
}

std::string percent(double fraction, int digits) { return fixed(100 * fraction, digits) + "%"; }

std::string html_escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? static_cast<uint8_t>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) out += k <= count ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

}  // namespace argand::cli
