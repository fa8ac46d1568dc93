#include "argand/base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace argand {

namespace {

// The standard's constants are the first 32 fraction bits of square and cube roots of the first primes.  Here they are
// computed: floor(root(prime) * 2^32) mod 2^32 is the largest r whose power does not exceed prime * 2^(32 * degree).
__extension__ using Wide = unsigned __int128;

template <int kDegree>
constexpr uint32_t root_fraction(unsigned prime) {
  const Wide target = Wide{prime} << (32 * kDegree);
  Wide root = 0;
  for (Wide bit = Wide{1} << 37; bit; bit >>= 1) {
    const Wide next = root | bit;
    if ((kDegree == 2 ? next * next : next * next * next) <= target) root = next;
  }
  return static_cast<uint32_t>(root);
}

template <int kDegree, size_t N>
constexpr std::array<uint32_t, N> root_fractions() {
  std::array<uint32_t, N> out{};
  size_t found = 0;
  for (unsigned n = 2; found < N; ++n) {
    bool prime = true;
    for (unsigned d = 2; d * d <= n; ++d) prime &= n % d != 0;
    if (prime) out[found++] = root_fraction<kDegree>(n);
  }
  return out;
}

constexpr auto kInitial = root_fractions<2, 8>();
constexpr auto kRound = root_fractions<3, 64>();

uint32_t load_big_endian(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | uint32_t{p[3]};
}

}  // namespace

Sha256::Sha256() : state_(kInitial) {}

void Sha256::compress(const uint8_t* block) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i) w[i] = load_big_endian(block + 4 * i);
  for (int i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1;
    d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<uint32_t, 8> out = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state_[i] += out[i];
}

Sha256& Sha256::update(const void* data, size_t bytes) {
  const auto* p = static_cast<const uint8_t*>(data);
  while (bytes > 0) {
    const size_t used = length_ % 64;
    if (used == 0 && bytes >= 64) {
      compress(p);
      p += 64, bytes -= 64, length_ += 64;
      continue;
    }
    const size_t n = std::min(bytes, 64 - used);
    std::memcpy(block_.data() + used, p, n);
    p += n, bytes -= n, length_ += n;
    if (length_ % 64 == 0) compress(block_.data());
  }
  return *this;
}

std::array<uint8_t, 32> Sha256::digest() const {
  Sha256 padded = *this;
  const uint8_t padding[64] = {0x80};
  padded.update(padding, 1 + (119 - length_ % 64) % 64);
  uint8_t bit_length[8];
  for (int i = 0; i < 8; ++i) bit_length[i] = static_cast<uint8_t>((length_ * 8) >> (56 - 8 * i));
  padded.update(bit_length, 8);
  std::array<uint8_t, 32> out;
  for (size_t i = 0; i < 32; ++i) out[i] = static_cast<uint8_t>(padded.state_[i / 4] >> (24 - 8 * (i % 4)));
  return out;
}

std::string Sha256::hex() const {
  std::string out;
  for (uint8_t byte : digest()) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

}  // namespace argand
