// The request handling of a TCPStore's server, without sockets: values, queues, and the waiting clients.
#pragma once
#include <chrono>
#include <functional>
#include <list>
#include <set>

#include "argand/parallel/store/wire.h"

namespace argand::parallel {

// Not thread-safe.  A waiting client is in the queue of the key that it waits for, so nothing is polled.
class ServerCore {
 public:
  using Client = uint64_t;
  using Clock = std::chrono::steady_clock;
  using Send = std::function<void(Client, const wire::Reply&)>;

  // `send` is called from the other methods; it must not call them.
  explicit ServerCore(Send send) : send_(std::move(send)) {}

  // Answers at once, or later if the request waits.  REQUIRES: !waits(client); the request is no part of the greeting.
  void handle(Client client, wire::Request request, Clock::time_point now);
  bool waits(Client client) const { return waiters_.count(client) != 0; }
  void leave(Client client);  // the client gets no more replies
  std::optional<Clock::time_point> next_deadline() const;
  void expire(Clock::time_point now);  // answers clients whose timeout has passed

 private:
  struct Waiter {
    wire::Request request;
    std::optional<Clock::time_point> deadline;
    size_t found = 0;  // how many leading keys of the request exist
    std::string key;   // the one that it waits for
    std::list<Client>::iterator place;
  };

  wire::Reply answer(const wire::Request& request);  // answers a request that does not wait
  std::optional<wire::Reply> try_answer(Waiter& waiter);
  std::optional<wire::Reply> try_pop(Waiter& waiter);
  bool all_there(Waiter& waiter);
  void enqueue(Client client, Waiter& waiter);
  void forget(Client client, bool queued);
  void wake(const std::string& key);

  Send send_;
  StoreTable table_;
  std::unordered_map<Client, Waiter> waiters_;
  std::unordered_map<std::string, std::list<Client>> queues_;  // by the key that they wait for, in the order of arrival
  std::set<std::pair<Clock::time_point, Client>> deadlines_;
};

}  // namespace argand::parallel
