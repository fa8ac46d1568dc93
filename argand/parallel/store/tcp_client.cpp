#include "argand/parallel/store/tcp_client.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <thread>

#include "argand/parallel/interrupt.h"
#include "argand/parallel/store/secret.h"

namespace argand::parallel {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using wire::Reply;
using wire::Request;
using wire::Status;

namespace {

// The connection ended while something was expected.
class Closed : public NetworkError {
 public:
  using NetworkError::NetworkError;
};

void pause(milliseconds time) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) {
    std::this_thread::sleep_for(std::min<Clock::duration>(end - Clock::now(), kInterruptInterval));
    check_interrupt();
  }
}

std::string text_of(const StoreTable::Stored& value) { return {value->begin(), value->end()}; }

}  // namespace

// The right to use the connection.
class TcpClient::Turn {
 public:
  explicit Turn(TcpClient& client) : client_(client) {
    std::unique_lock lock(client.mutex_);
    while (client.busy_) {
      client.free_.wait_for(lock, kInterruptInterval);
      lock.unlock();
      check_interrupt();
      lock.lock();
    }
    client.busy_ = true;
  }
  ~Turn() {
    const std::lock_guard lock(client_.mutex_);
    client_.busy_ = false;
    client_.free_.notify_one();
  }

 private:
  TcpClient& client_;
};

void TcpClient::connect(Store::Timeout timeout) {
  const Turn turn(*this);
  ensure_connected(timeout);
}

std::string TcpClient::local_address(Store::Timeout timeout) {
  const Turn turn(*this);
  ensure_connected(timeout);
  return local_address_of(socket_);
}

Reply TcpClient::call(const Request& request, Deadline deadline, Store::Timeout timeout) {
  const Store::Value message = wire::encode(request);
  const Turn turn(*this);
  ensure_connected(timeout);
  try {
    send(message, deadline);
    return receive(deadline);
  } catch (const Closed& e) {
    lost(e.msg());
  } catch (const wire::WireError& e) {
    lost(e.msg());
  } catch (...) {
    socket_.close();  // the next request must not get this reply
    throw;
  }
}

void TcpClient::lost(const std::string& why) {
  socket_.close();
  broken_ = str(why, " The store was at ", host_, ":", port_, ".");
  throw NetworkError(broken_);
}

void TcpClient::ensure_connected(Store::Timeout timeout) {
  if (!broken_.empty()) throw NetworkError(broken_);
  if (socket_) return;
  const Deadline deadline = timeout == Store::kNoTimeout ? Deadline::max() : Clock::now() + timeout;
  std::minstd_rand random{std::random_device{}()};
  std::string why;
  for (milliseconds delay(10);; delay = std::min(2 * delay, milliseconds(1000))) {
    socket_ = try_connect(host_, port_, deadline, why);
    if (socket_ && greet(deadline, why)) return;
    socket_.close();
    // Random pauses, so that thousands of clients do not retry at the same time.
    const milliseconds jittered = delay / 2 + milliseconds(random() % static_cast<uint64_t>(delay.count()));
    if (Clock::now() + jittered >= deadline) break;
    pause(jittered);
  }
  ARGAND_THROW(NetworkError, "The client socket has timed out after ", timeout.count(),
               "ms while trying to connect to (", host_, ", ", port_, "). The last reason: ", why);
}

// False, with the reason, if another try may help.
bool TcpClient::greet(Deadline deadline, std::string& why) {
  const std::string secret = store_secret();
  Request hello{wire::Op::kHello, wire::kVersion, 0, {std::string(wire::kMagic)}, {random_nonce()}};
  const auto refuse_unless = [&](bool good, const std::string& reason) {
    ARGAND_CHECK(NetworkError, good, "TCPStore: the connection to ", host_, ":", port_, " was refused: ", reason);
  };
  const auto ask = [&](const Request& request) {
    send(wire::encode(request), deadline);
    Reply reply = receive(deadline);
    if (reply.status == Status::kRefused && reply.values.size() == 1) refuse_unless(false, text_of(reply.values[0]));
    if (reply.status != Status::kOk || reply.values.size() > 1) throw wire::WireError("an unknown reply");
    return reply;
  };
  try {
    const Reply challenge = ask(hello);
    if (challenge.values.empty()) {
      refuse_unless(secret.empty(), "ARGAND_STORE_SECRET is set here, but the server has no secret");
      return true;
    }
    refuse_unless(!secret.empty(), "the server has a secret, but ARGAND_STORE_SECRET is not set here");
    const Store::Value &nonce = *challenge.values[0], &mine = hello.values[0];
    const Reply proved = ask({wire::Op::kProof, 0, 0, {}, {proof(secret, "client", nonce, mine)}});
    refuse_unless(proved.values.size() == 1 && same_bytes(*proved.values[0], proof(secret, "server", nonce, mine)),
                  "the server does not know ARGAND_STORE_SECRET");
    return true;
  } catch (const Closed& e) {
    why = e.msg();
  } catch (const wire::WireError& e) {
    refuse_unless(false, str("what listens there is no store of this library: ", e.msg()));
  }
  return false;
}

void TcpClient::send(const Store::Value& message, Deadline deadline) {
  size_t done = 0;
  while (done < message.size()) {
    const ssize_t sent = ::send(socket_.fd(), message.data() + done, message.size() - done, MSG_NOSIGNAL);
    if (sent >= 0) {
      done += static_cast<size_t>(sent);
    } else if (errno == EAGAIN) {
      ARGAND_CHECK(NetworkError, wait_writable(socket_, deadline), "Socket Timeout");
    } else if (errno != EINTR) {
      throw Closed(str("Failed to send: ", std::strerror(errno), ". Did the remote server shutdown or crash?"));
    }
  }
}

Reply TcpClient::receive(Deadline deadline) {
  wire::MessageBuffer in(wire::kMaxMessage);
  uint8_t piece[1 << 16];
  while (true) {
    const ssize_t got = ::recv(socket_.fd(), piece, sizeof piece, 0);
    if (got > 0) {
      in.feed(piece, static_cast<size_t>(got));
      if (const auto message = in.next()) return wire::parse_reply(message->data, message->bytes);
    } else if (got < 0 && errno == EAGAIN) {
      ARGAND_CHECK(NetworkError, wait_readable(socket_, deadline), "Socket Timeout");
    } else if (got == 0 || errno != EINTR) {
      throw Closed(str("Failed to recv, got 0 bytes. Connection was likely closed",
                       got < 0 ? str(" (", std::strerror(errno), ")") : "",
                       ". Did the remote server shutdown or crash?"));
    }
  }
}

}  // namespace argand::parallel
