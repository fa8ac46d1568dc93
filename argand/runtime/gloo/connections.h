// Which ranks are connected.  Two ranks connect when one of them first posts a message to the other.
//
// Note [Connecting on demand]
// Gloo connects two ranks when each has a pair for the other, knows its address and calls connect(), which waits for
// the other's.  So they agree on the moment.  Each rank listens at one address, which it tells the others when it
// joins.  A rank with a message for another calls there, and over this connection they say:
//
//     caller                          called
//     Hello: rank, secret      ->
//                              <-     kGo, address of its pair      or kCallingYou, or kConnected
//     address of its pair      ->
//                    both call connect()
//     ready                    ->     posts what waited for the connection
//     posts what waited        <-     ready
//
// What fails on the way begins again with new pairs.  If both call each other at once, the lower rank's call counts,
// and the other one learns that it is being called.  A rank that was called and heard no "ready" may be told in another
// call that they are connected: then the pair that it has is good.
#pragma once
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "argand/runtime/gloo/greeting.h"

namespace argand::gloo_engine {

class Connections {
 public:
  // What needs a connection.  Called under a lock: of one rank, one after the other.
  class Waiting {
   public:
    virtual ~Waiting() = default;
    virtual void connected() = 0;
    virtual void not_connected(const std::exception_ptr& why) noexcept = 0;
  };

  // Waits until all ranks listen.
  Connections(Rendezvous& rendezvous, const TransportOptions& options, gloo::transport::Device& device,
              const SocketAddress& listen_address);
  ~Connections();  // ends them; nothing may wait for one

  gloo::transport::Context& context() { return *context_; }
  // Calls waiting.connected(): now, or on another thread, in the order of the calls for that rank.  Throws why there
  // can be no connection, if that is known.
  void when_connected(int rank, Waiting& waiting);
  void forget(int rank, Waiting& waiting) noexcept;  // it is not called from here on
  // No rank connects any more, and what waits is not called.  Never waits for other ranks.
  void stop() noexcept;
  std::string trouble();  // which ranks cannot be reached, and why; empty if there are none

 private:
  using Secret = std::array<char, 16>;
  struct Peer {
    SocketAddress address;
    Secret secret{};
    std::atomic<bool> connected{false};
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Waiting*> waiting;
    std::exception_ptr failure;
    std::string trouble;
    std::chrono::milliseconds pair_timeout{0};  // of the next try
    bool has_caller = false;                    // a thread of this rank is on its way to call it
    bool calling = false;                       // the call is under way
    bool is_called = false;                     // it calls this rank, so no thread does
    bool pairing = false;                       // a thread has the pair and connects it
    bool superseded = false;                    // and shall give it up
    bool has_pair = false;  // this rank called, has a pair that is connected, and says so to the other one
  };
  struct Hello;
  enum class Answer : uint32_t;
  class Pairing;

  void want(int rank, Peer& peer);  // under its lock
  void call_those_wanted();
  void call(int rank);
  bool try_to_call(int rank, Peer& peer, const Until& until);
  void pause(Peer& peer, const std::string& why, std::chrono::milliseconds time) noexcept;
  void accept();
  void answer(const Descriptor& socket);
  Answer decide(int rank, Peer& peer, std::unique_lock<std::mutex>& lock);
  void supersede(int rank, Peer& peer, std::unique_lock<std::mutex>& lock);
  void is_connected(Peer& peer);
  void want_again(int rank, Peer& peer);  // under its lock
  void give_up(Peer& peer, const std::exception_ptr& why) noexcept;
  Until soon() const;
  template <class F>
  void in_thread(F f);

  const int rank_;
  const std::chrono::milliseconds timeout_;
  const std::shared_ptr<gloo::transport::Context> context_;
  Stop stop_;
  std::atomic<bool> stopped_{false};
  Secret secret_{};
  Descriptor listener_;
  std::vector<std::unique_ptr<Peer>> peers_;

  std::mutex mutex_;  // taken after that of a peer
  std::condition_variable none_left_;
  std::deque<int> wanted_;
  int callers_ = 0, threads_ = 0;
  std::thread accepting_;
};

}  // namespace argand::gloo_engine
