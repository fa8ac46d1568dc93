#include "argand/base/env.h"

#include <charconv>
#include <cstdlib>

#include "argand/base/error.h"

namespace argand {

std::optional<std::string> env(const char* name) {
  const char* value = std::getenv(name);
  if (!value) return std::nullopt;
  return value;
}

bool env_flag(const char* name, bool default_value) {
  const std::string text = env(name).value_or("");
  if (text.empty()) return default_value;
  std::string lower = text;
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const char* word : {"1", "true", "on", "yes"})
    if (lower == word) return true;
  for (const char* word : {"0", "false", "off", "no"})
    if (lower == word) return false;
  ARGAND_THROW(ValueError, "environment variable ", name, ": expected 1 or 0 (true/false, on/off, yes/no), got \"",
               text, "\"");
}

int64_t env_int(const char* name, int64_t default_value, int64_t min, int64_t max) {
  const std::string text = env(name).value_or("");
  if (text.empty()) return default_value;
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  ARGAND_CHECK(ValueError, stop == end && status != std::errc::invalid_argument, "environment variable ", name,
               ": expected an integer, got \"", text, "\"");
  ARGAND_CHECK(ValueError, status == std::errc() && value >= min && value <= max, "environment variable ", name,
               ": expected an integer from ", min, " to ", max, ", got ", text);
  return value;
}

}  // namespace argand
