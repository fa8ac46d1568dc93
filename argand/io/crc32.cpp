// The checksum of zip archives, CRC-32 (ISO 3309): by multiplication of polynomials where the processor has it, 16
// bytes at a time, else zlib's.
//
// Source: V. Gopal et al., Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction (Intel, 2009).  A
// block of 128 bits that stands n bits before another one is worth block * x^n there, modulo the polynomial: so 64
// bytes are folded into the next 64, and the last 16 bytes that are left are a message with the same checksum.
#include <zlib.h>

#include "argand/io/zip.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace argand::io {

#if defined(__x86_64__)
namespace {

// x^n modulo the polynomial, bits reversed as in the checksum, and one to the left, as the product of two reversed
// numbers comes out one to the right.
constexpr int64_t power(int n) {
  uint32_t value = 0x80000000;
  for (int i = 0; i < n; ++i) value = value >> 1 ^ ((value & 1) != 0 ? 0xEDB88320 : 0);
  return static_cast<int64_t>(uint64_t{value} << 1);
}

constexpr size_t kStep = 64, kBlock = 16;

inline __m128i block(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

// `n`: how many bits before `to` the block `from` stands.
template <int n>
[[gnu::target("pclmul,sse4.1")]] inline __m128i fold(__m128i from, __m128i to) {
  const __m128i powers = _mm_set_epi64x(power(n - 32), power(n + 32));
  return _mm_xor_si128(
      to, _mm_xor_si128(_mm_clmulepi64_si128(from, powers, 0x00), _mm_clmulepi64_si128(from, powers, 0x11)));
}

// Needs at least kStep bytes.
[[gnu::target("pclmul,sse4.1")]] uint32_t by_products(const uint8_t* p, size_t size, uint32_t before) {
  __m128i a = _mm_xor_si128(block(p), _mm_cvtsi32_si128(static_cast<int>(~before))), b = block(p + kBlock),
          c = block(p + 2 * kBlock), d = block(p + 3 * kBlock);
  for (p += kStep, size -= kStep; size >= kStep; p += kStep, size -= kStep) {
    a = fold<512>(a, block(p));
    b = fold<512>(b, block(p + kBlock));
    c = fold<512>(c, block(p + 2 * kBlock));
    d = fold<512>(d, block(p + 3 * kBlock));
  }
  d = fold<128>(fold<128>(fold<128>(a, b), c), d);
  uint8_t left[kBlock];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(left), d);
  // zlib inverts the register before and after.
  const uLong folded = ::crc32_z(0xFFFFFFFF, left, kBlock);
  return static_cast<uint32_t>(::crc32_z(folded, p, size));
}

}  // namespace
#endif

uint32_t crc32_of(const void* data, size_t size, uint32_t before) {
  const auto* p = static_cast<const uint8_t*>(data);
#if defined(__x86_64__)
  static const bool has_products = __builtin_cpu_supports("pclmul") != 0;
  if (has_products && size >= kStep) return by_products(p, size, before);
#endif
  if (size == 0) return before;
  return static_cast<uint32_t>(::crc32_z(before, p, size));
}

}  // namespace argand::io
