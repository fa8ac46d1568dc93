// TCP sockets by which two ranks agree on a connection before Gloo makes it.
#pragma once
#include <sys/socket.h>

#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "argand/runtime/transport.h"

namespace argand::gloo_engine {

// What the system says of a socket, as an errno.
class SocketError : public NetworkError {
 public:
  SocketError(const std::string& what, int code) : NetworkError(str(what, ": ", std::strerror(code))), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  int fd() const { return fd_; }

 private:
  int fd_;
};

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  std::string bytes() const { return {reinterpret_cast<const char*>(&storage), length}; }
  static SocketAddress of_bytes(const std::string& bytes);
  std::string text() const;  // "10.0.0.1:4711"
};

// Ends all that waits on sockets, once and for ever.
class Stop {
 public:
  Stop();
  void set() noexcept;
  bool wait_for(std::chrono::milliseconds time) const;  // whether it was set by then
  int fd() const { return event_.fd(); }

 private:
  Descriptor event_;
};

// All throw SocketError: ETIMEDOUT after the deadline, ECANCELED if `stop` was set, ECONNRESET if the other end closed.
struct Until {
  const Stop& stop;
  std::chrono::steady_clock::time_point deadline;
};
Descriptor listen_at(SocketAddress address);  // at a free port of it
SocketAddress address_of(const Descriptor& socket);
Descriptor accept_from(const Descriptor& listener, const Until& until);
Descriptor connect_to(const SocketAddress& address, const Until& until);
void send_all(const Descriptor& socket, const void* data, size_t bytes, const Until& until);
void receive_all(const Descriptor& socket, void* data, size_t bytes, const Until& until);
// Nobody reaches it from here on, not even by the copies that children of this process have.
void stop_listening(const Descriptor& listener) noexcept;

}  // namespace argand::gloo_engine
