// How the ends of a connection prove that they know a secret without sending it.
#pragma once
#include <string>

#include "argand/parallel/store/wire.h"

namespace argand::parallel {

// The value of ARGAND_STORE_SECRET; empty if it is not set.
std::string store_secret();

Store::Value random_nonce();  // wire::kNonceBytes bytes of the system's random numbers

// HMAC-SHA-256 (RFC 2104), 32 bytes.
Store::Value hmac_sha256(std::string_view key, std::string_view text);

// The proof of the secret that the end `who` ("client" or "server") sends.
Store::Value proof(std::string_view secret, std::string_view who, const Store::Value& server_nonce,
                   const Store::Value& client_nonce);

// Compares in constant time.
bool same_bytes(const Store::Value& a, const Store::Value& b);

}  // namespace argand::parallel
