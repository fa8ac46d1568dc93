#include "argand/runtime/gloo/connections.h"

#include <gloo/common/error.h>
#include <gloo/transport/address.h>
#include <gloo/transport/pair.h>

#include <algorithm>
#include <random>

namespace argand::gloo_engine {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kOneCall{10'000};  // of one try
// A rank that waits for the other's connect() does not see that it was given up.  Gloo waits five times a pair's
// timeout, which doubles with each try, for a busy machine may need the time.
constexpr milliseconds kFirstPair{50}, kLongestPair = kOneCall / 5;
constexpr milliseconds kFirstPause{5}, kLongestPause{1000};
constexpr int kMostCallers = 8;  // threads of a rank that call others
constexpr size_t kAddressBytes = gloo::transport::Address::kMaxByteSize;

constexpr uint32_t kMagic = 0x41524731;
using PairAddress = std::array<char, kAddressBytes>;

PairAddress padded(const std::vector<char>& bytes) {
  PairAddress address{};
  ARGAND_ASSERT(bytes.size() <= address.size());
  std::copy(bytes.begin(), bytes.end(), address.begin());
  return address;
}

template <class T>
void send(const Descriptor& socket, const T& value, const Until& until) {
  static_assert(std::is_trivially_copyable_v<T>);
  send_all(socket, &value, sizeof value, until);
}
template <class T>
T receive(const Descriptor& socket, const Until& until) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value{};
  receive_all(socket, &value, sizeof value, until);
  return value;
}

std::string key_of(int rank) { return str("gloo/", rank); }

}  // namespace

struct Connections::Hello {
  uint32_t magic = kMagic;
  int32_t rank = 0;
  Secret secret{};
};
enum class Connections::Answer : uint32_t { kGo = 0x676f2121, kCallingYou, kConnected };

// The right to make the pair for a rank, while nobody else has it.
class Connections::Pairing {
 public:
  Pairing(Connections& all, int rank, Peer& peer) : peer_(peer) {  // under the peer's lock
    ARGAND_CHECK(NetworkError, !peer.pairing && !all.stopped_, "no rank connects any more");
    {
      const std::lock_guard lock(all.mutex_);
      all.context_->setTimeout(peer.pair_timeout);
      pair_ = all.context_->createPair(rank).get();
    }
    peer.pair_timeout = std::min(2 * peer.pair_timeout, kLongestPair);
    bytes_ = pair_->address().bytes().size();
    peer.pairing = true;
    peer.superseded = peer.has_pair = false;
  }
  ~Pairing() {
    const std::lock_guard lock(peer_.mutex);
    peer_.pairing = false;
    peer_.changed.notify_all();
  }
  PairAddress address() const { return padded(pair_->address().bytes()); }
  void connect(const PairAddress& to) {
    pair_->connect(std::vector<char>(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(bytes_)));
  }

 private:
  Peer& peer_;
  gloo::transport::Pair* pair_;
  size_t bytes_;  // of an address
};

Connections::Connections(Rendezvous& rendezvous, const TransportOptions& options, gloo::transport::Device& device,
                         const SocketAddress& listen_address)
    : rank_(options.rank),
      timeout_(options.timeout),
      context_(device.createContext(options.rank, options.size)),
      listener_(listen_at(listen_address)) {
  std::random_device random;
  for (char& c : secret_) c = static_cast<char>(random());
  rendezvous.set(key_of(rank_), std::string(secret_.data(), secret_.size()) + address_of(listener_).bytes());
  std::vector<std::string> keys;
  for (int r = 0; r < options.size; ++r) keys.push_back(key_of(r));
  for (const std::string& value : rendezvous.get_all(keys)) {
    ARGAND_CHECK(NetworkError, value.size() > sizeof(Secret), "gloo: a rank's address has ", value.size(), " bytes");
    auto peer = std::make_unique<Peer>();
    peer->pair_timeout = kFirstPair;
    std::copy_n(value.begin(), sizeof(Secret), peer->secret.begin());
    peer->address = SocketAddress::of_bytes(value.substr(sizeof(Secret)));
    peers_.push_back(std::move(peer));
  }
  accepting_ = std::thread([this] { accept(); });
}

Connections::~Connections() {
  stop();
  stop_listening(listener_);
  accepting_.join();
  {
    std::unique_lock lock(mutex_);
    none_left_.wait(lock, [this] { return threads_ == 0; });
  }
  for (int r = 0; r < static_cast<int>(peers_.size()); ++r)
    if (const auto& pair = context_->getPair(r)) pair->close();
}

void Connections::stop() noexcept {
  stopped_ = true;
  stop_.set();
  for (int r = 0; r < static_cast<int>(peers_.size()); ++r) {
    Peer& peer = *peers_[static_cast<size_t>(r)];
    const std::lock_guard lock(peer.mutex);
    if (peer.pairing) context_->getPair(r)->close();
  }
}

// Its threads are not joined, but the end waits for them.
template <class F>
void Connections::in_thread(F f) {
  {
    const std::lock_guard lock(mutex_);
    ++threads_;
  }
  const auto end = [this] {
    const std::lock_guard lock(mutex_);
    if (--threads_ == 0) none_left_.notify_all();
  };
  try {
    std::thread([f = std::move(f), end]() mutable {
      f();
      end();
    }).detach();
  } catch (...) {
    end();
    throw;
  }
}

Until Connections::soon() const { return {stop_, Clock::now() + kOneCall}; }

// ---- what waits

void Connections::when_connected(int rank, Waiting& waiting) {
  Peer& peer = *peers_[static_cast<size_t>(rank)];
  if (peer.connected) return waiting.connected();
  const std::lock_guard lock(peer.mutex);
  if (peer.connected) return waiting.connected();
  if (peer.failure) std::rethrow_exception(peer.failure);
  want(rank, peer);
  peer.waiting.push_back(&waiting);
}

void Connections::forget(int rank, Waiting& waiting) noexcept {
  Peer& peer = *peers_[static_cast<size_t>(rank)];
  const std::lock_guard lock(peer.mutex);
  std::erase(peer.waiting, &waiting);
}

void Connections::is_connected(Peer& peer) {
  const std::lock_guard lock(peer.mutex);
  if (peer.superseded) throw SocketError("connect", ECANCELED);
  for (Waiting* waiting : std::exchange(peer.waiting, {})) waiting->connected();
  peer.trouble.clear();
  peer.connected = true;
}

void Connections::give_up(Peer& peer, const std::exception_ptr& why) noexcept {
  const std::lock_guard lock(peer.mutex);
  if (peer.connected) return;
  peer.failure = why;
  for (Waiting* waiting : std::exchange(peer.waiting, {})) waiting->not_connected(why);
}

std::string Connections::trouble() {
  std::string text;
  for (size_t r = 0; r < peers_.size(); ++r) {
    const std::lock_guard lock(peers_[r]->mutex);
    if (!peers_[r]->trouble.empty())
      text += str(text.empty() ? "" : "; ", "no connection to rank ", r, " at ", peers_[r]->address.text(), " (",
                  peers_[r]->trouble, ")");
  }
  return text;
}

// ---- calling

void Connections::want(int rank, Peer& peer) {
  if (peer.has_caller || peer.is_called || peer.pairing || stopped_) return;
  bool needs_thread;
  {
    const std::lock_guard lock(mutex_);
    needs_thread = callers_ < kMostCallers;
    if (needs_thread) ++callers_;
    wanted_.push_back(rank);
  }
  peer.has_caller = true;
  if (!needs_thread) return;
  try {
    in_thread([this] { call_those_wanted(); });
  } catch (...) {
    const std::lock_guard lock(mutex_);
    --callers_;
    peer.has_caller = false;
    std::erase(wanted_, rank);
    throw;
  }
}

void Connections::call_those_wanted() {
  for (;;) {
    int rank;
    {
      const std::lock_guard lock(mutex_);
      if (wanted_.empty() || stopped_) {
        --callers_;
        return;
      }
      rank = wanted_.front();
      wanted_.pop_front();
    }
    call(rank);
  }
}

void Connections::call(int rank) {
  Peer& peer = *peers_[static_cast<size_t>(rank)];
  const auto end = timeout_.count() > 0 ? Clock::now() + timeout_ : Clock::time_point::max();
  std::minstd_rand random{std::random_device{}()};
  for (milliseconds delay = kFirstPause;; delay = std::min(2 * delay, kLongestPause)) {
    std::string why;
    try {
      if (try_to_call(rank, peer, {stop_, std::min(end, Clock::now() + kOneCall)})) break;
    } catch (const SocketError& e) {
      if (e.code() == ECONNREFUSED) {
        give_up(peer, std::make_exception_ptr(PeerLost(
                          str("rank ", rank, " does not listen at ", peer.address.text(), " any more"), rank)));
        break;
      }
      why = e.what();
    } catch (const std::exception& e) {
      why = e.what();
    }
    if (stopped_) break;
    {
      const std::lock_guard lock(peer.mutex);
      peer.trouble = why;
    }
    if (Clock::now() + delay > end) {
      give_up(peer, std::make_exception_ptr(NetworkError(str("rank ", rank_, " cannot connect to rank ", rank, " at ",
                                                             peer.address.text(), ": ", why))));
      break;
    }
    stop_.wait_for(delay / 2 + milliseconds(random() % static_cast<uint64_t>(delay.count())));
  }
  const std::lock_guard lock(peer.mutex);
  peer.has_caller = false;
  want_again(rank, peer);
}

// True if nothing is left to do, for the ranks are connected or the other one calls.
bool Connections::try_to_call(int rank, Peer& peer, const Until& until) {
  {
    const std::lock_guard lock(peer.mutex);
    if (peer.connected || peer.is_called || peer.pairing || peer.failure) return true;
    peer.calling = true;
  }
  struct NotCalling {
    Peer& peer;
    ~NotCalling() {
      const std::lock_guard lock(peer.mutex);
      peer.calling = false;
    }
  } const end{peer};
  const Descriptor socket = connect_to(peer.address, until);
  send(socket, Hello{kMagic, rank_, peer.secret}, until);
  switch (receive<Answer>(socket, until)) {
    case Answer::kGo: {
      const auto theirs = receive<PairAddress>(socket, until);
      std::unique_lock lock(peer.mutex);
      while (peer.pairing && !peer.connected) supersede(rank, peer, lock);
      if (peer.connected) return true;
      Pairing pairing(*this, rank, peer);
      lock.unlock();
      send(socket, pairing.address(), until);
      pairing.connect(theirs);
      lock.lock();
      if (peer.superseded) throw SocketError("connect", ECANCELED);
      peer.has_pair = true;
      lock.unlock();
      send(socket, Answer::kConnected, until);
      if (receive<Answer>(socket, until) != Answer::kConnected) throw SocketError("receive", EPROTO);
      is_connected(peer);
      return true;
    }
    case Answer::kCallingYou: {
      const std::lock_guard lock(peer.mutex);
      if (!peer.pairing && !peer.connected) peer.is_called = true;
      return true;
    }
    case Answer::kConnected: {
      {
        const std::lock_guard lock(peer.mutex);
        if (peer.connected) return true;
        if (!peer.has_pair) break;
      }
      is_connected(peer);
      return true;
    }
  }
  throw SocketError("receive", EPROTO);
}

// ---- being called

void Connections::accept() {
  while (!stopped_) {
    try {
      const auto socket = std::make_shared<Descriptor>(accept_from(listener_, {stop_, Clock::time_point::max()}));
      in_thread([this, socket] { answer(*socket); });
    } catch (
        const std::exception&) {  // the other one closed it, or nothing is left here for the moment; it calls again
      stop_.wait_for(kFirstPause);
    }
  }
}

void Connections::answer(const Descriptor& socket) {
  const Until until = soon();
  Hello hello;
  try {
    hello = receive<Hello>(socket, until);
  } catch (const std::exception&) {
    return;
  }
  if (hello.magic != kMagic || hello.secret != secret_ || hello.rank < 0 || hello.rank == rank_ ||
      hello.rank >= static_cast<int>(peers_.size()))
    return;  // no rank of this world
  Peer& peer = *peers_[static_cast<size_t>(hello.rank)];
  try {
    std::unique_lock lock(peer.mutex);
    const Answer answer = decide(hello.rank, peer, lock);
    if (answer != Answer::kGo) {
      lock.unlock();
      return send(socket, answer, until);
    }
    Pairing pairing(*this, hello.rank, peer);
    lock.unlock();
    send(socket, answer, until);
    send(socket, pairing.address(), until);
    pairing.connect(receive<PairAddress>(socket, until));
    if (receive<Answer>(socket, until) != Answer::kConnected) return;
    is_connected(peer);
    send(socket, Answer::kConnected, until);
  } catch (const std::exception&) {  // it calls again, if it still wants to
  }
  const std::lock_guard lock(peer.mutex);
  peer.is_called = false;
  want_again(hello.rank, peer);
}

Connections::Answer Connections::decide(int rank, Peer& peer, std::unique_lock<std::mutex>& lock) {
  for (;;) {
    if (peer.connected) return Answer::kConnected;
    if (peer.has_pair || (peer.calling && rank_ < rank)) return Answer::kCallingYou;
    if (!peer.pairing) return Answer::kGo;
    supersede(rank, peer, lock);
  }
}

// The other rank begins again, so what the thread waits for that has the pair will not come.
void Connections::supersede(int rank, Peer& peer, std::unique_lock<std::mutex>& lock) {
  peer.superseded = true;
  context_->getPair(rank)->close();
  peer.changed.wait_for(lock, kFirstPause);
}

// After an attempt of either rank that may have failed.
void Connections::want_again(int rank, Peer& peer) {
  if (peer.connected || peer.failure || peer.waiting.empty()) return;
  try {
    want(rank, peer);
  } catch (const std::exception&) {  // no thread for it; the next message tries again
  }
}

}  // namespace argand::gloo_engine
