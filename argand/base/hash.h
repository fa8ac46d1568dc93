// 64-bit hashes for keys of tables and caches.  The same on every platform of one byte order and in every run (no
// random seed), so a hash may name a file; not for untrusted keys, use Sha256 there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "argand/base/array_ref.h"

namespace argand {

// A bijection in which every input bit moves about half of the output bits (the finaliser of SplitMix64: Steele, Lea,
// Flood, "Fast splittable pseudorandom number generators", 2014).
constexpr uint64_t hash_mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The hash of a sequence that has hash `seed` and goes on with `value`: order matters, and zeros count.
constexpr uint64_t hash_combine(uint64_t seed, uint64_t value) {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio
  return hash_mix(seed * 3 + kGolden + hash_mix(value + kGolden));
}

inline uint64_t hash_bytes(const void* data, size_t bytes, uint64_t seed = 0) {
  const auto* p = static_cast<const unsigned char*>(data);
  uint64_t h = hash_combine(seed, bytes);
  uint64_t word;
  for (; bytes >= 8; bytes -= 8, p += 8) {
    std::memcpy(&word, p, 8);
    h = hash_mix(h ^ word) + 0x9e3779b97f4a7c15u;
  }
  if (bytes > 0) {
    word = 0;
    std::memcpy(&word, p, bytes);
    h = hash_mix(h ^ word);
  }
  return h;
}

inline uint64_t hash_of(std::string_view text, uint64_t seed = 0) { return hash_bytes(text.data(), text.size(), seed); }

// Elements that have one object representation for one value: integers, enums, plain structs without padding.
template <class T>
uint64_t hash_of(ArrayRef<T> values, uint64_t seed = 0) {
  static_assert(std::has_unique_object_representations_v<T>);
  return hash_bytes(values.data(), values.size() * sizeof(T), seed);
}

}  // namespace argand
