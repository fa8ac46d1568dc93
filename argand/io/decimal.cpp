#include "argand/io/decimal.h"

#include <algorithm>

namespace argand::io {

namespace {

// -v of a number in two's complement.
void negate(std::string& bytes) {
  unsigned carry = 1;
  for (char& c : bytes) {
    carry += static_cast<uint8_t>(~static_cast<uint8_t>(c));
    c = static_cast<char>(static_cast<uint8_t>(carry));
    carry >>= 8;
  }
}

bool is_negative(std::string_view bytes) { return !bytes.empty() && (static_cast<uint8_t>(bytes.back()) & 0x80) != 0; }

}  // namespace

Value integer_of_bytes(std::string_view bytes) {
  const bool negative = is_negative(bytes);
  // Bytes that only repeat the sign.
  while (bytes.size() > 8 && bytes.back() == (negative ? '\xff' : '\0') &&
         is_negative(bytes.substr(0, bytes.size() - 1)) == negative)
    bytes.remove_suffix(1);
  if (bytes.size() <= 8) {
    uint64_t out = negative ? ~uint64_t{0} : 0;
    for (size_t i = bytes.size(); i-- > 0;) out = out << 8 | static_cast<uint8_t>(bytes[i]);
    return static_cast<int64_t>(out);
  }
  std::string magnitude(bytes), digits;
  if (negative) {
    magnitude += '\xff';  // room for the negative of the smallest number
    negate(magnitude);
  }
  while (std::any_of(magnitude.begin(), magnitude.end(), [](char c) { return c != 0; })) {
    unsigned rest = 0;
    for (size_t i = magnitude.size(); i-- > 0;) {
      rest = rest << 8 | static_cast<uint8_t>(magnitude[i]);
      magnitude[i] = static_cast<char>(static_cast<uint8_t>(rest / 10));
      rest %= 10;
    }
    digits += static_cast<char>('0' + rest);
  }
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return Value::with_text(Value::Kind::kBigInt, digits);
}

std::string bytes_of_decimal(std::string_view digits) {
  const bool negative = !digits.empty() && digits[0] == '-';
  std::string out;
  for (const char c : digits.substr(negative ? 1 : 0)) {
    unsigned carry = static_cast<unsigned>(c - '0');
    for (char& byte : out) {
      carry += 10U * static_cast<uint8_t>(byte);
      byte = static_cast<char>(static_cast<uint8_t>(carry));
      carry >>= 8;
    }
    if (carry > 0) out += static_cast<char>(static_cast<uint8_t>(carry));
  }
  out += '\0';  // the sign
  if (negative) negate(out);
  while (out.size() > 1 && out.back() == (is_negative(out) ? '\xff' : '\0') &&
         is_negative(std::string_view(out).substr(0, out.size() - 1)) == is_negative(out))
    out.pop_back();
  return out;
}

}  // namespace argand::io
