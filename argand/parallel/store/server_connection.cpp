#include "argand/parallel/store/server_connection.h"

#include <sys/socket.h>

#include <cerrno>

#include "argand/parallel/store/secret.h"

namespace argand::parallel {

using wire::Op;
using wire::Reply;
using wire::Request;
using wire::Status;
using wire::WireError;

namespace {
StoreTable::Stored shared(Store::Value value) { return std::make_shared<const Store::Value>(std::move(value)); }
StoreTable::Stored shared(std::string_view text) { return shared(Store::Value(text.begin(), text.end())); }
}  // namespace

bool ServerConnection::receive() {
  uint8_t piece[1 << 16];
  const ssize_t got = ::recv(socket_.fd(), piece, sizeof piece, 0);
  if (got > 0) in_.feed(piece, static_cast<size_t>(got));
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

std::optional<Request> ServerConnection::next(const std::string& secret) {
  while (const auto message = in_.next()) {
    Request request = wire::parse_request(message->data, message->bytes);
    if (!greeted()) {
      greet(request, secret);
      continue;
    }
    if (request.op == Op::kHello || request.op == Op::kProof) throw WireError("store: a greeting after the greeting");
    return request;
  }
  return std::nullopt;
}

void ServerConnection::greet(const Request& request, const std::string& secret) {
  if (stage_ == Stage::kHello) {
    if (request.op != Op::kHello || request.keys[0] != wire::kMagic) throw WireError("store: no greeting");
    if (request.number != wire::kVersion) {
      queue({Status::kRefused, wire::kVersion, {shared("the server speaks another version of the protocol")}});
      throw WireError("store: another version");
    }
    client_nonce_ = request.values[0];
    stage_ = secret.empty() ? Stage::kReady : Stage::kProof;
    if (secret.empty()) return in_.set_limit(wire::kMaxMessage), queue({});
    server_nonce_ = random_nonce();
    return queue({Status::kOk, 0, {shared(server_nonce_)}});
  }
  if (request.op != Op::kProof ||
      !same_bytes(request.values[0], proof(secret, "client", server_nonce_, client_nonce_))) {
    queue({Status::kRefused, 0, {shared("the client does not know the secret of the server (ARGAND_STORE_SECRET)")}});
    throw WireError("store: a wrong secret");
  }
  stage_ = Stage::kReady;
  in_.set_limit(wire::kMaxMessage);
  queue({Status::kOk, 0, {shared(proof(secret, "server", server_nonce_, client_nonce_))}});
}

void ServerConnection::queue(const Reply& reply) {
  wire::Parts parts;
  try {
    parts = wire::encode(reply);
  } catch (const ValueError& e) {
    parts = wire::encode(Reply{Status::kValueError, 0, {shared(e.msg())}});
  }
  out_.insert(out_.end(), parts.begin(), parts.end());
}

bool ServerConnection::flush() {
  while (!out_.empty()) {
    const Store::Value& part = *out_.front();
    const ssize_t sent = ::send(socket_.fd(), part.data() + written_, part.size() - written_, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN;
    written_ += static_cast<size_t>(sent);
    if (written_ < part.size()) continue;
    out_.pop_front();
    written_ = 0;
  }
  return true;
}

}  // namespace argand::parallel
