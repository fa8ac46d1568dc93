// Integers beyond 64 bits, as pickles have them (two's complement, least significant byte first), and as digits.
#pragma once
#include <string>
#include <string_view>

#include "argand/io/value.h"

namespace argand::io {

// An integer, or its digits where it does not fit in 64 bits.  For a few hundred bytes: the time is quadratic.
Value integer_of_bytes(std::string_view bytes);
// The shortest byte form of the integer; REQUIRES an optional '-' and digits.
std::string bytes_of_decimal(std::string_view digits);

}  // namespace argand::io
