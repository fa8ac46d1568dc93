#include "argand/parallel/world.h"

#include <algorithm>

#include "argand/base/env.h"
#include "argand/base/log.h"
#include "argand/parallel/store/prefix_store.h"
#include "argand/parallel/tags.h"

namespace argand::parallel {
namespace {

constexpr std::chrono::milliseconds kBeat{500};
// How long a rank that learns of a failure keeps it to itself.  It may end its process at once when it is told, and
// hold the store that others have not yet asked.
constexpr std::chrono::milliseconds kUntilAllKnow = kBeat + std::chrono::milliseconds(100);
const std::string kFailure = "failure";

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

// The store, for the transport's addresses.
class Addresses final : public Rendezvous {
 public:
  explicit Addresses(const std::shared_ptr<Store>& store) : store_("addresses", store) {}
  void set(const std::string& key, const std::string& value) override {
    store_.set(key, Store::Value(value.begin(), value.end()));
  }
  std::string get(const std::string& key) override {
    const Store::Value value = store_.get(key);
    return {value.begin(), value.end()};
  }

 private:
  PrefixStore store_;
};

// Of a world of one process, which has nobody to send to.
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

void join(Store& store, int rank, int size) {
  store.set(str("beat/", rank), std::string("0"));
  std::vector<std::string> all;
  for (int r = 0; r < size; ++r) all.push_back(str("beat/", r));
  try {
    store.wait(all, store.timeout());
  } catch (const StoreError&) {
    std::string missing;
    int count = 0;
    for (int r = 0; r < size; ++r)
      if (!store.check({str("beat/", r)}) && count++ < 10) missing += str(missing.empty() ? "" : ", ", r);
    ARGAND_THROW(StoreError, "init_process_group: ", count, " of ", size, " ranks did not join within ",
                 store.timeout().count() / 1000, " s: rank ", missing, count > 10 ? ", ..." : "");
  }
}

}  // namespace

World::World(std::shared_ptr<Store> store, int rank, int size, const std::string& backend, const Make& make)
    : store_(std::move(store)),
      watched_(size > 1 ? store_->clone() : nullptr),
      rank_(rank),
      size_(size),
      backend_(backend),
      next_((rank + 1) % size),
      last_change_(std::chrono::steady_clock::now()) {
  if (size == 1) {
    transport_ = std::make_unique<Alone>();
    return;
  }
  if (peer_timeout().count() > 0) watched_->set_timeout(peer_timeout());
  join(*store_, rank, size);
  Addresses addresses(store_);
  transport_ = make(addresses);
  thread_ = std::thread([this] { watch(); });
}

World::~World() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  if (size_ == 1) return;
  stopping_.notify_all();
  thread_.join();
  if (failure_) return;  // the others know it, or the store cannot be reached
  try {
    watched_->set(str("left/", rank_), std::string("1"));
  } catch (const Error&) {  // the store's process has ended before: nobody is left who would ask
  }
}

void World::watch() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (failure_) return;
    lock.unlock();
    look_at_others();
    look_at_the_clock();
    look_at_members();
    lock.lock();
    stopping_.wait_for(lock, kBeat, [this] { return stopped_; });
  }
}

void World::look_at_others() {
  try {
    std::string latest;
    {
      const std::lock_guard lock(mutex_);
      latest = latest_call_;
    }
    watched_->set(str("beat/", rank_), str(++beats_, " ", latest));
    if (watched_->check({kFailure})) {
      const Failure first = failure_of(read(*watched_, kFailure));
      std::this_thread::sleep_for(kUntilAllKnow);
      return stop_all(first);
    }
    while (next_ != rank_ && watched_->check({str("left/", next_)})) {
      next_ = (next_ + 1) % size_;
      last_beat_.clear();
    }
    if (next_ == rank_) return;  // nobody else is left
    const std::string beat = read(*watched_, str("beat/", next_));
    const auto now = std::chrono::steady_clock::now();
    if (beat != last_beat_) {
      last_beat_ = beat;
      last_change_ = now;
    } else if (peer_timeout().count() > 0 && now - last_change_ > peer_timeout()) {
      fail({next_, str("rank ", next_, " is lost: it has shown no sign of life for ", peer_timeout().count(), " s")});
    }
  } catch (const Error& e) {
    stop_all(store_lost(e.what()));
  }
}

// By the watching thread's connection: that of the program may be waiting.
Failure World::fail(const Failure& failure) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return *failure_;  // all know it, or the store cannot be reached
  }
  Failure first = failure;
  try {
    if (failure.lost_rank >= 0 && watched_->check({str("left/", failure.lost_rank)}))
      first.reason = str("rank ", failure.lost_rank, " has left the group");
    const std::string text = text_of(first);
    const Store::Value value = watched_->compare_set(kFailure, {}, Store::Value(text.begin(), text.end()));
    first = failure_of({value.begin(), value.end()});
    std::this_thread::sleep_for(kUntilAllKnow);
  } catch (const std::exception& e) {
    // The rank whose connection is closed may have ended because the store was lost to it, too.
    if (failure.lost_rank >= 0) first = store_lost(e.what());
  }
  stop_all(first);
  const std::lock_guard lock(mutex_);
  return *failure_;
}

void World::stop_all(const Failure& failure) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = std::make_unique<Failure>(failure);
  }
  try {
    raise(failure, "");
  } catch (...) {
    const std::exception_ptr why = std::current_exception();
    transport_->abort(why);
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

// What the first ranks that are elsewhere have called last.
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
      const std::string beat = read(*watched_, str("beat/", r)),
                        call = beat.substr(std::min(beat.find(' '), beat.size() - 1) + 1);
      if (r != rank_ && call != mine && elsewhere++ < kShown)
        text += str("; the last call of rank ", r, " is ", call.empty() ? "none" : call);
    }
    if (elsewhere > kShown) text += str("; and ", elsewhere - kShown, " more");
  } catch (const Error&) {  // then without
  }
  return text;
}

void World::throw_if_failed() const {
  const std::lock_guard lock(mutex_);
  if (failure_) raise(*failure_, "");
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

uint64_t World::group_number(const std::string& name) {
  const std::string key = "group/" + name;
  if (!store_->check({key})) {
    const std::string mine = str(store_->add("groups", 1));  // numbers that nobody takes are lost
    store_->compare_set(key, {}, Store::Value(mine.begin(), mine.end()));
  }
  const auto number = static_cast<uint64_t>(std::stoll(store_->get_text(key)));
  ARGAND_CHECK(NotImplementedError, number < kMostGroups, "new_group: a world can make ", kMostGroups - 1, " groups");
  return number;
}

}  // namespace argand::parallel
