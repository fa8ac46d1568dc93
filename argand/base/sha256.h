// SHA-256 (FIPS 180-4): names cache entries, fingerprints parameters.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace argand {

// Feed bytes in pieces of any size, then ask for the digest.  Not thread-safe; copies continue independently.
class Sha256 {
 public:
  Sha256();
  Sha256& update(const void* data, size_t bytes);
  Sha256& update(std::string_view text) { return update(text.data(), text.size()); }

  // The digest of everything fed so far; feeding may go on afterwards.
  std::array<uint8_t, 32> digest() const;
  std::string hex() const;  // 64 lower-case digits

 private:
  void compress(const uint8_t* block);

  std::array<uint32_t, 8> state_;
  std::array<uint8_t, 64> block_{};
  uint64_t length_ = 0;  // bytes fed
};

inline std::string sha256_hex(std::string_view text) { return Sha256().update(text).hex(); }

}  // namespace argand
