#include "argand/parallel/store/tcp_server.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "argand/base/fork_mutex.h"
#include "argand/parallel/store/secret.h"
#include "argand/parallel/store/server_connection.h"

namespace argand::parallel {

using Client = ServerCore::Client;
using Clock = ServerCore::Clock;

namespace {

constexpr auto kGreetingTime = std::chrono::seconds(30);       // clients without a greeting by then are disconnected
constexpr auto kAcceptPause = std::chrono::milliseconds(100);  // where no file descriptor is left
constexpr uint64_t kStop = 0, kFirstListener = 1, kFirstClient = 1 << 16;

// Many systems start processes with a limit of 1024 open files and allow more.
bool raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return false;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace

// All but the constructor, the destructor and the public members runs on the server's thread.
class TcpServer::Loop {
 public:
  Loop(std::vector<Descriptor> listeners, std::string secret)
      : port(port_of(listeners.at(0))),
        listeners_(std::move(listeners)),
        secret_(std::move(secret)),
        core_([this](Client client, const wire::Reply& reply) { answer(client, reply); }),
        epoll_([] { return ::epoll_create1(EPOLL_CLOEXEC); }),
        stop_([] { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }) {
    ARGAND_CHECK(NetworkError, epoll_ && stop_, "TCPStore: the server cannot start: ", std::strerror(errno));
    watch(stop_, kStop, EPOLLIN, EPOLL_CTL_ADD);
    watch_listeners(EPOLLIN, EPOLL_CTL_ADD);
    // Signals are left to the program's threads.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Loop() {
    const uint64_t one = 1;
    if (::write(stop_.fd(), &one, sizeof one) == sizeof one) thread_.join();
  }

  const uint16_t port;
  std::atomic<size_t> num_connections{0};

 private:
  void run() {
    epoll_event events[256];
    while (true) {
      const int count = ::epoll_wait(epoll_.fd(), events, std::size(events), wait_ms());
      for (int i = 0; i < count; ++i) {
        if (events[i].data.u64 == kStop) return;
        if (events[i].data.u64 < kFirstClient)
          accept_some(listeners_[events[i].data.u64 - kFirstListener]);
        else
          guarded(events[i].data.u64, [&](ServerConnection& c) { return handle(events[i], c); });
      }
      core_.expire(Clock::now());
      close_silent(Clock::now());
      serve_touched();
      num_connections = connections_.size();
    }
  }

  // Until the next deadline, rounded up.
  int wait_ms() {
    std::optional<Clock::time_point> next = core_.next_deadline();
    const auto take = [&](Clock::time_point at) { next = next ? std::min(*next, at) : at; };
    if (!silent_.empty()) take(silent_.front().first);
    if (paused_) take(*paused_);
    if (!next) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now()).count();
    return static_cast<int>(std::clamp<int64_t>(left, 0, 60'000));
  }

  void watch(const Descriptor& socket, uint64_t id, uint32_t events, int how) {
    epoll_event event{};
    event.events = events;
    event.data.u64 = id;
    ::epoll_ctl(epoll_.fd(), how, socket.fd(), &event);
  }

  void watch_listeners(uint32_t events, int how) {
    for (size_t i = 0; i < listeners_.size(); ++i) watch(listeners_[i], kFirstListener + i, events, how);
  }

  void accept_some(const Descriptor& listener) {
    for (int i = 0; i < 256; ++i) {
      Descriptor socket = accept_from(listener);
      if (!socket) {
        const bool full = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        if (errno == EMFILE && raise_file_limit()) continue;
        if (full) {
          paused_ = Clock::now() + kAcceptPause;
          watch_listeners(0, EPOLL_CTL_MOD);
        }
        return;
      }
      const Client id = next_id_++;
      ServerConnection& made = connections_.try_emplace(id, std::move(socket)).first->second;
      made.watched = EPOLLIN | EPOLLRDHUP;
      watch(made.socket(), id, made.watched, EPOLL_CTL_ADD);
      silent_.emplace_back(Clock::now() + kGreetingTime, id);
    }
  }

  // An error of one client ends only its connection.
  template <class F>
  void guarded(Client id, F f) {
    const auto it = connections_.find(id);
    if (it == connections_.end()) return;
    try {
      if (f(it->second)) return;
    } catch (const std::exception&) {
      it->second.flush();  // the reason
    }
    core_.leave(id);
    connections_.erase(id);
  }

  bool handle(const epoll_event& event, ServerConnection& connection) {
    if (event.events & EPOLLERR) return false;
    if (event.events & (EPOLLIN | EPOLLOUT)) touched_.push_back(event.data.u64);
    if (event.events & EPOLLIN) return connection.receive();
    return (event.events & (EPOLLHUP | EPOLLRDHUP)) == 0;
  }

  void answer(Client id, const wire::Reply& reply) {
    const auto it = connections_.find(id);
    if (it == connections_.end()) return;
    it->second.queue(reply);
    touched_.push_back(id);
  }

  // Writes replies, and reads the next requests of clients that have received all of theirs.
  void serve_touched() {
    while (!touched_.empty()) {
      const Client id = touched_.back();
      touched_.pop_back();
      guarded(id, [&](ServerConnection& connection) { return serve(id, connection); });
    }
  }

  bool serve(Client id, ServerConnection& connection) {
    if (!connection.flush()) return false;
    while (!connection.has_output() && !core_.waits(id)) {
      std::optional<wire::Request> request = connection.next(secret_);
      if (request) core_.handle(id, std::move(*request), Clock::now());
      if (!connection.flush()) return false;
      if (!request) break;
    }
    // A client that awaits a reply is not read from, so that the server keeps at most one reply per client.
    const uint32_t wanted = connection.has_output() ? +EPOLLOUT : core_.waits(id) ? 0u : +EPOLLIN;
    const uint32_t events = wanted | EPOLLRDHUP;
    if (events != connection.watched) watch(connection.socket(), id, connection.watched = events, EPOLL_CTL_MOD);
    return true;
  }

  void close_silent(Clock::time_point now) {
    for (; !silent_.empty() && silent_.front().first <= now; silent_.pop_front())
      guarded(silent_.front().second, [](ServerConnection& connection) { return connection.greeted(); });
    if (paused_ && *paused_ <= now) {
      paused_.reset();
      watch_listeners(EPOLLIN, EPOLL_CTL_MOD);
    }
  }

  std::vector<Descriptor> listeners_;
  std::string secret_;
  std::unordered_map<Client, ServerConnection> connections_;
  ServerCore core_;
  std::vector<Client> touched_;
  std::deque<std::pair<Clock::time_point, Client>> silent_;  // who must greet, by when; the order is that of time
  std::optional<Clock::time_point> paused_;                  // nobody is accepted until then
  Client next_id_ = kFirstClient;
  Descriptor epoll_, stop_;
  std::thread thread_;
};

TcpServer::TcpServer(std::unique_ptr<Loop> loop) : loop_(std::move(loop)), generation_(fork_generation()) {}

TcpServer::~TcpServer() {
  // A child has no thread to join; memory that the thread was changing is not freed.
  if (generation_ != fork_generation()) (void)loop_.release();
}

uint16_t TcpServer::port() const { return loop_->port; }
size_t TcpServer::num_connections() const { return loop_->num_connections; }

std::shared_ptr<TcpServer> TcpServer::start(const std::string& host, uint16_t port, bool shared,
                                            std::optional<int> listen_fd) {
  static constinit std::mutex mutex;  // held while addresses are looked up, which fork() must not wait for
  static auto* const servers = new std::map<uint16_t, std::weak_ptr<TcpServer>>;
  const ObjectLock lock(mutex);
  if (shared) {
    const auto it = servers->find(port);
    const std::shared_ptr<TcpServer> found = it == servers->end() ? nullptr : it->second.lock();
    if (found && found->generation_ == fork_generation()) return found;
  }
  std::vector<Descriptor> listeners;
  if (listen_fd) {
    listeners.push_back(take_listener(*listen_fd));
    const uint16_t bound = port_of(listeners[0]);
    ARGAND_CHECK(NetworkError, port == 0 || bound == port, "TCPStore: the listen fd ", *listen_fd, " is bound to port ",
                 bound, ", expected to be bound to port ", port);
  } else {
    listeners = listen_at(host, port);
  }
  std::shared_ptr<TcpServer> made(new TcpServer(std::make_unique<Loop>(std::move(listeners), store_secret())));
  if (shared) (*servers)[made->port()] = made;
  return made;
}

}  // namespace argand::parallel
