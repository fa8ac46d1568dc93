// Environment variables.  Read at every call, so a caller in a hot path keeps the answer.  Thread-safe as long as no
// thread changes the environment.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace argand {

std::optional<std::string> env(const char* name);  // nothing if unset; an empty value is a value

// 1/0, true/false, on/off, yes/no in any case; unset or empty gives the default.  Throws ValueError naming the
// variable.
bool env_flag(const char* name, bool default_value);

// A decimal integer in [min, max]; unset or empty gives the default.  Throws ValueError naming the variable.
int64_t env_int(const char* name, int64_t default_value, int64_t min = std::numeric_limits<int64_t>::min(),
                int64_t max = std::numeric_limits<int64_t>::max());

}  // namespace argand
