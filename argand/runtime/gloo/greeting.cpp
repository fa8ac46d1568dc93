#include "argand/runtime/gloo/greeting.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace argand::gloo_engine {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const char* what, int code = errno) { throw SocketError(what, code); }

void wait_for(const Descriptor& socket, short events, const char* what, const Until& until) {
  for (;;) {
    pollfd items[2] = {{socket.fd(), events, 0}, {until.stop.fd(), POLLIN, 0}};
    int slice = -1;
    if (until.deadline != Clock::time_point::max()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until.deadline - Clock::now()).count();
      if (left <= 0) fail(what, ETIMEDOUT);
      slice = static_cast<int>(std::min<int64_t>(left, 60'000));
    }
    if (::poll(items, 2, slice) < 0 && errno != EINTR) fail("poll");
    if (items[1].revents) fail(what, ECANCELED);
    if (items[0].revents) return;
  }
}

Descriptor open_socket(int family) {
  Descriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.fd() < 0) fail("socket");
  return socket;
}

void set_for_messages(const Descriptor& socket) {
  const int on = 1;
  ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

SocketAddress SocketAddress::of_bytes(const std::string& bytes) {
  SocketAddress address;
  ARGAND_CHECK(NetworkError, bytes.size() <= sizeof address.storage, "gloo: an address of ", bytes.size(), " bytes");
  std::memcpy(&address.storage, bytes.data(), bytes.size());
  address.length = static_cast<socklen_t>(bytes.size());
  return address;
}

std::string SocketAddress::text() const {
  char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "?";
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&storage), length, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
  return storage.ss_family == AF_INET6 ? str("[", host, "]:", port) : str(host, ":", port);
}

Stop::Stop() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (event_.fd() < 0) fail("eventfd");
}
void Stop::set() noexcept {
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_.fd(), &one, sizeof one);
}
bool Stop::wait_for(std::chrono::milliseconds time) const {
  pollfd item{event_.fd(), POLLIN, 0};
  return ::poll(&item, 1, static_cast<int>(time.count())) > 0;
}

Descriptor listen_at(SocketAddress address) {
  Descriptor socket = open_socket(address.storage.ss_family);
  if (address.storage.ss_family == AF_INET) reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port = 0;
  if (address.storage.ss_family == AF_INET6) reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port = 0;
  if (::bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address.storage), address.length) != 0) fail("bind");
  if (::listen(socket.fd(), SOMAXCONN) != 0) fail("listen");
  return socket;
}

SocketAddress address_of(const Descriptor& socket) {
  SocketAddress address;
  address.length = sizeof address.storage;
  if (::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0)
    fail("getsockname");
  return address;
}

Descriptor accept_from(const Descriptor& listener, const Until& until) {
  wait_for(listener, POLLIN, "accept", until);
  Descriptor socket(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.fd() < 0) fail("accept");
  set_for_messages(socket);
  return socket;
}

Descriptor connect_to(const SocketAddress& address, const Until& until) {
  Descriptor socket = open_socket(address.storage.ss_family);
  if (::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address.storage), address.length) != 0) {
    if (errno != EINPROGRESS && errno != EINTR) fail("connect");
    wait_for(socket, POLLOUT, "connect", until);
    int error = 0;
    socklen_t length = sizeof error;
    ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) fail("connect", error);
  }
  set_for_messages(socket);
  return socket;
}

void send_all(const Descriptor& socket, const void* data, size_t bytes, const Until& until) {
  for (size_t done = 0; done < bytes;) {
    const auto n = ::send(socket.fd(), static_cast<const char*>(data) + done, bytes - done, MSG_NOSIGNAL);
    if (n >= 0) {
      done += static_cast<size_t>(n);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      wait_for(socket, POLLOUT, "send", until);
    } else if (errno != EINTR) {
      fail("send");
    }
  }
}

void receive_all(const Descriptor& socket, void* data, size_t bytes, const Until& until) {
  for (size_t done = 0; done < bytes;) {
    const auto n = ::recv(socket.fd(), static_cast<char*>(data) + done, bytes - done, 0);
    if (n > 0) {
      done += static_cast<size_t>(n);
    } else if (n == 0) {
      fail("receive", ECONNRESET);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      wait_for(socket, POLLIN, "receive", until);
    } else if (errno != EINTR) {
      fail("receive");
    }
  }
}

void stop_listening(const Descriptor& listener) noexcept { ::shutdown(listener.fd(), SHUT_RDWR); }

}  // namespace argand::gloo_engine
