#include "argand/parallel/store/secret.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "argand/base/env.h"
#include "argand/base/sha256.h"

namespace argand::parallel {

using Value = Store::Value;

std::string store_secret() { return env("ARGAND_STORE_SECRET").value_or(""); }

Value random_nonce() {
  Value nonce(wire::kNonceBytes);
  ssize_t got = 0;
  do got = ::getrandom(nonce.data(), nonce.size(), 0);  // never fewer bytes than asked for: below 256
  while (got < 0 && errno == EINTR);
  ARGAND_CHECK(NetworkError, got == static_cast<ssize_t>(nonce.size()),
               "TCPStore: no random numbers: ", std::strerror(errno));
  return nonce;
}

Value hmac_sha256(std::string_view key, std::string_view text) {
  constexpr size_t kBlock = 64;
  std::array<uint8_t, kBlock> padded{};
  if (key.size() > kBlock) {
    const auto digest = Sha256().update(key).digest();
    std::copy(digest.begin(), digest.end(), padded.begin());
  } else {
    std::copy(key.begin(), key.end(), padded.begin());
  }
  const auto keyed = [&](uint8_t pad) {
    std::array<uint8_t, kBlock> block{};
    for (size_t i = 0; i < kBlock; ++i) block[i] = static_cast<uint8_t>(padded[i] ^ pad);
    return Sha256().update(block.data(), block.size());
  };
  const auto inner = keyed(0x36).update(text).digest();
  const auto outer = keyed(0x5c).update(inner.data(), inner.size()).digest();
  return {outer.begin(), outer.end()};
}

Value proof(std::string_view secret, std::string_view who, const Value& server_nonce, const Value& client_nonce) {
  std::string text(who);
  text.append(server_nonce.begin(), server_nonce.end());
  text.append(client_nonce.begin(), client_nonce.end());
  return hmac_sha256(secret, text);
}

bool same_bytes(const Value& a, const Value& b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace argand::parallel
