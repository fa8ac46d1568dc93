// Numbers as people read them; independent of the locale.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace argand::cli {

std::string fixed(double value, int digits);           // 0.1250; "nan" and "inf" where it is that
std::string thousands(int64_t value);                  // 60,000
std::string duration(double seconds);                  // 8 s, 1:05, 2:03:04
std::string percent(double fraction, int digits = 1);  // 98.2%

std::string html_escape(std::string_view text);  // for text and for attributes in double quotes
std::string base64(std::string_view bytes);

}  // namespace argand::cli
