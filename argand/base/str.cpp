#include "argand/base/str.h"

#include <charconv>
#include <cmath>

namespace argand::detail {

template <class T>
static void append_number(std::string& out, T value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  out.append(buffer, end);
}

void append_signed(std::string& out, long long value) { append_number(out, value); }
void append_unsigned(std::string& out, unsigned long long value) { append_number(out, value); }

void append_double(std::string& out, double value) {
  if (std::isnan(value)) {  // to_chars may print the sign of a NaN, which means nothing to a reader
    out += "nan";
    return;
  }
  append_number(out, value);
}

}  // namespace argand::detail
