// For tests: tar archives put together piece by piece.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

namespace argand::io::testing {

inline std::string octal(uint64_t value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*llo", digits, static_cast<unsigned long long>(value));
  return text;
}

struct TarEntry {
  std::string name, bytes = "";
  char type = '0';
  std::string size = "";  // the field, if it is to lie
  std::string prefix = "";
  std::string magic = std::string(
      "ustar\0"
      "00",
      8);

  std::string text() const {
    std::string h(512, '\0');
    h.replace(0, name.size(), name);
    h.replace(100, 7, "0000644");
    h.replace(124, 11, octal(bytes.size(), 11));
    if (!size.empty()) h.replace(124, 12, size);
    h[156] = type;
    h.replace(257, 8, magic);
    h.replace(345, prefix.size(), prefix);
    h.replace(148, 8, 8, ' ');
    uint64_t sum = 0;
    for (const char c : h) sum += static_cast<uint8_t>(c);
    h.replace(148, 7, octal(sum, 6) + '\0');
    return h + bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
  }
};

template <class... Entries>
std::string tar_of(const Entries&... entries) {
  return (entries.text() + ... + std::string()) + std::string(1024, '\0');
}

}  // namespace argand::io::testing
