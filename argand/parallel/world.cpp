#include "argand/parallel/world.h"

#include <algorithm>

#include "argand/base/env.h"
#include "argand/base/log.h"
#include "argand/parallel/interrupt.h"
#include "argand/parallel/store/store_rendezvous.h"
#include "argand/parallel/store/tcp_store.h"
#include "argand/parallel/tags.h"

namespace argand::parallel {
namespace {

constexpr std::chrono::milliseconds kBeat{250};
// The longest time that counts as silence between two looks at a rank.  A longer pause means that this process was
// stopped itself, perhaps together with all the others.
constexpr std::chrono::milliseconds kMostOfALook{1000};
// The longest time for which a rank withholds a failure until all others know it.  When told, the program may end at
// once, and with it the store that others have not yet read.
constexpr std::chrono::milliseconds kUntilAllKnow{1000};
// Messages that a rank sent before it left arrive within this time.
constexpr std::chrono::milliseconds kLastMessages{2000};
const std::string kFailure = "failure", kAllKnowFailure = "all_know_failure", kEnd = "end",
                  kAllKnowEnd = "all_know_end", kLeaving = "leaving";
const std::string kJoining = "init_process_group";

std::chrono::seconds peer_timeout() { return std::chrono::seconds(env_int("ARGAND_PEER_TIMEOUT", 3, 0, 86400)); }

std::string text_of(const Failure& f) { return str(f.lost_rank, "\n", f.reason); }
Failure failure_of(const std::string& text) {
  const size_t end = text.find('\n');
  if (end == std::string::npos) return {-1, text};
  return {std::atoi(text.c_str()), text.substr(end + 1)};
}

Failure store_lost(const char* why) {
  return {0,
          str("the store cannot be reached, so the process that holds it (rank 0, or what started it) is lost: ", why)};
}

// The value of a key that is set.  get() would wait for the key, and after the timeout some seconds for a server that
// may be late; this is answered at once, or the server is lost.
std::string read(Store& store, const std::string& key) {
  const Store::Value value = store.compare_set(key, {}, {});
  return {value.begin(), value.end()};
}

// The transport of a world of one process, which has nobody to send to.
class Alone final : public Transport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::unique_ptr<Transfer> send(const void*, size_t, int, uint32_t) override { nobody(); }
  std::unique_ptr<Transfer> receive(void*, size_t, int, uint32_t) override { nobody(); }
  void abort(std::exception_ptr) override {}

 private:
  [[noreturn]] static void nobody() { ARGAND_THROW(InternalError, "a message in a world of one process"); }
};

std::string joined_key(int rank) { return str("joined/", rank); }
std::string beat_key(int rank) { return str("beat/", rank); }
std::string left_key(int rank) { return str("left/", rank); }

}  // namespace

World::World(std::shared_ptr<Store> store, int rank, int size, const std::string& backend, const Make& make)
    : store_(std::move(store)),
      watched_(size > 1 ? store_->clone() : nullptr),
      rank_(rank),
      size_(size),
      backend_(backend),
      next_((rank + 1) % size),
      last_look_(std::chrono::steady_clock::now()) {
  if (size == 1) {
    transport_ = std::make_unique<CountedTransport>(std::make_unique<Alone>());
    return;
  }
  if (peer_timeout().count() > 0) watched_->set_timeout(peer_timeout());
  try {
    join();
    thread_ = std::thread([this] { watch(); });
    wait_for_all();
    std::unique_ptr<Transport> made = connect(make);
    const std::lock_guard lock(mutex_);
    if (failure_) raise(*failure_, kJoining);
    transport_ = std::make_unique<CountedTransport>(std::move(made));
  } catch (const std::exception& e) {
    failed_to_join(e);
    stop_watching(/*leave=*/false);
    throw;
  } catch (...) {
    stop_watching(/*leave=*/false);
    throw;
  }
}

World::~World() {
  if (size_ > 1) stop_watching(/*leave=*/true);
}

void World::stop_watching(bool leave) {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    leaves_ = leave;
  }
  stopping_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// ---- joining

// Creates the keys that the watching threads read, so that a missing key is never mistaken for a lost rank.
void World::join() try {
  for (const std::string& key : {kFailure, kEnd, beat_key(next_), left_key(next_)}) read(*store_, key);
  store_->set(beat_key(rank_), std::string("0 "));
  store_->set(joined_key(rank_), std::string("1"));
} catch (const NetworkError& e) {
  store_is_gone(e, kJoining);
}

// In pieces, between which it looks for a failure.
void World::wait_for_all() {
  std::vector<std::string> all;
  for (int r = 0; r < size_; ++r) all.push_back(joined_key(r));
  const Store::Timeout timeout = store_->timeout(), piece = std::max(kBeat, Store::Timeout(2 * size_));
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    const auto spent = std::chrono::duration_cast<Store::Timeout>(std::chrono::steady_clock::now() - begin);
    const Store::Timeout left = timeout == Store::kNoTimeout ? piece : std::max(timeout - spent, Store::Timeout(1));
    try {
      return store_->wait(all, std::min(left, piece));
    } catch (const StoreError&) {
      throw_if_failed(kJoining);
      if (left <= piece && timeout != Store::kNoTimeout) break;
    } catch (const NetworkError& e) {
      store_is_gone(e, kJoining);
    }
  }
  std::string missing;
  int count = 0;
  for (int r = 0; r < size_; ++r)
    if (!store_->check({joined_key(r)}) && count++ < 10) missing += str(missing.empty() ? "" : ", ", r);
  const std::string reason = str(count, " of ", size_, " ranks did not join within ", timeout.count() / 1000,
                                 " s: rank ", missing, count > 10 ? ", ..." : "");
  fail({-1, reason});  // others wait for the same ranks
  throw StoreError(kJoining + ": " + reason);
}

// Connecting to a lost rank cannot be cancelled in an engine, so its thread is abandoned.
std::unique_ptr<Transport> World::connect(const Make& make) {
  struct Attempt {
    std::mutex mutex;
    std::condition_variable done;
    bool is_done = false;
    std::unique_ptr<Transport> transport;
    std::exception_ptr error;
  };
  const auto attempt = std::make_shared<Attempt>();
  std::thread([attempt, make = Make(make), store = store_]() mutable {
    std::unique_ptr<Transport> transport;
    std::exception_ptr error;
    try {
      StoreRendezvous addresses("addresses", store);
      transport = make(addresses);
    } catch (...) {
      error = std::current_exception();
    }
    // Freed before the waiting thread goes on.  They may own Python objects, and the interpreter may end after that.
    make = nullptr;
    store.reset();
    const std::lock_guard lock(attempt->mutex);
    attempt->transport = std::move(transport);
    attempt->error = error;
    attempt->is_done = true;
    attempt->done.notify_all();
  }).detach();
  std::unique_lock lock(attempt->mutex);
  while (!attempt->done.wait_for(lock, kInterruptInterval, [&] { return attempt->is_done; })) {
    check_interrupt();
    throw_if_failed(kJoining);
  }
  if (!attempt->error) return std::move(attempt->transport);
  try {
    std::rethrow_exception(attempt->error);
  } catch (const NetworkError&) {
    if (peer_timeout().count() > 0) wait_for_failure(peer_timeout() + 2 * kBeat + kUntilAllKnow);
    throw;
  }
}

// The rank that holds the store may have announced why it ends.
void World::store_is_gone(const std::exception& error, const std::string& in_call) {
  wait_for_failure(kBeat + kUntilAllKnow);
  raise(store_lost(error.what()), in_call);
}

// Throws what the watching thread finds in this time: if a rank is lost, others cannot connect to it.
void World::wait_for_failure(std::chrono::milliseconds longest) {
  const auto end = std::chrono::steady_clock::now() + longest;
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(kBeat / 10);
    check_interrupt();
    throw_if_failed(kJoining);
  }
}

// Tells the others, who may wait for this rank, unless they know.
void World::failed_to_join(const std::exception& error) noexcept {
  if (dynamic_cast<const PeerLost*>(&error)) return;
  fail({-1, str("rank ", rank_, " could not join: ", error.what())});
}

// ---- leaving

// Note [The end of the store]
void World::leave() try {
  const TCPStore* const store = tcp_store_behind(*watched_);
  const bool holds_it = store && store->is_server();
  watched_->set(left_key(rank_), std::string("1"));
  if (holds_it) watched_->set(kEnd, std::string("1"));
  const bool is_last = watched_->add(kLeaving, 1) == size_;
  expect_end_of_store();
  // Only then are connections closed: what others still receive may be on its way.
  if (holds_it && !is_last)
    watched_->wait({kAllKnowEnd}, std::max<Store::Timeout>(peer_timeout(), std::chrono::seconds(1)));
  std::unique_ptr<CountedTransport> ended;
  {
    const std::lock_guard lock(mutex_);
    ended = std::move(transport_);
  }
  ended.reset();
  if (!holds_it || is_last || watched_->add(kLeaving, 0) == size_) return;
  // Ranks that still wait for this one learn now that it leaves, and tell the others while the store is there.
  std::this_thread::sleep_for(kBeat / 2);
  if (!read(*watched_, kFailure).empty()) watched_->wait({kAllKnowFailure}, kUntilAllKnow);
} catch (const Error&) {  // the store's process has ended before: nobody is left who would ask
}

void World::expect_end_of_store() {
  if (knows_end_of_store_) return;
  knows_end_of_store_ = true;
  {
    const std::lock_guard lock(mutex_);
    store_may_end_ = true;
  }
  if (watched_->add("know_end", 1) == size_) watched_->set(kAllKnowEnd, std::string("1"));
}

// ---- watching

// The rank also leaves here: Ctrl-C does not end waits of this thread.
void World::watch() {
  std::unique_lock lock(mutex_);
  watcher_ = std::this_thread::get_id();
  while (!stopped_) {
    if (failure_) return;
    lock.unlock();
    if (has_store_) {
      set_asking(true);
      look_at_others();
      set_asking(false);
    }
    look_at_the_clock();
    look_at_members();
    lock.lock();
    stopping_.wait_for(lock, kBeat, [this] { return stopped_; });
  }
  if (failure_ || !leaves_) return;  // the others know it, or the store cannot be reached
  lock.unlock();
  leave();
}

void World::set_asking(bool asking) {
  {
    const std::lock_guard lock(mutex_);
    asking_ = asking;
  }
  asked_.notify_all();
}

void World::look_at_others() {
  try {
    std::string latest;
    {
      const std::lock_guard lock(mutex_);
      latest = latest_call_;
    }
    watched_->set(beat_key(rank_), str(++beats_, " ", latest));
    const std::string failure = read(*watched_, kFailure), beat = read(*watched_, beat_key(next_));
    if (!failure.empty()) {
      const Failure first = failure_of(failure);
      wait_until_all_know(first);
      return stop_all(first);
    }
    // Half a second or one is soon enough for these.
    if (beats_ % 2 == 0 && !read(*watched_, kEnd).empty()) expect_end_of_store();
    if (beats_ % 4 == 1) look_at_those_that_left();
    const bool has_left = beats_ % 4 == 3 && !read(*watched_, left_key(next_)).empty();
    const auto now = std::chrono::steady_clock::now();
    silent_ += std::min<std::chrono::steady_clock::duration>(now - last_look_, kMostOfALook);
    last_look_ = now;
    if (next_ == rank_) return;  // nobody else is left
    if (has_left) {
      next_ = (next_ + 1) % size_;
      for (const std::string& key : {left_key(next_), beat_key(next_)}) read(*watched_, key);
      last_beat_.clear();
      silent_ = {};
    } else if (beat != last_beat_ || beat.empty()) {  // or it has not joined
      last_beat_ = beat;
      silent_ = {};
    } else if (peer_timeout().count() > 0 && silent_ > peer_timeout()) {
      fail({next_, str("rank ", next_, " is lost: it has shown no sign of life for ", peer_timeout().count(), " s")});
    }
  } catch (const Error& e) {
    bool may_end;
    {
      const std::lock_guard lock(mutex_);
      may_end = store_may_end_;
    }
    if (!may_end) return stop_all(store_lost(e.what()));
    has_store_ = false;
  }
}

// Note [Ranks that have left]
void World::look_at_those_that_left() {
  std::vector<int> waited_for;
  {
    const std::lock_guard lock(mutex_);
    if (transport_) waited_for = transport_->waits_for();
  }
  if (waited_for.empty() || watched_->add(kLeaving, 0) == 0) return left_.clear();
  const auto now = std::chrono::steady_clock::now();
  const auto before = std::exchange(left_, {});
  for (const int rank : waited_for) {
    const auto known = before.find(rank);
    if (known != before.end()) {
      left_.insert(*known);
      if (now - known->second >= kLastMessages) fail({rank, str("rank ", rank, " has left the group")});
    } else if (!read(*watched_, left_key(rank)).empty()) {
      left_[rank] = now;
    }
  }
}

// Uses the watching thread's connection, because the program's may be waiting.
Failure World::fail(const Failure& failure) noexcept {
  {
    std::unique_lock lock(mutex_);
    // If the store is lost, the watching thread is about to know it, and a request of this thread would wait as long
    // again.
    if (std::this_thread::get_id() != watcher_) asked_.wait(lock, [this] { return failure_ || !asking_; });
    if (failure_) return *failure_;  // all know it, or the store cannot be reached
  }
  Failure first = failure;
  try {
    if (failure.lost_rank >= 0 && !read(*watched_, left_key(failure.lost_rank)).empty())
      first.reason = str("rank ", failure.lost_rank, " has left the group");
    const std::string text = text_of(first);
    const Store::Value value = watched_->compare_set(kFailure, {}, Store::Value(text.begin(), text.end()));
    first = failure_of({value.begin(), value.end()});
    wait_until_all_know(first);
  } catch (const std::exception& e) {
    // The rank whose connection is closed may have ended because the store was lost to it, too.
    const std::lock_guard lock(mutex_);
    if (failure.lost_rank >= 0 && !store_may_end_) first = store_lost(e.what());
  }
  stop_all(first);
  const std::lock_guard lock(mutex_);
  return *failure_;
}

// Each rank but the lost one says so once.
void World::wait_until_all_know(const Failure& failure) noexcept {
  if (knows_failure_.exchange(true)) return;
  try {
    const int64_t all = failure.lost_rank >= 0 ? size_ - 1 : size_;
    const bool is_counted = failure.lost_rank != rank_;  // it may be leaving
    if (is_counted && watched_->add("know_failure", 1) >= all) watched_->set(kAllKnowFailure, std::string("1"));
    watched_->wait({kAllKnowFailure}, kUntilAllKnow);
  } catch (const std::exception&) {  // some have left, or the store is gone
  }
}

void World::stop_all(const Failure& failure) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = std::make_unique<Failure>(failure);
  }
  asked_.notify_all();
  try {
    raise(failure, "");
  } catch (...) {
    const std::exception_ptr why = std::current_exception();
    {
      const std::lock_guard lock(mutex_);
      if (transport_) transport_->abort(why);  // if the ranks are connected
    }
    const std::lock_guard lock(members_mutex_);
    for (Member* m : members_) m->failed(why);
  }
}

void World::add(Member& member) {
  const std::lock_guard lock(members_mutex_);
  members_.push_back(&member);
  try {
    throw_if_failed();
  } catch (...) {
    member.failed(std::current_exception());
  }
}
void World::remove(Member& member) {
  const std::lock_guard lock(members_mutex_);
  std::erase(members_, &member);
}
void World::look_at_members() {
  std::exception_ptr error;
  {
    const std::lock_guard lock(members_mutex_);
    for (Member* m : members_)
      if (!error) error = m->look();
  }
  if (error) fail(error);
}

Failure World::fail(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const PeerLost& e) {
    return fail({e.rank(), e.what()});
  } catch (const std::exception& e) {
    return fail({-1, e.what()});
  } catch (...) {
    return fail({-1, "an exception that is no std::exception"});
  }
}

World::Waiting::Waiting(World& world, const std::string& call, std::chrono::milliseconds timeout) : world_(world) {
  const std::lock_guard lock(world.mutex_);
  id_ = world.next_deadline_++;
  world.deadlines_[id_] = {std::chrono::steady_clock::now() + timeout, timeout, call};
  world.latest_call_ = call;
}
World::Waiting::~Waiting() {
  const std::lock_guard lock(world_.mutex_);
  world_.deadlines_.erase(id_);
}

void World::look_at_the_clock() {
  std::unique_ptr<Deadline> late;
  {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    for (const auto& [id, deadline] : deadlines_)
      if (deadline.at < now) late = std::make_unique<Deadline>(deadline);
  }
  if (late)
    fail({-1, str("rank ", rank_, " has waited for other ranks for ", static_cast<double>(late->timeout.count()) / 1e3,
                  " s in ", late->call, where_others_are())});
}

// The latest calls of the first ranks that are elsewhere.
std::string World::where_others_are() {
  constexpr int kShown = 5;
  std::string text;
  try {
    int elsewhere = 0;
    std::string mine;
    {
      const std::lock_guard lock(mutex_);
      mine = latest_call_;
    }
    for (int r = 0; r < size_; ++r) {
      const std::string beat = read(*watched_, beat_key(r)),
                        call = beat.substr(std::min(beat.find(' '), beat.size() - 1) + 1);
      if (r != rank_ && call != mine && elsewhere++ < kShown)
        text += str("; the last call of rank ", r, " is ", call.empty() ? "none" : call);
    }
    if (elsewhere > kShown) text += str("; and ", elsewhere - kShown, " more");
  } catch (const Error&) {  // then without
  }
  return text;
}

void World::throw_if_failed(const std::string& in_call) const {
  const std::lock_guard lock(mutex_);
  if (failure_) raise(*failure_, in_call);
}

void World::raise(const Failure& failure, const std::string& in_call) {
  const std::string message = in_call.empty() ? failure.reason : in_call + ": " + failure.reason;
  if (failure.lost_rank >= 0) throw PeerLost(message, failure.lost_rank);
  throw BackendError(message);
}

std::exception_ptr World::with_call(const std::exception_ptr& error, const std::string& call) {
  try {
    std::rethrow_exception(error);
  } catch (const PeerLost& e) {
    return std::make_exception_ptr(PeerLost(call + ": " + e.what(), e.rank()));
  } catch (const std::exception& e) {
    return std::make_exception_ptr(BackendError(call + ": " + e.what()));
  }
}

uint64_t World::group_number(const std::string& name) try {
  const std::string key = "group/" + name;
  if (!store_->check({key})) {
    const std::string mine = str(store_->add("groups", 1));  // numbers that nobody takes are lost
    store_->compare_set(key, {}, Store::Value(mine.begin(), mine.end()));
  }
  const auto number = static_cast<uint64_t>(std::stoll(store_->get_text(key)));
  ARGAND_CHECK(NotImplementedError, number < kMostGroups, "new_group: a world can make ", kMostGroups - 1, " groups");
  return number;
} catch (const NetworkError& e) {
  store_is_gone(e, "new_group");
}

}  // namespace argand::parallel
