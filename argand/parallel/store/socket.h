// TCP sockets of this layer: addresses, listening, connecting, and what becomes of them in a child process.
#pragma once
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "argand/base/function_ref.h"

namespace argand::parallel {

// Note [Sockets after fork]
// A child made by fork() gets copies of all file descriptors.  If it kept them, a connection of a parent that is killed
// would stay open, so that nobody noticed.  Therefore all descriptors of this layer are in a list, and a child closes
// its copies right after the fork.  fork_generation() counts the forks behind this process: an object that was made in
// another generation has lost its sockets, and must not close numbers that may mean other files now.
uint64_t fork_generation() noexcept;
// Held during every fork.  Its holder must not open or close descriptors.
std::mutex& fork_mutex();

// Owns a file descriptor, which is closed on exec and in children.
class Descriptor {
 public:
  Descriptor() = default;
  // Takes the descriptor that `open` returns; empty, with errno set, if it is negative.  No fork happens in between.
  explicit Descriptor(function_ref<int()> open);
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }
  void close() noexcept;
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
  uint64_t generation_ = 0;
};

using Deadline = std::chrono::steady_clock::time_point;

// Sockets that listen at `port` of every address that `host` stands for; 0 takes a free port, one for all of them. They
// do not block.  NetworkError where none can: it says EADDRINUSE if the port is taken.
std::vector<Descriptor> listen_at(const std::string& host, uint16_t port);
Descriptor take_listener(int fd);  // a socket that is bound already
uint16_t port_of(const Descriptor& socket);
std::string local_address_of(const Descriptor& socket);  // as a number

// Connects, or sets `why`.  Tries every address once, within the deadline.  The socket does not block.
Descriptor try_connect(const std::string& host, uint16_t port, Deadline deadline, std::string& why);

// Waits until the socket may be read (or written).  False at the deadline.  Calls check_interrupt() meanwhile.
bool wait_readable(const Descriptor& socket, Deadline deadline);
bool wait_writable(const Descriptor& socket, Deadline deadline);

// Accepts a connection as a non-blocking socket; an empty descriptor with errno set if there is none.
Descriptor accept_from(const Descriptor& listener);

}  // namespace argand::parallel
