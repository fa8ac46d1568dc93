// The processes that joined: their messages, which of them are alive, and the first failure.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "argand/parallel/counted_transport.h"
#include "argand/parallel/messages.h"
#include "argand/parallel/process_group.h"

namespace argand::parallel {

// The first failure of the world: every rank names the same one.
struct Failure {
  int lost_rank = -1;  // in the world; -1 if no rank is lost
  std::string reason;
};

// Note [Failures of a world]
// A rank that cannot go on (its peer's connection closed, ranks make different calls, it runs out of memory during a
// collective) writes the reason into the store, unless there is one.  A thread of each rank reads that key four times a
// second and passes the reason to all waits on this rank.  The same thread increments a counter and reads that of the
// next rank that has not left.  If that counter does not change for ARGAND_PEER_TIMEOUT seconds (3; 0: never), that
// rank is lost.  So the work does not grow with the number of ranks, and a slow but living process is not lost.  The
// time between two reads counts for one second at most, so that a slow network is not taken for a lost rank.  The
// thread starts before the ranks are connected, so a rank that is lost while they join is named, too.
//
// Note [Ranks that have left]
// A rank that leaves the world closes its connections, and ranks that wait for its messages notice that at once.  MPI
// does not report it.  So the same thread also checks whether ranks that messages wait for have left: two seconds later
// nothing can be in transit any more, and the wait fails.
//
// Note [The end of the store]
// The process that holds the store may end first, while others still receive its messages or continue without it.  It
// announces that and waits until all others know.  They then do not treat the end of the store as a failure; later
// losses show only in closed connections and in timeouts.
class World {
 public:
  using Make = std::function<std::unique_ptr<Transport>(Rendezvous&)>;
  // Waits for all ranks, for as long as the store does; then makes the transport, unless it is alone: on a thread of
  // its own, which may go on when this has failed.
  World(std::shared_ptr<Store> store, int rank, int size, const std::string& backend, const Make& make);
  ~World();  // tells the others that this rank has left

  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::string& backend() const { return backend_; }
  const std::shared_ptr<Store>& store() const { return store_; }
  Transport& transport() { return *transport_; }
  MessageNumbers& message_numbers() { return message_numbers_; }

  // Tells all ranks why this one cannot go on, unless a failure is known; returns the first failure.  Never throws.
  Failure fail(const Failure& failure) noexcept;
  Failure fail(const std::exception_ptr& error) noexcept;
  // Throws PeerLost or BackendError if something went wrong.
  void throw_if_failed(const std::string& in_call = "") const;
  [[noreturn]] static void raise(const Failure& failure, const std::string& in_call);
  // The same error, with the ended call before its message.
  static std::exception_ptr with_call(const std::exception_ptr& error, const std::string& call);

  // A part of a group that must be told when the world fails.  The world calls it from its own threads.
  class Member {
   public:
    virtual ~Member() = default;
    virtual std::exception_ptr look() = 0;  // a few times a second; returns an error, or null
    // Called once, with what throw_if_failed() throws.  It must not wait for other ranks.
    virtual void failed(const std::exception_ptr& why) noexcept = 0;
  };
  void add(Member& member);
  void remove(Member& member);  // waits for its calls that are under way

  // Exists while a rank waits for others in a call: after `timeout` all ranks fail, and the reason names the missing
  // ranks.
  class Waiting {
   public:
    Waiting(World& world, const std::string& call, std::chrono::milliseconds timeout);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    World& world_;
    uint64_t id_;
  };
  // A number for the messages of a group; ranks that pass the same name get the same number.
  uint64_t group_number(const std::string& name);

 private:
  void join();
  void wait_for_all();
  std::unique_ptr<Transport> connect(const Make& make);
  void failed_to_join(const std::exception& error) noexcept;
  [[noreturn]] void store_is_gone(const std::exception& error, const std::string& in_call);
  void wait_for_failure(std::chrono::milliseconds longest);
  void stop_watching(bool leave);
  void leave();
  void expect_end_of_store();
  void watch();
  void set_asking(bool asking);
  void look_at_others();
  void look_at_those_that_left();
  void stop_all(const Failure& failure) noexcept;
  void wait_until_all_know(const Failure& failure) noexcept;
  void look_at_the_clock();
  void look_at_members();
  std::string where_others_are();

  const std::shared_ptr<Store> store_;    // keys of this world
  const std::shared_ptr<Store> watched_;  // a connection of the watching thread
  const int rank_, size_;
  const std::string backend_;
  std::unique_ptr<CountedTransport> transport_;
  MessageNumbers message_numbers_;

  // Used by the watching thread alone:
  int next_;  // the rank whose counter is read
  std::string last_beat_;
  std::chrono::steady_clock::time_point last_look_;
  std::chrono::steady_clock::duration silent_{};  // time since the counter changed
  uint64_t beats_ = 0;
  bool knows_end_of_store_ = false, has_store_ = true;
  std::map<int, std::chrono::steady_clock::time_point> left_;  // ranks that messages wait for, and when that was found

  std::atomic<bool> knows_failure_{false};

  mutable std::mutex mutex_;
  std::condition_variable stopping_;
  std::condition_variable asked_;  // of failure_ and asking_
  bool asking_ = false;            // the watching thread waits for an answer of the store
  std::thread::id watcher_;
  bool stopped_ = false, leaves_ = false, store_may_end_ = false;
  std::unique_ptr<Failure> failure_;
  struct Deadline {
    std::chrono::steady_clock::time_point at;
    std::chrono::milliseconds timeout;
    std::string call;
  };
  std::map<uint64_t, Deadline> deadlines_;
  uint64_t next_deadline_ = 0;
  std::mutex members_mutex_;  // held while members are called
  std::vector<Member*> members_;
  std::string latest_call_;  // goes with the beats, for the others' messages
  std::thread thread_;
};

// The group of all its ranks; defined in process_group.cpp.
std::shared_ptr<ProcessGroup> group_of_all(std::shared_ptr<World> world, const GroupOptions& options);

}  // namespace argand::parallel
