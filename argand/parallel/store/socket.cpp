#include "argand/parallel/store/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "argand/parallel/interrupt.h"
#include "argand/runtime/transport.h"

namespace argand::parallel {
namespace {

std::atomic<uint64_t> generation{0};

// Note [Sockets after fork]
struct OpenDescriptors {
  std::mutex mutex;
  std::unordered_set<int> open;

  OpenDescriptors() {
    ::pthread_atfork([] { instance().mutex.lock(); }, [] { instance().mutex.unlock(); },
                     [] {
                       OpenDescriptors& all = instance();
                       for (const int fd : all.open) ::close(fd);
                       all.open.clear();
                       ++generation;
                       all.mutex.unlock();
                     });
  }
  static OpenDescriptors& instance() {
    static auto* const all = new OpenDescriptors;  // never destroyed: threads may outlive exit()
    return *all;
  }
};

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

// Null with the reason.
Addresses resolve(const std::string& host, uint16_t port, bool to_listen, std::string& why) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (to_listen ? AI_PASSIVE : 0);
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0) why = error == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(error);
  return Addresses(error == 0 ? list : nullptr);
}

void set_option(int fd, int level, int name, int value) { ::setsockopt(fd, level, name, &value, sizeof value); }

void set_for_messages(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);  // a host that lost its power says nothing
}

Descriptor open_socket(const addrinfo& address) {
  return Descriptor([&] { return ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); });
}

void set_port(sockaddr* address, uint16_t port) {
  if (address->sa_family == AF_INET6) reinterpret_cast<sockaddr_in6*>(address)->sin6_port = htons(port);
  if (address->sa_family == AF_INET) reinterpret_cast<sockaddr_in*>(address)->sin_port = htons(port);
}

// An empty descriptor with errno where it cannot listen.
Descriptor listen_on(const addrinfo& address) {
  Descriptor socket = open_socket(address);
  if (!socket) return socket;
  set_option(socket.fd(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.ai_family == AF_INET6) set_option(socket.fd(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (::bind(socket.fd(), address.ai_addr, address.ai_addrlen) != 0 || ::listen(socket.fd(), SOMAXCONN) != 0) {
    const int error = errno;
    socket.close();
    errno = error;
  }
  return socket;
}

// Sockets of one port, or none with the error.
std::vector<Descriptor> listen_on_all(const addrinfo* list, uint16_t port, int& error) {
  std::vector<Descriptor> sockets;
  for (const addrinfo* address = list; address; address = address->ai_next) {
    set_port(address->ai_addr, port);
    Descriptor socket = listen_on(*address);
    if (socket) {
      if (port == 0) port = port_of(socket);
      sockets.push_back(std::move(socket));
      continue;
    }
    error = errno;
    if (error == EADDRINUSE) return {};
  }
  return sockets;
}

bool wait_for(const Descriptor& socket, short events, Deadline deadline) {
  using std::chrono::milliseconds;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
    const milliseconds slice = std::clamp(left, milliseconds(0), kInterruptInterval);
    pollfd item{socket.fd(), events, 0};
    const auto begin = std::chrono::steady_clock::now();
    const int ready = ::poll(&item, 1, static_cast<int>(slice.count()));
    if (ready > 0) return true;
    // A process that was stopped in between, perhaps with the server, has not waited.
    const auto spent = std::chrono::steady_clock::now() - begin;
    if (spent > std::chrono::seconds(1) && deadline != Deadline::max()) deadline += spent;
    if (ready < 0 && errno != EINTR) ARGAND_THROW(NetworkError, "TCPStore: poll: ", std::strerror(errno));
    check_interrupt();
    if (left.count() <= 0) return false;
  }
}

// Without a listener, a client that connects to a port of its own host may be given that port itself, and so reach
// itself.
bool reaches_itself(const Descriptor& socket) {
  sockaddr_storage mine{}, theirs{};
  socklen_t length = sizeof mine, their_length = sizeof theirs;
  ::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&mine), &length);
  ::getpeername(socket.fd(), reinterpret_cast<sockaddr*>(&theirs), &their_length);
  return length == their_length && std::memcmp(&mine, &theirs, length) == 0;
}

// 0, or why not.
int connect_within(const Descriptor& socket, const addrinfo& address, Deadline deadline) {
  if (::connect(socket.fd(), address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS && errno != EINTR) return errno;
  if (!wait_writable(socket, deadline)) return ETIMEDOUT;
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &length);
  return error;
}

}  // namespace

uint64_t fork_generation() noexcept { return generation.load(std::memory_order_acquire); }

std::mutex& fork_mutex() { return OpenDescriptors::instance().mutex; }

Descriptor::Descriptor(function_ref<int()> open) {
  OpenDescriptors& all = OpenDescriptors::instance();
  const std::lock_guard lock(all.mutex);
  fd_ = open();
  if (fd_ < 0) return;
  generation_ = generation;
  all.open.insert(fd_);
}

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(other.fd_), generation_(other.generation_) { other.fd_ = -1; }

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
    generation_ = other.generation_;
  }
  return *this;
}

void Descriptor::close() noexcept {
  const int fd = std::exchange(fd_, -1);
  if (fd < 0) return;
  OpenDescriptors& all = OpenDescriptors::instance();
  const std::lock_guard lock(all.mutex);
  if (generation_ != generation) return;
  all.open.erase(fd);
  ::close(fd);
}

std::vector<Descriptor> listen_at(const std::string& host, uint16_t port) {
  std::string why;
  const Addresses list = resolve(host, port, true, why);
  ARGAND_CHECK(NetworkError, list, "TCPStore: the address to listen at, '", host, "', cannot be resolved: ", why);
  constexpr int kTries = 16;  // a free port of one address may be taken at another
  int error = 0;
  for (int i = 0; i < (port == 0 ? kTries : 1); ++i) {
    std::vector<Descriptor> sockets = listen_on_all(list.get(), port, error);
    if (!sockets.empty()) return sockets;
  }
  std::string name = ::strerrorname_np(error), text = std::strerror(error);
  text[0] = static_cast<char>(std::tolower(text[0]));
  ARGAND_THROW(NetworkError, "The server socket has failed to listen on any local network address. host: ", host,
               ", port: ", port, ", code: -", error, ", name: ", name, ", message: ", text);
}

Descriptor take_listener(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  const bool taken = flags >= 0 && ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 &&
                     ::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && ::listen(fd, SOMAXCONN) == 0;
  ARGAND_CHECK(NetworkError, taken, "TCPStore: expected master_listen_fd to be a socket that is bound, got ", fd, ": ",
               std::strerror(errno));
  return Descriptor([&] { return fd; });
}

uint16_t port_of(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  ::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address), &length);
  return address.ss_family == AF_INET6 ? ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port)
                                       : ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

std::string local_address_of(const Descriptor& socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  ::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address), &length);
  char text[NI_MAXHOST] = {};
  const int error =
      ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), length, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  ARGAND_CHECK(NetworkError, error == 0, "TCPStore: the address of a connection: ", ::gai_strerror(error));
  return text;
}

Descriptor try_connect(const std::string& host, uint16_t port, Deadline deadline, std::string& why) {
  const Addresses list = resolve(host, port, false, why);
  for (const addrinfo* address = list.get(); address; address = address->ai_next) {
    Descriptor socket = open_socket(*address);
    int error = socket ? connect_within(socket, *address, deadline) : errno;
    if (error == 0 && reaches_itself(socket)) error = ECONNREFUSED;
    if (error == 0) {
      set_for_messages(socket.fd());
      return socket;
    }
    why = std::strerror(error);
  }
  return Descriptor();
}

bool wait_readable(const Descriptor& socket, Deadline deadline) { return wait_for(socket, POLLIN, deadline); }
bool wait_writable(const Descriptor& socket, Deadline deadline) { return wait_for(socket, POLLOUT, deadline); }

Descriptor accept_from(const Descriptor& listener) {
  Descriptor socket([&] { return ::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK); });
  if (socket) set_for_messages(socket.fd());
  return socket;
}

}  // namespace argand::parallel
