// Plans of a library by what they are for: those that were used last are kept, a bounded number of them.
//
// A plan that is no longer kept cannot be destroyed at once, because launches that were delayed, and graphs, refer to
// it by its address.  It waits here until its holder asks for it (take_unused).
//
// This file does not depend on CUDA, so that a test can use it without a device.
#pragma once
#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace argand::cuda {

// Thread-safe.
template <class Key, class Plan, class Hash>
class PlanLru {
 public:
  using PlanPtr = std::shared_ptr<Plan>;

  explicit PlanLru(size_t max_size) : max_size_(max_size) {}

  // Null if there is none.
  PlanPtr find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) return nullptr;
    by_use_.splice(by_use_.begin(), by_use_, known->second);
    return known->second->second;
  }

  // Keeps the plan, and returns it; if another thread has kept one for the key since, returns that one.
  PlanPtr add(const Key& key, PlanPtr plan) {
    const std::lock_guard lock(mutex_);
    const auto known = by_key_.find(key);
    if (known != by_key_.end()) {
      dropped_.push_back(std::move(plan));
      return known->second->second;
    }
    if (max_size_ == 0) {
      dropped_.push_back(plan);
      return plan;
    }
    // Some at a time: to destroy plans, all graphs must be forgotten.
    if (by_key_.size() >= max_size_) shrink(max_size_ - std::max<size_t>(1, max_size_ / 16));
    by_use_.emplace_front(key, plan);
    by_key_.emplace(key, by_use_.begin());
    return plan;
  }

  size_t size() const {
    const std::lock_guard lock(mutex_);
    return by_key_.size();
  }
  size_t max_size() const {
    const std::lock_guard lock(mutex_);
    return max_size_;
  }
  void set_max_size(size_t n) {
    const std::lock_guard lock(mutex_);
    max_size_ = n;
    if (by_key_.size() > n) shrink(n);
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    shrink(0);
  }

  // Plans that are neither kept nor held by anybody, each once.  Nobody can get such a plan any more.
  std::vector<PlanPtr> take_unused() {
    const std::lock_guard lock(mutex_);
    const auto unused =
        std::partition(dropped_.begin(), dropped_.end(), [](const PlanPtr& plan) { return plan.use_count() > 1; });
    std::vector<PlanPtr> out(std::make_move_iterator(unused), std::make_move_iterator(dropped_.end()));
    dropped_.erase(unused, dropped_.end());
    return out;
  }

 private:
  using Entry = std::pair<Key, PlanPtr>;

  void shrink(size_t n) {
    while (by_key_.size() > n) {
      by_key_.erase(by_use_.back().first);
      dropped_.push_back(std::move(by_use_.back().second));
      by_use_.pop_back();
    }
  }

  mutable std::mutex mutex_;
  size_t max_size_;
  std::list<Entry> by_use_;  // the last used first
  std::unordered_map<Key, typename std::list<Entry>::iterator, Hash> by_key_;
  std::vector<PlanPtr> dropped_;
};

}  // namespace argand::cuda
