// Ranks as threads of one process, for tests: a transport without sockets, and worlds on a HashStore.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

#include "argand/parallel/process_group.h"
#include "argand/parallel/store/hash_store.h"

namespace argand::parallel::testing {

// The messages that were sent and not yet received.
struct Mail {
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<std::tuple<int, int, uint32_t>, std::deque<std::vector<char>>> letters;  // from, to, tag
  std::vector<std::exception_ptr> aborted;                                          // by rank
  std::vector<bool> closed;
};

class Sent final : public Transfer {
 public:
  explicit Sent(int to) : to_(to) {}
  int wait() override { return to_; }

 private:
  const int to_;
};

class Received final : public Transfer {
 public:
  Received(std::shared_ptr<Mail> mail, void* data, size_t bytes, int from, int to, uint32_t tag)
      : mail_(std::move(mail)), data_(data), bytes_(bytes), from_(from), to_(to), tag_(tag) {}

  int wait() override {
    std::unique_lock lock(mail_->mutex);
    for (;;) {
      if (mail_->aborted[static_cast<size_t>(to_)]) std::rethrow_exception(mail_->aborted[static_cast<size_t>(to_)]);
      for (int r = 0; r < static_cast<int>(mail_->aborted.size()); ++r) {
        if (from_ != Transport::kAnyRank && r != from_) continue;
        auto& box = mail_->letters[{r, to_, tag_}];
        if (box.empty()) continue;
        EXPECT_EQ(box.front().size(), bytes_) << "of the two ends of a message";
        std::copy_n(box.front().begin(), std::min(bytes_, box.front().size()), static_cast<char*>(data_));
        box.pop_front();
        return r;
      }
      if (from_ >= 0 && mail_->closed[static_cast<size_t>(from_)])
        throw PeerLost(str("the connection to rank ", from_, " was closed"), from_);
      mail_->arrived.wait(lock);
    }
  }

 private:
  const std::shared_ptr<Mail> mail_;
  void* const data_;
  const size_t bytes_;
  const int from_, to_;
  const uint32_t tag_;
};

class ThreadsTransport final : public Transport {
 public:
  // `closes`: ranks that wait for this one notice its end.
  ThreadsTransport(std::shared_ptr<Mail> mail, int rank, bool closes = true)
      : mail_(std::move(mail)), rank_(rank), closes_(closes) {}
  ~ThreadsTransport() override {
    if (!closes_) return;
    const std::lock_guard lock(mail_->mutex);
    mail_->closed[static_cast<size_t>(rank_)] = true;
    mail_->arrived.notify_all();
  }
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(mail_->aborted.size()); }
  std::unique_ptr<Transfer> send(const void* data, size_t bytes, int to, uint32_t tag) override {
    const std::lock_guard lock(mail_->mutex);
    const auto* begin = static_cast<const char*>(data);
    mail_->letters[{rank_, to, tag}].emplace_back(begin, begin + bytes);
    mail_->arrived.notify_all();
    return std::make_unique<Sent>(to);
  }
  std::unique_ptr<Transfer> receive(void* data, size_t bytes, int from, uint32_t tag) override {
    return std::make_unique<Received>(mail_, data, bytes, from, rank_, tag);
  }
  void abort(std::exception_ptr reason) override {
    const std::lock_guard lock(mail_->mutex);
    if (!mail_->aborted[static_cast<size_t>(rank_)]) mail_->aborted[static_cast<size_t>(rank_)] = std::move(reason);
    mail_->arrived.notify_all();
  }

 private:
  const std::shared_ptr<Mail> mail_;
  const int rank_;
  const bool closes_;
};

template <bool closes = true>
std::unique_ptr<Transport> make_threads_transport(Rendezvous& rendezvous, const TransportOptions& options) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Mail>> worlds;
  static int made = 0;
  if (options.rank == 0) {
    const std::lock_guard lock(mutex);
    const std::string name = std::to_string(++made);
    auto mail = std::make_shared<Mail>();
    mail->aborted.resize(static_cast<size_t>(options.size));
    mail->closed.resize(static_cast<size_t>(options.size));
    worlds[name] = mail;
    rendezvous.set("mail", name);
  }
  const std::string name = rendezvous.get("mail");
  const std::lock_guard lock(mutex);
  return std::make_unique<ThreadsTransport>(worlds.at(name), options.rank, closes);
}

// f(group) in a thread for each of `size` ranks; throws what the first of them threw.
inline void run_ranks(int size, const std::function<void(ProcessGroup&)>& f, GroupOptions options = {},
                      const std::shared_ptr<Store>& store = std::make_shared<HashStore>()) {
  register_transport("threads", &make_threads_transport<>);
  register_transport("threads that do not close", &make_threads_transport<false>);
  if (options.backend.rfind("threads", 0) != 0) options.backend = "threads";
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> errors(static_cast<size_t>(size));
  for (int r = 0; r < size; ++r)
    threads.emplace_back([&, r] {
      try {
        const auto group = make_process_group(store->clone(), r, size, options);  // a connection of its own
        f(*group);
        group->barrier()->wait();
      } catch (...) {
        errors[static_cast<size_t>(r)] = std::current_exception();
      }
    });
  for (std::thread& t : threads) t.join();
  for (const std::exception_ptr& e : errors)
    if (e) std::rethrow_exception(e);
}

}  // namespace argand::parallel::testing
