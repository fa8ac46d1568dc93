// A client's connection to the server of a TCPStore.
#pragma once
#include <condition_variable>
#include <mutex>

#include "argand/parallel/store/socket.h"
#include "argand/parallel/store/wire.h"

namespace argand::parallel {

// Threads take turns.  When the server is gone, this call and all later ones throw NetworkError.  A call that gives up
// (interrupted, or the server does not answer in time) drops the connection, and the next call opens a new one.
class TcpClient {
 public:
  TcpClient(std::string host, uint16_t port) : host_(std::move(host)), port_(port) {}

  // If there is no connection, tries to connect until the timeout, with growing pauses.
  void connect(Store::Timeout timeout);
  // The address of this host at its end of the connection.
  std::string local_address(Store::Timeout timeout);
  // The reply with any status, by the deadline.  `timeout` is for a connection that must be opened first.
  wire::Reply call(const wire::Request& request, Deadline deadline, Store::Timeout timeout);

 private:
  class Turn;
  void ensure_connected(Store::Timeout timeout);
  bool greet(Deadline deadline, std::string& why);
  void send(const Store::Value& message, Deadline deadline);
  wire::Reply receive(Deadline deadline);
  [[noreturn]] void lost(const std::string& why);

  const std::string host_;
  const uint16_t port_;
  std::mutex mutex_;
  std::condition_variable free_;
  bool busy_ = false;
  // Used by the thread whose turn it is:
  Descriptor socket_;
  std::string broken_;  // why no connection is possible any more
};

}  // namespace argand::parallel
