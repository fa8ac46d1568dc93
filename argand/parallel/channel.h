// The messages of one collective among the members of a group.
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "argand/core/tensor.h"
#include "argand/exec/invoke.h"
#include "argand/runtime/transport.h"

namespace argand::parallel {

// Ranks are those of the group.  Tensors are contiguous and in host memory, with nothing waiting to be written.
class Channel {
 public:
  // `tag` belongs to this collective only; its lowest bits tell the steps apart (tags.h).
  Channel(Transport& transport, const std::vector<int>& world_ranks, int rank, uint32_t tag)
      : transport_(transport), world_ranks_(world_ranks), rank_(rank), tag_(tag) {}

  // Calls f before anything is sent.
  void before_sending(std::function<void()> f) { before_sending_ = std::move(f); }
  void settle() {
    if (before_sending_) std::exchange(before_sending_, nullptr)();
  }

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(world_ranks_.size()); }

  std::unique_ptr<Transfer> send(const Tensor& t, int to, int step = 0) {
    return send(raw<void>(t), t.nbytes(), to, step);
  }
  std::unique_ptr<Transfer> receive(const Tensor& t, int from, int step = 0) {
    return receive(raw<void>(t), t.nbytes(), from, step);
  }
  std::unique_ptr<Transfer> send(const void* data, size_t bytes, int to, int step) {
    settle();
    return transport_.send(data, bytes, world_ranks_[static_cast<size_t>(to)], tag_ + static_cast<uint32_t>(step));
  }
  std::unique_ptr<Transfer> receive(void* data, size_t bytes, int from, int step) {
    return transport_.receive(data, bytes, world_ranks_[static_cast<size_t>(from)], tag_ + static_cast<uint32_t>(step));
  }

 private:
  Transport& transport_;
  const std::vector<int>& world_ranks_;
  const int rank_;
  const uint32_t tag_;
  std::function<void()> before_sending_;
};

// Transfers that are awaited together.  If one of them fails, the others are cancelled.
class Transfers {
 public:
  void add(std::unique_ptr<Transfer> t) { all_.push_back(std::move(t)); }
  void wait() {
    for (const auto& t : all_) t->wait();
    all_.clear();
  }

 private:
  std::vector<std::unique_ptr<Transfer>> all_;
};

}  // namespace argand::parallel
