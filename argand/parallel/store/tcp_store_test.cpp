// The server and the clients of TCPStore: addresses, the secret, lost processes, strange clients.
#include "argand/parallel/store/tcp_store.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "argand/parallel/interrupt.h"
#include "argand/parallel/store/child_test.h"
#include "argand/parallel/store/tcp_client.h"
#include "argand/parallel/store/tcp_server.h"

namespace argand::parallel {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

template <class E, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "nothing was thrown";
}

#define EXPECT_SAYS(text, message) EXPECT_NE((message).find(text), std::string::npos) << (message)

std::shared_ptr<TCPStore> serve(const std::string& host = "127.0.0.1", TCPStoreOptions options = {}) {
  options.port = 0;
  options.is_server = true;
  return std::make_shared<TCPStore>(host, options);
}

std::shared_ptr<TCPStore> join(const TCPStore& server, std::chrono::milliseconds timeout = 20s) {
  TCPStoreOptions options;
  options.port = server.port();
  options.timeout = timeout;
  return std::make_shared<TCPStore>(server.host(), options);
}

class Secret {
 public:
  explicit Secret(const char* value) { ::setenv("ARGAND_STORE_SECRET", value, 1); }
  ~Secret() { ::unsetenv("ARGAND_STORE_SECRET"); }
};

// A client that may send anything.
class Raw {
 public:
  explicit Raw(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Raw() { ::close(fd_); }
  void send(const void* data, size_t bytes) { (void)!::send(fd_, data, bytes, MSG_NOSIGNAL); }
  void send(const std::string& text) { send(text.data(), text.size()); }
  void send(const Store::Value& value) { send(value.data(), value.size()); }
  bool closed_within(int ms) {
    char byte;
    pollfd item{fd_, POLLIN, 0};
    while (::poll(&item, 1, ms) > 0)
      if (::recv(fd_, &byte, 1, 0) <= 0) return true;
    return false;
  }
  bool connected = false;

 private:
  int fd_;
};

wire::Request hello() {
  return {wire::Op::kHello, wire::kVersion, 0, {std::string(wire::kMagic)}, {Store::Value(wire::kNonceBytes)}};
}

size_t resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmRSS:") {
      size_t kib = 0;
      status >> kib;
      return kib;
    }
  return 0;
}

TEST(TcpStore, CountsTheWorkers) {
  TCPStoreOptions options;
  options.num_workers = 1;
  const auto server = serve("localhost", options);
  EXPECT_EQ(server->num_keys(), 1);
  EXPECT_TRUE(server->list_keys().empty());
  options.num_workers = 2;
  options.timeout = 300ms;
  EXPECT_EQ(message_of<StoreError>([&] { serve("localhost", options); }),
            "Timed out after 1 seconds waiting for clients. 1/2 clients joined.");
  options.num_workers = 0;
  EXPECT_SAYS("TCPStore world size cannot be 0", message_of<ValueError>([&] { serve("localhost", options); }));
}

TEST(TcpStore, AServerWaitsForItsWorkers) {
  TCPStoreOptions options;
  options.num_workers = 3;
  options.wait_workers = false;
  const auto first = serve("127.0.0.1", options);
  options.wait_workers = true;
  options.is_server = false;
  options.port = first->port();
  const TCPStore a("127.0.0.1", options), b("127.0.0.1", options);  // clients do not wait
  EXPECT_EQ(first->num_keys(), 1);
}

TEST(TcpStore, SaysThatAPortIsTaken) {
  const auto server = serve();
  TCPStoreOptions options;
  options.port = server->port();
  options.is_server = true;
  const std::string message = message_of<NetworkError>([&] { TCPStore again("127.0.0.1", options); });
  EXPECT_SAYS("The server socket has failed to listen on any local network address", message);
  EXPECT_SAYS("name: EADDRINUSE, message: address already in use", message);
}

TEST(TcpStore, TenantsShareAServer) {
  TCPStoreOptions options;
  options.multi_tenant = true;
  auto first = serve("127.0.0.1", options);
  options.port = first->port();
  options.is_server = true;
  const TCPStore second("127.0.0.1", options);
  first->set("a", "1");
  TCPStore third("127.0.0.1", options);
  EXPECT_EQ(third.get_text("a"), "1");
  first = nullptr;
  EXPECT_EQ(third.get_text("a"), "1");
}

TEST(TcpStore, TakesOverASocket) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  TCPStoreOptions options;
  options.master_listen_fd = fd;
  {
    const auto server = serve("127.0.0.1", options);
    server->set("a", "1");
    EXPECT_EQ(join(*server)->get_text("a"), "1");
    EXPECT_EQ(::fcntl(fd, F_GETFD), FD_CLOEXEC);
  }
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
  options.master_listen_fd = 0;
  EXPECT_SAYS("master_listen_fd", message_of<NetworkError>([&] { serve("127.0.0.1", options); }));
}

TEST(TcpStore, ListensOnlyWhereItWasTold) {
  const auto server = serve("127.0.0.1");
  TCPStoreOptions options;
  options.port = server->port();
  options.timeout = 100ms;
  EXPECT_SAYS("The client socket has timed out after 100ms while trying to connect to (127.0.0.2, ",
              message_of<NetworkError>([&] { TCPStore("127.0.0.2", options); }));
  const auto everywhere = serve("0.0.0.0");
  options.port = everywhere->port();
  options.timeout = 5s;
  TCPStore("127.0.0.2", options).set("a", "1");
  EXPECT_EQ(everywhere->get_text("a"), "1");
}

TEST(TcpStore, SpeaksIpv6) {
  std::shared_ptr<TCPStore> server;
  try {
    server = serve("::1");
  } catch (const NetworkError& e) {
    GTEST_SKIP() << "this machine has no IPv6: " << e.what();
  }
  server->set("a", "1");
  EXPECT_EQ(join(*server)->get_text("a"), "1");
}

TEST(TcpStore, NamesWhatCannotBeReached) {
  TCPStoreOptions options;
  options.port = 1;
  options.timeout = 100ms;
  EXPECT_SAYS("The client socket has timed out after 100ms while trying to connect to (localhost, 1)",
              message_of<NetworkError>([&] { TCPStore("localhost", options); }));
  EXPECT_SAYS("no.such.host.invalid", message_of<NetworkError>([&] { TCPStore("no.such.host.invalid", options); }));
  options.is_server = true;
  EXPECT_SAYS("cannot be resolved", message_of<NetworkError>([&] { TCPStore("no.such.host.invalid", options); }));
}

TEST(TcpStore, AClientMayComeBeforeTheServer) {
  uint16_t port = 0;
  {
    const auto server = serve();
    port = server->port();
  }
  TCPStoreOptions options;
  options.port = port;
  std::thread early([&] { TCPStore("127.0.0.1", options).set("early", "1"); });
  std::this_thread::sleep_for(100ms);
  TCPStoreOptions serving = options;
  serving.is_server = true;
  TCPStore server("127.0.0.1", serving);
  EXPECT_EQ(server.get_text("early"), "1");
  early.join();
}

TEST(TcpStore, ALostServerIsAnErrorAtOnce) {
  auto server = serve();
  const auto client = join(*server), waiting = join(*server);
  std::thread thread([&] {
    EXPECT_SAYS("Connection was likely closed. Did the remote server shutdown or crash?",
                message_of<NetworkError>([&] { waiting->get("never"); }));
  });
  std::this_thread::sleep_for(50ms);
  server = nullptr;
  thread.join();
  const auto begin = Clock::now();
  for (int i = 0; i < 3; ++i)
    EXPECT_SAYS("Did the remote server shutdown or crash?", message_of<NetworkError>([&] { client->set("a", "1"); }));
  EXPECT_LT(Clock::now() - begin, 2s);
}

TEST(TcpStore, AServerThatDoesNotAnswerIsATimeout) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);  // accepts in the kernel only
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(::listen(listener, 8), 0);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  TCPStoreOptions options;
  options.port = ntohs(address.sin_port);
  options.timeout = 100ms;
  EXPECT_SAYS("Socket Timeout", message_of<NetworkError>([&] { TCPStore("127.0.0.1", options); }));
  ::close(listener);
}

TEST(TcpStore, TheSecretMustBeKnown) {
  std::shared_ptr<TCPStore> server;
  {
    const Secret secret("right");
    server = serve();
    server->set("a", "1");
    EXPECT_EQ(join(*server)->get_text("a"), "1");
  }
  EXPECT_SAYS("the server has a secret, but ARGAND_STORE_SECRET is not set here",
              message_of<NetworkError>([&] { join(*server); }));
  const Secret wrong("wrong");
  EXPECT_SAYS("does not know the secret", message_of<NetworkError>([&] { join(*server); }));
  const auto open = [] {
    ::unsetenv("ARGAND_STORE_SECRET");
    return serve();
  }();
  const Secret mine("mine");
  EXPECT_SAYS("the server has no secret", message_of<NetworkError>([&] { join(*open); }));
}

TEST(TcpStore, NothingIsServedBeforeTheProof) {
  const Secret secret("right");
  const auto server = serve();
  Raw early(server->port());
  early.send(wire::encode(hello()));
  early.send(wire::encode(wire::Request{wire::Op::kSet, 0, 0, {"/stolen"}, {{1}}}));
  EXPECT_TRUE(early.closed_within(5000));
  Raw guessing(server->port());
  guessing.send(wire::encode(hello()));
  guessing.send(wire::encode(wire::Request{wire::Op::kProof, 0, 0, {}, {Store::Value(32)}}));
  EXPECT_TRUE(guessing.closed_within(5000));
  EXPECT_FALSE(server->check({"stolen"}));
}

TEST(TcpStore, StrangeClientsAreClosed) {
  const auto server = serve();
  const size_t before = resident_kib();
  const std::string strange[] = {"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                                 std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11),
                                 std::string(4, '\0'),
                                 std::string(4, '\xff'),
                                 std::string(1000, 'x'),
                                 std::string("\x03\0\0\0\x01\x02\x03", 7)};
  for (const std::string& bytes : strange) {
    Raw client(server->port());
    client.send(bytes);
    EXPECT_TRUE(client.closed_within(5000)) << bytes;
  }
  // Half a message, and a huge one that never comes: they stay, cost nothing, and harm nobody.
  std::vector<std::unique_ptr<Raw>> open;
  for (int i = 0; i < 50; ++i) {
    open.push_back(std::make_unique<Raw>(server->port()));
    open.back()->send(std::string("\x20\0", 2));
    open.push_back(std::make_unique<Raw>(server->port()));
    open.back()->send(wire::encode(hello()));
    open.back()->send(std::string("\0\0\0\x3f and no more", 16));
  }
  // Rules broken after the greeting.
  for (const wire::Request& request :
       {hello(), wire::Request{wire::Op::kGet, 0, 0, {}, {}}, wire::Request{wire::Op::kSet, 0, 0, {"a"}, {}},
        wire::Request{static_cast<wire::Op>(99), 0, 0, {}, {}}}) {
    Raw client(server->port());
    client.send(wire::encode(hello()));
    client.send(wire::encode(request));
    EXPECT_TRUE(client.closed_within(5000));
  }
  server->set("a", "1");
  EXPECT_EQ(join(*server)->get_text("a"), "1");
  EXPECT_LT(resident_kib(), before + 20 * 1024);
}

TEST(TcpStore, AClientThatSendsManyRequestsIsServedInOrder) {
  const auto server = serve();
  Raw client(server->port());
  client.send(wire::encode(hello()));
  Store::Value all;
  for (int i = 0; i < 1000; ++i) {
    const Store::Value one = wire::encode(wire::Request{wire::Op::kAppend, 0, 0, {"/a"}, {{'x'}}});
    all.insert(all.end(), one.begin(), one.end());
  }
  const Store::Value last = wire::encode(wire::Request{wire::Op::kSet, 0, 0, {"/done"}, {{}}});
  all.insert(all.end(), last.begin(), last.end());
  client.send(all);
  server->wait({"done"}, 20s);
  EXPECT_EQ(server->get("a").size(), 1000u);
}

#if !defined(__SANITIZE_THREAD__)  // its runtime does not go on in the child of a program with threads

TEST(TcpStore, KilledClientsHarmNobody) {
  const auto server = serve();
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(test::in_child([&] {
      if (i % 2) server->queue_pop("never");
      const Store::Value large(1 << 20);
      while (true) server->set("large", large);
    }));
  }
  const auto client = join(*server);
  client->wait({"large"});
  std::this_thread::sleep_for(100ms);
  for (const pid_t child : children) ::kill(child, SIGKILL);
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  EXPECT_EQ(client->get("large").size(), size_t{1} << 20);
  // The clients that waited are gone, so this value is for us.
  std::this_thread::sleep_for(100ms);
  client->queue_push("never", {1});
  EXPECT_EQ(client->queue_pop("never").size(), 1u);
}

TEST(TcpStore, AChildMakesItsOwnConnection) {
  const auto server = serve();
  server->set("a", "1");
  // A thread of the parent waits with the same store meanwhile.
  std::thread waiting([&] { EXPECT_EQ(server->get_text("from child"), "2"); });
  std::this_thread::sleep_for(50ms);
  const pid_t child = test::in_child([&] { server->set("from child", server->get_text("a") == "1" ? "2" : "3"); });
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  waiting.join();
}

TEST(TcpStore, AChildDoesNotKeepAServerAlive) {
  int pipe_fds[2];
  ASSERT_EQ(::pipe(pipe_fds), 0);
  // The parent of this chain serves, forks when a client has connected, and is killed; its child lives on.
  const pid_t parent = test::in_child([&] {
    const auto server = serve();
    const int64_t port = server->port();
    (void)!::write(pipe_fds[1], &port, sizeof port);
    server->wait({"connected"});
    const int64_t child = test::in_child([] { ::pause(); }, true);
    (void)!::write(pipe_fds[1], &child, sizeof child);
    ::pause();
  });
  int64_t port = 0, child = 0;
  ASSERT_EQ(::read(pipe_fds[0], &port, sizeof port), static_cast<ssize_t>(sizeof port));
  TCPStoreOptions options;
  options.port = static_cast<uint16_t>(port);
  options.timeout = 5s;
  TCPStore client("127.0.0.1", options);
  client.set("connected", "1");
  ASSERT_EQ(::read(pipe_fds[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  const auto begin = Clock::now();
  EXPECT_SAYS("Connection was likely closed", message_of<NetworkError>([&] { client.get("never"); }));
  EXPECT_LT(Clock::now() - begin, 5s);
  ::kill(static_cast<pid_t>(child), SIGKILL);
  ::close(pipe_fds[0]);
  ::close(pipe_fds[1]);
}

#endif

struct Interrupted {};
std::atomic<bool> interrupt{false};

TEST(TcpStore, AWaitCanBeInterrupted) {
  const auto server = serve();
  set_interrupt_check([] {
    if (interrupt.exchange(false)) throw Interrupted();
  });
  std::thread later([] {
    std::this_thread::sleep_for(50ms);
    interrupt = true;
  });
  const auto begin = Clock::now();
  EXPECT_THROW(server->get("never"), Interrupted);
  EXPECT_LT(Clock::now() - begin, 5s);
  set_interrupt_check(nullptr);
  later.join();
  server->set("a", "1");
  EXPECT_EQ(server->get_text("a"), "1");
}

TEST(TcpStore, ManyClientsWaitForOneKey) {
  constexpr int kClients = 300;
  const auto server = serve();
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < kClients; ++i)
    threads.emplace_back([&, i] {
      const auto client = join(*server, 60s);
      client->set(std::to_string(i), "x");
      client->barrier("all", kClients, 60s);
      good += client->get_text(std::to_string((i + 1) % kClients)) == "x";
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, kClients);
}

}  // namespace
}  // namespace argand::parallel
