// A Communicator between threads, for tests: with the pretended device of a dry run, whose memory is the host's.  put()
// returns when all ranks have come, and does what they ask for at once.
#pragma once
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>

#include "argand/base/str.h"
#include "argand/runtime/communicator.h"

namespace argand::parallel::testing {

using Kind = CommunicatorCall::Kind;

// The state that the ranks of one communicator share.
struct Meeting {
  explicit Meeting(int size) : calls(static_cast<size_t>(size)) {}
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<const std::vector<CommunicatorCall>*> calls;  // the calls of the ranks that have arrived
  size_t come = 0;
  uint64_t round = 0;
  std::exception_ptr aborted;
};

template <class T>
void join(const std::vector<const CommunicatorCall*>& all, size_t offset, size_t count, T* out) {
  const CollectiveReduce kind = all[0]->reduce;
  for (size_t i = 0; i < count; ++i) {
    T value = static_cast<const T*>(all[0]->in)[offset + i];
    for (size_t r = 1; r < all.size(); ++r) {
      const T other = static_cast<const T*>(all[r]->in)[offset + i];
      if (kind == CollectiveReduce::kProduct)
        value *= other;
      else if (kind == CollectiveReduce::kMin)
        value = std::min(value, other);
      else if (kind == CollectiveReduce::kMax)
        value = std::max(value, other);
      else
        value += other;
    }
    if (kind == CollectiveReduce::kAvg) value /= static_cast<T>(all.size());
    out[i] = value;
  }
}

// Joins `count` elements behind `offset` of all ranks.
inline std::vector<char> joined(const std::vector<const CommunicatorCall*>& all, size_t offset, size_t count) {
  std::vector<char> out(count * static_cast<size_t>(element_size(all[0]->dtype)));
  if (all[0]->dtype == kFloat) join(all, offset, count, reinterpret_cast<float*>(out.data()));
  if (all[0]->dtype == kDouble) join(all, offset, count, reinterpret_cast<double*>(out.data()));
  if (all[0]->dtype == kLong) join(all, offset, count, reinterpret_cast<int64_t*>(out.data()));
  return out;
}

// The same call of all ranks.
inline void do_collective(const std::vector<const CommunicatorCall*>& all) {
  const CommunicatorCall& first = *all[0];
  const size_t bytes = first.count * static_cast<size_t>(element_size(first.dtype));
  std::vector<char> sum;
  if (first.kind == Kind::kAllReduce || first.kind == Kind::kReduce) sum = joined(all, 0, first.count);
  for (size_t r = 0; r < all.size(); ++r) {
    const bool is_root = static_cast<int>(r) == first.peer;
    if (first.kind == Kind::kAllReduce || (first.kind == Kind::kReduce && is_root))
      std::memcpy(all[r]->out, sum.data(), bytes);
    if (first.kind == Kind::kBroadcast) std::memmove(all[r]->out, all[static_cast<size_t>(first.peer)]->in, bytes);
    if (first.kind == Kind::kAllGather)
      for (size_t from = 0; from < all.size(); ++from)
        std::memmove(static_cast<char*>(all[r]->out) + from * bytes, all[from]->in, bytes);
    if (first.kind == Kind::kReduceScatter)
      std::memcpy(all[r]->out, joined(all, r * first.count, first.count).data(), bytes);
  }
}

inline void do_messages(const std::vector<const std::vector<CommunicatorCall>*>& calls) {
  std::map<std::pair<int, int>, std::vector<const CommunicatorCall*>> sent;  // from, to
  for (size_t r = 0; r < calls.size(); ++r)
    for (const CommunicatorCall& c : *calls[r])
      if (c.kind == Kind::kSend) sent[{static_cast<int>(r), c.peer}].push_back(&c);
  std::map<std::pair<int, int>, size_t> received;
  for (size_t r = 0; r < calls.size(); ++r)
    for (const CommunicatorCall& c : *calls[r]) {
      if (c.kind != Kind::kReceive) continue;
      const std::pair<int, int> way{c.peer, static_cast<int>(r)};
      const CommunicatorCall& from = *sent.at(way).at(received[way]++);
      std::memcpy(c.out, from.in, c.count * static_cast<size_t>(element_size(c.dtype)));
    }
}

class PretendedCommunicator final : public Communicator {
 public:
  PretendedCommunicator(std::shared_ptr<Meeting> meeting, int rank)
      : meeting_(std::move(meeting)), rank_(static_cast<size_t>(rank)) {}

  void put(const std::vector<CommunicatorCall>& calls) override {
    std::unique_lock lock(meeting_->mutex);
    // Whoever came before has left, and its calls are gone.
    if (meeting_->aborted) std::rethrow_exception(meeting_->aborted);
    meeting_->calls[rank_] = &calls;
    const uint64_t round = meeting_->round;
    if (++meeting_->come == meeting_->calls.size()) {
      meeting_->come = 0;
      if (match()) {
        do_all();
        ++meeting_->round;
        meeting_->changed.notify_all();
      }
    }
    // Different calls are never done, as on a device.
    meeting_->changed.wait(lock, [&] { return meeting_->round != round || meeting_->aborted; });
    if (meeting_->round == round) std::rethrow_exception(meeting_->aborted);
  }
  std::exception_ptr error() noexcept override { return nullptr; }
  void abort(std::exception_ptr reason) noexcept override {
    const std::lock_guard lock(meeting_->mutex);
    if (!meeting_->aborted) meeting_->aborted = std::move(reason);
    meeting_->changed.notify_all();
  }

 private:
  bool match() const {
    const auto& all = meeting_->calls;
    for (const auto* calls : all)
      for (size_t i = 0; i < calls->size(); ++i) {
        const CommunicatorCall& c = (*calls)[i];
        if (c.kind == Kind::kSend || c.kind == Kind::kReceive) continue;
        if (all[0]->size() != calls->size() || (*all[0])[i].kind != c.kind || (*all[0])[i].count != c.count)
          return false;
      }
    return true;
  }
  void do_all() const {
    for (size_t i = 0; i < meeting_->calls[0]->size(); ++i) {
      const Kind kind = (*meeting_->calls[0])[i].kind;
      if (kind == Kind::kSend || kind == Kind::kReceive) break;
      std::vector<const CommunicatorCall*> all;
      for (const auto* calls : meeting_->calls) all.push_back(&(*calls)[i]);
      do_collective(all);
    }
    do_messages(meeting_->calls);
  }

  const std::shared_ptr<Meeting> meeting_;
  const size_t rank_;
};

inline std::unique_ptr<Communicator> make_pretended(Rendezvous& rendezvous, const CommunicatorOptions& options) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Meeting>> meetings;
  static int made = 0;
  if (options.rank == 0) {
    const std::lock_guard lock(mutex);
    const std::string name = std::to_string(++made);
    meetings[name] = std::make_shared<Meeting>(options.size);
    rendezvous.set("meeting", name);
  }
  const std::string name = rendezvous.get("meeting");
  const std::lock_guard lock(mutex);
  return std::make_unique<PretendedCommunicator>(meetings.at(name), options.rank);
}

inline void register_pretended() {
  register_communicator("pretended", {&make_pretended,
                                      [](ScalarType dtype, CollectiveReduce kind) {
                                        const bool known = dtype == kFloat || dtype == kDouble || dtype == kLong;
                                        return known && kind <= CollectiveReduce::kMax &&
                                               (kind != CollectiveReduce::kAvg || dtype != kLong);
                                      },
                                      [] { return std::string(); }});
}

}  // namespace argand::parallel::testing
