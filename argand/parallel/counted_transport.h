// A transport that knows which ranks its unfinished messages wait for.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "argand/runtime/transport.h"

namespace argand::parallel {

class CountedTransport final : public Transport {
 public:
  explicit CountedTransport(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}

  std::vector<int> waits_for() const {
    std::vector<int> ranks;
    const std::lock_guard lock(counts_->mutex);
    for (const auto& [rank, count] : counts_->by_rank) ranks.push_back(rank);
    return ranks;
  }

  int rank() const override { return transport_->rank(); }
  int size() const override { return transport_->size(); }
  std::unique_ptr<Transfer> send(const void* data, size_t bytes, int to, uint32_t tag) override {
    return std::make_unique<Counted>(counts_, to, transport_->send(data, bytes, to, tag));
  }
  std::unique_ptr<Transfer> receive(void* data, size_t bytes, int from, uint32_t tag) override {
    auto transfer = transport_->receive(data, bytes, from, tag);
    if (from == kAnyRank) return transfer;
    return std::make_unique<Counted>(counts_, from, std::move(transfer));
  }
  void abort(std::exception_ptr reason) override { transport_->abort(std::move(reason)); }

 private:
  struct Counts {
    std::mutex mutex;
    std::map<int, int> by_rank;
  };
  class Counted final : public Transfer {
   public:
    Counted(std::shared_ptr<Counts> counts, int rank, std::unique_ptr<Transfer> transfer)
        : counts_(std::move(counts)), rank_(rank), transfer_(std::move(transfer)) {
      const std::lock_guard lock(counts_->mutex);
      ++counts_->by_rank[rank_];
    }
    ~Counted() override { done(); }
    int wait() override {
      const int rank = transfer_->wait();
      done();
      return rank;
    }

   private:
    void done() {
      if (std::exchange(done_, true)) return;
      const std::lock_guard lock(counts_->mutex);
      if (const auto count = counts_->by_rank.find(rank_); --count->second == 0) counts_->by_rank.erase(count);
    }
    const std::shared_ptr<Counts> counts_;
    const int rank_;
    const std::unique_ptr<Transfer> transfer_;
    bool done_ = false;
  };

  const std::unique_ptr<Transport> transport_;
  const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

}  // namespace argand::parallel
