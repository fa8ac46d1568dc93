// One client of the server of TCPStore: its socket, its greeting, and its buffered bytes.
#pragma once
#include <chrono>
#include <deque>

#include "argand/parallel/store/server_core.h"
#include "argand/parallel/store/socket.h"

namespace argand::parallel {

class ServerConnection {
 public:
  explicit ServerConnection(Descriptor socket) : socket_(std::move(socket)), in_(wire::kMaxGreeting) {}
  const Descriptor& socket() const { return socket_; }
  bool greeted() const { return stage_ == Stage::kReady; }

  // Reads at most one piece of the arrived bytes.  False at the end of the connection.
  bool receive();
  // The next request; messages of the greeting are answered here.  WireError, also for a wrong secret.
  std::optional<wire::Request> next(const std::string& secret);
  void queue(const wire::Reply& reply);
  bool flush();  // writes what it can; false where the connection is lost
  bool has_output() const { return !out_.empty(); }

  uint32_t watched = 0;  // the events registered with epoll

 private:
  enum class Stage { kHello, kProof, kReady };
  void greet(const wire::Request& request, const std::string& secret);

  Descriptor socket_;
  wire::MessageBuffer in_;
  std::deque<StoreTable::Stored> out_;
  size_t written_ = 0;  // the bytes of the first message that were written
  Stage stage_ = Stage::kHello;
  Store::Value client_nonce_, server_nonce_;
};

}  // namespace argand::parallel
