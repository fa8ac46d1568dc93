// The server of TCPStore: one thread for all clients.
#pragma once
#include <memory>
#include <optional>
#include <string>

namespace argand::parallel {

// Listens until it is destroyed.  A client that violates the protocol of wire.h, or does not know the secret, is
// disconnected.  A child process keeps no part of it (Note [Sockets after fork]).
class TcpServer {
 public:
  // Listens at `host`, or with the socket `listen_fd` that is bound already.  With `shared`, the server of this process
  // that was made with it for the same port, if there is one.  NetworkError.
  static std::shared_ptr<TcpServer> start(const std::string& host, uint16_t port, bool shared,
                                          std::optional<int> listen_fd);
  ~TcpServer();
  TcpServer(const TcpServer&) = delete;
  TcpServer& operator=(const TcpServer&) = delete;
  uint16_t port() const;
  size_t num_connections() const;  // now

 private:
  class Loop;
  explicit TcpServer(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
  uint64_t generation_;
};

}  // namespace argand::parallel
