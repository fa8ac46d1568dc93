// Paths of files.
#pragma once
#include <string>

#include "argand/base/error.h"

namespace argand {

// ValueError if a path holds a zero byte: the system would take the part before it for the path.
inline void check_path(const std::string& path) {
  const size_t zero = path.find('\0');
  ARGAND_CHECK(ValueError, zero == std::string::npos, "embedded null byte in the path '", path.substr(0, zero),
               "\\0...'");
}

}  // namespace argand
